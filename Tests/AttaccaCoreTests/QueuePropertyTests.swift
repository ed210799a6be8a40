import TestSupport
import Testing

@testable import AttaccaCore

@Suite struct QueuePropertyTests {
  static func item(_ name: UInt64) -> MediaItem { MediaItem(.url("http://h/\(name)"), id: MediaID("\(name)")) }

  /// Runs random edits on a queue, the model and a mirror, and compares after each.
  private func run(_ random: inout SeededRandom, steps: Int, sizes: Int, startCount: Int) -> Bool {
    var (queue, model, mirror) = (PlayQueue(), QueueModel(), QueueMirror())
    func items(_ random: inout SeededRandom) -> [MediaItem] {
      (0..<random.below(sizes)).map { _ in Self.item(random.next() % 8) }
    }
    func anyID(_ random: inout SeededRandom) -> EntryID {
      model.list.isEmpty || random.below(12) == 0
        ? EntryID(random.next() % (model.nextID + 3)) : model.list[random.below(model.list.count)]
    }
    let start = (0..<startCount).map { Self.item(UInt64($0)) }
    mirror.apply(queue.replaceAll(with: start, startAt: startCount / 2), queue)
    model.replaceAll(start, startAt: startCount / 2)

    for _ in 0..<steps {
      let (revision, before) = (queue.revision, model)
      let snapshot = queue
      var change: QueueChange?
      switch random.below(12) {
      case 0:
        let (new, index) = (items(&random), random.below(7) - 1)
        if random.below(6) == 0 {
          change = queue.replaceAll(with: new, startAt: index)
          model.replaceAll(new, startAt: index)
        }
      case 1:
        let new = items(&random)
        change = queue.append(new)
        model.append(new)
      case 2:
        let new = items(&random)
        change = queue.insertNext(new)
        model.insertNext(new)
      case 3:
        let (new, id) = (items(&random), anyID(&random))
        change = queue.insert(new, before: id)
        model.insert(new, beside: id, offset: 0)
      case 4:
        let (new, id) = (items(&random), anyID(&random))
        change = queue.insert(new, after: id)
        model.insert(new, beside: id, offset: 1)
      case 5, 6:
        let (id, index) = (anyID(&random), random.below(model.list.count + 4) - 2)
        change = queue.move(id, to: index)
        model.move(id, to: index)
      case 7, 8:
        let ids = (0..<random.below(random.below(4) == 0 ? 12 : 3)).map { _ in anyID(&random) }
        change = queue.remove(ids)
        model.remove(ids)
      case 9:
        let (id, new) = (anyID(&random), Self.item(random.next() % 8))
        change = queue.replaceItem(of: id, with: new)
        if model.list.contains(id) { model.items[id] = new }
      case 10:
        if random.below(10) == 0 {
          change = queue.removeAll()
          if !model.list.isEmpty { model.replaceAll([], startAt: 0) }
        } else {
          let order = random.below(3) == 0 ? nil : model.list.shuffled(using: &random)
          guard queue.setPlayOrder(order) else { return false }
          model.ownPlay = order
        }
      default:
        queue.repeatMode = RepeatMode.allCases[random.below(3)]
        let id = random.below(20) == 0 ? nil : anyID(&random)
        let known = id.map { model.list.contains($0) } ?? true
        guard queue.setCurrent(id) == known else { return false }
        model.setCurrent(id, mode: queue.repeatMode)
      }

      if let change {
        mirror.apply(change, queue)
        guard change.revision == revision + 1, queue.revision == change.revision else { return false }
        guard change.currentBefore == before.current, change.currentAfter == model.current else { return false }
        let isGone = before.current.map { !model.list.contains($0) } ?? false
        guard change.currentWasRemoved == isGone else { return false }
        if case .removed = change.kind, isGone, change.follower != model.current { return false }
      } else if queue.revision != revision || model.list != before.list || model.items != before.items {
        return false
      }
      guard agree(queue, model), mirror.list == model.list else { return false }
      guard agree(snapshot, before) else { return false }
    }
    return queue.list.audit().isSound && queue.play?.audit().isSound ?? true
  }

  private func agree(_ queue: PlayQueue, _ model: QueueModel) -> Bool {
    guard queue.count == model.list.count, queue.currentID == model.current else { return false }
    let entries = queue.entries(in: 0..<model.list.count)
    guard entries.map(\.id) == model.list else { return false }
    guard entries.allSatisfy({ $0.item.id == model.items[$0.id]?.id }) else { return false }
    var id = queue.firstInPlayOrder?.id
    for expected in model.play {
      guard id == expected else { return false }
      id = queue.next(after: expected)?.id
    }
    return id == nil && queue.playOrder.count == model.play.count
  }

  @Test func randomEditsAgreeWithArrays() {
    var random = SeededRandom.announced("queue edits")
    for sequence in 0..<10_000 {
      let start = sequence % 9
      guard run(&random, steps: 12, sizes: 4, startCount: start) else {
        Issue.record("sequence \(sequence) of seed \(random.seed)")
        return
      }
    }
  }

  @Test func longRunsOnLargerQueuesAgreeWithArrays() {
    var random = SeededRandom.announced("large queue edits")
    for size in [300, 1_000] {
      let isRight = run(&random, steps: 150, sizes: 40, startCount: size)
      #expect(isRight, "size \(size), seed \(random.seed)")
    }
  }

  @Test func positionsAreFoundBothWays() {
    var random = SeededRandom.announced("queue positions")
    var queue = PlayQueue()
    queue.replaceAll(with: (0..<777).map { Self.item($0) })
    let order = queue.entries(in: 0..<777).map(\.id).shuffled(using: &random)
    let isTaken = queue.setPlayOrder(order)
    #expect(isTaken)
    for _ in 0..<300 {
      queue.move(order[random.below(777)], to: random.below(777))
      queue.setCurrent(order[random.below(777)])
    }
    for position in 0..<777 {
      #expect(queue.entry(at: position).flatMap { queue.index(of: $0.id) } == position)
      #expect(queue.playEntry(at: position).flatMap { queue.playIndex(of: $0.id) } == position)
    }
    for outside in [-1, 777, Int.min, Int.max] {
      #expect(queue.entry(at: outside) == nil)
      #expect(queue.playEntry(at: outside) == nil)
    }
    #expect(queue.list.audit().isSound)
    #expect(queue.play?.audit().isSound == true)
  }
}
