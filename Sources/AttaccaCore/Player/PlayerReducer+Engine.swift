extension PlayerReducer {
  mutating func handle(_ event: EngineEvent, _ now: PlayerTime) {
    switch event {
    case .opened(let generation, let info):
      if current?.generation == generation {
        current?.info = info
        tellOpened()
      } else if let index = upcoming.firstIndex(where: { $0.generation == generation }) {
        upcoming[index].info = info
      }
    case .failed(let generation, let error):
      if current?.generation == generation {
        currentFailed(error, now)
      } else if let index = upcoming.firstIndex(where: { $0.generation == generation }) {
        faulty[upcoming[index].entry.id] = error
        wantedAfter = index == 0 ? current?.generation : upcoming[index - 1].generation
        upcoming.removeSubrange(index...)
      }
    case .durationChanged(let generation, let duration): learned(generation) { $0.duration = duration }
    case .metadataChanged(let generation, let metadata): learned(generation) { $0.metadata = metadata }
    case .wantsNext(let generation):
      if (upcoming.last ?? current)?.generation == generation { wantedAfter = generation }
    case .anchored(let generation, let anchor):
      guard current?.generation == generation else { return }
      heard(anchor, now)
    case .stalled(let generation, let anchor):
      guard current?.generation == generation else { return }
      self.anchor = anchor
      isStalled = true
    case .advanced(let from, let to, let anchor): advanced(from: from, to: to, anchor, now)
    case .seekLanded(let id, let generation, let anchor):
      guard current?.generation == generation, let seek = pendingSeek, seek.id == id else { return }
      pendingSeek = nil
      heard(anchor, now)
      journal(.seeked, now)
      end(seek, .landed(at: anchor.position))
    case .seekFailed(let id, let generation, let error):
      guard current?.generation == generation, let seek = pendingSeek, seek.id == id else { return }
      pendingSeek = nil
      end(seek, .failed(error))
    case .ended(let generation, let position):
      guard current?.generation == generation else { return }
      anchor = PositionAnchor(position: position, hostTime: now.host, rate: 0)
      ended(now)
    case .outputOpened(let info):
      output = info
      effects.append(.emit(.outputChanged(info)))
    case .outputFailed(let error):
      leave(now, reason: .stopped)
      wantsToPlay = false
      unload()
      failure = error
      effects.append(.emit(.failed(nil, error)))
    case .outputLost(let generation, let anchor):
      suppressions.insert(.outputLost)
      if let anchor, generation == current?.generation { self.anchor = anchor }
    case .outputRestored: suppressions.remove(.outputLost)
    }
  }

  private mutating func heard(_ anchor: PositionAnchor, _ now: PlayerTime) {
    self.anchor = anchor
    isStalled = false
    if anchor.rate > 0 {
      failuresInARow = 0
      firstFailure = nil
    }
    guard !hasLanded else { return }
    hasLanded = true
    journal(.started, now)
  }

  /// More became known of a media after it was opened. What is told of one that follows waits until it is current.
  private mutating func learned(_ generation: Generation, _ change: (inout MediaInfo) -> Void) {
    if let index = upcoming.firstIndex(where: { $0.generation == generation }), var info = upcoming[index].info {
      change(&info)
      upcoming[index].info = info
    }
    guard let current, current.generation == generation, let old = current.info else { return }
    var info = old
    change(&info)
    self.current?.info = info
    if info.metadata != old.metadata { effects.append(.emit(.metadataRead(current.entry.id, info))) }
    if let known = info.duration, known != old.duration {
      duration = known
      effects.append(.emit(.durationKnown(current.entry.id, known)))
    }
  }

  /// Tells what was learned by opening the current item.
  private mutating func tellOpened() {
    guard let current, let info = current.info else { return }
    effects.append(.emit(.metadataRead(current.entry.id, info)))
    if let known = info.duration {
      duration = known
      effects.append(.emit(.durationKnown(current.entry.id, known)))
    }
  }

  /// The engine passed a joint: what followed is current now.
  private mutating func advanced(from: Generation, to: Generation, _ anchor: PositionAnchor, _ now: PlayerTime) {
    guard let last = current, last.generation == from else { return }
    journal(.ended, now)
    supersedeSeek()
    effects.append(.emit(.playedToEnd(last.entry.id, isLast: false)))
    guard let index = upcoming.firstIndex(where: { $0.generation == to }), queue[upcoming[index].entry.id] != nil else {
      // It was taken back too late. What should follow instead?
      hasLanded = false
      return goOn(from: last.entry.id, reason: .naturalEnd, now)
    }
    let load = upcoming[index]
    skipFaulty(from: last.entry.id, to: load.entry.id)
    upcoming.removeSubrange(...index)
    effects.append(.emit(.itemWillChange(now: last.entry.id, new: load.entry.id)))
    _ = queue.setCurrent(load.entry.id)
    current = load
    hasLanded = false
    duration = load.entry.item.declaredDuration.map { MediaDuration($0, .declared) }
    effects.append(.emit(.itemDidChange(last: last.entry.id, now: load.entry, reason: .naturalEnd)))
    tellOpened()
    heard(anchor, now)
  }

  private mutating func ended(_ now: PlayerTime) {
    guard let last = current else { return }
    journal(.ended, now)
    supersedeSeek()
    let next = follower(of: last.entry.id)
    effects.append(.emit(.playedToEnd(last.entry.id, isLast: next == nil)))
    hasLanded = false
    goOn(from: last.entry.id, reason: .naturalEnd, now)
  }

  /// Loads what follows `id`, or ends.
  private mutating func goOn(from id: EntryID, reason: ItemChangeReason, _ now: PlayerTime) {
    if let next = follower(of: id) {
      skipFaulty(from: id, to: next.id)
      return go(to: next, reason: reason, now)
    }
    skipFaulty(from: id, to: nil)
    endOfQueue(now)
  }

  private mutating func endOfQueue(_ now: PlayerTime) {
    let last = queue.currentID
    let first = queue.firstInPlayOrder
    wantsToPlay = false
    unload()
    effects.append(.emit(.itemWillChange(now: last, new: first?.id)))
    _ = queue.setCurrent(first?.id)
    effects.append(.emit(.itemDidChange(last: last, now: first, reason: .endOfQueue)))
  }

  /// Tells of the entries between two that were found not to open.
  private mutating func skipFaulty(from: EntryID, to: EntryID?) {
    var cursor = from
    while !faulty.isEmpty, let entry = queue.successorByCommand(of: cursor), entry.id != to,
      let error = faulty.removeValue(forKey: entry.id)
    {
      effects.append(.emit(.failed(entry.id, error)))
      cursor = entry.id
    }
  }

  /// The current item cannot be played: it is skipped, within the budget.
  private mutating func currentFailed(_ error: MediaError, _ now: PlayerTime) {
    guard let last = current else { return }
    leave(now, reason: .switched)
    effects.append(.emit(.failed(last.entry.id, error)))
    hasLanded = false
    faulty[last.entry.id] = nil
    failuresInARow += 1
    let since = firstFailure ?? now.boot
    firstFailure = since
    let lapIsDead = failuresInARow >= queue.count
    let isHopeless = failuresInARow >= policy.failureLimit && now.boot - since > policy.failureTime
    let next = queue.repeatMode == .one ? queue.successorByCommand(of: last.entry.id) : follower(of: last.entry.id)
    if lapIsDead || isHopeless {
      // With one entry there is nothing to sum up.
      let summary =
        queue.count == 1
        ? error
        : MediaError(
          .playerNothingPlayable, subject: "queue", reason: "\(failuresInARow) items in a row could not be played")
      wantsToPlay = false
      unload()
      failure = summary
      if queue.count > 1 { effects.append(.emit(.failed(nil, summary))) }
      return
    }
    guard let next else {
      skipFaulty(from: last.entry.id, to: nil)
      return endOfQueue(now)
    }
    skipFaulty(from: last.entry.id, to: next.id)
    go(to: next, reason: .failed, now)
  }
}
