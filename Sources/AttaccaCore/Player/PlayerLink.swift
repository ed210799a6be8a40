/// A way to a player, be it in this process or behind a socket: what an interface needs and nothing more.
public protocol PlayerLink: Sendable {
  /// Asks for something; returns when it is done (a seek: when it ended).
  func perform(_ command: PlayerCommand) async -> CommandResult
  /// The present snapshot and each later one; a slow consumer sees only the newest.
  func snapshots() async -> AsyncStream<PlayerSnapshot>
  /// What happens from now on. Bounded: a consumer that falls behind by more than 1,024 events gets
  /// ``PlayerEvent/resync`` in place of those dropped.
  func events() async -> AsyncStream<PlayerEvent>
  /// Entries of the queue in list order; the range is clamped.
  func queueEntries(in range: Range<Int>) async -> [QueueEntry]
}
