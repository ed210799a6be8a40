import AttaccaCore
import Glibc

/// How a session ended.
enum SessionEnding: Equatable {
  /// The queue came to its end, or to where it cannot go on. `heard`: some item was heard; `outputFailed`: sound could
  /// not be brought out.
  case finished(heard: Bool, outputFailed: Bool)
  /// The user had enough.
  case quit
  /// Nobody reads what is printed.
  case unread
  /// A signal asked for the end.
  case signal(Int32)
}

/// Plays a queue from a terminal or a script: starts it, shows it through a face, carries keys and signals to the
/// player, and knows when it is over.
///
/// Everything comes through one stream and is handled one by one on the main actor, where a terminal that is slow to
/// take its text holds up nothing but itself.
@MainActor final class PlaySession {
  private enum Input: Sendable {
    case system(SystemInput)
    case event(PlayerEvent)
    case snapshot(PlayerSnapshot)
    case startRefused(Refusal)
    case refused(Refusal)
    case deadline
    case eventsEnded
  }

  private let link: any PlayerLink
  private let face: any Face
  private let streams: any TextStreams
  private let clock: any PlayerClock
  /// What else hangs on the process.
  private let hooks: Hooks
  private let inputs: AsyncStream<Input>
  private let continuation: AsyncStream<Input>.Continuation

  private var snapshot = PlayerSnapshot()
  /// Volume and mute as they will be once the player has taken the keys pressed so far.
  private var volume: Int?
  private var isMuted: Bool?
  private var rate: Int?
  private var isStarted = false
  private var haveEventsEnded = false
  private var isHeard = false
  private var hasOutputFailed = false
  /// The name of the pipe that sound leaves through.
  private var pipe: String?
  private var timer: (deadline: Duration, task: Task<Void, Never>)?

  /// What a session asks of the process it runs in.
  struct Hooks {
    /// Stops the process as Control-Z does; returns when it goes on.
    var stopProcess: @MainActor () -> Void = {}
    /// The end has begun: a further signal may end the process at once.
    var willEnd: @MainActor () -> Void = {}
    /// The first item can be heard.
    var didStart: @MainActor () -> Void = {}
    /// Ends the player; returns when nothing is left of it.
    var shutdown: @MainActor () async -> Void = {}
  }

  /// How long a stopping process waits for the sound to fade: what a pause takes at most (DESIGN §11), and a little.
  static let fade = Duration.milliseconds(60)

