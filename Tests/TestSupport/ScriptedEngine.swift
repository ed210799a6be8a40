import AttaccaCore
import Synchronization

/// What a scripted engine knows of an item, found by the item's id.
public struct ScriptedMedia: Sendable {
  /// How long it plays.
  public var duration: Duration
  /// Until opening has succeeded or failed.
  public var openDelay: Duration
  /// Why it cannot be opened.
  public var failure: MediaError?
  /// Where reading fails underway.
  public var breaksAt: Duration?
  /// Whether positions can be chosen.
  public var isSeekable: Bool

  /// Makes a media.
  public init(
    _ duration: Duration, openDelay: Duration = .milliseconds(5), failure: MediaError? = nil,
    breaksAt: Duration? = nil, isSeekable: Bool = true
  ) {
    self.duration = duration
    self.openDelay = openDelay
    self.failure = failure
    self.breaksAt = breaksAt
    self.isSeekable = isSeekable
  }
}

/// An engine made of rules alone: what a correct engine reports, and when, in virtual time. No threads, no sound.
public struct ScriptedEngine: Sendable {
  private struct Loaded {
    var load: EngineLoad
    var media: ScriptedMedia
    var isOpened = false
  }

  /// Latency of starting, holding and seeking.
  public var latency: Duration = .milliseconds(10)
  private let script: @Sendable (MediaItem) -> ScriptedMedia
  private var chain: [Loaded] = []
  private var isRunning = false
  private var rate = 1.0
  private var anchor: PositionAnchor?
  private var hasOutput = false
  private var hasAsked: Set<UInt64> = []
  private var isClosed = false
  private var pending: [(due: Duration, order: Int, event: EngineEvent, then: Then)] = []
  private var order = 0

  private enum Then: Sendable { case nothing, opened(Generation), sounds, held, seeked(Duration) }

  /// Makes an engine; `script` tells what each item is.
  public init(_ script: @escaping @Sendable (MediaItem) -> ScriptedMedia) { self.script = script }

  /// When the next event is due, if nothing is sent before.
  public var nextDue: Duration? {
    let queued = pending.min { ($0.due, $0.order) < ($1.due, $1.order) }?.due
    return [queued, endDue].compactMap { $0 }.min()
  }

  private var end: Duration? { chain.first.map { $0.media.breaksAt ?? $0.media.duration } }

  private var endDue: Duration? {
    guard let anchor, anchor.rate > 0, let end else { return nil }
    return anchor.hostTime + (end - anchor.position) / anchor.rate
  }

  /// Takes a command at host time `now`.
  public mutating func send(_ command: EngineCommand, at now: Duration) {
    switch command {
    case .load(let load):
      pending = []
      hasAsked = []
      isClosed = false
      anchor = nil
      chain = [Loaded(load: load, media: script(load.item))]
      anchor = PositionAnchor(position: load.start, hostTime: now, rate: 0)
      open(0, now)
    case .setRunning(let running):
      isRunning = running
      guard let first = chain.first, first.isOpened, let anchor else { return }
      let position = anchor.position(at: now, limit: end)
      if running {
        post(
          now + latency,
          .anchored(first.load.generation, PositionAnchor(position: position, hostTime: now + latency, rate: rate)),
          .sounds)
      } else {
        pending.removeAll { if case .sounds = $0.then { true } else { false } }
        self.anchor = PositionAnchor(position: position, hostTime: now, rate: 0)
        post(now, .anchored(first.load.generation, PositionAnchor(position: position, hostTime: now, rate: 0)), .held)
      }
    case .setUpcoming(let after, let loads):
      guard let index = chain.firstIndex(where: { $0.load.generation == after }) else { return }
      chain.removeSubrange((index + 1)...)
      isClosed = loads.isEmpty
      for load in loads {
        chain.append(Loaded(load: load, media: script(load.item)))
        open(chain.count - 1, now)
      }
    case .seek(let id, let generation, let target):
      guard let first = chain.first, first.load.generation == generation else { return }
      let position = min(target, first.media.duration)
      let start = first.isOpened ? now : now + first.media.openDelay
      pending.removeAll { if case .seeked = $0.then { true } else { false } }
      post(
        start + latency,
        .seekLanded(
          id, generation, PositionAnchor(position: position, hostTime: start + latency, rate: isRunning ? rate : 0)),
        .seeked(position))
    case .setGain, .setSound: break
    case .setRate(let rate):
      self.rate = rate
      guard let first = chain.first, let anchor, anchor.rate > 0 else { return }
      let changed = PositionAnchor(position: anchor.position(at: now, limit: end), hostTime: now, rate: rate)
      self.anchor = changed
      post(now, .anchored(first.load.generation, changed), .sounds)
    case .stop:
      chain = []
      pending = []
      anchor = nil
      hasOutput = false
    }
  }

