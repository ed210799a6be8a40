/// Balance and mono: how much of each side is heard.
struct ChannelMixer {
  private let channels: Int
  private let left: Float
  private let right: Float
  private let isMono: Bool

  /// Makes a mixer for frames in WAVEFORMATEX order (FL FR FC LFE BL BR SL SR).
  ///
  /// - Parameter balance: −1 (left only) … 0 … 1 (right only); what is not a number means 0.
  init(channels: Int, balance: Double, isMono: Bool) {
    self.channels = max(1, channels)
    self.isMono = isMono && channels > 1
    let balance = balance.isNaN ? 0 : min(max(balance, -1), 1)
    left = Float(1 - max(0, balance))
    right = Float(1 + min(0, balance))
  }

  /// Whether samples pass untouched.
  var isNeutral: Bool { !isMono && (channels < 2 || (left == 1 && right == 1)) }

  /// Mixes interleaved samples in place.
  ///
  /// Mono is the mean of all channels but the low-frequency one, heard from all of them; of stereo, half the sum.
  /// Balance then turns the opposite side down; what is in the middle stays.
  func process(_ samples: UnsafeMutableBufferPointer<Float>) {
    guard !isNeutral, var frame = samples.baseAddress else { return }
    let low = Self.lowFrequencyChannel(of: channels)
    let share = 1 / Float(low == nil ? channels : channels - 1)
    for _ in 0..<(samples.count / channels) {
      if isMono {
        var sum: Float = 0
        for channel in 0..<channels where channel != low { sum += frame[channel] }
        for channel in 0..<channels where channel != low { frame[channel] = sum * share }
      }
      for channel in 0..<channels {
        switch Self.side(of: channel, channels: channels) {
        case -1: frame[channel] *= left
        case 1: frame[channel] *= right
        default: break
        }
      }
      frame += channels
    }
  }

  /// The low-frequency channel of FFmpeg's default layout: 2.1 has it third, 5.1 and above fourth.
  private static func lowFrequencyChannel(of channels: Int) -> Int? {
    switch channels {
    case 3: 2
    case 6, 7, 8: 3
    default: nil
    }
  }

  /// −1 for a channel at the left, 1 at the right, 0 in the middle.
  private static func side(of channel: Int, channels: Int) -> Int {
    let middles: [Int] =
      switch channels {
      case 1: [0]
      case 3: [2]
      case 4: [2, 3]
      case 5: [2]
      case 6: [2, 3]
      case 7: [2, 3, 4]
      default: channels >= 8 ? [2, 3] : []
      }
    if middles.contains(channel) { return 0 }
    // Sides come in pairs, left first; the middles before a channel shift them.
    let before = middles.filter { $0 < channel }.count
    return (channel - before) % 2 == 0 ? -1 : 1
  }
}
