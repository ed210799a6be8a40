/// Movement: which entry is current, and which come after and before it. None of this is an edit.
extension PlayQueue {
  /// Makes an entry current, or none.
  ///
  /// A jump: while the play order differs from the list order, the entry is put right after the one that was current
  /// (at the front if none was), so that what has not been heard is not skipped and going back walks what has been.
  /// Where next, previous or the start after the end would lead is a step, not a jump: the order stays.
  ///
  /// - Returns: `false`, and nothing is changed, if the entry is not in the queue.
  @discardableResult
  public mutating func setCurrent(_ id: EntryID?) -> Bool {
    guard let id else {
      currentID = nil
      return true
    }
    guard let slot = slots[id] else { return false }
    defer { currentID = id }
    guard play != nil, id != currentID, !isStep(to: id) else { return true }
    let from = playOrder.position(of: slot)
    let present = currentID.flatMap { playIndex(of: $0) } ?? -1
    // Taken out first, an entry from before the current one moves that one down by a place.
    play?.move(slot, to: from < present ? present : present + 1)
    return true
  }

  /// The entry after this one in the play order; `nil` at the end or for an entry that is not in the queue.
  public func next(after id: EntryID) -> QueueEntry? {
    slots[id].flatMap { entry(in: playOrder.next(after: $0)) }
  }

  /// The entry before this one in the play order; `nil` at the start or for an entry that is not in the queue.
  public func previous(before id: EntryID) -> QueueEntry? {
    slots[id].flatMap { entry(in: playOrder.previous(before: $0)) }
  }

  /// What is heard when this entry ends by itself: itself under repeat-one; after the last the first under repeat-all;
  /// else the next one or nothing.
  public func successorAtNaturalEnd(of id: EntryID) -> QueueEntry? {
    repeatMode == .one ? self[id] : successorByCommand(of: id)
  }

  /// Where the command Next leads from this entry: repeat-one counts as off, repeat-all leads from the last to the
  /// first.
  public func successorByCommand(of id: EntryID) -> QueueEntry? {
    if let next = next(after: id) { return next }
    return repeatMode == .all && self[id] != nil ? firstInPlayOrder : nil
  }

  /// Where the command Previous leads from this entry: repeat-one counts as off, repeat-all leads from the first to
  /// the last.
  public func predecessorByCommand(of id: EntryID) -> QueueEntry? {
    if let previous = previous(before: id) { return previous }
    return repeatMode == .all && self[id] != nil ? entry(in: playOrder.last) : nil
  }

  private func isStep(to id: EntryID) -> Bool {
    guard let currentID, let present = slots[currentID] else { return false }
    if successorByCommand(of: currentID)?.id == id || predecessorByCommand(of: currentID)?.id == id { return true }
    return playOrder.last == present && firstInPlayOrder?.id == id
  }
}
