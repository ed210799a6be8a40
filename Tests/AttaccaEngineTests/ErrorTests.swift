import AttaccaCore
import Foundation
import POSIXKit
import TestSupport
import Testing

@testable import AttaccaEngine

/// What cannot be played is refused with a code of its own, and opens nothing else.
@Suite struct ErrorTests {
  private func code(_ name: String, sources: any ByteSourceProvider = FileSourceProvider()) throws -> MediaError.Code? {
    let rig = makeRig(sources: sources)
    rig.follow(with: [])
    let generation = rig.load(TestMedia.item(name))
    rig.send(.setRunning(true))
    let event = try rig.waitFor("the answer") { event in
      switch event {
      case .failed(generation, _), .anchored: true
      default: false
      }
    }
    try rig.shutdown()
    if case .failed(_, let error) = event { return error.code }
    return nil
  }

  @Test(arguments: [
    ("bad/empty.mp3", MediaError.Code.sourceEmpty), ("bad/text.mp3", .sourceUnsupported),
    ("bad/fifo.mp3", .sourceNotAFile), ("bad/dangling.mp3", .sourceNotFound), ("bad/nomedia", .sourceNotAFile),
    ("bad/nomedia/readme.txt", .sourceUnsupported), ("bad/no such file", .sourceNotFound),
    ("bad/random.flac", .sourceUnsupported), ("bad/random.m4a", .sourceUnsupported),
    ("bad/random.ogg", .sourceUnsupported), ("bad/random.opus", .sourceUnsupported),
    ("bad/random.wav", .sourceUnsupported), ("bad/random.wv", .sourceUnsupported),
    ("bad/header/flac.flac", .sourceDamaged), ("bad/header/opus.opus", .sourceDamaged),
    ("bad/header/ogg.ogg", .sourceDamaged), ("bad/header/m4a.m4a", .sourceDamaged),
    ("bad/header/id3-only.mp3", .sourceDamaged),
    ("bad/song.mp3", .sourceUnsupported), ("bad/song-relative.flac", .sourceUnsupported),
    ("bad/list.mp3", .sourceUnsupported), ("bad/list.m4a", .sourceUnsupported),
  ])
  func refused(_ name: String, _ wanted: MediaError.Code) throws {
    #expect(try code(name) == wanted)
  }

  /// Every bad file ends in a typed error of the source or in sound; nothing hangs or crashes.
  @Test func everyBadFileIsAnswered() throws {
    let folder = TestMedia.path("bad")
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
    #expect(names.count > 30)
    for name in names {
      let code = try code("bad/" + name)
      if let code { #expect(code.rawValue.hasPrefix("source."), "\(name)") }
      // An MP4's index is at its end, and an Ogg page that is not whole is none.
      if name.hasPrefix("half/"), ![".m4a", ".m4b", ".ogg", ".opus"].contains(where: name.hasSuffix) {
        #expect(code == nil, "\(name) is music")
      }
    }
  }

  /// A script or playlist in a song's clothes opens nothing but itself.
  @Test(arguments: ["bad/song.mp3", "bad/song-relative.flac", "bad/list.mp3", "bad/list.m4a"])
  func disguisedScriptsOpenNothing(_ name: String) throws {
    let sources = TestSources(fallback: FileSourceProvider())
    // The provider is the only way to bytes; and the process opens no file by another.
    let before = openFiles()
    #expect(try code(name, sources: sources) == .sourceUnsupported)
    #expect(sources.opened == [TestMedia.item(name).id.rawValue])
    #expect(!openFiles().subtracting(before).contains { $0.hasSuffix("flac/a.flac") })
  }

  /// The same content without the formats' restriction would be opened: the test can fail.
  @Test func theDisguiseWorksOnAnUnguardedTool() throws {
    let media = try TrimMedia()
    try media.run(
      "ffmpeg", "-v", "error", "-safe", "0", "-f", "concat", "-i", TestMedia.path("bad/song.mp3"), media.path("out.wav")
    )
    #expect(try WAVFileContent(path: media.path("out.wav")).frames == 61_234)
  }

  @Test func unreadableFile() throws {
    // Root reads everything.
    try #require(geteuid() == 0 || (try? code("bad/unreadable.mp3")) == .sourceUnreadable)
  }

  @Test func remoteItemMayNotOpenFiles() async throws {
    let item = MediaItem(.file(TestMedia.path("flac/a.flac")), origin: .remote)
    let rig = makeRig()
    rig.load(item)
    let failed = try rig.waitFor("the refusal") { if case .failed = $0 { true } else { false } }
    guard case .failed(_, let error) = failed else { return }
    #expect(error.code == .sourceNotAllowed)
  }

  /// A corrupt part in the middle keeps time: the item is as long as the sound one, and the rest is exact.
  @Test(arguments: ["mp3", "flac", "m4a"]) func corruptionKeepsTime(_ suffix: String) throws {
    let heard = try render(["duration/corrupt.\(suffix)"])
    let sound = try render(["\(suffix)/a.\(suffix)"])
    #expect(abs(heard.count - sound.count) / 2 <= 2 * 4096)
    #expect(difference(heard[..<20_000], sound[..<20_000]) == nil)
  }

  @Test func outputThatCannotBeOpenedIsTold() throws {
    final class Broken: AudioOutput {
      let isOffline = false
      func open(_ format: StreamFormat, source: any RenderSource, receive: @escaping @Sendable (OutputEvent) -> Void) {
        receive(.failed(MediaError(.playerOutputUnavailable, subject: "test", reason: "broken")))
      }
      func edit(_ change: @escaping @Sendable (EditPoint) -> OutputTransport) {}
      func sourceHasMore() {}
      func setMarker(_ frame: Int64?) {}
      func close(_ completion: @escaping @Sendable () -> Void) { completion() }
    }
    let rig = EngineRig { _ in FFmpegEngine(sources: FileSourceProvider()) { Broken() } }
    rig.load(TestMedia.item("flac/a.flac"))
    try rig.waitFor("the failure") { if case .outputFailed = $0 { true } else { false } }
    try rig.shutdown()
  }
}

/// The names of the files this process has open.
func openFiles() -> Set<String> {
  let folder = "/proc/self/fd"
  let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  return Set(names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + $0) })
}
