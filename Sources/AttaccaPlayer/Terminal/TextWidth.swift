/// How many columns of a terminal a text takes.
///
/// The sum over its scalars of what `wcwidth` answers under Unicode 15 (UAX #11: wide and full-width are 2, combining
/// and format characters 0). A terminal that joins emoji shows less than that, never more, so a line cut by this
/// measure never wraps.
func columns(_ text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + columns($1) } }

/// Cuts a text to at most `limit` columns; what was cut is marked with an ellipsis.
func truncated(_ text: String, to limit: Int, unicode: Bool = true) -> String {
  guard columns(text) > limit else { return text }
  let mark = unicode ? "…" : "..."
  guard limit >= mark.count else { return String(repeating: ".", count: max(0, limit)) }
  var result = ""
  var rest = limit - mark.count
  // By characters, so that no accent is torn off its letter.
  for character in text {
    let width = columns(String(character))
    if width > rest { break }
    rest -= width
    result.append(character)
  }
  return result + mark
}

/// The text for a terminal of another character set: typographic signs become plain ones, all else that is not ASCII
/// becomes `?`.
func asciiOnly(_ text: String) -> String {
  var result = ""
  for character in text {
    switch character {
    case "–", "—", "·": result += "-"
    case "…": result += "..."
    case "‘", "’": result += "'"
    case "“", "”": result += "\""
    default: result.append(character.isASCII ? character : "?")
    }
  }
  return result
}

private func columns(_ scalar: Unicode.Scalar) -> Int {
  let value = scalar.value
  if value < 0x300 { return value < 0x20 || (0x7F..<0xA0).contains(value) ? 0 : 1 }
  // Vowels and finals of Hangul syllables join the consonant before them.
  if (0x1160...0x11FF).contains(value) { return 0 }
  // An emoji selector makes a narrow sign wide on terminals that know it.
  if value == 0xFE0F { return 1 }
  switch scalar.properties.generalCategory {
  case .nonspacingMark, .enclosingMark, .format, .lineSeparator, .paragraphSeparator: return 0
  default: break
  }
  if wideRanges.contains(where: { $0.contains(value) }) { return 2 }
  // Flags are pairs of regional indicators of one column each.
  return scalar.properties.isEmojiPresentation && !(0x1F1E6...0x1F1FF).contains(value) ? 2 : 1
}

/// East Asian Width W and F beyond the emoji (EastAsianWidth.txt, neighbouring ranges joined over unassigned ones).
private let wideRanges: [ClosedRange<UInt32>] = [
  0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF,
  0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
  0xFFE0...0xFFE6, 0x16FE0...0x18D08, 0x1AFF0...0x1B2FB, 0x1F200...0x1F265, 0x20000...0x3FFFD,
]
