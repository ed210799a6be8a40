@testable import AttaccaCore

/// What a queue should do, said with plain arrays.
struct QueueModel {
  var list: [EntryID] = []
  /// The play order; `nil` while it is the list order.
  var ownPlay: [EntryID]?
  var current: EntryID?
  var nextID: UInt64 = 1
  var items: [EntryID: MediaItem] = [:]

  var play: [EntryID] { ownPlay ?? list }

  mutating func make(_ new: [MediaItem]) -> [EntryID] {
    new.map {
      let id = EntryID(nextID)
      nextID += 1
      items[id] = $0
      return id
    }
  }

  mutating func replaceAll(_ new: [MediaItem], startAt index: Int) {
    list = make(new)
    ownPlay = nil
    current = list.isEmpty ? nil : list[min(max(0, index), list.count - 1)]
  }

  mutating func insert(_ new: [MediaItem], beside id: EntryID, offset: Int) {
    guard let at = list.firstIndex(of: id), !new.isEmpty else { return }
    let ids = make(new)
    list.insert(contentsOf: ids, at: at + offset)
    if let other = ownPlay?.firstIndex(of: id) { ownPlay?.insert(contentsOf: ids, at: other + offset) }
  }

  mutating func append(_ new: [MediaItem]) {
    let ids = make(new)
    list += ids
    ownPlay? += ids
  }

  mutating func insertNext(_ new: [MediaItem]) {
    if let current { return insert(new, beside: current, offset: 1) }
    let ids = make(new)
    list = ids + list
    ownPlay = ownPlay.map { ids + $0 }
  }

  mutating func move(_ id: EntryID, to index: Int) {
    guard let from = list.firstIndex(of: id) else { return }
    list.remove(at: from)
    list.insert(id, at: min(max(0, index), list.count))
  }

  mutating func remove(_ ids: [EntryID]) {
    if let now = current, ids.contains(now), let at = play.firstIndex(of: now) {
      current = play[(at + 1)...].first { !ids.contains($0) }
    }
    list.removeAll { ids.contains($0) }
    ownPlay?.removeAll { ids.contains($0) }
  }

  mutating func setCurrent(_ id: EntryID?, mode: RepeatMode) {
    guard let id else { return current = nil }
    guard list.contains(id) else { return }
    defer { current = id }
    guard let order = ownPlay, id != current else { return }
    guard let now = current, let at = order.firstIndex(of: now), let target = order.firstIndex(of: id) else {
      ownPlay = [id] + order.filter { $0 != id }
      return
    }
    let (isLast, isFirst) = (at == order.count - 1, at == 0)
    if abs(target - at) == 1 || isLast && target == 0 { return }
    if mode == .all && isFirst && target == order.count - 1 { return }
    let rest = order.filter { $0 != id }
    let place = rest.firstIndex(of: now)! + 1
    ownPlay = rest[..<place] + [id] + rest[place...]
  }
}

/// A list view that knows nothing but the changes.
struct QueueMirror {
  var list: [EntryID] = []

  /// Applies a change; a reset makes it ask for everything, as a view would.
  mutating func apply(_ change: QueueChange, _ queue: PlayQueue) {
    switch change.kind {
    case .reset(let count): list = queue.entries(in: 0..<count).map(\.id)
    case .inserted(let index, let ids): list.insert(contentsOf: ids, at: index)
    case .removed(let ranges): for range in ranges.reversed() { list.removeSubrange(range) }
    case .moved(let id, let from, let to):
      precondition(list[from] == id)
      list.insert(list.remove(at: from), at: to)
    case .replaced(let id, let index): precondition(list[index] == id)
    }
  }
}
