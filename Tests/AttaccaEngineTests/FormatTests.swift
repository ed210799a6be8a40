import AttaccaCore
import Foundation
import TestSupport
import Testing

@testable import AttaccaEngine

/// Every format of `Fixtures/formats.txt`, tried with what `make-media` made of it.
@Suite struct FormatTests {
  /// The list says what is tried, all of it, and nothing else.
  @Test func theListIsWhatIsTried() throws {
    let lines = try FormatLine.all()
    let listed = lines.flatMap(\.kinds)
    #expect(listed.count == Set(listed).count)
    let made = try FileManager.default.contentsOfDirectory(atPath: TestMedia.path("formats"))
      .filter { FormatCase.suffix(of: $0) != nil }
    #expect(Set(made) == Set(listed))
    for line in lines {
      for kind in line.kinds {
        let suffix = try #require(FormatCase.suffix(of: kind), "\(kind)")
        #expect(line.extensions.contains(suffix), "\(kind)")
      }
    }
  }

  /// The lengths of the pieces are what they must be, and played together they are the whole, to the bit where that is
  /// claimed.
  @Test(arguments: FormatCase.all) func piecesAreTheWhole(_ format: FormatCase) throws {
    let media = try openMedia(format.path("whole"))
    let (rate, channels) = (media.sampleRate, media.info.channels)
    let whole = try decodeAll(media)
    var joined: [String: [Float]] = [:]
    for cut in [["a", "b"], ["1", "2", "3"]] {
      var together: [Float] = []
      for piece in cut {
        let part = try openMedia(format.path(piece))
        #expect(part.sampleRate == rate && part.info.channels == channels)
        let samples = try decodeAll(part)
        let wanted = format.length(piece, rate: rate)
        let frames = samples.count / channels
        if format.proof == .asDecoded {
          // Whole packets, and at both ends no more than two of the largest.
          // FFmpeg's AC-3 encoder leaves out the end instead, by the 256 frames that MP4 tells to leave out at the start.
          let least = format.kind.hasPrefix("mp4-") ? wanted - 256 : wanted
          #expect((least..<wanted + 3 * 2048).contains(frames), "\(piece): \(frames) frames of \(wanted)")
        } else {
          #expect(frames == wanted, "\(piece)")
        }
        if let duration = part.info.duration, duration.confidence == .exact {
          #expect(duration.value.frames(at: rate) == Int64(frames), "\(piece)'s duration")
        }
        together += samples
      }
      joined[cut[0]] = together
    }
    guard format.proof != .asDecoded else { return }
    #expect(whole.count / channels == format.length("whole", rate: rate))
    for together in joined.values {
      if format.proof == .bitExact {
        #expect(difference(together, whole, channels: channels) == nil)
      } else {
        try isNotShifted(together, whole, channels)
      }
    }
    try isOriginal(format, whole, rate, channels)
  }

  private func isNotShifted(_ heard: [Float], _ wanted: [Float], _ channels: Int) throws {
    let frames = wanted.count / channels
    // Where the tone has risen: a slow wave tells no lag.
    for place in [frames / 3, frames / 2, frames * 2 / 3] {
      let a = channel(0, of: heard, from: place - 48, count: 4096, channels: channels)
      let b = channel(0, of: wanted, from: place - 48, count: 4096, channels: channels)
      let distances = (-48...48).map { lag in
        stride(from: 48, to: 4048, by: 4).reduce(Float(0)) { sum, index in
          let step = a[index + lag] - b[index]
          return sum + step * step
        }
      }
      let best = distances.indices.min { distances[$0] < distances[$1] }
      #expect(best == 48, "at \(place)")
    }
  }

  /// The whole itself is where the original is: to the bit, or without a lag.
  private func isOriginal(_ format: FormatCase, _ whole: [Float], _ rate: Int, _ channels: Int) throws {
    guard !format.kind.contains("ds") else { return }
    let name = "formats/originals/\(rate)\(channels == 1 ? "-1" : "")-whole.wav"
    guard FileManager.default.fileExists(atPath: TestMedia.path(name)) else { return }
    let original = try WAVFileContent(name).samples
    let depth = TestMedia.path("formats/originals/\(rate)-s24-whole.wav")
    let candidates = [original] + ((try? WAVFileContent(path: depth)).map { [$0.samples] } ?? [])
    if format.proof == .bitExact, !["wav-u8", "wavpack-f32"].contains(format.kind) {
      #expect(candidates.contains { difference(whole, $0, channels: channels) == nil })
    } else {
      try isNotShifted(whole, original, channels)
    }
  }

  /// Every format tells how long it is, if only about: within a tenth and a frame or two.
  @Test(arguments: FormatCase.all) func durationsAreTold(_ format: FormatCase) throws {
    let media = try openMedia(format.path("whole"))
    let duration = try #require(media.info.duration, "no duration").value.frames(at: media.sampleRate)
    let frames = Int64(try decodeAll(media).count / media.info.channels)
    #expect(abs(duration - frames) < frames / 10 + 4096, "\(duration) frames instead of \(frames)")
  }

  /// Through the engine into an output: one piece after the other is what the pieces are, without a gap.
  @Test(arguments: FormatCase.all) func engineJoinsPieces(_ format: FormatCase) throws {
    for cut in [["a", "b"], ["1", "2", "3"]] {
      var frames = 0
      for piece in cut { frames += try decodeAll(openMedia(format.path(piece))).count }
      let rig = makeRig(step: 8192)
      let heard = try rig.render(cut.map { MediaItem(.file(format.path($0))) })
      let first = try openMedia(format.path(cut[0]))
      let output = rig.output.format
      let exact =
        Double(frames / first.info.channels) * Double(output.sampleRate) / Double(first.sampleRate)
      #expect(abs(Double(heard.count / output.channels) - exact) <= (output.sampleRate == first.sampleRate ? 0 : 1))
      try rig.shutdown()
    }
  }

  /// What is heard from a seek's target on is what is heard there when the item is played through.
  @Test(arguments: FormatCase.all) func seeksAreExact(_ format: FormatCase) throws {
    var random = SeededRandom.announced("seek in \(format.kind)")
    let media = try openMedia(format.path("whole"))
    let channels = media.info.channels
    let all = try decodeAll(media)
    let frames = all.count / channels
    for target in (0..<10).map({ _ in Int.random(in: 0..<frames, using: &random) }) + [0, 1, 400, frames - 1] {
      try media.seek(to: Int64(target))
      let length = min(3000, frames - target)
      let heard = try decodeAll(media, limit: length * channels).prefix(length * channels)
      let wanted = all[(target * channels)..<((target + length) * channels)]
      let difference = seekDifference(heard, wanted, channels: channels, tolerance: format.seekTolerance)
      #expect(difference == nil, "target \(target) of \(frames)")
    }
  }

  /// A name proves nothing: with no or with a wrong extension everything plays the same.
  @Test(arguments: FormatCase.all) func namesDoNotMatter(_ format: FormatCase) throws {
    let media = try TrimMedia()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: format.path("a")))
    let wanted = try openMedia(format.path("a"))
    for name in ["song.txt", "song.mp3", "song"] {
      try bytes.write(to: URL(fileURLWithPath: media.path(name)))
      let opened = try openMedia(media.path(name))
      #expect(opened.info.codec == wanted.info.codec && opened.trim == wanted.trim, "\(name)")
    }
  }
}
