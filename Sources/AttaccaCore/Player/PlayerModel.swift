import Observation

/// A player as a view sees it: observable properties on the main actor, fed through a link, so that a local player and
/// one behind a socket look the same.
@MainActor @Observable
public final class PlayerModel {
  /// The newest snapshot.
  public private(set) var snapshot = PlayerSnapshot()
  /// The last error reported.
  public private(set) var lastError: MediaError?

  private let link: any PlayerLink
  private let clock: any PlayerClock
  @ObservationIgnored private var tasks: [Task<Void, Never>] = []
  @ObservationIgnored private var changes = Feed<Void>.newest()

  /// Makes a model; it follows the player until it is dropped.
  public init(link: any PlayerLink, clock: any PlayerClock) {
    self.link = link
    self.clock = clock
    tasks = [
      Task { [weak self] in
        for await snapshot in await link.snapshots() {
          guard let self else { return }
          self.snapshot = snapshot
          self.changes.send(())
        }
      },
      Task { [weak self] in
        for await event in await link.events() {
          guard let self else { return }
          if case .failed(_, let error) = event { self.lastError = error }
        }
      },
    ]
  }

  isolated deinit {
    tasks.forEach { $0.cancel() }
    changes.finish()
  }

  /// The current entry.
  public var currentItem: QueueEntry? { snapshot.entry }
  /// What the player is doing.
  public var status: PlayerStatus { snapshot.status }
  /// What the user asked for: the play button follows this.
  public var wantsToPlay: Bool { snapshot.wantsToPlay }
  /// Whether samples leave the output.
  public var isPlaying: Bool { snapshot.isPlaying }
  /// The duration of the current item; `nil` when unknown.
  public var duration: Duration? { snapshot.duration?.value }
  /// Loudness 0…1.
  public var volume: Double { snapshot.volume }
  /// The wanted rate, in media seconds per second.
  public var rate: Double { snapshot.rate }
  /// How everything sounds.
  public var sound: SoundSettings { snapshot.sound }
  /// The repeat mode.
  public var repeatMode: RepeatMode { snapshot.repeatMode }

  /// The position heard now; `nil` when nothing is current.
  public var position: Duration? { snapshot.position(at: clock.now.host) }

  /// The position as a fraction 0…1 of the duration; `nil` when either is unknown.
  public var progress: Double? {
    guard let position, let duration, duration > .zero else { return nil }
    return min(1, max(0, position / duration))
  }

  /// Asks the player for something.
  @discardableResult
  public func perform(_ command: PlayerCommand) async -> CommandResult { await link.perform(command) }

  /// Entries of the queue in list order; the range is clamped.
  public func queueEntries(in range: Range<Int>) async -> [QueueEntry] { await link.queueEntries(in: range) }

  /// Positions, one now and then one each `interval` while the media moves; costs nothing unless iterated.
  public func times(every interval: Duration) -> AsyncStream<Duration> {
    stream { model, yield in
      guard let position = model.position else { return nil }
      yield(position)
      return model.isPlaying ? model.clock.now.host + max(interval, .milliseconds(1)) : nil
    }
  }

  /// Positions as playback passes them, of those given; costs nothing unless iterated.
  public func boundaries(at positions: [Duration]) -> AsyncStream<Duration> {
    var last: Duration?
    var entry: EntryID?
    return stream { model, yield in
      guard let position = model.position else { return nil }
      if entry == model.snapshot.entry?.id, let before = last, before <= position {
        for boundary in positions.sorted() where boundary > before && boundary <= position { yield(boundary) }
      }
      entry = model.snapshot.entry?.id
      last = position
      guard model.isPlaying, let next = positions.filter({ $0 > position }).min() else { return nil }
      return model.clock.now.host + (next - position)
    }
  }

  /// Runs `step` at once, at the host time it answers, and whenever the snapshot changes.
  private func stream(
    _ step: @escaping @MainActor (PlayerModel, (Duration) -> Void) -> Duration?
  ) -> AsyncStream<Duration> {
    let (stream, continuation) = AsyncStream.makeStream(of: Duration.self, bufferingPolicy: .bufferingNewest(64))
    let clock = clock
    let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let changes = changes.subscribe { [weak self] id in Task { @MainActor in self?.changes.remove(id) } }
    let task = Task { [weak self] in
      var alarm: Task<Void, Never>?
      defer { alarm?.cancel() }
      let watch = Task {
        for await _ in changes { wake.yield() }
        wake.finish()
      }
      defer { watch.cancel() }
      wake.yield()
      for await _ in wakes {
        guard let self, !Task.isCancelled else { break }
        alarm?.cancel()
        alarm = step(self) { continuation.yield($0) }.map { deadline in
          Task {
            if (try? await clock.sleep(untilHost: deadline)) != nil { wake.yield() }
          }
        }
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }
}
