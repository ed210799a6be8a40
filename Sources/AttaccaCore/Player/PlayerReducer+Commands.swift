extension PlayerReducer {
  mutating func handle(_ command: PlayerCommand, _ id: CommandID, _ now: PlayerTime) {
    if isShutDown {
      if case .shutdown = command { return effects.append(.shutdown(id)) }
      return reply(id, refused: .shutDown, "the player was shut down")
    }
    switch command {
    case .play: play(id)
    case .pause:
      if wantsToPlay { journal(.paused, now) }
      wantsToPlay = false
      reply(id, .done)
    case .togglePlayPause: handle(wantsToPlay ? .pause : .play, id, now)
    case .stop:
      leave(now, reason: .stopped)
      wantsToPlay = false
      failure = nil
      unload()
      stoppedPosition = nil
      reply(id, .done)
    case .next(let autoStart):
      guard let entry = queue.currentID.flatMap({ queue.successorByCommand(of: $0) }) else {
        return reply(id, refused: .noNext, "nothing follows")
      }
      go(to: entry, reason: .command, autoStart: autoStart, now)
      reply(id, .done)
    case .previous(let autoStart): previous(autoStart, id, now)
    case .jump(let entry, let autoStart):
      guard let entry = queue[entry] else { return reply(id, refused: .unknownEntry, "no such entry") }
      go(to: entry, reason: .command, autoStart: autoStart, now)
      reply(id, .done)
    case .seek(let target): seek(to: target, id, now)
    case .skip(let distance):
      let from = pendingSeek?.target ?? heardPosition(now) ?? .zero
      seek(to: from + distance, id, now)
    case .beginScrub:
      guard current != nil else { return reply(id, refused: .noCurrent, "nothing is loaded") }
      suppressions.insert(.scrubbing)
      reply(id, .done)
    case .endScrub:
      suppressions.remove(.scrubbing)
      reply(id, .done)
    case .setVolume(let value):
      if let refusal = untouchable(capabilities.gain) { return reply(id, .refused(refusal)) }
      guard value.isFinite else { return reply(id, refused: .invalidValue, "a volume is a number from 0 to 1") }
      volume = min(1, max(0, value))
      effects.append(.engine(.setGain(gain)))
      reply(id, .done)
    case .setMuted(let muted):
      if let refusal = untouchable(capabilities.gain) { return reply(id, .refused(refusal)) }
      isMuted = muted
      effects.append(.engine(.setGain(gain)))
      reply(id, .done)
    case .setRate(let value):
      if let refusal = untouchable(capabilities.rate) { return reply(id, .refused(refusal)) }
      guard value.isFinite, value > 0 else { return reply(id, refused: .invalidValue, "a rate is a number above 0") }
      rate = value.clamped(to: Self.rates)
      reply(id, .done)
    case .setSound(let settings):
      guard capabilities.sound else { return reply(id, refused: .notSupported, "this engine changes no sound") }
      sound = settings.clamped
      reply(id, .done)
    case .setRepeat(let mode):
      queue.repeatMode = mode
      reply(id, .done)
    case .suppress(let reason):
      suppressions.insert(reason)
      reply(id, .done)
    case .lift(let reason):
      suppressions.remove(reason)
      reply(id, .done)
    case .shutdown:
      leave(now, reason: .shutdown)
      isShutDown = true
      wantsToPlay = false
      unload()
      effects.append(.shutdown(id))
    case .replaceQueue, .append, .insertNext, .insertBefore, .insertAfter, .move, .remove, .replaceItem, .clearQueue:
      edit(command, id, now)
    }
  }

  /// The linear gain: the cube of the volume, close to how loudness is heard.
  var gain: Double { isMuted ? 0 : volume * volume * volume }

  /// Why samples may not be changed, if they may not.
  private func untouchable(_ engineCan: Bool) -> Refusal? {
    guard engineCan else { return Refusal(.notSupported, "this engine cannot do it") }
    return sound.isBitPerfect ? Refusal(.notSupported, "a bit-perfect output is left as it is") : nil
  }

  func refusal(_ code: Refusal.Code, _ reason: String) -> CommandResult { .refused(Refusal(code, reason)) }

  mutating func reply(_ id: CommandID, _ result: CommandResult) { effects.append(.reply(id, result)) }

  mutating func reply(_ id: CommandID, refused code: Refusal.Code, _ reason: String) {
    reply(id, refusal(code, reason))
  }

  private mutating func play(_ id: CommandID) {
    guard let entry = queue.current ?? queue.firstInPlayOrder else {
      return reply(id, refused: .emptyQueue, "the queue is empty")
    }
    wantsToPlay = true
    if failure != nil {
      failure = nil
      failuresInARow = 0
      firstFailure = nil
    }
    if current == nil {
      if queue.currentID == nil {
        effects.append(.emit(.itemWillChange(now: nil, new: entry.id)))
        _ = queue.setCurrent(entry.id)
        load(entry)
        effects.append(.emit(.itemDidChange(last: nil, now: entry, reason: .started)))
      } else {
        load(entry, from: stoppedPosition ?? .zero)
      }
    }
    reply(id, .done)
  }

  private mutating func previous(_ autoStart: AutoStart, _ id: CommandID, _ now: PlayerTime) {
    guard let currentID = queue.currentID else { return reply(id, refused: .noCurrent, "nothing is current") }
    let position = pendingSeek?.target ?? heardPosition(now) ?? .zero
    if position <= policy.restartThreshold, let entry = queue.predecessorByCommand(of: currentID) {
      go(to: entry, reason: .command, autoStart: autoStart, now)
      return reply(id, .done)
    }
    if autoStart != .keep { wantsToPlay = autoStart == .play }
    if current?.info?.isSeekable ?? true {
      startSeek(to: .zero, id, now)
    } else if let entry = queue.current {
      go(to: entry, reason: .command, now)
      reply(id, .done)
    }
  }

  private mutating func seek(to target: Duration, _ id: CommandID, _ now: PlayerTime) {
    func reject(_ code: Refusal.Code, _ reason: String) {
      let outcome = SeekOutcome.rejected(Refusal(code, reason))
      effects.append(.emit(.seekEnded(queue.currentID, outcome)))
      reply(id, .seek(outcome))
    }
    guard queue.currentID != nil else { return reject(.noCurrent, "nothing is current") }
    guard current?.info?.isSeekable ?? true else { return reject(.notSeekable, "this media has no choice of position") }
    startSeek(to: target, id, now)
  }

  private mutating func startSeek(to target: Duration, _ id: CommandID, _ now: PlayerTime) {
    var target = max(.zero, target)
    if let duration, duration.confidence == .exact { target = min(target, duration.value) }
    supersedeSeek()
    guard let current else {
      // Stopped: the next play begins there.
      stoppedPosition = target
      effects.append(.emit(.seekEnded(queue.currentID, .landed(at: target))))
      return reply(id, .seek(.landed(at: target)))
    }
    let seek = PendingSeek(id: newSeek(), target: target, command: id)
    pendingSeek = seek
    effects.append(.engine(.seek(seek.id, current.generation, to: target)))
  }
}
