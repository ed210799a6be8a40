/// Makes text from outside fit for a terminal, a log or the bus: the one place where this is decided.
///
/// Line breaks, tabs and the line and paragraph separators become one space each (CR LF one together). Taken out are:
/// the other C0 controls, DEL and C1 controls (a terminal obeys them), bidirectional marks, embeddings, overrides and
/// isolates (they make a name read as another), interlinear annotation and the invisible operators and tags (they hide
/// text), the byte order mark and noncharacters (a bus may refuse them). Joiners and variation selectors stay, which
/// emoji and several scripts are made with. Bad UTF-8 cannot get here, because Swift's `String(decoding:)` has repaired
/// it. O(length); text that is fit already is given back as it is.
public func sanitized(_ text: String) -> String {
  // Most text is plain ASCII.
  if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
  guard text.unicodeScalars.contains(where: isUnsafeForDisplay) else { return text }
  var result = String.UnicodeScalarView()
  var follows: UInt32 = 0
  for scalar in text.unicodeScalars {
    switch scalar.value {
    case 0x0A where follows == 0x0D: break
    case 0x09, 0x0A, 0x0D, 0x85, 0x2028, 0x2029: result.append(" ")
    case _ where isUnsafeForDisplay(scalar): break
    default: result.append(scalar)
    }
    follows = scalar.value
  }
  return String(result)
}

/// Whether a scalar must not reach a terminal, a log or the bus as it is.
func isUnsafeForDisplay(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0...0x1F, 0x7F...0x9F: true  // C0, DEL, C1
  case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true  // bidirectional controls
  case 0x2028, 0x2029: true  // line and paragraph separators
  case 0x2060...0x2065, 0x206A...0x206F: true  // invisible operators, deprecated format characters
  case 0xFEFF, 0xFFF9...0xFFFB: true  // byte order mark, interlinear annotation
  case 0xFDD0...0xFDEF: true  // noncharacters
  case 0xE0000...0xE007F: true  // tags
  case let value: value & 0xFFFE == 0xFFFE  // noncharacters at the end of each plane
  }
}
