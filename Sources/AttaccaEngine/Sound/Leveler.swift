import Glibc

/// Brings quiet and loud voices to about −18 LUFS, slowly: at most 12 dB up or down, down faster than up.
///
/// Loudness is the power of all channels over 50 ms (BS.1770 without its weighting, which matters little for voices),
/// smoothed. What is below −50 LUFS is a pause and changes nothing, so noise is not pulled up. The gain goes in straight
/// lines; boosted peaks are the limiter's work. How the input is cut into pieces makes no difference to a single bit.
struct Leveler {
  private let channels: Int
  private let block: Int
  private let weight: Double
  private var power = 0.0
  private var position = 0
  /// The smoothed loudness, in LUFS.
  private var loudness = Self.target
  private var from: Float = 1
  private var to: Float = 1

  private static let target = -18.0
  private static let gate = -50.0
  private static let greatestGain = 12.0
  private static let blockLength = 0.05
  /// Seconds to about two thirds of a change.
  private static let louder = 0.25
  private static let quieter = 0.8

  /// Makes a leveler at a gain of 1.
  init(sampleRate: Int, channels: Int) {
    self.channels = max(1, channels)
    block = max(1, Int(Double(max(1, sampleRate)) * Self.blockLength))
    // One channel is heard from two sides.
    weight = channels == 1 ? 2 : 1
  }

  /// The gain at this moment, linear.
  var gain: Float { from + (to - from) * Float(position) / Float(block) }

  /// Levels interleaved samples in place.
  mutating func process(_ samples: UnsafeMutableBufferPointer<Float>) {
    guard var frame = samples.baseAddress else { return }
    for _ in 0..<(samples.count / channels) {
      let gain = self.gain
      for channel in 0..<channels {
        let sample = frame[channel].magnitude < .infinity ? frame[channel] : 0
        power += Double(sample) * Double(sample)
        frame[channel] = sample * gain
      }
      frame += channels
      position += 1
      if position == block { endBlock() }
    }
  }

  private mutating func endBlock() {
    let momentary = -0.691 + 10 * log10(power * weight / Double(block) + 1e-30)
    (power, position) = (0, 0)
    from = to
    guard momentary > Self.gate else { return }
    let time = momentary > loudness ? Self.louder : Self.quieter
    loudness += (momentary - loudness) * (1 - exp(-Self.blockLength / time))
    let decibels = min(max(Self.target - loudness, -Self.greatestGain), Self.greatestGain)
    to = Float(pow(10, decibels / 20))
  }
}
