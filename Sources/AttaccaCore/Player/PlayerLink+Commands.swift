extension PlayerLink {
  /// Makes these items the queue; answers their entries' ids.
  @discardableResult
  public func replaceQueue(
    with items: [MediaItem], startAt index: Int = 0, autoStart: AutoStart = .keep
  ) async throws(Refusal) -> [EntryID] {
    try added(await perform(.replaceQueue(items, startAt: index, autoStart: autoStart)))
  }

  /// Puts items at the end of the queue; answers their entries' ids.
  @discardableResult
  public func append(_ items: [MediaItem]) async throws(Refusal) -> [EntryID] {
    try added(await perform(.append(items)))
  }

  /// Puts items right after the current entry; answers their entries' ids.
  @discardableResult
  public func insertNext(_ items: [MediaItem]) async throws(Refusal) -> [EntryID] {
    try added(await perform(.insertNext(items)))
  }

  /// Wants sound.
  public func play() async throws(Refusal) { try check(await perform(.play)) }
  /// Wants silence.
  public func pause() async throws(Refusal) { try check(await perform(.pause)) }
  /// Ends playing.
  public func stop() async throws(Refusal) { try check(await perform(.stop)) }
  /// Goes to the next entry.
  public func next(_ autoStart: AutoStart = .keep) async throws(Refusal) { try check(await perform(.next(autoStart))) }
  /// Restarts the item or goes to the entry before it.
  public func previous(_ autoStart: AutoStart = .keep) async throws(Refusal) {
    try check(await perform(.previous(autoStart)))
  }
  /// Goes to an entry.
  public func jump(to entry: EntryID, _ autoStart: AutoStart = .keep) async throws(Refusal) {
    try check(await perform(.jump(entry, autoStart)))
  }

  /// Goes to a media position; returns when it is heard, or why it is not.
  @discardableResult
  public func seek(to position: Duration) async -> SeekOutcome { outcome(await perform(.seek(position))) }

  /// Moves relative to the position; returns when the target is heard, or why it is not.
  @discardableResult
  public func skip(by distance: Duration) async -> SeekOutcome { outcome(await perform(.skip(distance))) }

  /// Ends everything; when it returns, no thread, stream or file of the player is left.
  public func shutdown() async { _ = await perform(.shutdown) }

  private func check(_ result: CommandResult) throws(Refusal) {
    if case .refused(let refusal) = result { throw refusal }
  }

  private func added(_ result: CommandResult) throws(Refusal) -> [EntryID] {
    if case .added(let ids) = result { return ids }
    try check(result)
    return []
  }

  private func outcome(_ result: CommandResult) -> SeekOutcome {
    switch result {
    case .seek(let outcome): outcome
    case .refused(let refusal): .rejected(refusal)
    case .done, .added: .superseded
    }
  }
}
