import AttaccaCore
import Foundation
import TestSupport
import Testing

@testable import AttaccaEngine

/// Which of several sound tracks is played.
@Suite struct FormatTrackTests {
  private func demuxer(_ name: String, track: Int? = nil) throws -> Demuxer {
    try Demuxer(
      try FileByteSource(path: Array(TestMedia.path("formats/tracks/" + name).utf8)), name: name, track: track)
  }

  @Test(arguments: ["second-is-default.mka", "second-is-default.m4a"]) func defaultWins(_ name: String) throws {
    let demuxer = try demuxer(name)
    #expect(demuxer.track == 1)
    #expect(demuxer.audioTracks.map(\.language) == ["eng", "deu"])
    #expect(demuxer.audioTracks.map(\.isDefault) == [false, true])
    #expect(demuxer.audioTracks.allSatisfy { $0.isPlayable && $0.channels == 2 })
    let samples = try decodeAll(openMedia(TestMedia.path("formats/tracks/" + name)))
    #expect(samples.count / 2 == 35_533)
  }

  @Test func titlesAreTold() throws {
    #expect(try demuxer("second-is-default.mka").audioTracks.map(\.title) == ["First", "Commentary"])
  }

  @Test func firstIsPlayedWhenNoneIsDefault() throws { #expect(try demuxer("none-is-default.mka").track == 0) }

  @Test func unplayableIsPassedOver() throws {
    let demuxer = try demuxer("first-is-unplayable.mka")
    #expect(demuxer.audioTracks.map(\.isPlayable) == [false, true])
    #expect(demuxer.track == 1)
    #expect(try decodeAll(openMedia(TestMedia.path("formats/tracks/first-is-unplayable.mka"))).count / 2 == 35_533)
  }

  @Test func wantedTrackIsChosen() throws {
    #expect(try demuxer("second-is-default.mka", track: 0).track == 0)
    #expect(throws: MediaError.self) { try demuxer("second-is-default.mka", track: 2) }
    do { _ = try demuxer("none-is-default.mka", track: 7) } catch let error as MediaError {
      #expect(error.code == .sourceNoAudio)
    }
  }

  /// Each track of an MP4 has a length of its own.
  @Test func trimIsTheTracksOwn() throws {
    let name = TestMedia.path("formats/tracks/second-is-default.m4a")
    let source = try FileByteSource(path: Array(name.utf8))
    #expect([0, 1].map { MP4Trim.read(source, sampleRate: 44_100, track: $0).end } == [30_617, 35_533])
  }

  @Test(arguments: [("film.mkv", 30_617), ("film.ts", 31_104)]) func filmsSound(_ name: String, _ frames: Int) throws {
    let media = try openMedia(TestMedia.path("formats/tracks/" + name))
    #expect(try decodeAll(media).count / 2 == frames)
  }
}

/// Channels, rates and depths.
@Suite struct FormatShapeTests {
  private static func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: TestMedia.path("formats/" + folder)).sorted()
  }

  @Test func layouts() throws {
    for name in try Self.names("layouts") {
      let media = try openMedia(TestMedia.path("formats/layouts/" + name))
      let channels = try #require(name.split(separator: ".").first.flatMap { Int($0) })
      #expect(media.info.channels == channels, "\(name)")
      let samples = try decodeAll(media)
      guard !name.hasSuffix(".aac") else { continue }
      #expect(samples.count / channels == 14_400, "\(name)")
      // A True Audio file names no speakers, and FFmpeg takes four or eight channels for other layouts than the usual.
      let isNamed = !name.hasSuffix(".tta") || channels != 4 && channels != 8
      if isNamed, ["flac", "m4a", "wv", "mka", "tta"].contains(where: name.hasSuffix) {
        let original = try WAVFileContent("formats/layouts/\(channels).wav").samples
        #expect(difference(samples, original, channels: channels) == nil, "\(name)")
      }
    }
  }

  @Test func rates() throws {
    for name in try Self.names("rates") where !name.hasSuffix(".wav") {
      let media = try openMedia(TestMedia.path("formats/rates/" + name))
      let rate = try #require(name.split(separator: ".").first.flatMap { Int($0) })
      #expect(media.sampleRate == rate, "\(name)")
      let original = try WAVFileContent("formats/rates/\(rate).wav").samples
      #expect(difference(try decodeAll(media), original) == nil, "\(name)")
    }
  }

  @Test func depths() throws {
    let original = try WAVFileContent("formats/depths/original.wav").samples
    for name in try Self.names("depths") {
      let media = try openMedia(TestMedia.path("formats/depths/" + name))
      // Rounded by the encoder to so many bits (s16.flac holds 24, as FFmpeg chooses).
      let tolerance: Float = name.contains("8.") ? 1 / 128 : name.contains("16.") ? 1 / 32_768 : 0
      #expect(difference(try decodeAll(media), original, tolerance: tolerance) == nil, "\(name)")
    }
  }

  /// Every rate and layout is played through the engine, whatever the output makes of it.
  @Test(arguments: ["rates/8000.wv", "rates/384000.flac", "rates/11025.caf", "layouts/8.flac", "layouts/1.opus"])
  func engineRendersAny(_ name: String) throws {
    let item = MediaItem(.file(TestMedia.path("formats/" + name)))
    let rig = makeRig(step: 8192)
    let heard = try rig.render([item])
    let media = try openMedia(TestMedia.path("formats/" + name))
    let frames = try decodeAll(media).count / media.info.channels
    let exact = Double(frames) * Double(rig.output.format.sampleRate) / Double(media.sampleRate)
    #expect(abs(Double(heard.count / rig.output.format.channels) - exact) <= 1)
    try rig.shutdown()
  }
}
