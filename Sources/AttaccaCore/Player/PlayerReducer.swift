/// Numbers commands, so that an answer that comes later (a seek's) finds the one who asked.
public struct CommandID: Sendable, Hashable {
  /// The number.
  public var rawValue: UInt64
  /// Makes an identity from its number.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// What the reducer is told.
public enum PlayerInput: Sendable, Hashable {
  /// Someone asks for something.
  case command(CommandID, PlayerCommand)
  /// The engine reports.
  case engine(EngineEvent)
}

/// What the reducer wants done; carried out in order.
public enum PlayerEffect: Sendable, Hashable {
  /// Tell the engine.
  case engine(EngineCommand)
  /// Tell everyone who listens.
  case emit(PlayerEvent)
  /// Answer a command.
  case reply(CommandID, CommandResult)
  /// Remember.
  case journal(JournalRecord)
  /// Shut the engine down, then answer.
  case shutdown(CommandID)
}

/// The rules of playing as one pure state machine: the only place where a player's state changes.
///
/// `handle(_:at:)` takes an input and the time and answers what is to be done. It reads no clock, does no I/O and never
/// waits; the same inputs always give the same effects.
public struct PlayerReducer: Sendable {
  /// Settings of the rules.
  public struct Policy: Sendable, Hashable {
    /// `previous` restarts an item that is further in than this.
    public var restartThreshold: Duration = .seconds(3)
    /// This many items in a row may fail …
    public var failureLimit = 100
    /// … if it took at least this long; a whole lap without a success ends playing in any case.
    public var failureTime: Duration = .seconds(10)
    /// Makes the default policy.
    public init() {}
  }

  /// A load the engine was given.
  struct Load: Sendable {
    var entry: QueueEntry
    var generation: Generation
    var info: MediaInfo?
  }

  /// A seek that has not ended.
  struct PendingSeek: Sendable {
    var id: SeekID
    var target: Duration
    var command: CommandID
  }

  /// How a player begins, and what its engine can do.
  public struct Setup: Sendable, Hashable {
    /// Loudness 0…1.
    public var volume = 1.0
    /// The repeat mode.
    public var repeatMode = RepeatMode.off
    /// Media seconds per second, 0.25…4.
    public var rate = 1.0
    /// How everything sounds.
    public var sound = SoundSettings()
    /// What the engine can do.
    public var capabilities = EngineCapabilities.all
    /// Makes the usual beginning.
    public init() {}
  }

  /// The slowest and the fastest rate.
  public static let rates = 0.25...4.0

  let policy: Policy
  let capabilities: EngineCapabilities
  /// The queue.
  public internal(set) var queue = PlayQueue()
  var wantsToPlay = false
  var suppressions: Set<Suppression> = []
  var volume = 1.0
  var isMuted = false
  var rate = 1.0
  var sound = SoundSettings()
  var output: OutputInfo?
  var failure: MediaError?
  var isShutDown = false

  /// What is loaded; `nil` while stopped.
  var current: Load?
  var anchor: PositionAnchor?
  var duration: MediaDuration?
  var isStalled = false
  /// A sample of the current load has been heard, or could be.
  var hasLanded = false
  var pendingSeek: PendingSeek?
  /// Where a stopped player begins its current entry.
  var stoppedPosition: Duration?

  /// The loads that follow the current one in the engine.
  var upcoming: [Load] = []
  /// The load whose successor the engine wants; answered by `upcoming` growing, or by word that nothing follows.
  var wantedAfter: Generation?
  /// The load after which the engine was told that nothing follows.
  var toldNothingFollows: Generation?
  /// Upcoming entries that could not be opened, skipped when their turn comes.
  var faulty: [EntryID: MediaError] = [:]
  /// What the engine was told last.
  var engineRuns = false
  private var engineRate = 1.0
  private var engineSound = SoundSettings()

  var failuresInARow = 0
  var firstFailure: Duration?
  var lastStatus = PlayerStatus.stopped

  private var lastGeneration: UInt64 = 0
  private var lastSeek: UInt64 = 0
  var effects: [PlayerEffect] = []

  /// Makes the state of a player with an empty queue.
  public init(policy: Policy = Policy(), setup: Setup = Setup()) {
    self.policy = policy
    capabilities = setup.capabilities
    volume = min(1, max(0, setup.volume.isNaN ? 1 : setup.volume))
    if capabilities.rate { rate = setup.rate.isNaN ? 1 : setup.rate.clamped(to: Self.rates) }
    if capabilities.sound { sound = setup.sound.clamped }
    queue.repeatMode = setup.repeatMode
    engineRate = rate
    engineSound = wantedSound
  }

  /// What an engine has to be told before anything else, so that it begins as the player does.
  public var initialCommands: [EngineCommand] {
    var commands: [EngineCommand] = []
    if gain != 1 { commands.append(.setGain(gain)) }
    if engineRate != 1 { commands.append(.setRate(engineRate)) }
    if engineSound != SoundSettings() { commands.append(.setSound(engineSound)) }
    return commands
  }

  /// Takes one input and answers what is to be done about it, in order.
  public mutating func handle(_ input: PlayerInput, at now: PlayerTime) -> [PlayerEffect] {
    switch input {
    case .command(let id, let command): handle(command, id, now)
    case .engine(let event): if !isShutDown { handle(event, now) }
    }
    reconcile()
    defer { effects = [] }
    return effects
  }

