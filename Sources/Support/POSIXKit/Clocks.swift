import Glibc

/// The system's clocks as durations.
public enum Clocks {
  private static func read(_ clock: clockid_t) -> Duration {
    var time = timespec()
    clock_gettime(clock, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// Host time: `CLOCK_MONOTONIC`. Stands still while the machine sleeps, as audio does.
  public static var host: Duration { read(CLOCK_MONOTONIC) }
  /// Boot time: `CLOCK_BOOTTIME`. Counts sleep, never jumps.
  public static var boot: Duration { read(CLOCK_BOOTTIME) }
  /// Wall time since 1970-01-01 00:00 UTC. May jump either way.
  public static var wall: Duration { read(CLOCK_REALTIME) }
  /// CPU time of the whole process.
  public static var processCPU: Duration { read(CLOCK_PROCESS_CPUTIME_ID) }

  /// The local zone's offset from UTC at the wall time `wall`, in seconds east.
  public static func utcOffset(at wall: Duration) -> Int {
    var seconds = time_t(wall.components.seconds)
    var local = tm()
    localtime_r(&seconds, &local)
    return local.tm_gmtoff
  }
}
