import Testing

@testable import AttaccaCore

@Suite struct QueueMovementTests {
  /// A queue of entries 1 … count.
  private func queue(_ count: Int, at index: Int = 0, mode: RepeatMode = .off, play: [UInt64]? = nil) -> PlayQueue {
    var queue = PlayQueue()
    queue.replaceAll(with: (0..<count).map { MediaItem(.url("http://h/\($0)")) }, startAt: index)
    queue.repeatMode = mode
    if let play { queue.setPlayOrder(play.map { EntryID($0) }) }
    return queue
  }

  private func play(_ queue: PlayQueue) -> [UInt64] {
    (0..<queue.count).compactMap { queue.playEntry(at: $0)?.id.rawValue }
  }

  struct Row: Sendable {
    var mode: RepeatMode
    var id: UInt64
    var natural: UInt64?
    var next: UInt64?
    var previous: UInt64?
  }

  static let three: [Row] = [
    Row(mode: .off, id: 1, natural: 2, next: 2, previous: nil),
    Row(mode: .off, id: 2, natural: 3, next: 3, previous: 1),
    Row(mode: .off, id: 3, natural: nil, next: nil, previous: 2),
    Row(mode: .one, id: 1, natural: 1, next: 2, previous: nil),
    Row(mode: .one, id: 2, natural: 2, next: 3, previous: 1),
    Row(mode: .one, id: 3, natural: 3, next: nil, previous: 2),
    Row(mode: .all, id: 1, natural: 2, next: 2, previous: 3),
    Row(mode: .all, id: 2, natural: 3, next: 3, previous: 1),
    Row(mode: .all, id: 3, natural: 1, next: 1, previous: 2),
  ]

  @Test(arguments: three) func neighbours(row: Row) {
    let queue = queue(3, mode: row.mode)
    let id = EntryID(row.id)
    #expect(queue.successorAtNaturalEnd(of: id)?.id.rawValue == row.natural)
    #expect(queue.successorByCommand(of: id)?.id.rawValue == row.next)
    #expect(queue.predecessorByCommand(of: id)?.id.rawValue == row.previous)
  }

  @Test(arguments: RepeatMode.allCases) func aSingleEntry(mode: RepeatMode) {
    let queue = queue(1, mode: mode)
    let id = EntryID(1)
    #expect(queue.successorAtNaturalEnd(of: id)?.id == (mode == .off ? nil : id))
    #expect(queue.successorByCommand(of: id)?.id == (mode == .all ? id : nil))
    #expect(queue.predecessorByCommand(of: id)?.id == (mode == .all ? id : nil))
  }

  @Test(arguments: RepeatMode.allCases) func unknownEntriesLeadNowhere(mode: RepeatMode) {
    for id in [EntryID(0), EntryID(4), EntryID(.max)] {
      for queue in [queue(3, mode: mode), queue(0, mode: mode)] {
        #expect(queue.next(after: id) == nil)
        #expect(queue.previous(before: id) == nil)
        #expect(queue.successorAtNaturalEnd(of: id) == nil)
        #expect(queue.successorByCommand(of: id) == nil)
        #expect(queue.predecessorByCommand(of: id) == nil)
        #expect(queue[id] == nil)
        #expect(queue.index(of: id) == nil)
      }
    }
  }

  @Test func neighboursFollowThePlayOrder() {
    let queue = queue(4, mode: .all, play: [3, 1, 4, 2])
    #expect(queue.firstInPlayOrder?.id == EntryID(3))
    #expect(queue.successorAtNaturalEnd(of: EntryID(1))?.id == EntryID(4))
    #expect(queue.successorByCommand(of: EntryID(2))?.id == EntryID(3))
    #expect(queue.predecessorByCommand(of: EntryID(3))?.id == EntryID(2))
    #expect(queue.entry(at: 0)?.id == EntryID(1))
  }

  @Test func movementIsNoEdit() {
    var queue = queue(3)
    let revision = queue.revision
    let isKnown = queue.setCurrent(EntryID(3))
    #expect(isKnown)
    #expect(queue.current?.id == EntryID(3))
    let isUnknown = queue.setCurrent(EntryID(9))
    #expect(!isUnknown)
    #expect(queue.currentID == EntryID(3))
    let isNone = queue.setCurrent(nil)
    #expect(isNone)
    #expect(queue.current == nil)
    #expect(queue.revision == revision)
  }

  struct Jump: Sendable {
    var from: UInt64?
    var to: UInt64
    var mode = RepeatMode.off
    var order: [UInt64]
  }

  /// Over the play order 3 1 5 2 4.
  static let jumps: [Jump] = [
    // Forwards: what was passed over still comes, what was played stays where it is.
    Jump(from: 1, to: 4, order: [3, 1, 4, 5, 2]),
    // Back to what was played: going back from it walks what was heard.
    Jump(from: 2, to: 3, order: [1, 5, 2, 3, 4]),
    // Next, previous and the start after the end are steps.
    Jump(from: 1, to: 5, order: [3, 1, 5, 2, 4]),
    Jump(from: 1, to: 3, order: [3, 1, 5, 2, 4]),
    Jump(from: 4, to: 3, order: [3, 1, 5, 2, 4]),
    Jump(from: 3, to: 4, mode: .all, order: [3, 1, 5, 2, 4]),
    // Without repeat-all the first has nothing before it: the last is jumped to.
    Jump(from: 3, to: 4, order: [3, 4, 1, 5, 2]),
    Jump(from: 1, to: 1, order: [3, 1, 5, 2, 4]),
    Jump(from: nil, to: 2, order: [2, 3, 1, 5, 4]),
  ]

  @Test(arguments: jumps) func jumpsUnderAPlayOrderOfItsOwn(jump: Jump) {
    var queue = queue(5, mode: jump.mode, play: [3, 1, 5, 2, 4])
    queue.currentID = jump.from.map { EntryID($0) }
    queue.setCurrent(EntryID(jump.to))
    #expect(play(queue) == jump.order)
    #expect(queue.currentID == EntryID(jump.to))
    #expect(queue.entries(in: 0..<5).map(\.id.rawValue) == [1, 2, 3, 4, 5])
  }

  @Test func aJumpInListOrderMovesNothing() {
    var queue = queue(5)
    queue.setCurrent(EntryID(4))
    #expect(play(queue) == [1, 2, 3, 4, 5])
    #expect(queue.next(after: EntryID(4))?.id == EntryID(5))
  }

  @Test func aPlayOrderMustBeThatOfTheEntries() {
    var queue = queue(3, at: 1)
    for wrong: [UInt64] in [[1, 2], [1, 2, 2], [1, 2, 4], [1, 2, 3, 3], []] {
      let isTaken = queue.setPlayOrder(wrong.map { EntryID($0) })
      #expect(!isTaken)
      #expect(play(queue) == [1, 2, 3])
    }
    queue.setPlayOrder([EntryID(3), EntryID(2), EntryID(1)])
    #expect(play(queue) == [3, 2, 1])
    #expect(queue.currentID == EntryID(2))
    queue.setPlayOrder(nil)
    #expect(play(queue) == [1, 2, 3])
  }

  @Test func changingTheRepeatModeMovesNothing() {
    var queue = queue(3, at: 1)
    let revision = queue.revision
    for mode in RepeatMode.allCases { queue.repeatMode = mode }
    #expect(queue.currentID == EntryID(2))
    #expect(queue.revision == revision)
  }
}
