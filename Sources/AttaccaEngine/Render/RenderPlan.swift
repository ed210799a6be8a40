/// The render timeline's one half: which part of the output stream shows which part of the program. (The program's
/// segments are the other half: which part of it is which media.) Frames of output and of program are both absolute.
///
/// Everything that tells time (positions, boundaries, history) reads it at the frame now leaving the output.
struct RenderPlan {
  /// What a stretch of output is made of.
  enum Content {
    /// Program frames from this index on.
    case program(from: Int64)
    /// Ready-made frames (a fade). `position` is the program index of its first frame; it moves on while the block is
    /// heard unless the sound is on its way to being held.
    case block([Float], position: Int64, advances: Bool)
    /// Silence, while the position stands at this program index; `count` frames of it, or (as the last) without end.
    case silence(position: Int64, count: Int64? = nil)
  }

  struct Span {
    /// The first output frame.
    var start: Int64
    var content: Content
  }

  /// In order; each ends where the next begins, the last is open.
  private(set) var spans: [Span] = []

  /// Where a program position is and whether it moves.
  struct Place: Equatable {
    var index: Int64
    var advances: Bool
  }

  /// Everything from `frame` on is `contents`, one after another; the last is open.
  mutating func replace(from frame: Int64, with contents: [Content], channels: Int) {
    spans.removeAll { $0.start >= frame }
    var start = frame
    for content in contents {
      spans.append(Span(start: start, content: content))
      switch content {
      case .block(let samples, _, _): start += Int64(samples.count / channels)
      case .silence(_, let count): start += count ?? 0
      case .program: break
      }
    }
  }

  /// Where the program stands at an output frame; `nil` before the first span.
  func place(at frame: Int64) -> Place? {
    guard let span = spans.last(where: { $0.start <= frame }) else { return nil }
    switch span.content {
    case .program(let from): return Place(index: from + frame - span.start, advances: true)
    case .silence(let position, _): return Place(index: position, advances: false)
    case .block(_, let position, let advances):
      return Place(index: advances ? position + frame - span.start : position, advances: advances)
    }
  }

  /// The output frame at which a program index is heard, as far as sound runs on in the open last span.
  func frame(ofProgram index: Int64) -> Int64? {
    guard let last = spans.last, case .program(let from) = last.content else { return nil }
    return last.start + index - from
  }

  /// Spans wholly before `frame` are forgotten.
  mutating func forget(before frame: Int64) {
    while spans.count > 1, spans[1].start <= frame { spans.removeFirst() }
  }
}