  /// Everything that follows from the state: whether the engine runs, what comes next, and the status.
  private mutating func reconcile() {
    let runs = wantsToPlay && current != nil && suppressions.isSubset(of: [.outputLost])
    if runs != engineRuns {
      engineRuns = runs
      effects.append(.engine(.setRunning(runs)))
    }
    reconcileUpcoming()
    reconcileSound()
    let status = self.status
    if status != lastStatus {
      lastStatus = status
      effects.append(.emit(.statusChanged(status)))
    }
  }

  private var wantedSound: SoundSettings {
    var wanted = sound
    if wanted.loudness == .auto { wanted.loudness = queue.isPlayOrderDifferent ? .track : .album }
    return wanted
  }

  private mutating func reconcileSound() {
    if engineRate != rate {
      engineRate = rate
      effects.append(.engine(.setRate(rate)))
    }
    let wanted = wantedSound
    if engineSound != wanted {
      engineSound = wanted
      effects.append(.engine(.setSound(wanted)))
    }
  }

  /// The status, derived from intent, suppressions and readiness.
  var status: PlayerStatus {
    if let failure { return .failed(failure) }
    guard current != nil else { return .stopped }
    guard wantsToPlay else { return .paused(.user) }
    if suppressions.contains(.interruption) { return .paused(.interruption) }
    if suppressions.contains(.routeLost) { return .paused(.routeLost) }
    if suppressions.contains(.systemSleep) { return .paused(.systemSleep) }
    if suppressions.contains(.scrubbing) { return .waiting(.seeking) }
    if suppressions.contains(.outputLost) { return .waiting(.outputLost) }
    if isStalled { return .waiting(pendingSeek == nil ? .stalled : .seeking) }
    guard hasLanded, let anchor, anchor.rate > 0 else { return .waiting(.opening) }
    return .playing
  }

  // MARK: Loads

  mutating func newGeneration() -> Generation {
    lastGeneration += 1
    return Generation(lastGeneration)
  }

  mutating func newSeek() -> SeekID {
    lastSeek += 1
    return SeekID(lastSeek)
  }

  /// Loads an entry from `start` on, replacing what is loaded.
  mutating func load(_ entry: QueueEntry, from start: Duration = .zero) {
    let generation = newGeneration()
    current = Load(entry: entry, generation: generation)
    anchor = nil
    isStalled = false
    hasLanded = false
    failure = nil
    stoppedPosition = nil
    duration = entry.item.declaredDuration.map { MediaDuration($0, .declared) }
    upcoming = []
    wantedAfter = nil
    if start > .zero { anchor = PositionAnchor(position: start, hostTime: .zero, rate: 0) }
    effects.append(
      .engine(.load(EngineLoad(entry: entry.id, generation: generation, item: entry.item, start: start))))
  }

  /// Releases engine and output; the queue's current entry stays.
  mutating func unload() {
    supersedeSeek()
    if current != nil { effects.append(.engine(.stop)) }
    current = nil
    anchor = nil
    duration = nil
    isStalled = false
    hasLanded = false
    upcoming = []
    wantedAfter = nil
    output = nil
    suppressions.remove(.outputLost)
    suppressions.remove(.scrubbing)
  }

  /// Makes an entry current and, if playing or asked to, loads it.
  mutating func go(
    to entry: QueueEntry, reason: ItemChangeReason, autoStart: AutoStart = .keep, from start: Duration = .zero,
    _ now: PlayerTime
  ) {
    let last = current?.entry.id ?? queue.currentID
    leave(now, reason: .switched)
    effects.append(.emit(.itemWillChange(now: last, new: entry.id)))
    _ = queue.setCurrent(entry.id)
    if autoStart != .keep { wantsToPlay = autoStart == .play }
    stoppedPosition = nil
    failure = nil
    if wantsToPlay || current != nil || autoStart == .pause {
      load(entry, from: start)
    }
    effects.append(.emit(.itemDidChange(last: last, now: entry, reason: reason)))
  }

  /// Ends what hangs on the current load: its seek, and its place in the journal.
  mutating func leave(_ now: PlayerTime, reason: JournalRecord.Reason) {
    supersedeSeek()
    suppressions.remove(.scrubbing)
    journal(reason, now)
  }

  mutating func journal(_ reason: JournalRecord.Reason, _ now: PlayerTime) {
    guard hasLanded, let current, let position = heardPosition(now) else { return }
    effects.append(
      .journal(
        JournalRecord(
          reason: reason, entry: current.entry.id, media: current.entry.item.id, position: position, time: now)))
  }

  mutating func supersedeSeek() {
    guard let seek = pendingSeek else { return }
    pendingSeek = nil
    end(seek, .superseded)
  }

  mutating func end(_ seek: PendingSeek, _ outcome: SeekOutcome) {
    effects.append(.emit(.seekEnded(current?.entry.id ?? queue.currentID, outcome)))
    effects.append(.reply(seek.command, .seek(outcome)))
  }

  /// The position now heard.
  func heardPosition(_ now: PlayerTime) -> Duration? {
    guard current != nil else { return stoppedPosition ?? (queue.currentID == nil ? nil : .zero) }
    return anchor?.position(at: now.host, limit: duration?.confidence == .exact ? duration?.value : nil) ?? .zero
  }
}
