import AttaccaCore
import TestSupport
import Testing

@testable import AttaccaEngine

/// Loudness of all samples, in decibels.
private func level(_ samples: some Collection<Float>) -> Double {
  let power = samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(max(1, samples.count))
  return 10 * log10(power)
}

private func log10(_ value: Double) -> Double {
  // Good to 10⁻⁹: the mantissa by the series of artanh, the exponent exactly.
  let mantissa = value.significand
  let x = (mantissa - 1) / (mantissa + 1)
  var (term, sum) = (x, x)
  for n in stride(from: 3.0, to: 41, by: 2) {
    term *= x * x
    sum += term / n
  }
  return (2 * sum + Double(value.exponent) * 0.693147180559945) / 2.302585092994046
}

private struct MemoryProvider: ByteSourceProvider {
  let bytes: [String: [UInt8]]
  func open(_ item: MediaItem) throws(MediaError) -> any ByteSource {
    MemoryByteSource(bytes[item.locator.displayName] ?? [])
  }
}

/// A WAV file of 16-bit stereo frames.
private func wav(_ samples: [Float], rate: Int = 44_100) -> [UInt8] {
  func little(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
  let data = samples.flatMap { little(Int(($0 * 32_767).rounded()), 2) }
  return Array("RIFF".utf8) + little(36 + data.count, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + little(1, 2)
    + little(2, 2) + little(rate, 4) + little(rate * 4, 4) + little(4, 2) + little(16, 2) + Array("data".utf8)
    + little(data.count, 4) + data
}

@Suite struct LoudnessOfMediaTests {
  /// Each item's samples, levelled, beside those that are not.
  private func gain(_ name: String, _ sound: SoundSettings) throws -> Double {
    let plain = try makeRig().render([TestMedia.item(name)])
    let rig = makeRig()
    rig.send(.setSound(sound))
    let levelled = try rig.render([TestMedia.item(name)])
    #expect(levelled.count == plain.count)
    #expect(levelled.allSatisfy { abs($0) <= 1 })
    return level(levelled) - level(plain)
  }

  /// ReplayGain in ID3 and Vorbis comments, R128 in Opus (relative to −23 LUFS: 5 dB more), to a tenth of a decibel.
  struct Case: Sendable {
    var name: String
    var mode: LoudnessMode
    var preamp: Double
    /// In decibels.
    var gain: Double
  }

  @Test(arguments: [
    Case(name: "described/gains.mp3", mode: .track, preamp: 0, gain: -6.5),
    Case(name: "described/gains.mp3", mode: .album, preamp: 0, gain: -7.03),
    Case(name: "described/gains.mp3", mode: .album, preamp: 3, gain: -4.03),
    Case(name: "described/chapters.flac", mode: .track, preamp: 0, gain: -3.21),
    Case(name: "described/chapters.flac", mode: .album, preamp: 0, gain: -3.21),
    Case(name: "described/chapters.opus", mode: .track, preamp: -6, gain: -5.82),
    Case(name: "flac/a.flac", mode: .album, preamp: 6, gain: 0),
  ])
  func itIsWhatTheTagsSay(_ test: Case) throws {
    let gain = try gain(test.name, SoundSettings(loudness: test.mode, preamp: test.preamp))
    #expect(abs(gain - test.gain) < 0.1, "\(gain)")
  }

  /// Sound Check: the greater of the first two numbers is a thousand for 0 dB.
  @Test func soundCheckCountsToo() throws {
    let file = try TestMedia.bytes("mp3/a.mp3")
    #expect(file.starts(with: Array("ID3".utf8)))
    let tagSize = file[6..<10].reduce(0) { $0 << 7 | Int($1) }
    let text = Array("\0engiTunNORM\0 00001F40 00000FA0 00000000 00000000".utf8)
    let comment = Array("COMM".utf8) + [0, 0, 0, UInt8(text.count), 0, 0] + text
    let tag = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, UInt8(comment.count)] + comment
    let provider = MemoryProvider(bytes: ["a.mp3": tag + file[(10 + tagSize)...]])
    let plain = try makeRig(sources: provider).render([MediaItem(.file("/a.mp3"))])
    let rig = makeRig(sources: provider)
    rig.send(.setSound(SoundSettings(loudness: .album)))
    let levelled = try rig.render([MediaItem(.file("/a.mp3"))])
    #expect(abs(level(levelled) - level(plain) + 9.03) < 0.1, "\(level(levelled) - level(plain))")
  }

  @Test func nothingExceedsFullScale() throws {
    var sound = SoundSettings(loudness: .track, untaggedGain: 15)
    let loud = try gain("whole.wav", sound)
    #expect(loud > 2 && loud < 15)
    sound.equalizer = EqualizerSettings([Double](repeating: 12, count: 10))
    _ = try gain("whole.wav", sound)
  }
}

@Suite struct SkipSilenceTests {
  @Test func longSilenceIsPassedOver() throws {
    let second = 44_100
    var samples: [Float] = []
    func add(_ frames: Int, _ level: Float) {
      for frame in 0..<frames {
        let value = level * (frame % 100 < 50 ? 1 : -1)
        samples += [value, value]
      }
    }
    add(second, 0.5)
    add(2 * second, 0)
    add(second, 0.25)
    add(second * 4 / 10, 0.001)
    add(second, 0.5)
    let provider = MemoryProvider(bytes: ["speech.wav": wav(samples)])
    let rig = makeRig(sources: provider)
    rig.send(.setSound(SoundSettings(skipsSilence: true)))
    let heard = try rig.render([MediaItem(.file("/speech.wav"))])
    let left = samples.count / 2 - heard.count / 2
    // 0.4 s of the two seconds stay, within the 10 ms that are looked at at a time.
    #expect(abs(left - (2 * second - second * 4 / 10)) <= 882, "\(left)")
    // Nothing that sounds is lost, and it is told where it goes on.
    #expect(heard.count { abs($0) > 0.2 } == samples.count { abs($0) > 0.2 })
    let jumps = rig.events.compactMap { event -> PositionAnchor? in
      if case .anchored(_, let anchor) = event, anchor.position > .seconds(1) { anchor } else { nil }
    }
    let anchor = try #require(jumps.first)
    let output = (anchor.hostTime - .seconds(1000)).frames(at: second)
    #expect(abs(anchor.position.frames(at: second) - output - Int64(left)) <= 1)
    #expect(try rig.waitForEnd() == time(samples.count / 2))
  }
}

@Suite struct BitPerfectTests {
  @Test func theOutputFollowsTheMedia() throws {
    let rig = makeRig()
    var sound = SoundSettings(equalizer: EqualizerSettings([6]))
    sound.isBitPerfect = true
    rig.send(.setSound(sound))
    rig.send(.setGain(0.2))
    rig.send(.setRate(2))
    rig.follow(with: [TestMedia.item("flac/b.flac"), TestMedia.item("48/flac/a.flac")])
    rig.load(TestMedia.item("flac/a.flac"))
    rig.send(.setRunning(true))
    rig.output.play()
    // The second goes on in the same stream; the third cannot.
    try rig.waitForEnd(of: Generation(2))
    #expect(rig.outputs.count == 1)
    #expect(rig.output.format == StreamFormat(sampleRate: 44_100, channels: 2, significantBits: 16, isExact: true))
    #expect(difference(rig.output.captured, try WAVFileContent("whole.wav").samples) == nil)
    rig.follow(with: [])
    let third = rig.load(TestMedia.item("48/flac/a.flac"))
    try rig.wait("the new output") { events -> Bool? in
      events.count { if case .outputOpened = $0 { true } else { false } } == 2 ? true : nil
    }
    #expect(rig.outputs.count == 2)
    rig.output.play()
    try rig.waitForEnd(of: third)
    #expect(rig.output.format == StreamFormat(sampleRate: 48_000, channels: 2, significantBits: 16, isExact: true))
    let whole = try WAVFileContent("whole48.wav").samples
    #expect(difference(rig.output.captured, whole[..<(66_649 * 2)]) == nil)
    #expect(rig.outputs[0].isClosed)
  }
}
