/// Makes text from outside fit for a terminal, a log or the bus: the one place where this is decided.
///
/// C0 controls (with TAB, LF, CR as one space), DEL, C1 controls (U+0080–9F), bidirectional overrides and isolates
/// (U+202A–E, U+2066–9, U+200E/F, U+061C) and the line and paragraph separators are taken out; bad UTF-8 cannot get here, because Swift's
/// `String(decoding:)` has repaired it.
public func sanitized(_ text: String) -> String {
  guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
  var result = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D, 0x2028, 0x2029: result.append(" ")
    case _ where isUnsafe(scalar): continue
    default: result.append(scalar)
    }
  }
  return String(result)
}

private func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
  default: false
  }
}
