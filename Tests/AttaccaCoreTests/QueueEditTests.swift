import Testing

@testable import AttaccaCore

@Suite struct QueueEditTests {
  private func items(_ names: String) -> [MediaItem] { names.map { MediaItem(.file("/m/\($0)")) } }
  private func names(_ queue: PlayQueue) -> String {
    queue.entries(in: 0..<queue.count).map(\.item.displayTitle).joined()
  }
  private func playNames(_ queue: PlayQueue) -> String {
    (0..<queue.count).compactMap { queue.playEntry(at: $0)?.item.displayTitle }.joined()
  }
  private func queue(_ names: String, at index: Int = 0) -> PlayQueue {
    var queue = PlayQueue()
    queue.replaceAll(with: items(names), startAt: index)
    return queue
  }

  @Test func anEmptyQueue() {
    var queue = PlayQueue()
    #expect(queue.isEmpty && queue.count == 0 && queue.current == nil && queue.firstInPlayOrder == nil)
    #expect(queue.entries(in: 0..<10).isEmpty)
    let changes = [
      queue.append([]), queue.insertNext([]), queue.removeAll(), queue.remove([EntryID(1)]),
      queue.move(EntryID(1), to: 0), queue.insert(items("a"), before: EntryID(1)),
      queue.insert(items("a"), after: EntryID(1)), queue.replaceItem(of: EntryID(1), with: items("a")[0]),
    ]
    #expect(changes.allSatisfy { $0 == nil })
    #expect(queue.revision == 0)
    let change = queue.append(items("ab"))
    #expect(change?.kind == .inserted(at: 0, ids: [EntryID(1), EntryID(2)]))
    #expect(queue.currentID == nil)
  }

  @Test(arguments: [(-3, "a"), (0, "a"), (2, "c"), (3, "c"), (Int.max, "c")])
  func theStartIsClamped(index: Int, name: String) {
    #expect(queue("abc", at: index).current?.item.displayTitle == name)
    #expect(queue("", at: index).current == nil)
  }

  @Test func replacingAllGivesNewIdentities() {
    var queue = queue("abc", at: 2)
    let change = queue.replaceAll(with: items("xy"), startAt: 1)
    #expect(change.kind == .reset(count: 2))
    #expect(change.currentBefore == EntryID(3) && change.currentAfter == EntryID(5))
    #expect(change.currentWasRemoved && change.follower == nil)
    #expect(queue[EntryID(1)] == nil && queue[EntryID(4)] != nil)
  }

  @Test func insertingAtTheFrontKeepsTheCurrentOne() {
    var queue = queue("a")
    for name in ["b", "c"] { queue.insert(items(name), before: queue.entry(at: 0)!.id) }
    #expect(names(queue) == "cba")
    #expect(queue.currentID == EntryID(1))
    #expect(queue.index(of: EntryID(1)) == 2)
  }

  @Test func aBlockStaysTogetherInBothOrders() {
    var queue = queue("abcd", at: 1)
    queue.setPlayOrder([4, 2, 1, 3].map { EntryID($0) })
    #expect(playNames(queue) == "dbac")
    queue.insertNext(items("xyz"))
    #expect(names(queue) == "abxyzcd")
    #expect(playNames(queue) == "dbxyzac")
    queue.insert(items("pq"), before: EntryID(1))
    #expect(names(queue) == "pqabxyzcd")
    #expect(playNames(queue) == "dbxyzpqac")
    queue.insert(items("r"), after: EntryID(3))
    #expect(names(queue) == "pqabxyzcrd")
    #expect(playNames(queue) == "dbxyzpqacr")
    queue.append(items("st"))
    #expect(names(queue) == "pqabxyzcrdst")
    #expect(playNames(queue) == "dbxyzpqacrst")
    #expect(queue.currentID == EntryID(2))
  }

  @Test func withNothingCurrentNextIsTheFront() {
    var queue = queue("ab")
    queue.setCurrent(nil)
    queue.insertNext(items("x"))
    #expect(names(queue) == "xab")
    #expect(queue.firstInPlayOrder?.item.displayTitle == "x")
  }

  @Test(arguments: [(0, 3, "bcda"), (0, 9, "bcda"), (3, 0, "dabc"), (3, -1, "dabc"), (1, 2, "acbd"), (2, 1, "acbd")])
  func moving(from: Int, to: Int, expected: String) {
    var queue = queue("abcd", at: 1)
    let id = queue.entry(at: from)!.id
    let change = queue.move(id, to: to)
    #expect(change?.kind == .moved(id, from: from, to: min(max(to, 0), 3)))
    #expect(names(queue) == expected)
    #expect(playNames(queue) == expected)
    #expect(queue.current?.item.displayTitle == "b")
    let again = queue.move(id, to: to)
    #expect(again == nil)
  }

