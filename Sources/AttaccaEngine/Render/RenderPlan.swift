/// The render timeline's one half: which part of the output stream shows which part of the program. (The program's
/// segments are the other half: which part of it is which media.) Frames of output and of program are both absolute.
///
/// Everything that tells time (positions, boundaries, history) reads it at the frame now leaving the output.
struct RenderPlan {
  /// What a stretch of output is made of.
  enum Content {
    /// The program, as it passes.
    case program(Passage)
    /// Ready-made frames (a fade) in place of the program's.
    case block([Float], Motion)
    /// Silence, while the position stands at this program index; `count` frames of it, or (as the last) without end.
    case silence(position: Int64, count: Int64? = nil)
  }

  /// Whether the position moves on while a block is heard.
  enum Motion {
    /// The sound is on its way to being held at this program index.
    case stands(Int64)
    /// As the program would pass.
    case moves(Passage)
  }

  struct Span {
    /// The first output frame.
    var start: Int64
    var content: Content
  }

  /// In order; each ends where the next begins, the last is open.
  private(set) var spans: [Span] = []

  /// Where a program position is and how fast it moves, in program frames per output frame (0: it stands).
  struct Place: Equatable {
    var index: Int64
    var speed: Double
    var advances: Bool { speed > 0 }
  }

  /// Everything from `frame` on is `contents`, one after another; the last is open.
  mutating func replace(from frame: Int64, with contents: [Content], channels: Int) {
    spans.removeAll { $0.start >= frame }
    var start = frame
    for content in contents {
      spans.append(Span(start: start, content: content))
      switch content {
      case .block(let samples, _): start += Int64(samples.count / channels)
      case .silence(_, let count): start += count ?? 0
      case .program: break
      }
    }
  }

  /// Where the program stands at an output frame; `nil` before the first span.
  func place(at frame: Int64) -> Place? {
    guard let span = spans.last(where: { $0.start <= frame }) else { return nil }
    switch span.content {
    case .program(let passage), .block(_, .moves(let passage)):
      return Place(index: passage.index(at: frame), speed: passage.rate.value)
    case .silence(let position, _), .block(_, .stands(let position)): return Place(index: position, speed: 0)
    }
  }

  /// The passage of the open last span, when that is sound.
  var passage: Passage? {
    guard case .program(let passage)? = spans.last?.content else { return nil }
    return passage
  }

  /// The last span leaves out program frames.
  mutating func add(_ jump: Passage.Jump) {
    guard let last = spans.indices.last, case .program(var passage) = spans[last].content else { return }
    passage.add(jump)
    spans[last].content = .program(passage)
  }

  /// The output frame at which a program index is heard, as far as sound runs on in the open last span.
  func frame(ofProgram index: Int64) -> Int64? { passage?.frame(of: index) }

  /// Spans wholly before `frame` are forgotten.
  mutating func forget(before frame: Int64) {
    while spans.count > 1, spans[1].start <= frame { spans.removeFirst() }
  }
}
