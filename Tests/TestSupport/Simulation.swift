import AttaccaCore

/// A player's reducer on a scripted engine in virtual time: a whole album in milliseconds, and a dump of what happened.
public struct Simulation: Sendable {
  /// The rules under test.
  public private(set) var reducer: PlayerReducer
  /// The engine they drive.
  public var engine: ScriptedEngine
  /// Host time now.
  public private(set) var now: Duration = .zero
  /// A line for each event, answer and journal record.
  public private(set) var dump: [String] = []
  /// Every event, in order.
  public private(set) var events: [PlayerEvent] = []
  /// Every answer.
  public private(set) var replies: [CommandID: CommandResult] = [:]
  /// Every journal record.
  public private(set) var journal: [JournalRecord] = []
  /// Every command to the engine.
  public private(set) var sent: [EngineCommand] = []
  /// Called after each input.
  public var check: (@Sendable (PlayerReducer, PlayerTime) -> Void)?
  private var lastCommand: UInt64 = 0

  /// Makes a simulation.
  public init(policy: PlayerReducer.Policy = .init(), _ script: @escaping @Sendable (MediaItem) -> ScriptedMedia) {
    reducer = PlayerReducer(policy: policy)
    engine = ScriptedEngine(script)
  }

  /// The time as the reducer is told it.
  public var time: PlayerTime { PlayerTime(host: now, boot: now, wall: .seconds(1_700_000_000) + now) }

  /// Asks the player for something.
  @discardableResult
  public mutating func perform(_ command: PlayerCommand) -> CommandID {
    lastCommand += 1
    let id = CommandID(lastCommand)
    take(.command(id, command))
    return id
  }

  /// Lets `duration` pass.
  public mutating func run(for duration: Duration) { run(until: now + duration) }

  /// Lets time pass until the player stops or fails, at most until `limit`.
  public mutating func runToEnd(limit: Duration = .seconds(86_400)) {
    while now < limit, reducer.snapshot.status != .stopped, let due = engine.nextDue {
      if case .failed = reducer.snapshot.status { return }
      run(until: min(limit, max(now, due)))
    }
  }

  /// Reports something the script has no rule for.
  public mutating func report(_ event: EngineEvent) { take(.engine(event)) }

  private mutating func run(until end: Duration) {
    while let due = engine.nextDue, due <= end {
      now = max(now, due)
      for event in engine.advance(to: now) { take(.engine(event)) }
    }
    now = end
  }

  private mutating func take(_ input: PlayerInput) {
    for effect in reducer.handle(input, at: time) {
      switch effect {
      case .engine(let command):
        sent.append(command)
        engine.send(command, at: now)
      case .emit(let event):
        events.append(event)
        dump.append("\(stamp) \(describe(event))")
      case .reply(let id, let result):
        replies[id] = result
        if result != .done, case .added = result {
        } else if result != .done {
          dump.append("\(stamp)   reply \(describe(result))")
        }
      case .journal(let record):
        journal.append(record)
        dump.append("\(stamp)   journal \(record.reason.rawValue) \(record.media) at \(milliseconds(record.position))")
      case .shutdown(let id): replies[id] = .done
      }
    }
    check?(reducer, time)
  }

  private var stamp: String {
    let text = String(milliseconds(now))
    return String(repeating: " ", count: max(0, 7 - text.count)) + text
  }
}

private func milliseconds(_ time: Duration) -> Int64 { time.microseconds / 1000 }

private func describe(_ event: PlayerEvent) -> String {
  func id(_ entry: EntryID?) -> String { entry.map { "#\($0)" } ?? "nothing" }
  return switch event {
  case .itemWillChange(let now, let new): "itemWillChange \(id(now)) to \(id(new))"
  case .itemDidChange(let last, let now, let reason):
    "itemDidChange \(id(last)) to \(id(now?.id)) \(now?.item.id.rawValue ?? "") (\(reason.rawValue))"
  case .metadataRead(let entry, _): "metadataRead \(id(entry))"
  case .durationKnown(let entry, let duration):
    "durationKnown \(id(entry)) \(milliseconds(duration.value)) \(duration.confidence.rawValue)"
  case .statusChanged(let status): "statusChanged \(status.name)\(status.reason.map { " (\($0))" } ?? "")"
  case .seekEnded(let entry, let outcome): "seekEnded \(id(entry)) \(describe(outcome))"
  case .playedToEnd(let entry, let isLast): "playedToEnd \(id(entry))\(isLast ? " last" : "")"
  case .queueChanged(let change): "queueChanged revision \(change.revision)"
  case .failed(let entry, let error): "failed \(id(entry)) \(error)"
  case .outputChanged(let info): "outputChanged \(info.kind)"
  case .resync: "resync"
  }
}

private func describe(_ outcome: SeekOutcome) -> String {
  switch outcome {
  case .landed(let position): "landed at \(milliseconds(position))"
  case .superseded: "superseded"
  case .rejected(let refusal): "rejected: \(refusal)"
  case .failed(let error): "failed: \(error)"
  }
}

private func describe(_ result: CommandResult) -> String {
  switch result {
  case .done: "done"
  case .added(let ids): "added \(ids.count)"
  case .seek(let outcome): "seek \(describe(outcome))"
  case .refused(let refusal): "refused: \(refusal)"
  }
}
