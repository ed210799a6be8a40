/// Edits. Each yields one change, `nil` when nothing changed.
///
/// A block that is put in stays contiguous in both orders; a change carries what its undoing needs besides the items
/// that were taken out.
extension PlayQueue {
  /// Makes the queue anew; the entry at `index` (clamped) becomes current. O(number of items).
  @discardableResult
  public mutating func replaceAll(with items: [MediaItem], startAt index: Int = 0) -> QueueChange {
    let before = currentID
    clear()
    entries.reserve(items.count)
    list = OrderTree(store(items), capacity: entries.count)
    currentID = entry(at: min(max(0, index), items.count - 1))?.id
    return change(.reset(count: items.count), from: before, removing: before != nil)
  }

  /// Puts items at the end of both orders; O(log n + number of items).
  @discardableResult
  public mutating func append(_ items: [MediaItem]) -> QueueChange? {
    insert(items, listIndex: count, playIndex: count)
  }

  /// Puts items right after the current entry in both orders, at the front when nothing is current;
  /// O(log n + number of items).
  @discardableResult
  public mutating func insertNext(_ items: [MediaItem]) -> QueueChange? {
    guard let currentID else { return insert(items, listIndex: 0, playIndex: 0) }
    return insert(items, after: currentID)
  }

  /// Puts items right before an entry in both orders; O(log n + number of items).
  @discardableResult
  public mutating func insert(_ items: [MediaItem], before id: EntryID) -> QueueChange? {
    insert(items, beside: id, offset: 0)
  }

  /// Puts items right after an entry in both orders; O(log n + number of items).
  @discardableResult
  public mutating func insert(_ items: [MediaItem], after id: EntryID) -> QueueChange? {
    insert(items, beside: id, offset: 1)
  }

  /// Moves an entry so that it then is at position `index` (clamped) of the list order. A play order that differs from
  /// the list order stays as it is.
  @discardableResult
  public mutating func move(_ id: EntryID, to index: Int) -> QueueChange? {
    guard let slot = slots[id] else { return nil }
    let (from, to) = (list.position(of: slot), min(max(0, index), count - 1))
    guard from != to else { return nil }
    list.move(slot, to: to)
    return change(.moved(id, from: from, to: to), from: currentID)
  }

  /// Takes entries out; identities that are not in the queue are passed over. If the current entry is among them, the
  /// one after it in the play order, of those that stay, becomes current: none at the end. O(k log n) for k entries,
  /// at most O(n).
  @discardableResult
  public mutating func remove(_ ids: [EntryID]) -> QueueChange? {
    let before = currentID
    let gone = Set(ids.compactMap { slots[$0] })
    guard !gone.isEmpty else { return nil }
    let currentSlot = currentID.flatMap { slots[$0] }
    let removesCurrent = currentSlot.map(gone.contains) ?? false
    var follower: EntryID?
    if removesCurrent, var slot = currentSlot {
      repeat { slot = playOrder.next(after: slot) } while slot != OrderTree.none && gone.contains(slot)
      follower = entry(in: slot)?.id
      currentID = follower
    }
    let ranges = take(gone)
    return change(.removed(ranges), from: before, removing: removesCurrent, follower: follower)
  }

  /// Gives an entry another item; its identity and place stay.
  @discardableResult
  public mutating func replaceItem(of id: EntryID, with item: MediaItem) -> QueueChange? {
    guard let slot = slots[id], let old = entries[Int(slot)], old.item != item else { return nil }
    entries[Int(slot)] = QueueEntry(id: id, item: item)
    return change(.replaced(id, at: list.position(of: slot)), from: currentID)
  }

  /// Takes all entries out; nothing is current then. The repeat mode stays.
  @discardableResult
  public mutating func removeAll() -> QueueChange? {
    guard !isEmpty else { return nil }
    let before = currentID
    clear()
    return change(.reset(count: 0), from: before, removing: before != nil)
  }

  // MARK: Inside

  private mutating func clear() {
    entries = PagedArray()
    freeSlots = []
    slots = SlotMap(base: nextID)
    list = OrderTree()
    play = nil
    currentID = nil
  }

  private mutating func change(
    _ kind: QueueChange.Kind, from before: EntryID?, removing: Bool = false, follower: EntryID? = nil
  ) -> QueueChange {
    revision += 1
    return QueueChange(
      revision: revision, kind: kind, currentBefore: before, currentAfter: currentID, currentWasRemoved: removing,
      follower: follower)
  }

  private mutating func insert(_ items: [MediaItem], beside id: EntryID, offset: Int) -> QueueChange? {
    guard let slot = slots[id] else { return nil }
    let listIndex = list.position(of: slot) + offset
    return insert(items, listIndex: listIndex, playIndex: play.map { $0.position(of: slot) + offset } ?? listIndex)
  }

  private mutating func insert(_ items: [MediaItem], listIndex: Int, playIndex: Int) -> QueueChange? {
    guard !items.isEmpty else { return nil }
    let firstID = nextID
    let block = store(items)
    list.insert(block, at: listIndex)
    play?.insert(block, at: playIndex)
    return change(.inserted(at: listIndex, ids: (firstID..<nextID).map { EntryID($0) }), from: currentID)
  }

  /// Makes entries of items and gives the slots they are in.
  private mutating func store(_ items: [MediaItem]) -> ContiguousArray<Int32> {
    var block: ContiguousArray<Int32> = []
    block.reserveCapacity(items.count)
    for item in items {
      let entry = QueueEntry(id: EntryID(nextID), item: item)
      nextID += 1
      let slot: Int32
      if let free = freeSlots.popLast() {
        slot = free
        entries[Int(free)] = entry
      } else {
        slot = Int32(entries.count)
        entries.append(entry)
      }
      slots.insert(entry.id, slot: slot)
      block.append(slot)
    }
    return block
  }

  /// Takes slots out and tells where they were in the list order.
  private mutating func take(_ gone: Set<Int32>) -> [Range<Int>] {
    // One by one a removal costs about as much as passing over a few hundred entries.
    let isBulk = gone.count > max(8, count / 256)
    // In list order, so that equal edits of equal queues stay equal to the last slot.
    var places: [(position: Int, slot: Int32)] = []
    places.reserveCapacity(gone.count)
    if isBulk {
      var position = 0
      list = list.filtered { slot in
        defer { position += 1 }
        guard gone.contains(slot) else { return true }
        places.append((position, slot))
        return false
      }
      play = play?.filtered { !gone.contains($0) }
    } else {
      places = gone.map { (list.position(of: $0), $0) }.sorted { $0.position < $1.position }
    }
    var ranges: [Range<Int>] = []
    for (position, slot) in places {
      if let last = ranges.last, last.upperBound == position {
        ranges[ranges.count - 1] = last.lowerBound..<position + 1
      } else {
        ranges.append(position..<position + 1)
      }
      if !isBulk {
        list.remove(slot)
        play?.remove(slot)
      }
      if let id = entries[Int(slot)]?.id { slots.remove(id) }
      entries[Int(slot)] = nil
      freeSlots.append(slot)
    }
    return ranges
  }
}
