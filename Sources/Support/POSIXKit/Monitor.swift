import Glibc

/// State behind a mutex, with a condition to wait on: the classic monitor.
///
/// Foundation's `NSCondition` would do, but Foundation is kept out of the player's start-up.
///
/// `@unchecked Sendable`: `state` is touched only between `pthread_mutex_lock` and `unlock` of `mutex`, and both
/// pthread objects live at fixed addresses from `init` to `deinit`.
public final class Monitor<State>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var state: State

  /// Makes a monitor around `state`.
  public init(_ state: sending State) {
    self.state = state
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Runs `body` with exclusive access to the state.
  @discardableResult
  public func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state)
  }

  /// Runs `body` with exclusive access and wakes every waiter.
  @discardableResult
  public func signal<Result>(_ body: (inout State) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    let result = body(&state)
    pthread_cond_broadcast(condition)
    return result
  }

  /// Waits until `body` answers something, or until `deadline` (host time; `nil` = for ever), which answers `nil`.
  ///
  /// `body` runs with exclusive access, first at once and then after each signal.
  public func wait<Result>(until deadline: Duration? = nil, for body: (inout State) -> Result?) -> Result? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&state) { return result }
      if let deadline {
        var time = timespec(deadline)
        if pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT { return body(&state) }
      } else {
        pthread_cond_wait(condition, mutex)
      }
    }
  }
}

extension timespec {
  /// A duration since the clock's zero, for the system's calls.
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    self.init(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
  }
}
