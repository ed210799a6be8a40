/// A point on a media's own time line: whole frames at a frame rate, so that nothing is ever rounded while counting.
public struct MediaTime: Sendable, Hashable {
  /// Frames from the start of what is to be played (encoder delay is not counted).
  public var frames: Int64
  /// Frames per second.
  public var rate: Int

  /// Makes a time of `frames` at `rate` frames per second.
  public init(frames: Int64, rate: Int) {
    self.frames = frames
    self.rate = max(1, rate)
  }

  /// The time nearest to `duration`, to the frame.
  public init(_ duration: Duration, rate: Int) {
    self.init(frames: duration.frames(at: rate), rate: rate)
  }

  /// The exact time, to the attosecond (rounded down).
  public var duration: Duration {
    let (seconds, rest) = frames.quotientAndRemainder(dividingBy: Int64(rate))
    // rest < rate ≤ 2^31, so the product needs up to 91 bits; split it to stay within 64.
    let nanoseconds = rest * 1_000_000_000 / Int64(rate)
    let remainder = rest * 1_000_000_000 % Int64(rate)
    let attoseconds = nanoseconds * 1_000_000_000 + remainder * 1_000_000_000 / Int64(rate)
    return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
  }
}

extension Duration {
  /// The number of frames at `rate` nearest to this duration.
  public func frames(at rate: Int) -> Int64 {
    let (seconds, attoseconds) = components
    let nanoseconds = attoseconds / 1_000_000_000
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: Int64(rate))
    if overflow { return seconds < 0 ? .min / 4 : .max / 4 }
    let half: Int64 = nanoseconds < 0 ? -500_000_000 : 500_000_000
    return whole + (nanoseconds * Int64(rate) + half) / 1_000_000_000
  }

  /// Whole microseconds, rounded to the nearest: the unit of times in JSON and on the bus.
  public var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    if overflow { return seconds < 0 ? .min : .max }
    let half: Int64 = attoseconds < 0 ? -500_000_000_000 : 500_000_000_000
    return whole + (attoseconds + half) / 1_000_000_000_000
  }
}
