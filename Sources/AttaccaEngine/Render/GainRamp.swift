/// A gain that changes along a straight line, so that no change clicks.
struct GainRamp {
  private var start: Int64 = 0
  private var length: Int64 = 1
  private var from: Float
  private(set) var target: Float

  /// A constant gain.
  init(_ gain: Float) {
    from = gain
    target = gain
  }

  /// Goes from the present value to `gain` over `length` frames from `frame` on.
  mutating func go(to gain: Float, at frame: Int64, over length: Int64) {
    from = value(at: frame)
    start = frame
    self.length = max(1, length)
    target = gain
  }

  /// The gain at an output frame.
  func value(at frame: Int64) -> Float {
    if frame <= start { return from }
    if frame >= start + length { return target }
    return from + (target - from) * Float(frame - start) / Float(length)
  }

  /// Applies the gain to `count` interleaved frames that begin at output frame `frame`.
  func apply(to samples: UnsafeMutablePointer<Float>, frame: Int64, count: Int, channels: Int) {
    // Outside the ramp the gain is one number, and mostly 1.
    let end = frame + Int64(count)
    if from == target || frame >= start + length || end <= start {
      let gain = end <= start ? from : target
      if gain != 1 { for index in 0..<(count * channels) { samples[index] *= gain } }
      return
    }
    for index in 0..<count {
      let gain = value(at: frame + Int64(index))
      for channel in 0..<channels { samples[index * channels + channel] *= gain }
    }
  }
}
