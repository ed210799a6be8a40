import Glibc

/// Where the handler writes. Global because a handler is given nothing but the signal's number.
///
/// `nonisolated(unsafe)`: set on the main actor before the handlers are installed, and never again.
nonisolated(unsafe) private var signalPipeEnd: Int32 = -1

/// Signals as bytes in a pipe, each the signal's number, to be read where it suits.
@MainActor enum SignalPipe {
  /// Signals that ask the process to end.
  static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  private static let others = [SIGTSTP, SIGCONT, SIGWINCH]

  /// Installs the handlers; answers the reading end, or `nil` when the system has no pipe left.
  ///
  /// A signal that was ignored when the program started (under `nohup`, or in the background of a script) stays so.
  static func install() -> Int32? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // A full pipe must not block a handler.
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    signalPipeEnd = ends[1]
    for signal in endings + others where !isIgnored(signal) { catchSignal(signal) }
    // A sound server or reader that went away is an error of the call. In the background, using the terminal is allowed
    // (whether we do is our own decision), never a reason to be stopped.
    for signal in [SIGPIPE, SIGTTOU, SIGTTIN] { Glibc.signal(signal, SIG_IGN) }
    return ends[0]
  }

  /// A further signal to end acts at once.
  static func restoreDefaults() {
    for signal in endings where !isIgnored(signal) { Glibc.signal(signal, SIG_DFL) }
  }

  /// Stops the process as Control-Z does; returns when it goes on.
  static func stopProcess() {
    raiseDefault(SIGTSTP)
    catchSignal(SIGTSTP)
  }

  /// Lets a signal do to the process what it does by default, before this returns.
  ///
  /// The main actor's thread may be one of libdispatch's, which block signals: one sent to the process would arrive
  /// elsewhere, some time later.
  static func raiseDefault(_ signal: Int32) {
    Glibc.signal(signal, SIG_DFL)
    var set = sigset_t()
    var before = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, signal)
    pthread_sigmask(SIG_UNBLOCK, &set, &before)
    raise(signal)
    pthread_sigmask(SIG_SETMASK, &before, nil)
  }

  private static func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    sigaction(signal, nil, &action)
    // Handlers cannot be compared in Swift; SIG_IGN is the address 1.
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: UInt.self) == 1
  }

  private static func catchSignal(_ signal: Int32) {
    var action = sigaction()
    sigemptyset(&action.sa_mask)
    action.sa_flags = SA_RESTART
    action.__sigaction_handler.sa_handler = { signal in
      let before = errno
      var byte = UInt8(truncatingIfNeeded: signal)
      _ = write(signalPipeEnd, &byte, 1)
      errno = before
    }
    sigaction(signal, &action, nil)
  }
}
