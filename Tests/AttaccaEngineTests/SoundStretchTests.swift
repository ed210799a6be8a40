import Glibc
import Testing

@testable import AttaccaEngine

@Suite struct SoundStretchTests {
  /// Stretches samples that are written and read in pieces of these sizes.
  private func stretched(
    _ samples: [Float], rate: Double, sampleRate: Int = 44_100, channels: Int = 2, writing: Int = 1024,
    reading: Int = 500
  ) throws -> [Float] {
    let stretcher = try #require(TimeStretcher(sampleRate: sampleRate, channels: channels, rate: rate))
    var result: [Float] = []
    var piece = [Float](repeating: 0, count: reading * channels)
    func readAll() {
      while true {
        let count = piece.withUnsafeMutableBufferPointer { stretcher.read(into: $0) }
        if count == 0 { break }
        result += piece[..<(count * channels)]
      }
    }
    for start in stride(from: 0, to: samples.count, by: writing * channels) {
      samples[start..<min(samples.count, start + writing * channels)].withUnsafeBufferPointer { stretcher.write($0) }
      readAll()
    }
    stretcher.finish()
    readAll()
    #expect(stretcher.isAtEnd)
    return result
  }

  @Test(arguments: [0.25, 0.5, 0.75, 1.25, 1.5, 2, 3, 4])
  func pitchAndLevelStay(rate: Double) throws {
    let tone = Signal.tone(1_000, frames: 44_100 * 3 / 2)
    let output = Signal.channel(0, of: try stretched(tone, rate: rate))
    let inside = Array(output[4_410..<(output.count - 4_410)])
    let cents = 1_200 * log2(Signal.frequency(near: 1_000, in: inside) / 1_000)
    #expect(abs(cents) <= 0.5, "\(cents) cents at \(rate)")
    for start in stride(from: 0, to: inside.count - 882, by: 441) {
      let level = Signal.amplitudeAndPhase(of: 1_000, in: inside[start..<(start + 882)]).amplitude
      #expect(abs(decibels(level / 0.5)) < 0.1, "at \(start), rate \(rate)")
    }
  }

  @Test(arguments: [0.75, 1.25, 1.5, 2])
  func twoTonesStayClean(rate: Double) throws {
    let frames = 44_100 * 2
    let samples = zip(Signal.tone(261.6, frames: frames), Signal.tone(329.6, frames: frames)).map { ($0 + $1) / 2 }
    let output = Signal.channel(0, of: try stretched(samples, rate: rate))
    var shares: [Double] = []
    // Each tone's phase may turn from stretch to stretch, so look at short parts.
    for start in stride(from: 4_410, to: output.count - 13_230, by: 4_410) {
      let part = output[start..<(start + 4_410)]
      let weighted = part.enumerated().map { Double($1) * (0.5 - 0.5 * cos(2 * .pi * (Double($0) + 0.5) / 4_410)) }
      let power = weighted.reduce(0) { $0 + $1 * $1 } / 4_410 / 0.375
      let tones = [261.6, 329.6].map { Signal.amplitudeAndPhase(of: $0, in: part).amplitude }
      shares.append((tones[0] * tones[0] + tones[1] * tones[1]) / 2 / power)
    }
    let mean = shares.reduce(0, +) / Double(shares.count)
    #expect(abs(mean - 1) < 0.02, "\(mean) of the power is in the tones")
  }

  @Test(arguments: [0.25, 0.5, 0.9, 1.1, 1.5, 2, 3, 4])
  func lengthIsExact(rate: Double) throws {
    for frames in [0, 1, 10, 100, 2_345, 5_000, 14_101] {
      let output = try stretched(Signal.noise(frames: frames), rate: rate)
      #expect(output.count / 2 == Int((Double(frames) / rate).rounded()), "\(frames) at \(rate)")
    }
  }

  @Test func everyFormat() throws {
    for (sampleRate, channels) in [(8_000, 1), (11_025, 2), (48_000, 6), (96_000, 8), (384_000, 2)] {
      let frames = sampleRate / 4
      let tone = Signal.tone(500, frames: frames, sampleRate: sampleRate, channels: channels)
      for rate in [0.5, 2.0] {
        let output = try stretched(tone, rate: rate, sampleRate: sampleRate, channels: channels)
        #expect(output.count / channels == Int(Double(frames) / rate))
        let one = Signal.channel(channels - 1, of: output, channels: channels)
        #expect(one == Signal.channel(0, of: output, channels: channels))
        let inside = one[(sampleRate / 20)..<(one.count - sampleRate / 20)]
        let level = Signal.amplitudeAndPhase(of: 500, in: inside, sampleRate: sampleRate).amplitude
        #expect(abs(decibels(level / 0.5)) < 0.1, "\(sampleRate) Hz, \(channels) channels, rate \(rate)")
      }
    }
  }

