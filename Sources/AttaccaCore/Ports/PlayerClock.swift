/// The time, in every sense the player needs. Passed into the reducer with each input; the core never reads a clock.
public struct PlayerTime: Sendable, Hashable {
  /// Monotonic time that stands still while the machine sleeps: what audio positions are extrapolated with.
  public var host: Duration
  /// Monotonic time that counts sleep: what timers and listening deltas are measured with.
  public var boot: Duration
  /// Time since 1970-01-01 00:00 UTC; may jump.
  public var wall: Duration
  /// The local zone's offset at `wall`, in seconds east of UTC.
  public var utcOffset: Int

  /// Makes a time.
  public init(host: Duration, boot: Duration, wall: Duration, utcOffset: Int = 0) {
    self.host = host
    self.boot = boot
    self.wall = wall
    self.utcOffset = utcOffset
  }
}

/// Tells the time and wakes the player at one. Virtual in tests.
public protocol PlayerClock: Sendable {
  /// The present time.
  var now: PlayerTime { get }

  /// Returns once host time has reached `deadline`.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  func sleep(untilHost deadline: Duration) async throws
}
