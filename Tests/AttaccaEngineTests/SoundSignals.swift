import Glibc

/// Test signals and what is measured on them.
enum Signal {
  /// A sine of `frequency`, the same in every channel.
  static func tone(
    _ frequency: Double, frames: Int, sampleRate: Int = 44_100, channels: Int = 2, amplitude: Double = 0.5
  ) -> [Float] {
    (0..<frames).flatMap { frame in
      let sample = Float(amplitude * sin(2 * .pi * frequency * Double(frame) / Double(sampleRate)))
      return repeatElement(sample, count: channels)
    }
  }

  /// White noise from a seed, each channel its own.
  static func noise(frames: Int, channels: Int = 2, seed: UInt64 = 1, amplitude: Float = 0.5) -> [Float] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<(frames * channels)).map { _ in
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return (Float(state >> 40) / Float(1 << 23) - 1) * amplitude
    }
  }

  /// One channel of interleaved samples.
  static func channel(_ index: Int, of samples: [Float], channels: Int = 2) -> [Float] {
    stride(from: index, to: samples.count, by: channels).map { samples[$0] }
  }

  /// The amplitude and phase of the tone of `frequency` in one channel's samples.
  static func amplitudeAndPhase(
    of frequency: Double, in samples: ArraySlice<Float>, sampleRate: Int = 44_100
  ) -> (amplitude: Double, phase: Double) {
    var (re, im, weights) = (0.0, 0.0, 0.0)
    let count = Double(samples.count)
    for (offset, index) in samples.indices.enumerated() {
      let weight = 0.5 - 0.5 * cos(2 * .pi * (Double(offset) + 0.5) / count)
      let angle = 2 * .pi * frequency * Double(index) / Double(sampleRate)
      re += Double(samples[index]) * cos(angle) * weight
      im -= Double(samples[index]) * sin(angle) * weight
      weights += weight
    }
    return (2 * (re * re + im * im).squareRoot() / weights, atan2(im, re))
  }

  /// The frequency of the strongest tone near `frequency`, by the turn of its phase between blocks.
  static func frequency(near frequency: Double, in samples: [Float], sampleRate: Int = 44_100) -> Double {
    let block = sampleRate / 50
    var (turn, last, blocks) = (0.0, 0.0, 0)
    for start in stride(from: 0, through: samples.count - block, by: block) {
      let phase = amplitudeAndPhase(of: frequency, in: samples[start..<(start + block)], sampleRate: sampleRate).phase
      if blocks > 0 {
        var step = phase - last
        if step > .pi { step -= 2 * .pi }
        if step < -.pi { step += 2 * .pi }
        turn += step
      }
      last = phase
      blocks += 1
    }
    let seconds = Double((blocks - 1) * block) / Double(sampleRate)
    return frequency + turn / (2 * .pi) / seconds
  }

  /// Root mean square.
  static func rms(_ samples: some Collection<Float>) -> Double {
    (samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(max(1, samples.count))).squareRoot()
  }
}

/// Decibels of a ratio of amplitudes.
func decibels(_ ratio: Double) -> Double { 20 * log10(ratio) }

extension [Float] {
  /// The bits of each sample, to compare exactly.
  var bits: [UInt32] { map(\.bitPattern) }
}
