/// A chapter as a file tells it: it may overlap others, lie outside the media or have no end.
public struct Chapter: Sendable, Hashable {
  /// Where it begins, in media time.
  public var start: Duration
  /// Where it ends (the first moment that is not of it); `nil` when the file does not say.
  public var end: Duration?
  /// Its title, sanitised; `nil` for none.
  public var title: String?

  /// Makes a chapter; `title` is sanitised here, an empty one is none.
  public init(start: Duration, end: Duration? = nil, title: String? = nil) {
    self.start = start
    self.end = end
    self.title = title.map(sanitized).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Whether a moment is of this chapter; its end is not.
  public func contains(_ position: Duration) -> Bool { position >= start && end.map { position < $0 } ?? true }
}

extension Sequence<Chapter> {
  /// The chapters as a listener may use them: in order, half open, none over another, none empty, all within the media.
  ///
  /// - Where two overlap the earlier one ends when the later begins, so that a boundary belongs to the later; of several
  ///   that begin together the last one stays.
  /// - An end that is missing, or not after the start, becomes the next one's start or the media's end (`nil` when its
  ///   duration is not known).
  /// - What lies outside is dropped, what reaches out is cut. A gap stays a gap.
  ///
  /// - Parameter duration: the media's, if it is known.
  public func normalizedChapters(duration: Duration?) -> [Chapter] {
    // Swift's sort is stable, which says who is last of those that begin together.
    var result: [Chapter] = []
    for var chapter in sorted(by: { $0.start < $1.start }) {
      if let end = chapter.end, end <= chapter.start { chapter.end = nil }
      if chapter.start < .zero {
        // Before the beginning and over by then: nobody can hear it.
        if let end = chapter.end, end <= .zero { continue }
        chapter.start = .zero
      }
      if let duration {
        guard chapter.start < duration else { continue }
        chapter.end = chapter.end.map { Swift.min($0, duration) }
      }
      if let last = result.last {
        if last.start == chapter.start {
          result.removeLast()
        } else {
          result[result.count - 1].end = Swift.min(last.end ?? chapter.start, chapter.start)
        }
      }
      result.append(chapter)
    }
    if let last = result.last, last.end == nil { result[result.count - 1].end = duration }
    return result
  }
}
