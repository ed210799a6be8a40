import AttaccaCore

/// A line of the terminal in parts, so that its width is known before any escape sequence is added.
struct StyledLine: Equatable {
  enum Emphasis { case normal, bold, dim }
  struct Part: Equatable {
    var text: String
    var emphasis: Emphasis
  }
  private(set) var parts: [Part] = []

  /// The text without styles.
  var text: String { parts.map(\.text).joined() }
  /// Columns it takes.
  var width: Int { parts.reduce(0) { $0 + columns($1.text) } }

  init(_ text: String = "", _ emphasis: Emphasis = .normal) { append(text, emphasis) }

  /// Adds text at the end.
  mutating func append(_ text: String, _ emphasis: Emphasis = .normal) {
    if !text.isEmpty { parts.append(Part(text: text, emphasis: emphasis)) }
  }

  /// Adds text at the end, cut so that the line takes at most `limit` columns.
  mutating func append(_ text: String, _ emphasis: Emphasis = .normal, limit: Int, unicode: Bool) {
    append(truncated(text, to: max(0, limit - width), unicode: unicode), emphasis)
  }

  /// The text with SGR sequences (ECMA-48 §8.3.117) if `styled`.
  func rendered(styled: Bool) -> String {
    guard styled else { return text }
    return parts.map { part in
      switch part.emphasis {
      case .normal: part.text
      case .bold: "\u{1B}[1m\(part.text)\u{1B}[0m"
      case .dim: "\u{1B}[2m\(part.text)\u{1B}[0m"
      }
    }.joined()
  }
}

/// What the terminal shows of a player: made anew from a snapshot, without memory.
struct StatusLine {
  /// Columns of the terminal; the last one stays free, because some terminals wrap when it is written.
  var columns: Int
  /// Whether the terminal shows Unicode; else everything is ASCII.
  var unicode: Bool

  /// What is playing, and where it stands; empty while there is nothing to show.
  func lines(_ snapshot: PlayerSnapshot, at now: Duration) -> [StyledLine] {
    guard snapshot.entry != nil, columns > 1 else { return [] }
    return [titleLine(snapshot), positionLine(snapshot, at: now)]
  }

  /// A line of its own, such as the keys.
  func note(_ text: String) -> StyledLine {
    var line = StyledLine()
    line.append(plain(text), .dim, limit: columns - 1, unicode: unicode)
    return line
  }

  private func plain(_ text: String) -> String { unicode ? text : asciiOnly(text) }

  private func titleLine(_ snapshot: PlayerSnapshot) -> StyledLine {
    let limit = columns - 1
    var line = StyledLine()
    line.append(symbol(snapshot.status) + " ", limit: limit, unicode: unicode)
    line.append(plain(snapshot.title ?? ""), .bold, limit: limit, unicode: unicode)
    let dot = unicode ? " · " : " - "
    for more in [snapshot.artists.joined(separator: ", "), snapshot.album ?? ""] where !more.isEmpty {
      // Not a stroke of something that has no room.
      guard line.width + dot.count + 3 <= limit else { break }
      line.append(dot + plain(more), .dim, limit: limit, unicode: unicode)
    }
    return line
  }

  private func positionLine(_ snapshot: PlayerSnapshot, at now: Duration) -> StyledLine {
    // Whole seconds, also for the bar: so a line changes once in a second.
    let position = Duration.seconds(snapshot.position(at: now)?.components.seconds ?? 0)
    let duration = snapshot.duration.flatMap { $0.value > .zero ? $0 : nil }
    let total = duration.map { ($0.confidence == .exact ? "" : "~") + formatTime($0.value) }
    let start = "  \(formatTime(duration.map { min(position, $0.value) } ?? position))"

    // What has no room goes, the least needed first; the bar goes before the position does.
    var details = self.details(snapshot)
    while true {
      let end = ([total].compactMap(\.self) + details).map { "  \($0)" }.joined().dropFirst(total == nil ? 0 : 1)
      let room = columns - 1 - start.count - end.count - 1
      if let duration, room >= 12 {
        var line = StyledLine(start + " ")
        line.append(bar(position, of: duration.value, cells: min(room, 62) - 2))
        line.append(String(end), .dim)
        return line
      }
      if details.isEmpty || duration == nil && room >= 0 { break }
      details.removeLast()
    }
    var line = StyledLine()
    line.append(start + (total.map { " / \($0)" } ?? ""), limit: columns - 1, unicode: unicode)
    for detail in details { line.append("  \(detail)", .dim, limit: columns - 1, unicode: unicode) }
    return line
  }

  /// What stands behind the bar, the most needed first.
  private func details(_ snapshot: PlayerSnapshot) -> [String] {
    var details: [String] = []
    switch snapshot.status {
    case .waiting(let reason): details.append(Self.word(reason))
    case .paused(.interruption): details.append("interrupted")
    case .paused(.routeLost): details.append("device gone")
    case .paused(.systemSleep): details.append("asleep")
    default: break
    }
    if snapshot.rate != 1 { details.append("\(formatRate(snapshot.rate))x") }
    if let index = snapshot.queueIndex, snapshot.queueCount > 1 {
      details.append("\(index + 1)/\(snapshot.queueCount)")
    }
    details.append(
      snapshot.sound.isBitPerfect
        ? "bit-perfect" : snapshot.isMuted ? "muted" : "vol \(Int((snapshot.volume * 100).rounded()))%")
    if snapshot.repeatMode != .off { details.append("repeat \(snapshot.repeatMode.rawValue)") }
    return details
  }

  /// A rate with at most two places: 1.5, 0.95.
  private func formatRate(_ rate: Double) -> String {
    let hundredths = Int((rate * 100).rounded())
    let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
    if rest == 0 { return "\(whole)" }
    return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
  }

  private static func word(_ reason: PlayerStatus.WaitReason) -> String {
    switch reason {
    case .opening: "opening"
    case .stalled: "waiting for data"
    case .outputLost: "no output"
    case .seeking: "seeking"
    }
  }

  private func symbol(_ status: PlayerStatus) -> String {
    switch status {
    case .playing: unicode ? "▶" : ">"
    case .paused: unicode ? "⏸" : "="
    case .waiting: unicode ? "…" : "."
    case .stopped: unicode ? "⏹" : "#"
    case .failed: unicode ? "✗" : "!"
    }
  }

  /// A bar of `cells` columns and two ends; in Unicode it moves by eighths of a cell.
  private func bar(_ position: Duration, of total: Duration, cells: Int) -> String {
    let fraction = min(1, max(0, position / total))
    guard unicode else {
      let done = Int(fraction * Double(cells))
      return "[" + String(repeating: "=", count: done) + String(repeating: " ", count: cells - done) + "]"
    }
    let eighths = Int(fraction * Double(cells * 8))
    let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
    let done = eighths / 8 + (partial.isEmpty ? 0 : 1)
    let (full, rest) = (String(repeating: "█", count: eighths / 8), String(repeating: " ", count: cells - done))
    return "│\(full)\(partial)\(rest)│"
  }
}
