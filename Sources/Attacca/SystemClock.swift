import POSIXKit

/// The machine's own clocks.
public struct SystemClock: PlayerClock {
  /// Makes a clock.
  public init() {}

  public var now: PlayerTime {
    let wall = Clocks.wall
    return PlayerTime(host: Clocks.host, boot: Clocks.boot, wall: wall, utcOffset: Clocks.utcOffset(at: wall))
  }

  public func sleep(untilHost deadline: Duration) async throws {
    let left = deadline - Clocks.host
    if left > .zero { try await Task.sleep(for: left) }
  }
}