  init(link: any PlayerLink, face: any Face, streams: any TextStreams, clock: any PlayerClock, hooks: Hooks) {
    self.link = link
    self.face = face
    self.streams = streams
    self.clock = clock
    self.hooks = hooks
    (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
  }

  /// Plays `items`, the first from `start` on, until the end of the queue, a key, or a signal; then shuts the player
  /// down and gives the terminal back.
  func run(_ items: [MediaItem], start: Duration?, inputs system: AsyncStream<SystemInput>) async -> SessionEnding {
    let events = await link.events()
    var tasks = [forward(events, as: Input.event, end: .eventsEnded), forward(system, as: Input.system)]
    if face.wantsSnapshots { tasks.append(forward(await link.snapshots(), as: Input.snapshot)) }
    tasks.append(Task { await self.begin(items, start: start) })

    var ending: SessionEnding?
    for await input in inputs {
      ending = await handle(input)
      if ending == nil, streams.isClosed { ending = .unread }
      if ending != nil { break }
      schedule()
    }
    timer?.task.cancel()
    // The terminal first: whatever may hang from here on, it is the user's again.
    face.finish()
    hooks.willEnd()
    await hooks.shutdown()
    // What happened up to the end is still to be told; the player's stream ends with it.
    if !haveEventsEnded {
      for await input in inputs {
        if case .eventsEnded = input { break }
        if case .event(let event) = input { show(event) }
      }
    }
    for task in tasks { task.cancel() }
    if case .finished = ending { ending = .finished(heard: isHeard, outputFailed: hasOutputFailed) }
    return ending ?? .finished(heard: isHeard, outputFailed: hasOutputFailed)
  }

  private func begin(_ items: [MediaItem], start: Duration?) async {
    // Stopped, a seek only says where playing will begin: the media is opened once, at the right place.
    let commands: [PlayerCommand] =
      if let start { [.replaceQueue(items), .seek(start), .play] } else { [.replaceQueue(items, autoStart: .play)] }
    for command in commands {
      guard case .refused(let refusal) = await link.perform(command) else { continue }
      continuation.yield(.startRefused(refusal))
      return
    }
  }

  /// Sends what a stream brings into the one stream.
  private func forward<Element: Sendable>(
    _ stream: AsyncStream<Element>, as input: @escaping @Sendable (Element) -> Input, end: Input? = nil
  ) -> Task<Void, Never> {
    let continuation = continuation
    // On the main actor, so that what comes wakes one thread and not two.
    return Task {
      for await element in stream { continuation.yield(input(element)) }
      if let end { continuation.yield(end) }
    }
  }

  private func handle(_ input: Input) async -> SessionEnding? {
    switch input {
    case .system(.key(let key)): return press(key)
    case .system(.signal(let signal)): return await receive(signal)
    case .event(let event):
      show(event)
      return await ending(after: event)
    case .snapshot(let snapshot):
      self.snapshot = snapshot
      face.show(snapshot)
    case .startRefused(let refusal):
      face.report("attacca: \(refusal)")
      return .finished(heard: false, outputFailed: false)
    case .refused(let refusal): face.hint(refusal.reason)
    case .deadline:
      timer = nil
      face.tick()
    case .eventsEnded:
      haveEventsEnded = true
      return .finished(heard: isHeard, outputFailed: hasOutputFailed)
    }
    return nil
  }

  // MARK: Events

  private func show(_ event: PlayerEvent) {
    switch event {
    case .failed(_, let error):
      if !error.isItemFault && error.code != .playerNothingPlayable { hasOutputFailed = true }
      face.report("attacca: \(error)")
    case .outputChanged(let output) where output.fallbackReason != nil && output.kind == "silent":
      face.report("attacca: no sound server: playing silently")
    case .outputChanged(let output): pipe = output.kind == "pipe" ? output.name : nil
    case .statusChanged(.waiting(.outputLost)):
      if let pipe { face.report("attacca: \(pipe): waiting for a reader") }
    case .statusChanged(.playing), .playedToEnd:
      if !isHeard { hooks.didStart() }
      isHeard = true
    default: break
    }
    face.show(event)
  }

  private func ending(after event: PlayerEvent) async -> SessionEnding? {
    let over = SessionEnding.finished(heard: isHeard, outputFailed: hasOutputFailed)
    switch event {
    case .itemDidChange(_, _, .endOfQueue): return over
    case .statusChanged(let status):
      switch status {
      case .stopped: return isStarted ? over : nil
      case .failed: return over
      case .paused, .waiting, .playing: isStarted = true
      }
    case .resync:
      // What was missed may have been the end.
      let snapshot = await currentSnapshot()
      switch snapshot.status {
      case .stopped, .failed: return snapshot.queueCount > 0 && isStarted ? over : nil
      case .paused, .waiting, .playing: isStarted = true
      }
    default: break
    }
    return nil
  }

  private func currentSnapshot() async -> PlayerSnapshot {
    for await snapshot in await link.snapshots() { return snapshot }
    return PlayerSnapshot()
  }

  // MARK: Keys

  private func press(_ key: Key) -> SessionEnding? {
    guard let action = KeyBinding.action(for: key) else { return nil }
    switch action {
    case .togglePause: perform(.togglePlayPause)
    case .skip(let distance): perform(.skip(distance))
    case .next: perform(.next())
    case .previous: perform(.previous())
    case .volume(let change):
      // From what was asked for last, not from what a snapshot still says: a held key outruns it.
      let percent = min(100, max(0, (volume ?? Int((snapshot.volume * 100).rounded())) + change))
      volume = percent
      perform(.setVolume(Double(percent) / 100))
    case .rate(let change):
      let now = rate ?? Int((snapshot.rate * 100).rounded())
      // Below the ordinary rate the same step would be a great leap.
      let step = now + change < 100 && now <= 100 ? change / 2 : change
      setRate(percent: now + step)
    case .normalRate: setRate(percent: 100)
    case .mute:
      let muted = !(isMuted ?? snapshot.isMuted)
      isMuted = muted
      perform(.setMuted(muted))
    case .cycleRepeat:
      perform(.setRepeat([.off: .all, .all: .one][snapshot.repeatMode] ?? .off))
    case .help: face.toggleHelp()
    case .redraw: face.redraw()
    case .quit: return .quit
    }
    return nil
  }

  private func setRate(percent: Int) {
    let percent = min(400, max(25, percent))
    rate = percent
    perform(.setRate(Double(percent) / 100))
  }

  /// Asks without waiting: a seek may take its time, and the next key must not.
  private func perform(_ command: PlayerCommand) {
    let (link, continuation) = (link, continuation)
    Task { @MainActor in
      switch await link.perform(command) {
      case .refused(let refusal), .seek(.rejected(let refusal)): continuation.yield(.refused(refusal))
      case .done, .added, .seek: break
      }
    }
  }

  // MARK: Signals

  private func receive(_ signal: Int32) async -> SessionEnding? {
    switch signal {
    case SIGTSTP: await stop()
    case SIGCONT:
      // After a stop that gave no warning the terminal's modes are whatever the shell left.
      face.resume()
    case SIGWINCH: face.redraw()
    default: return .signal(signal)
    }
    return nil
  }

  /// Stops the process. A stopped process cannot feed the output, so the sound is paused first, and goes on afterwards
  /// only if it was wanted before.
  private func stop() async {
    let wantedToPlay = await currentSnapshot().wantsToPlay
    if wantedToPlay {
      _ = await link.perform(.pause)
      try? await clock.sleep(untilHost: clock.now.host + Self.fade)
    }
    face.suspend()
    hooks.stopProcess()
    face.resume()
    if wantedToPlay { _ = await link.perform(.play) }
  }

  // MARK: Time

  /// Sees to it that the face is called at its deadline, and not otherwise.
  private func schedule() {
    let deadline = face.deadline
    if deadline == timer?.deadline { return }
    timer?.task.cancel()
    timer = nil
    guard let deadline else { return }
    let (clock, continuation) = (clock, continuation)
    timer = (
      deadline,
      Task {
        do { try await clock.sleep(untilHost: deadline) } catch { return }
        continuation.yield(.deadline)
      }
    )
  }
}
