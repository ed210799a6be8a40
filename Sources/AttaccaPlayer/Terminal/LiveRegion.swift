/// The lines at the end of the scroll-back that are drawn again and again. Makes the bytes to send; draws nothing.
///
/// The cursor rests at the end of the last line. Nothing is ever drawn above the first, so the scroll-back stays as it
/// is; whatever is to stay is printed in the region's place, and the region is drawn anew below.
struct LiveRegion {
  private var drawn: [StyledLine] = []
  /// Whether bold and dim are used.
  var styled: Bool

  init(styled: Bool) { self.styled = styled }

  /// Whether these lines are what is on the screen.
  func shows(_ lines: [StyledLine]) -> Bool { lines == drawn }

  /// Replaces what is drawn by `lines`, on a terminal now `columns` wide.
  mutating func draw(_ lines: [StyledLine], columns: Int) -> String {
    // Overwriting line by line, and erasing only what is left over, does not flicker.
    var bytes = toFirstLine(columns: columns)
    bytes += lines.map { $0.rendered(styled: styled) + "\u{1B}[K" }.joined(separator: "\r\n")
    if drawn.count > lines.count || rows(columns: columns) > lines.count { bytes += "\u{1B}[J" }
    drawn = lines
    return bytes
  }

  /// Takes the region away; the cursor stands where it began.
  mutating func erase(columns: Int) -> String {
    guard !drawn.isEmpty else { return "" }
    let bytes = toFirstLine(columns: columns) + "\u{1B}[J"
    drawn = []
    return bytes
  }

  /// What is on the screen is not ours any more: the next drawing begins on the cursor's line.
  mutating func forget() { drawn = [] }

  private func toFirstLine(columns: Int) -> String {
    let up = rows(columns: columns) - 1
    return up > 0 ? "\r\u{1B}[\(up)A" : "\r"
  }

  /// Screen rows the drawn lines take. A terminal that became narrower has wrapped them (nearly all do).
  private func rows(columns: Int) -> Int {
    drawn.reduce(0) { $0 + max(1, ($1.width + columns - 1) / max(1, columns)) }
  }
}
