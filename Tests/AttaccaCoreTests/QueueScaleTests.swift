import TestSupport
import Testing

@testable import AttaccaCore

/// Right, and shallow, with as many entries as the largest collections have. Times are measured by the benchmarks.
@Suite struct QueueScaleTests {
  @Test func aQuarterOfAMillionEntries() {
    let size = 250_000
    var random = SeededRandom.announced("queue scale")
    let item = MediaItem(.url("http://h/a"), id: MediaID("a"))
    var queue = PlayQueue()
    queue.replaceAll(with: Array(repeating: item, count: size), startAt: 1)
    #expect(queue.count == size)
    #expect(queue.list.audit().depth == 18)

    for _ in 0..<500 {
      queue.insertNext([item, item])
      if let id = queue.entry(at: random.below(queue.count))?.id { queue.move(id, to: random.below(queue.count)) }
      if let id = queue.entry(at: random.below(queue.count))?.id { queue.remove([id]) }
      if let id = queue.entry(at: random.below(queue.count))?.id { queue.setCurrent(id) }
    }
    #expect(queue.count == size + 500)
    let (isSound, depth) = queue.list.audit()
    #expect(isSound)
    // No child has more than three quarters of a tree, so the depth is at most log(n) / log(4/3) + 1.
    #expect(depth <= 44)
  }

  @Test func appendingOneByOneKeepsBalance() {
    let item = MediaItem(.url("http://h/a"), id: MediaID("a"))
    var queue = PlayQueue()
    for _ in 0..<4_096 { queue.append([item]) }
    let (isSound, depth) = queue.list.audit()
    #expect(isSound)
    #expect(depth <= 16)
    #expect(queue.entries(in: 0..<4_096).map(\.id.rawValue) == Array(1...4_096))
  }

  @Test func aPlaceIsUsedAgain() {
    let item = MediaItem(.url("http://h/a"), id: MediaID("a"))
    var queue = PlayQueue()
    queue.replaceAll(with: [item, item, item])
    for _ in 0..<1_000 {
      queue.append([item])
      queue.remove([queue.entry(at: 1)!.id])
    }
    #expect(queue.entries.count == 4)
    #expect(queue.entry(at: 2)?.id == EntryID(1_003))
    #expect(queue[EntryID(2)] == nil)
  }
}
