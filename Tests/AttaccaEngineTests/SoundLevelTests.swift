import AttaccaCore
import Glibc
import Testing

@testable import AttaccaEngine

@Suite struct SoundLevelTests {
  private func limited(_ input: [Float], channels: Int = 2, piece: Int = 4_096) -> [Float] {
    let limiter = Limiter(sampleRate: 44_100, channels: channels)
    var samples = input
    samples.withUnsafeMutableBufferPointer { all in
      for start in stride(from: 0, to: all.count, by: piece * channels) {
        limiter.process(UnsafeMutableBufferPointer(rebasing: all[start..<min(all.count, start + piece * channels)]))
      }
    }
    var rest = [Float](repeating: 0, count: limiter.delay * channels)
    rest.withUnsafeMutableBufferPointer { limiter.flush(into: $0) }
    return Array((samples + rest).dropFirst(limiter.delay * channels))
  }

  @Test func nothingExceedsFullScale() {
    var loud = Signal.noise(frames: 20_000, seed: 5, amplitude: 4)
    for index in stride(from: 0, to: loud.count / 2, by: 1_201) {
      loud[index] = [.nan, .infinity, 1e30, -3e38][index % 4]
    }
    let output = limited(loud)
    #expect(output.count == loud.count)
    #expect(output.allSatisfy { $0.magnitude <= 1 })
    #expect(Signal.rms(output.suffix(10_000)) > 0.2)
  }

  @Test func quietSamplesAreUntouched() {
    let quiet = Signal.noise(frames: 5_000, amplitude: 1)
    #expect(limited(quiet).bits == quiet.bits)
    // A peak changes what is near; 3 s later everything is as it was.
    var samples = Signal.noise(frames: 150_000, amplitude: 0.4)
    samples[20_000] = 2
    let output = limited(samples)
    let isSameBefore = output[..<(20_000 - 2 * 221)].elementsEqual(samples[..<(20_000 - 2 * 221)])
    let isSameAfter = output.suffix(20_000).elementsEqual(samples.suffix(20_000))
    #expect(isSameBefore && isSameAfter)
    #expect(output[20_000] <= 1 && output[20_000] > 0.98)
  }

  @Test func gainMovesSmoothly() {
    // A step from half to four times full scale: the gain may not fall by more than its share per frame.
    let frames = 8_000
    let input = (0..<(frames * 2)).map { Float($0 < frames ? 0.5 : 4) }
    let output = limited(input)
    let gains = zip(output, input).map { $0 / $1 }
    for index in stride(from: 2, to: gains.count, by: 2) {
      #expect(abs(gains[index] - gains[index - 2]) < 0.005)
      #expect(gains[index] == gains[index + 1])
    }
  }

