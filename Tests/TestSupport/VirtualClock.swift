import AttaccaCore
import Synchronization

/// A clock that moves only when a test says so; sleepers wake in order of their deadlines.
public final class VirtualClock: PlayerClock {
  private struct State {
    var time: Duration
    var sleepers: [(deadline: Duration, id: Int, wake: CheckedContinuation<Void, any Error>)] = []
    var lastID = 0
    var cancelled: Set<Int> = []
  }

  private let state: Mutex<State>
  private let wallOffset: Duration

  /// Makes a clock whose host time is `host`.
  public init(host: Duration = .seconds(1000), wall: Duration = .seconds(1_700_000_000)) {
    state = Mutex(State(time: host))
    wallOffset = wall - host
  }

  public var now: PlayerTime {
    let host = state.withLock { $0.time }
    return PlayerTime(host: host, boot: host, wall: host + wallOffset)
  }

  /// How many are asleep.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  public func sleep(untilHost deadline: Duration) async throws {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let result = state.withLock { state -> Result<Void, CancellationError>? in
          if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
          if deadline <= state.time { return .success(()) }
          state.sleepers.append((deadline, id, continuation))
          return nil
        }
        if let result { continuation.resume(with: result.mapError { $0 }) }
      }
    } onCancel: {
      let sleeper = state.withLock { state -> CheckedContinuation<Void, any Error>? in
        guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
          state.cancelled.insert(id)
          return nil
        }
        return state.sleepers.remove(at: index).wake
      }
      sleeper?.resume(throwing: CancellationError())
    }
  }

  /// Moves on by `step` and wakes whoever is due.
  public func advance(by step: Duration) {
    let due = state.withLock { state in
      state.time += step
      let now = state.time
      let due = state.sleepers.filter { $0.deadline <= now }.sorted { $0.deadline < $1.deadline }
      state.sleepers.removeAll { $0.deadline <= now }
      return due
    }
    for sleeper in due { sleeper.wake.resume() }
  }
}
