/// A time for display, the same in every locale: `0:07`, `12:34`, `1:02:03`; a negative time has a leading minus sign.
///
/// Fractions of a second are cut off, so that a position never shows a second that has not been reached.
public func formatTime(_ time: Duration) -> String {
  let seconds = time.components.seconds
  let magnitude = seconds.magnitude
  let sign = seconds < 0 ? "-" : ""
  func two(_ value: UInt64) -> String { value < 10 ? "0\(value)" : "\(value)" }
  let (hours, minutes, rest) = (magnitude / 3600, magnitude / 60 % 60, magnitude % 60)
  return hours > 0 ? "\(sign)\(hours):\(two(minutes)):\(two(rest))" : "\(sign)\(minutes):\(two(rest))"
}
