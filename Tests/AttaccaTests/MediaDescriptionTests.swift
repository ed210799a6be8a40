import Attacca
import TestSupport
import Testing

/// What the library says of a file without playing it.
@Suite struct MediaDescriptionTests {
  private func info(_ name: String) async throws -> MediaInfo {
    try await mediaInfo(of: TestMedia.item("described/\(name)"))
  }

  @Test(arguments: [
    "chap.mp3", "both.m4b", "track.m4b", "chpl.m4b", "chapters.mka", "opus.mka", "chapters.ogg", "chapters.opus",
    "chapters.flac",
  ])
  func chaptersOfEveryKind(_ name: String) async throws {
    let info = try await info(name)
    let chapters = info.chapters.normalizedChapters(duration: info.duration?.value)
    #expect(chapters.map(\.start) == [.zero, .milliseconds(1500), .seconds(3)])
    #expect(chapters.map(\.title) == ["One", "Two [2Jtwo", "Three"])
    #expect(chapters.first?.end == .milliseconds(1500) && chapters.last?.end == info.duration?.value)
  }

  @Test func theOverlapIsKeptAsTold() async throws {
    #expect(try await info("chap.mp3").chapters.map(\.end) == [.seconds(2), .seconds(3), .seconds(9)])
  }

  @Test(arguments: [
    ("chap.mp3", "image/png", 64, 48), ("jpeg.mp3", "image/jpeg", 320, 240), ("chapters.flac", "image/png", 17, 19),
  ])
  func coversAreReadOnDemand(_ name: String, _ mime: String, _ width: Int, _ height: Int) async throws {
    let picture = try #require(try await artwork(of: TestMedia.item("described/\(name)")))
    #expect(picture.artwork == Artwork(mime: mime, byteCount: picture.bytes.count, width: width, height: height))
    #expect(try await info(name).artwork == picture.artwork)
  }

  @Test(arguments: [
    ("damaged-cover.mp3", MediaWarning.Code.artworkDamaged), ("huge-cover.mp3", .artworkTooLarge),
  ])
  func badCoversAreWarnings(_ name: String, _ code: MediaWarning.Code) async throws {
    #expect(try await artwork(of: TestMedia.item("described/\(name)")) == nil)
    let info = try await info(name)
    #expect(info.artwork == nil && info.hasArtwork && info.warnings.map(\.code) == [code])
  }

  @Test(arguments: [
    ("outside.mp3", MediaWarning.Code.chaptersDropped), ("cut.wav", .durationOverstated),
    ("cut.m4a", .durationOverstated),
    ("wav-inside.mp3", .nameMisleading),
  ])
  func whatLiesIsWarnedOf(_ name: String, _ code: MediaWarning.Code) async throws {
    #expect(try await info(name).warnings.contains { $0.code == code })
  }

  @Test func aGoodFileWarnsOfNothing() async throws {
    for name in ["chap.mp3", "chapters.flac", "both.m4b", "chapters.opus"] {
      #expect(try await info(name).warnings.isEmpty, "\(name)")
    }
  }
}