  @Test(arguments: [0.3, 0.8, 1.7, 3.3])
  func piecesDoNotMatter(rate: Double) throws {
    let samples = Signal.noise(frames: 20_000, seed: 7)
    let whole = try stretched(samples, rate: rate, writing: 20_000, reading: 80_000)
    for (writing, reading) in [(1, 333), (777, 64), (9_000, 4_096)] {
      #expect(try stretched(samples, rate: rate, writing: writing, reading: reading).bits == whole.bits)
    }
  }

  @Test(arguments: [0.25, 0.5, 1.5, 2, 3])
  func soundsStayAtTheirPlace(rate: Double) throws {
    // A burst every half second, in silence: found again at its time, on average and each.
    let frames = 44_100 * 3
    var samples = [Float](repeating: 0, count: frames * 2)
    let places = Array(stride(from: 11_025, to: frames - 22_050, by: 22_050))
    for place in places {
      for frame in 0..<2_205 {
        let window = 0.5 - 0.5 * cos(2 * .pi * Double(frame) / 2_205)
        let sample = Float(window * 0.5 * sin(2 * .pi * 300 * Double(frame) / 44_100))
        samples[(place + frame - 1_102) * 2] = sample
        samples[(place + frame - 1_102) * 2 + 1] = sample
      }
    }
    let output = Signal.channel(0, of: try stretched(samples, rate: rate))
    for place in places {
      let expected = Int(Double(place) / rate)
      let half = Int(8_000 / rate)
      var (sum, weighted) = (0.0, 0.0)
      for index in max(0, expected - half)..<min(output.count, expected + half) {
        let energy = Double(output[index]) * Double(output[index])
        sum += energy
        weighted += energy * Double(index - expected)
      }
      let milliseconds = weighted / sum * rate / 44.1
      #expect(abs(milliseconds) < 30, "\(milliseconds) ms of media at \(rate)")
    }
  }

  @Test func startAndEndAreTheInputs() throws {
    let samples = Signal.noise(frames: 20_000, seed: 3)
    for rate in [0.5, 1.5, 2] {
      let output = try stretched(samples, rate: rate)
      let isSameStart = output[..<200] == samples[..<200]
      let isSameEnd = output.suffix(200) == samples.suffix(200)
      #expect(isSameStart && isSameEnd, "\(rate)")
    }
  }

  @Test func oppositeChannelsDoNotCancel() throws {
    let tone = Signal.tone(440, frames: 44_100).enumerated().map { $0.offset % 2 == 0 ? $0.element : -$0.element }
    let output = Signal.channel(1, of: try stretched(tone, rate: 1.5))
    let level = Signal.amplitudeAndPhase(of: 440, in: output[4_410..<(output.count - 4_410)]).amplitude
    #expect(abs(decibels(level / 0.5)) < 0.1)
  }

  @Test func whatIsWantedSuffices() throws {
    for rate in [0.25, 0.5, 1.25, 2, 4] {
      let stretcher = try #require(TimeStretcher(sampleRate: 44_100, channels: 2, rate: rate))
      var piece = [Float](repeating: 0, count: 256)
      for _ in 0..<60 {
        let wanted = stretcher.framesWanted
        if wanted > 0 {
          #expect(piece.withUnsafeMutableBufferPointer { stretcher.read(into: $0) } == 0)
          Signal.noise(frames: wanted).withUnsafeBufferPointer { stretcher.write($0) }
          #expect(stretcher.framesWanted == 0)
        }
        #expect(piece.withUnsafeMutableBufferPointer { stretcher.read(into: $0) } > 0)
      }
    }
  }

  @Test func hostileSamples() throws {
    var samples = Signal.noise(frames: 30_000)
    for index in stride(from: 0, to: samples.count, by: 97) {
      samples[index] = [.nan, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude][index % 5]
    }
    for rate in [0.5, 2.0] {
      let output = try stretched(samples, rate: rate)
      #expect(output.count / 2 == Int(30_000 / rate))
    }
    let silence = try stretched([Float](repeating: 0, count: 40_000), rate: 1.5)
    #expect(silence.allSatisfy { $0 == 0 })
    let broken = try stretched([Float](repeating: .nan, count: 40_000), rate: 1.5)
    #expect(broken.allSatisfy { $0 == 0 })
    #expect(TimeStretcher(sampleRate: 44_100, channels: 2, rate: .nan) == nil)
    #expect(TimeStretcher(sampleRate: 44_100, channels: 0, rate: 2) == nil)
    #expect(TimeStretcher(sampleRate: 0, channels: 2, rate: 2) == nil)
  }

  @Test func resetIsLikeNew() throws {
    let stretcher = try #require(TimeStretcher(sampleRate: 44_100, channels: 2, rate: 1.5))
    let samples = Signal.noise(frames: 20_000)
    var runs: [[Float]] = []
    for _ in 0..<2 {
      samples.withUnsafeBufferPointer { stretcher.write($0) }
      stretcher.finish()
      var output = [Float](repeating: 0, count: 40_000)
      let count = output.withUnsafeMutableBufferPointer { stretcher.read(into: $0) }
      runs.append(Array(output[..<(count * 2)]))
      stretcher.reset()
    }
    #expect(runs[0].bits == runs[1].bits)
  }
}
