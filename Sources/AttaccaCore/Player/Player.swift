/// A queue player: an actor around the pure ``PlayerReducer``, with an engine below it.
///
/// Nothing in it waits inside a transition: each input is taken whole, and its effects carried out, before the next. A
/// player that is dropped takes its engine, its threads and its output with it; ``shutdown()`` waits for that.
/// Any number of players can live in one process.
public actor Player: PlayerLink {
  private var reducer: PlayerReducer
  private let engine: any PlaybackEngine
  private let clock: any PlayerClock
  private let journal: (any PlaybackJournal)?
  private var waiting: [CommandID: CheckedContinuation<CommandResult, Never>] = [:]
  private var lastCommand: UInt64 = 0
  private var eventFeed = Feed<PlayerEvent>.bounded(1024, marker: .resync)
  private var snapshotFeed = Feed<PlayerSnapshot>.newest()
  private var lastSnapshot: PlayerSnapshot?
  private let engineEvents: AsyncStream<EngineEvent>.Continuation
  private var pump: Task<Void, Never>?

  /// Makes a player on an engine of its own.
  ///
  /// - Parameters:
  ///   - engine: started here; must not be used by anything else.
  ///   - clock: tells the time.
  ///   - journal: gets what is worth remembering.
  ///   - setup: how it begins; what the engine can do is taken from the engine.
  public init(
    engine: any PlaybackEngine, clock: any PlayerClock, journal: (any PlaybackJournal)? = nil,
    policy: PlayerReducer.Policy = .init(), setup: PlayerReducer.Setup = .init()
  ) {
    var setup = setup
    setup.capabilities = engine.capabilities
    reducer = PlayerReducer(policy: policy, setup: setup)
    self.engine = engine
    self.clock = clock
    self.journal = journal
    let (stream, continuation) = AsyncStream.makeStream(of: EngineEvent.self)
    engineEvents = continuation
    engine.start { continuation.yield($0) }
    reducer.initialCommands.forEach(engine.send)
    Task { await self.listen(to: stream) }
  }

  deinit {
    engineEvents.finish()
    eventFeed.finish()
    snapshotFeed.finish()
  }

  private func listen(to stream: AsyncStream<EngineEvent>) {
    // Weak: waiting for the engine must not keep a dropped player alive.
    pump = Task { [weak self] in
      for await event in stream {
        guard let self else { return }
        await self.take(.engine(event))
      }
    }
  }

  private func take(_ input: PlayerInput) {
    for effect in reducer.handle(input, at: clock.now) { carryOut(effect) }
    guard !snapshotFeed.isEmpty else { return }
    let snapshot = reducer.snapshot
    if snapshot != lastSnapshot {
      lastSnapshot = snapshot
      snapshotFeed.send(snapshot)
    }
  }

  private func carryOut(_ effect: PlayerEffect) {
    switch effect {
    case .engine(let command): engine.send(command)
    case .emit(let event): eventFeed.send(event)
    case .reply(let id, let result): waiting.removeValue(forKey: id)?.resume(returning: result)
    case .journal(let record): journal?.record(record)
    case .shutdown(let id):
      let continuation = waiting.removeValue(forKey: id)
      engine.shutdown { continuation?.resume(returning: .done) }
      engineEvents.finish()
      eventFeed.finish()
      snapshotFeed.finish()
    }
  }

  public func perform(_ command: PlayerCommand) async -> CommandResult {
    await withCheckedContinuation { continuation in
      lastCommand += 1
      let id = CommandID(lastCommand)
      waiting[id] = continuation
      take(.command(id, command))
    }
  }

  /// What is true now.
  public var snapshot: PlayerSnapshot { reducer.snapshot }

  /// The queue as it is now; a cheap copy.
  public var queue: PlayQueue { reducer.queue }

  /// The media position heard now; `nil` when nothing is current.
  public var position: Duration? { reducer.snapshot.position(at: clock.now.host) }

  public func snapshots() -> AsyncStream<PlayerSnapshot> {
    let stream = snapshotFeed.subscribe { [weak self] id in Task { await self?.forgetSnapshots(id) } }
    // A new consumer gets the present state at once; to the others it is no news.
    snapshotFeed.send(reducer.snapshot)
    return stream
  }

  public func events() -> AsyncStream<PlayerEvent> {
    eventFeed.subscribe { [weak self] id in Task { await self?.forgetEvents(id) } }
  }

  public func queueEntries(in range: Range<Int>) -> [QueueEntry] { reducer.queue.entries(in: range) }

  private func forgetSnapshots(_ id: UInt64) { snapshotFeed.remove(id) }
  private func forgetEvents(_ id: UInt64) { eventFeed.remove(id) }
}
