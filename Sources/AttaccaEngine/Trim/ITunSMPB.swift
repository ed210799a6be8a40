/// The gapless comment that iTunes and its kin write: hexadecimal numbers apart by spaces, the second the encoder's
/// delay, the third its padding, the fourth the count of frames of the music.
package struct ITunSMPB: Sendable, Hashable {
  /// Frames the encoder put before the music.
  package var delay: Int64
  /// Frames the encoder put after the music.
  package var padding: Int64
  /// Frames of the music; at least one.
  package var total: Int64

  /// Parses the comment's text; `nil` when it is not of that form or its numbers cannot be meant.
  package init?(_ text: [UInt8]) {
    let fields = text.prefix(512).split { $0 == UInt8(ascii: " ") || $0 == 0 || $0 == 9 || $0 == 10 || $0 == 13 }
    guard fields.count >= 4, Self.number(fields[0]) != nil, let delay = Self.number(fields[1]),
      let padding = Self.number(fields[2]), let total = Self.number(fields[3]),
      // Encoders' delays are some thousand frames; a stream of 2⁴⁸ frames plays for two hundred years.
      delay <= 1 << 20, padding <= 1 << 20, total > 0, total <= 1 << 48
    else { return nil }
    self.delay = delay
    self.padding = padding
    self.total = total
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    guard digits.count <= 16 else { return nil }
    var value: UInt64 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt64(digit - UInt8(ascii: "A") + 10)
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return Int64(exactly: value)
  }
}