  @Test func limiterPiecesDoNotMatter() {
    let input = Signal.noise(frames: 5_000, channels: 3, seed: 2, amplitude: 2)
    let whole = limited(input, channels: 3, piece: 5_000)
    for piece in [1, 100, 221, 999] { #expect(limited(input, channels: 3, piece: piece).bits == whole.bits) }
  }

  @Test func mixing() {
    func mixed(_ frame: [Float], balance: Double = 0, mono: Bool = false) -> [Float] {
      var samples = frame
      let mixer = ChannelMixer(channels: frame.count, balance: balance, isMono: mono)
      samples.withUnsafeMutableBufferPointer { mixer.process($0) }
      return samples
    }
    #expect(mixed([0.5, 0.25]) == [0.5, 0.25])
    #expect(mixed([0.5, 0.25], mono: true) == [0.375, 0.375])
    #expect(mixed([0.5, 0.25], balance: 1) == [0, 0.25])
    #expect(mixed([0.5, 0.25], balance: -0.5) == [0.5, 0.125])
    #expect(mixed([0.5], balance: -1, mono: true) == [0.5])
    #expect(mixed([1, 1, 1, 1, 1, 1], balance: -1) == [1, 0, 1, 1, 1, 0])
    #expect(mixed([1, 1, 1, 1, 1, 1, 1, 1], balance: 1) == [0, 1, 1, 1, 0, 1, 0, 1])
    #expect(mixed([1, 1, 1, 1, 1, 1, 1], balance: 1) == [0, 1, 1, 1, 1, 0, 1])
    #expect(mixed([0.5, 0.5, 1, 0.25, 0.5, 0.5], mono: true) == [0.6, 0.6, 0.6, 0.25, 0.6, 0.6])
    #expect(mixed([0.5, 0.25], balance: .nan) == [0.5, 0.25])
  }

  private func levelled(_ input: [Float], piece: Int = 4_096) -> [Float] {
    var leveler = Leveler(sampleRate: 44_100, channels: 2)
    var samples = input
    samples.withUnsafeMutableBufferPointer { all in
      for start in stride(from: 0, to: all.count, by: piece * 2) {
        leveler.process(UnsafeMutableBufferPointer(rebasing: all[start..<min(all.count, start + piece * 2)]))
      }
    }
    return samples
  }

  @Test func voicesComeTogether() {
    let second = 44_100
    let loud = Signal.tone(300, frames: second * 3, amplitude: 0.4)
    let quiet = Signal.tone(300, frames: second * 3, amplitude: 0.04)
    let output = levelled(loud + quiet + loud)
    func level(at frame: Int, _ count: Int) -> Double {
      decibels(Signal.rms(output[(frame * 2)..<((frame + count) * 2)]))
    }
    let ends: [Double] = [3, 6, 9].map { level(at: second * $0 - 8_820, 8_820) }
    #expect(abs(ends[0] - ends[1]) < 4 && abs(ends[1] - ends[2]) < 4, "\(ends)")
    // A steady tone is steady.
    let levels: [Double] = (0..<5).map { level(at: second * 5 / 2 + $0 * 4_410, 4_410) }
    #expect((levels.max() ?? 0) - (levels.min() ?? 0) < 0.1, "\(levels)")
  }

  @Test func pausesAreLeftAlone() {
    let second = 44_100
    let noise = Signal.noise(frames: second * 2, amplitude: 0.001)
    let output = levelled(Signal.tone(300, frames: second, amplitude: 0.2) + noise)
    let (start, end) = (second + 8_820, second * 3 - 8_820)
    let before = Signal.rms(output[(start * 2)..<((start + 4_410) * 2)])
    let after = Signal.rms(output[(end * 2)..<((end + 4_410) * 2)])
    #expect(abs(decibels(after / before)) < 0.5)
    #expect(levelled([Float](repeating: 0, count: 90_000)).allSatisfy { $0 == 0 })
    #expect(levelled([Float](repeating: .nan, count: 90_000)).allSatisfy { $0 == 0 })
  }

  @Test func levelerPiecesDoNotMatter() {
    let input = Signal.noise(frames: 9_000, amplitude: 0.05)
    let whole = levelled(input, piece: 9_000)
    for piece in [1, 333, 2_205] { #expect(levelled(input, piece: piece).bits == whole.bits) }
  }

  private func silences(_ input: [Float], piece: Int = 4_096, frame: Int64 = 0) -> [Range<Int64>] {
    var detector = SilenceDetector(sampleRate: 44_100, channels: 2, frame: frame)
    var ranges: [Range<Int64>] = []
    for start in stride(from: 0, to: input.count, by: piece * 2) {
      for range in input[start..<min(input.count, start + piece * 2)].withUnsafeBufferPointer({ detector.process($0) })
      {
        if let last = ranges.last, last.upperBound == range.lowerBound {
          ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
        } else {
          ranges.append(range)
        }
      }
    }
    return ranges
  }

  @Test func longSilencesAreFound() {
    let voice = Signal.tone(300, frames: 44_100)
    func pause(_ seconds: Double, _ amplitude: Float = 0.001) -> [Float] {
      Signal.noise(frames: Int(44_100 * seconds), amplitude: amplitude)
    }
    let parts: [[Float]] = [voice, pause(2), voice, pause(0.5), voice, pause(1, 0.05), voice]
    let input = parts.flatMap { $0 }
    let found = silences(input, frame: 1_000)
    let begin: Int64 = 1_000 + 44_100 + 8_820
    let end: Int64 = 1_000 + 44_100 * 3 - 8_820
    #expect(found == [begin..<end])
    #expect(silences(voice).isEmpty)
    for piece in [1, 100, 441, 50_000] { #expect(silences(input, piece: piece, frame: 1_000) == found) }
  }
}