  @Test func movingLeavesAPlayOrderOfItsOwn() {
    var queue = queue("abcd")
    queue.setPlayOrder([4, 2, 1, 3].map { EntryID($0) })
    queue.move(EntryID(1), to: 3)
    #expect(names(queue) == "bcda")
    #expect(playNames(queue) == "dbac")
  }

  @Test func removingTheCurrentOneGoesOnWithTheNext() {
    var queue = queue("abc", at: 1)
    let change = queue.remove([EntryID(2)])
    #expect(change?.kind == .removed([1..<2]))
    #expect(change?.currentWasRemoved == true)
    #expect(change?.follower == EntryID(3))
    #expect(change?.currentAfter == EntryID(3))
    #expect(queue.current?.item.displayTitle == "c")
  }

  @Test func removingTheLastWhileCurrentEnds() {
    var queue = queue("abc", at: 2)
    queue.repeatMode = .all
    let change = queue.remove([EntryID(3)])
    #expect(change?.currentWasRemoved == true && change?.follower == nil && change?.currentAfter == nil)
    #expect(queue.current == nil && queue.count == 2)
  }

  @Test func removingSeveralPassesOverThem() {
    var queue = queue("abcdef", at: 1)
    queue.setPlayOrder([6, 2, 3, 1, 5, 4].map { EntryID($0) })
    let change = queue.remove([EntryID(3), EntryID(2), EntryID(1), EntryID(2), EntryID(77)])
    #expect(change?.kind == .removed([0..<3]))
    #expect(change?.follower == EntryID(5))
    #expect(names(queue) == "def")
    #expect(playNames(queue) == "fed")
    let unknown = queue.remove([EntryID(3), EntryID(99)])
    #expect(unknown == nil)
  }

  @Test func removingOthersKeepsTheCurrentOne() {
    var queue = queue("abcdefgh", at: 3)
    let change = queue.remove([1, 2, 3, 5, 6, 8].map { EntryID($0) })
    #expect(change?.kind == .removed([0..<3, 4..<6, 7..<8]))
    #expect(change?.currentWasRemoved == false && change?.follower == nil)
    #expect(queue.currentID == EntryID(4))
    #expect(names(queue) == "dg")
  }

  @Test func removingAll() {
    var queue = queue("abc", at: 1)
    let change = queue.removeAll()
    #expect(change?.kind == .reset(count: 0))
    #expect(change?.currentWasRemoved == true && change?.currentAfter == nil)
    #expect(queue.isEmpty && queue.firstInPlayOrder == nil)
    queue.append(items("z"))
    #expect(queue.entry(at: 0)?.id == EntryID(4))
  }

  @Test func theSameItemTwiceIsTwoEntries() {
    var queue = queue("aba", at: 2)
    queue.remove([EntryID(3)])
    #expect(names(queue) == "ab")
    queue.setCurrent(EntryID(1))
    queue.insertNext(items("a"))
    queue.move(EntryID(1), to: 2)
    #expect(queue.currentID == EntryID(1))
    #expect(queue.index(of: EntryID(1)) == 2)
  }

  @Test func replacingAnItemKeepsTheEntry() {
    var queue = queue("abc", at: 1)
    let change = queue.replaceItem(of: EntryID(2), with: items("x")[0])
    #expect(change?.kind == .replaced(EntryID(2), at: 1))
    #expect(change?.currentAfter == EntryID(2) && change?.currentWasRemoved == false)
    #expect(names(queue) == "axc")
    let same = queue.replaceItem(of: EntryID(2), with: items("x")[0])
    #expect(same == nil)
  }

  @Test func rangesAreClamped() {
    let queue = queue("abcd")
    for (range, expected) in [(-5..<2, "ab"), (2..<99, "cd"), (1..<3, "bc"), (4..<9, ""), (-9 ..< -2, ""), (2..<2, "")]
    {
      #expect(queue.entries(in: range).map(\.item.displayTitle).joined() == expected)
    }
  }

  @Test func aCopyIsNotChangedByTheOther() {
    var queue = queue("abc")
    let copy = queue
    queue.append(items("d"))
    queue.remove([EntryID(1)])
    queue.setPlayOrder([4, 3, 2].map { EntryID($0) })
    #expect(names(copy) == "abc" && playNames(copy) == "abc" && copy.currentID == EntryID(1))
    #expect(names(queue) == "bcd" && playNames(queue) == "dcb")
  }
}
