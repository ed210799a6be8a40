extension PlayerReducer {
  mutating func edit(_ command: PlayerCommand, _ id: CommandID, _ now: PlayerTime) {
    switch command {
    case .replaceQueue(let items, let start, let autoStart): replace(with: items, startAt: start, autoStart, id, now)
    case .append(let items): insert(items, id) { $0.append(items) }
    case .insertNext(let items): insert(items, id) { $0.insertNext(items) }
    case .insertBefore(let entry, let items): insert(items, id, by: entry) { $0.insert(items, before: entry) }
    case .insertAfter(let entry, let items): insert(items, id, by: entry) { $0.insert(items, after: entry) }
    case .move(let entry, let index):
      guard queue[entry] != nil else { return reply(id, refused: .unknownEntry, "no such entry") }
      changed(queue.move(entry, to: index), id, now)
    case .remove(let entries):
      guard entries.contains(where: { queue[$0] != nil }) else {
        return reply(id, refused: .unknownEntry, "no such entry")
      }
      changed(queue.remove(entries), id, now)
    case .replaceItem(let entry, let item):
      guard queue[entry] != nil else { return reply(id, refused: .unknownEntry, "no such entry") }
      let change = queue.replaceItem(of: entry, with: item)
      changed(change, id, now)
      faulty[entry] = nil
      if change != nil, current?.entry.id == entry, let replaced = queue[entry] {
        go(to: replaced, reason: .edited, now)
      }
    case .clearQueue: changed(queue.removeAll(), id, now)
    default: break
    }
  }

  private mutating func insert(
    _ items: [MediaItem], _ id: CommandID, by entry: EntryID? = nil, _ edit: (inout PlayQueue) -> QueueChange?
  ) {
    guard !items.isEmpty else { return reply(id, refused: .invalidValue, "no items were given") }
    if let entry, queue[entry] == nil { return reply(id, refused: .unknownEntry, "no such entry") }
    guard let change = edit(&queue) else { return reply(id, .done) }
    effects.append(.emit(.queueChanged(change)))
    if case .inserted(_, let ids) = change.kind { reply(id, .added(ids)) } else { reply(id, .done) }
  }

  private mutating func changed(_ change: QueueChange?, _ id: CommandID, _ now: PlayerTime) {
    guard let change else { return reply(id, .done) }
    effects.append(.emit(.queueChanged(change)))
    if change.currentWasRemoved {
      let last = change.currentBefore
      leave(now, reason: .switched)
      effects.append(.emit(.itemWillChange(now: last, new: change.follower)))
      let follower = change.follower.flatMap { queue[$0] }
      stoppedPosition = nil
      if let follower, current != nil {
        load(follower)
      } else if current != nil {
        wantsToPlay = false
        unload()
      }
      effects.append(.emit(.itemDidChange(last: last, now: follower, reason: .edited)))
    }
    if queue.isEmpty { faulty = [:] }
    reply(id, .done)
  }

  private mutating func replace(
    with items: [MediaItem], startAt start: Int, _ autoStart: AutoStart, _ id: CommandID, _ now: PlayerTime
  ) {
    let last = queue.currentID
    leave(now, reason: .switched)
    let change = queue.replaceAll(with: items, startAt: start)
    effects.append(.emit(.queueChanged(change)))
    faulty = [:]
    failuresInARow = 0
    firstFailure = nil
    failure = nil
    stoppedPosition = nil
    if autoStart != .keep { wantsToPlay = autoStart == .play }
    effects.append(.emit(.itemWillChange(now: last, new: queue.currentID)))
    if let entry = queue.current, wantsToPlay || current != nil || autoStart == .pause {
      load(entry)
    } else {
      unload()
      if queue.isEmpty { wantsToPlay = false }
    }
    effects.append(.emit(.itemDidChange(last: last, now: queue.current, reason: .started)))
    reply(id, .added(queue.entries(in: 0..<queue.count).map(\.id)))
  }

  // MARK: What follows

  /// Brings the engine's chain of loads in line with what the queue says follows.
  mutating func reconcileUpcoming() {
    guard let current, !upcoming.isEmpty || wantedAfter != nil else { return }
    var cursor = current.entry.id
    for (index, load) in upcoming.enumerated() {
      let expected = follower(of: cursor)
      guard expected?.id == load.entry.id, expected?.item == load.entry.item else {
        // An edit changed what follows: what the engine has from here on is taken back.
        let last = index == 0 ? current : upcoming[index - 1]
        upcoming.removeSubrange(index...)
        return extend(after: last, with: expected)
      }
      cursor = load.entry.id
    }
    let last = upcoming.last ?? current
    if wantedAfter == last.generation { extend(after: last, with: follower(of: cursor)) }
  }

  private mutating func extend(after last: Load, with entry: QueueEntry?) {
    guard let entry else {
      // Nothing follows now. Should an edit change that, the wish still stands.
      if toldNothingFollows != last.generation {
        toldNothingFollows = last.generation
        effects.append(.engine(.setUpcoming(after: last.generation, loads: [])))
      }
      wantedAfter = last.generation
      return
    }
    let load = Load(entry: entry, generation: newGeneration())
    upcoming.append(load)
    wantedAfter = nil
    toldNothingFollows = nil
    effects.append(
      .engine(
        .setUpcoming(
          after: last.generation,
          loads: [EngineLoad(entry: entry.id, generation: load.generation, item: entry.item)])))
  }

  /// The entry that follows `id` at its natural end, passing over those already known not to open.
  func follower(of id: EntryID) -> QueueEntry? {
    var cursor = id
    for _ in 0...faulty.count {
      guard let entry = queue.successorAtNaturalEnd(of: cursor) else { return nil }
      guard faulty[entry.id] != nil else { return entry }
      // A dead item is not repeated for ever, even in repeat-one.
      guard entry.id != cursor else { return queue.successorByCommand(of: cursor) }
      cursor = entry.id
    }
    return nil
  }
}
