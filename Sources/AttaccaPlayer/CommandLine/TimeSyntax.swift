/// Reads a time as typed: seconds, `m:s` or `h:m:s`, the seconds with an optional fraction (`90`, `1:30.5`,
/// `1:02:03.250`).
///
/// After a colon, minutes and seconds are below 60. At most nine places of the fraction count. `nil` for anything
/// else, and for more than about 10 million years.
func parseTime(_ text: [UInt8]) -> Duration? {
  let halves = text.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
  guard let whole = halves.first else { return nil }
  let fields = whole.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
  guard (1...3).contains(fields.count) else { return nil }

  var seconds: Int64 = 0
  for (index, field) in fields.enumerated() {
    // 14 digits of seconds, or of hours times 3,600, stay far within 64 bits.
    guard !field.isEmpty, field.count <= 14, field.allSatisfy(isDigit) else { return nil }
    let value = field.reduce(into: Int64(0)) { $0 = $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    if index > 0, field.count > 2 || value > 59 { return nil }
    seconds = seconds * 60 + value
  }
  guard halves.count > 1 else { return .seconds(seconds) }

  let fraction = halves[1]
  guard !fraction.isEmpty, fraction.allSatisfy(isDigit) else { return nil }
  var nanoseconds: Int64 = 0
  for place in 0..<9 {
    let digit = place < fraction.count ? Int64(fraction[fraction.startIndex + place] - UInt8(ascii: "0")) : 0
    nanoseconds = nanoseconds * 10 + digit
  }
  return .seconds(seconds) + .nanoseconds(nanoseconds)
}

/// Whether a byte is one of `0`…`9`.
func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
