import AttaccaCore
import Glibc
import Testing

@testable import AttaccaEngine

@Suite struct SoundEqualizerTests {
  /// What an equalizer does to a tone, measured after it has settled.
  private func measuredGain(_ settings: EqualizerSettings, at frequency: Double, sampleRate: Int) -> Double {
    var equalizer = Equalizer(sampleRate: sampleRate, channels: 1, settings: settings)
    let frames = sampleRate / 2
    var samples = Signal.tone(frequency, frames: frames, sampleRate: sampleRate, channels: 1, amplitude: 0.1)
    samples.withUnsafeMutableBufferPointer { equalizer.process($0) }
    return decibels(
      Signal.amplitudeAndPhase(of: frequency, in: samples[(frames / 2)...], sampleRate: sampleRate).amplitude / 0.1)
  }

  @Test(arguments: [44_100, 96_000, 384_000])
  func bandsDoWhatTheySay(rate: Int) {
    for (index, frequency) in EqualizerSettings.frequencies.enumerated() {
      for gain in [-12.0, 3, 12] {
        var gains = [Double](repeating: 0, count: 10)
        gains[index] = gain
        let equalizer = Equalizer(sampleRate: rate, channels: 1, settings: EqualizerSettings(gains))
        func at(_ frequency: Double) -> Double { equalizer.gain(at: frequency, sampleRate: rate) }
        if index > 0, index < 9 {
          #expect(abs(at(frequency) - gain) < 0.01)
          // An octave away little is left, two octaves away next to nothing.
          #expect(abs(at(frequency / 2)) < abs(gain) * 0.45 && abs(at(frequency * 2)) < abs(gain) * 0.45)
          #expect(abs(at(frequency / 4)) < abs(gain) * 0.15)
        } else {
          #expect(abs(at(index == 0 ? 5 : 20_000) - gain) < abs(gain) * 0.12 + 0.05)
          #expect(abs(at(frequency) - gain) < abs(gain) * 0.35)
          #expect(abs(at(index == 0 ? 176 : 2_800)) < abs(gain) * 0.05)
        }
      }
    }
  }

  @Test(arguments: [44_100, 384_000])
  func soundFollowsTheDesign(rate: Int) {
    let settings = EqualizerSettings([6, -3, 4, 0, -6, 2, 0, -12, 3, 5])
    let design = Equalizer(sampleRate: rate, channels: 1, settings: settings)
    for frequency in rate == 44_100 ? EqualizerSettings.frequencies : [31.25, 1_000] {
      let wanted = design.gain(at: frequency, sampleRate: rate)
      let measured = measuredGain(settings, at: frequency, sampleRate: rate)
      #expect(abs(measured - wanted) < 0.1, "\(frequency) Hz: \(measured) instead of \(wanted)")
    }
  }

  @Test func lowBandAtHighRateIsClean() {
    // A 31 Hz boost at 384 kHz of a 1 kHz tone: what is left without the tone is below −120 dBFS.
    let rate = 384_000
    var equalizer = Equalizer(sampleRate: rate, channels: 1, settings: EqualizerSettings([12, 12]))
    var samples = Signal.tone(1_000, frames: rate, sampleRate: rate, channels: 1)
    samples.withUnsafeMutableBufferPointer { equalizer.process($0) }
    let tail = samples[(rate - 38_400)...]
    let (amplitude, phase) = Signal.amplitudeAndPhase(of: 1_000, in: tail, sampleRate: rate)
    let rest = tail.indices.map { index in
      Float(Double(samples[index]) - amplitude * cos(2 * .pi * 1_000 * Double(index) / Double(rate) + phase))
    }
    #expect(decibels(Signal.rms(rest)) < -120, "\(decibels(Signal.rms(rest)))")
  }

  @Test func flatTouchesNothing() {
    var samples = Signal.noise(frames: 1_000) + [.nan, .infinity]
    let before = samples.bits
    var equalizer = Equalizer(sampleRate: 44_100, channels: 2, settings: .flat)
    samples.withUnsafeMutableBufferPointer { equalizer.process($0) }
    #expect(samples.bits == before && equalizer.isFlat)
    // Bands that the rate cannot hold are none.
    #expect(
      Equalizer(sampleRate: 8_000, channels: 1, settings: EqualizerSettings([0, 0, 0, 0, 0, 0, 0, 6, 6, 6])).isFlat)
  }

  @Test(arguments: [1, 2, 3, 6])
  func piecesDoNotMatter(channels: Int) {
    let settings = EqualizerSettings([3, -3, 6, -6, 1, -1, 2, -2, 4, -4])
    let input = Signal.noise(frames: 2_000, channels: channels) + [Float](repeating: 0, count: 3_000 * channels)
    func output(_ piece: Int) -> [UInt32] {
      var equalizer = Equalizer(sampleRate: 48_000, channels: channels, settings: settings)
      var samples = input
      samples.withUnsafeMutableBufferPointer { all in
        for start in stride(from: 0, to: all.count, by: piece * channels) {
          equalizer.process(UnsafeMutableBufferPointer(rebasing: all[start..<min(all.count, start + piece * channels)]))
        }
      }
      return samples.bits
    }
    let whole = output(5_000)
    for piece in [1, 7, 255, 256, 257, 1_024] { #expect(output(piece) == whole) }
  }

  @Test func channelsAreApart() {
    let settings = EqualizerSettings([3, 0, 0, 5, 0, 0, 0, 0, -4])
    let noise = Signal.noise(frames: 1_000, channels: 3)
    var together = noise
    var equalizer = Equalizer(sampleRate: 44_100, channels: 3, settings: settings)
    together.withUnsafeMutableBufferPointer { equalizer.process($0) }
    for channel in 0..<3 {
      var alone = Signal.channel(channel, of: noise, channels: 3)
      var single = Equalizer(sampleRate: 44_100, channels: 1, settings: settings)
      alone.withUnsafeMutableBufferPointer { single.process($0) }
      #expect(alone.bits == Signal.channel(channel, of: together, channels: 3).bits)
    }
  }

  @Test func badSamplesPass() {
    var samples: [Float] = [.nan, 0, .infinity, -.infinity] + [Float](repeating: 0.25, count: 40_000)
    var equalizer = Equalizer(sampleRate: 44_100, channels: 2, settings: EqualizerSettings([0, 6]))
    samples.withUnsafeMutableBufferPointer { equalizer.process($0) }
    #expect(samples.allSatisfy { $0.isFinite })
    // After silence nothing tiny goes on for ever.
    var silence = [Float](repeating: 0, count: 400_000)
    silence.withUnsafeMutableBufferPointer { equalizer.process($0) }
    #expect(silence.suffix(1_000).allSatisfy { $0 == 0 })
  }
}
