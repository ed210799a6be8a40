/// A point on a media's own time line: whole frames at a frame rate, so that nothing is ever rounded while counting.
public struct MediaTime: Sendable, Hashable {
  /// Frames from the start of what is to be played (encoder delay is not counted).
  public var frames: Int64
  /// Frames per second, 1 … 2^31 − 1.
  public private(set) var rate: Int

  /// Makes a time of `frames` at `rate` frames per second (clamped to what a rate can be).
  public init(frames: Int64, rate: Int) {
    self.frames = frames
    self.rate = clampedRate(rate)
  }

  /// The time nearest to `duration`, to the frame.
  public init(_ duration: Duration, rate: Int) {
    self.init(frames: duration.frames(at: rate), rate: rate)
  }

  /// The exact time, to the attosecond (cut off towards zero).
  public var duration: Duration {
    let (seconds, rest) = frames.quotientAndRemainder(dividingBy: Int64(rate))
    // rest < rate < 2^31, so the product needs up to 91 bits; split it to stay within 64.
    let nanoseconds = rest * 1_000_000_000 / Int64(rate)
    let remainder = rest * 1_000_000_000 % Int64(rate)
    let attoseconds = nanoseconds * 1_000_000_000 + remainder * 1_000_000_000 / Int64(rate)
    return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
  }
}

extension Duration {
  /// The number of frames at `rate` (clamped to 1 … 2^31 − 1) nearest to this duration, halves away from zero; what an
  /// `Int64` cannot hold becomes its nearest value.
  public func frames(at rate: Int) -> Int64 { units(UInt64(clampedRate(rate))) }

  /// Whole microseconds, rounded to the nearest: the unit of times in JSON and on the bus.
  public var microseconds: Int64 { units(1_000_000) }

  private func units(_ perSecond: UInt64) -> Int64 {
    let (seconds, attoseconds) = components
    let isNegative = seconds < 0 || attoseconds < 0
    // Below one second: attoseconds < 10^18, so the quotient is below `perSecond` and cannot overflow.
    let product = attoseconds.magnitude.multipliedFullWidth(by: perSecond)
    let (part, remainder) = UInt64(1_000_000_000_000_000_000).dividingFullWidth(product)
    let fraction = part + (remainder >= 500_000_000_000_000_000 ? 1 : 0)
    let (whole, isTooLarge) = seconds.magnitude.multipliedReportingOverflow(by: perSecond)
    let (sum, isTooLargeToo) = whole.addingReportingOverflow(fraction)
    guard !isTooLarge, !isTooLargeToo, let result = Int64(exactly: sum) else { return isNegative ? .min : .max }
    return isNegative ? -result : result
  }
}

private func clampedRate(_ rate: Int) -> Int { min(max(1, rate), Int(Int32.max)) }
