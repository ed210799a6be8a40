import AttaccaCore
import TestSupport
import Testing

private func chapter(_ start: Int, _ end: Int?, _ title: String? = nil) -> Chapter {
  Chapter(start: .seconds(start), end: end.map { .seconds($0) }, title: title)
}

@Suite struct ChapterTests {
  @Test(
    arguments: [
      // Overlap and an end outside: field report G4.
      (
        [chapter(0, 2, "a"), chapter(1, 3, "b"), chapter(3, 9, "c")], 4,
        [chapter(0, 1, "a"), chapter(1, 3, "b"), chapter(3, 4, "c")]
      ),
      ([], 4, []),
      // Out of order, without ends.
      ([chapter(2, nil, "b"), chapter(0, nil, "a")], 4, [chapter(0, 2, "a"), chapter(2, 4, "b")]),
      ([chapter(2, nil, "b"), chapter(0, nil, "a")], nil, [chapter(0, 2, "a"), chapter(2, nil, "b")]),
      // A gap stays.
      ([chapter(0, 1), chapter(2, 3)], 4, [chapter(0, 1), chapter(2, 3)]),
      // Outside on either side; over the beginning.
      (
        [chapter(-5, -1, "x"), chapter(-1, 1, "a"), chapter(4, 5, "y"), chapter(9, nil, "z")], 4,
        [chapter(0, 1, "a")]
      ),
      // Begins together: the last listed stays. Ends that are none.
      ([chapter(1, 2, "a"), chapter(1, 3, "b")], 4, [chapter(1, 3, "b")]),
      ([chapter(1, 1, "a"), chapter(2, 0, "b")], 4, [chapter(1, 2, "a"), chapter(2, 4, "b")]),
      // One within another: the outer one ends where the inner begins.
      ([chapter(0, 4, "out"), chapter(1, 2, "in")], 4, [chapter(0, 1, "out"), chapter(1, 2, "in")]),
      ([chapter(0, 1)], 0, []),
    ] as [([Chapter], Int?, [Chapter])])
  func normalises(_ raw: [Chapter], _ duration: Int?, _ expected: [Chapter]) {
    #expect(raw.normalizedChapters(duration: duration.map { .seconds($0) }) == expected)
  }

  @Test func aBoundaryBelongsToTheLater() {
    let chapters = [chapter(0, 2, "a"), chapter(1, 3, "b")].normalizedChapters(duration: .seconds(4))
    #expect(chapters.first { $0.contains(.seconds(1)) }?.title == "b")
    #expect(chapters.first { $0.contains(.seconds(1) - .nanoseconds(1)) }?.title == "a")
    #expect(!chapters.contains { $0.contains(.seconds(3)) })
  }

  @Test func titlesAreFitForATerminal() {
    #expect(chapter(0, 1, "a\u{1B}[2J\u{202E}b").title == "a[2Jb")
    #expect(chapter(0, 1, "\u{1B}").title == nil)
  }

  /// Whatever a file tells: in order, apart, not empty, within, each from one that was told, and done twice the same.
  @Test func properties() {
    var random = SeededRandom.announced("chapters")
    for _ in 0..<3000 {
      let raw = (0..<random.below(12)).map { index in
        chapter(random.below(30) - 5, random.below(4) == 0 ? nil : random.below(30) - 5, "\(index)")
      }
      let duration = random.below(5) == 0 ? nil : random.below(24)
      let limit: Duration? = duration.map { .seconds($0) }
      let result = raw.normalizedChapters(duration: limit)
      for (one, next) in zip(result, result.dropFirst()) {
        #expect(one.start < next.start && one.end.map { $0 <= next.start } == true)
      }
      for chapter in result {
        #expect(chapter.start >= .zero && chapter.end.map { $0 > chapter.start } ?? (limit == nil))
        if let limit { #expect(chapter.end.map { $0 <= limit } == true) }
        #expect(raw.contains { $0.title == chapter.title && max($0.start, .zero) == chapter.start })
      }
      #expect(result.normalizedChapters(duration: limit) == result)
      // Every moment that some told chapter has for sure is in one.
      for moment in 0..<(duration ?? 24) where raw.contains(where: { $0.end != nil && $0.contains(.seconds(moment)) }) {
        let latest = raw.filter { $0.start <= .seconds(moment) }.map(\.start).max()
        if raw.filter({ $0.start == latest }).allSatisfy({ $0.contains(.seconds(moment)) }) {
          #expect(result.contains { $0.contains(.seconds(moment)) }, "\(raw) at \(moment)")
        }
      }
    }
  }
}
