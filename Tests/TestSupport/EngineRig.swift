import AttaccaCore
import POSIXKit
import Testing

/// An engine with a captured output below it and a log above it, driven through the port alone.
public final class EngineRig: Sendable {
  private struct State {
    var events: [EngineEvent] = []
    var outputs: [CaptureOutput] = []
    /// What follows, asked for one at a time.
    var playlist: [MediaItem] = []
    var generation: UInt64 = 0
    var answers = true
    var seeks: UInt64 = 0
  }

  /// Something did not happen in time.
  public struct TimedOut: Error, CustomStringConvertible {
    /// What was waited for, and what happened instead.
    public let description: String
  }

  /// The engine.
  public let engine: any PlaybackEngine
  private let state: Monitor<State>
  private let limit = Duration.seconds(8)

  /// Makes a rig around the engine that `make` makes with the outputs it is given.
  public init(
    ahead: Int = 88_200, margin: Int = 0, step: Int = 441,
    _ make: (@escaping @Sendable () -> any AudioOutput) -> any PlaybackEngine
  ) {
    let state = Monitor(State())
    self.state = state
    engine = make {
      let output = CaptureOutput(ahead: ahead, margin: margin, step: step)
      state.withLock { $0.outputs.append(output) }
      return output
    }
    let engine = Weak(engine)
    engine.value?.start { event in
      let answer = state.signal { state -> EngineCommand? in
        state.events.append(event)
        guard state.answers, case .wantsNext(let after) = event else { return nil }
        guard !state.playlist.isEmpty else { return .setUpcoming(after: after, loads: []) }
        state.generation += 1
        let item = state.playlist.removeFirst()
        return .setUpcoming(
          after: after,
          loads: [EngineLoad(entry: EntryID(state.generation), generation: Generation(state.generation), item: item)])
      }
      if let answer { engine.value?.send(answer) }
    }
  }

  private final class Weak: Sendable {
    // A weak variable is read and cleared atomically by the runtime; it is set once, in init.
    nonisolated(unsafe) weak var value: (any PlaybackEngine)?
    init(_ value: any PlaybackEngine) { self.value = value }
  }

  /// What happened so far.
  public var events: [EngineEvent] { state.withLock { $0.events } }
  /// The newest output.
  public var output: CaptureOutput { state.withLock { $0.outputs[$0.outputs.count - 1] } }
  /// Every output made.
  public var outputs: [CaptureOutput] { state.withLock { $0.outputs } }

  /// Sends a command.
  public func send(_ command: EngineCommand) { engine.send(command) }

  /// A load of an item, with a generation of its own.
  public func makeLoad(_ item: MediaItem, at start: Duration = .zero) -> EngineLoad {
    state.withLock { state in
      state.generation += 1
      return EngineLoad(
        entry: EntryID(state.generation), generation: Generation(state.generation), item: item, start: start)
    }
  }

  /// What is answered to `wantsNext`; `nil`: nothing, the test does it.
  public func follow(with items: [MediaItem]?) {
    state.withLock {
      $0.playlist = items ?? []
      $0.answers = items != nil
    }
  }

  /// Loads an item.
  @discardableResult
  public func load(_ item: MediaItem, at start: Duration = .zero) -> Generation {
    let load = makeLoad(item, at: start)
    send(.load(load))
    return load.generation
  }

  /// Seeks; answers the seek's number.
  @discardableResult
  public func seek(_ generation: Generation, to position: Duration) -> SeekID {
    let id = state.withLock { state in
      state.seeks += 1
      return SeekID(state.seeks)
    }
    send(.seek(id, generation, to: position))
    return id
  }

  /// Waits until `find` finds something among the events so far.
  @discardableResult
  public func wait<Found>(_ what: String, for find: ([EngineEvent]) -> Found?) throws -> Found {
    if let found = state.wait(until: Clocks.host + limit, for: { find($0.events) }) { return found }
    throw TimedOut(description: "\(what) did not happen; what did: \(brief(events)), \(outputState)")
  }

  private var outputState: String {
    guard let output = outputs.last else { return "no output" }
    return "output: heard \(output.heardFrames), queued \(output.queuedFrames), runs \(output.isRunning)"
  }

  /// Waits for an event.
  @discardableResult
  public func waitFor(_ what: String, _ isIt: (EngineEvent) -> Bool) throws -> EngineEvent {
    try wait(what) { $0.first(where: isIt) }
  }

  /// Waits for the end of the chain.
  @discardableResult
  public func waitForEnd(of generation: Generation? = nil) throws -> Duration {
    try wait("the end") { events in
      for case .ended(let ended, let position) in events where generation == nil || ended == generation {
        return position
      }
      return nil
    }
  }

  /// Waits until a seek has landed, and answers the anchor.
  @discardableResult
  public func waitForLanding(_ id: SeekID) throws -> PositionAnchor {
    try wait("seek \(id.rawValue)") { events in
      for case .seekLanded(id, _, let anchor) in events { return anchor }
      return nil
    }
  }

  /// Waits until `frames` have been heard.
  public func waitForHeard(_ frames: Int64) throws {
    if !output.waitForHeard(frames) {
      throw TimedOut(description: "\(frames) frames were not heard: \(outputState), \(brief(events))")
    }
  }

  /// Plays items to the end of the last and answers what was heard.
  public func render(_ items: [MediaItem]) throws -> [Float] {
    follow(with: Array(items.dropFirst()))
    load(items[0])
    send(.setRunning(true))
    output.play()
    try waitForEnd()
    return output.captured
  }

  /// Shuts the engine down and waits for it.
  public func shutdown() throws {
    let done = Monitor(false)
    engine.shutdown { done.signal { $0 = true } }
    if done.wait(until: Clocks.host + limit, for: { $0 ? true : nil }) == nil {
      throw TimedOut(description: "the engine did not shut down")
    }
  }

  private func brief(_ events: [EngineEvent]) -> String {
    events.suffix(16).map { event in
      "\(event)".replacing("AttaccaCore.", with: "").replacing("PositionAnchor", with: "").prefix(120)
    }.joined(separator: "; ")
  }
}