  /// Moves to host time `now` and answers what happened until then, in order.
  public mutating func advance(to now: Duration) -> [EngineEvent] {
    var events: [EngineEvent] = []
    while let due = nextDue, due <= now {
      if let index = pending.indices.min(by: {
        (pending[$0].due, pending[$0].order) < (pending[$1].due, pending[$1].order)
      }),
        pending[index].due <= endDue ?? .seconds(1 << 40)
      {
        let entry = pending.remove(at: index)
        apply(entry.then, at: entry.due, entry.event)
        events.append(entry.event)
      } else {
        events.append(contentsOf: finish(at: due))
      }
    }
    return events
  }

  private mutating func post(_ due: Duration, _ event: EngineEvent, _ then: Then = .nothing) {
    order += 1
    pending.append((due, order, event, then))
  }

  private mutating func open(_ index: Int, _ now: Duration) {
    let (load, media) = (chain[index].load, chain[index].media)
    if let failure = media.failure {
      post(now + media.openDelay, .failed(load.generation, failure))
      return
    }
    let info = MediaInfo(
      container: "script", codec: "script", sampleRate: 44_100, channels: 2,
      duration: MediaDuration(media.duration, .exact), isSeekable: media.isSeekable)
    post(now + media.openDelay, .opened(load.generation, info), .opened(load.generation))
  }

  private mutating func apply(_ then: Then, at now: Duration, _ event: EngineEvent) {
    switch then {
    case .nothing: break
    case .opened(let generation):
      guard let index = chain.firstIndex(where: { $0.load.generation == generation }) else { return }
      chain[index].isOpened = true
      if index == 0 {
        if !hasOutput {
          hasOutput = true
          post(now, .outputOpened(OutputInfo(kind: "script", name: "script")))
        }
        let position = anchor?.position ?? .zero
        let seeks = pending.contains { if case .seeked = $0.then { true } else { false } }
        if !seeks {
          let rate = isRunning ? rate : 0
          post(
            now + latency,
            .anchored(generation, PositionAnchor(position: position, hostTime: now + latency, rate: rate)),
            isRunning ? .sounds : .held)
        }
      }
      if index == 0 { askForNext(now) }
    case .sounds, .held:
      if case .anchored(_, let anchor) = event { self.anchor = anchor }
    case .seeked:
      if case .seekLanded(_, _, let anchor) = event { self.anchor = anchor }
    }
  }

  /// One load is opened ahead of the one heard, no more.
  private mutating func askForNext(_ now: Duration) {
    guard chain.count == 1, !isClosed, let generation = chain.first?.load.generation,
      hasAsked.insert(generation.rawValue).inserted
    else { return }
    post(now + latency, .wantsNext(after: generation))
  }

  private mutating func finish(at now: Duration) -> [EngineEvent] {
    guard let first = chain.first else { return [] }
    let generation = first.load.generation
    if first.media.breaksAt != nil {
      anchor?.rate = 0
      chain = []
      return [
        .failed(generation, MediaError(.sourceReadFailed, subject: first.load.item.displayTitle, reason: "it broke"))
      ]
    }
    guard chain.count > 1, chain[1].isOpened else {
      anchor = PositionAnchor(position: first.media.duration, hostTime: now, rate: 0)
      return [.ended(generation, at: first.media.duration)]
    }
    chain.removeFirst()
    let next = PositionAnchor(position: chain[0].load.start, hostTime: now, rate: rate)
    anchor = next
    askForNext(now)
    return [.advanced(from: generation, to: chain[0].load.generation, next)]
  }
}

/// A scripted engine as a port: sends are noted, events come when a test says so.
public final class ManualEngine: PlaybackEngine {
  private struct State {
    var receive: (@Sendable (EngineEvent) -> Void)?
    var commands: [EngineCommand] = []
    var isShutDown = false
  }
  private let state = Mutex(State())

  public let capabilities = EngineCapabilities.all
  /// Makes an engine that does nothing by itself.
  public init() {}
  public func start(_ receive: @escaping @Sendable (EngineEvent) -> Void) { state.withLock { $0.receive = receive } }
  public func send(_ command: EngineCommand) { state.withLock { $0.commands.append(command) } }
  public func shutdown(_ completion: @escaping @Sendable () -> Void) {
    state.withLock { $0.isShutDown = true }
    completion()
  }

  /// What was sent so far.
  public var commands: [EngineCommand] { state.withLock { $0.commands } }
  /// Whether it was shut down.
  public var isShutDown: Bool { state.withLock { $0.isShutDown } }
  /// Reports something to the player.
  public func report(_ event: EngineEvent) { state.withLock { $0.receive }?(event) }
}
