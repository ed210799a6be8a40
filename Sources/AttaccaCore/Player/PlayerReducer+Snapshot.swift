extension PlayerReducer {
  /// All that is true now, but for the queue's entries.
  public var snapshot: PlayerSnapshot {
    var snapshot = PlayerSnapshot()
    snapshot.status = status
    snapshot.wantsToPlay = wantsToPlay
    snapshot.suppressions = suppressions
    snapshot.entry = current?.entry ?? queue.current
    snapshot.info = current?.info
    snapshot.duration =
      current == nil ? queue.current?.item.declaredDuration.map { MediaDuration($0, .declared) } : duration
    snapshot.anchor =
      current == nil ? stoppedPosition.map { PositionAnchor(position: $0, hostTime: .zero, rate: 0) } : anchor
    snapshot.pendingSeek = pendingSeek?.target
    snapshot.queueIndex = snapshot.entry.flatMap { queue.index(of: $0.id) }
    snapshot.queueCount = queue.count
    snapshot.queueRevision = queue.revision
    snapshot.repeatMode = queue.repeatMode
    snapshot.volume = volume
    snapshot.isMuted = isMuted
    snapshot.rate = sound.isBitPerfect ? 1 : rate
    snapshot.sound = sound
    snapshot.output = output
    snapshot.can = abilities
    return snapshot
  }

  private var abilities: PlayerSnapshot.Abilities {
    var can = PlayerSnapshot.Abilities()
    guard !isShutDown else { return can }
    let id = queue.currentID
    can.play = !queue.isEmpty
    can.pause = current != nil
    can.stop = current != nil
    can.next = id.flatMap { queue.successorByCommand(of: $0) } != nil
    can.previous = id != nil
    can.volume = capabilities.gain && !sound.isBitPerfect
    can.rate = capabilities.rate && !sound.isBitPerfect
    can.sound = capabilities.sound
    can.seek = id != nil && (current?.info?.isSeekable ?? true)
    return can
  }
}
