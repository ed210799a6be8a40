import Glibc

/// What the crash handler needs, at a fixed address.
private struct CrashState {
  var isArmed: Bool
  var input: Int32
  var output: Int32
  var modes: termios
  var sequence: UnsafeMutableRawBufferPointer
  /// What was to happen on each signal before us, by its number.
  var previous: UnsafeMutablePointer<sigaction>
}

/// A signal handler is given nothing but the signal's number, so its state must be global.
///
/// `nonisolated(unsafe)`: set once, on the main actor, before any handler is installed; its members are written on the
/// main actor only, and a handler reads them in a process that is about to die.
nonisolated(unsafe) private var crashState: UnsafeMutablePointer<CrashState>?

/// Gives the terminal back when the process crashes, then lets it crash. (Not when a stack overflows: there is nothing
/// left to run a handler on.)
@MainActor enum CrashGuard {
  private static let signals = [SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE]

  /// From now on a crash restores `modes` on `input` (-1: none) and writes ``TerminalModes/leave`` to `output`.
  static func arm(input: Int32, output: Int32, modes: termios) {
    if let state = crashState {
      state.pointee.input = input
      state.pointee.modes = modes
      state.pointee.isArmed = true
      return
    }
    let text = Array("\(TerminalModes.leave)\r\n".utf8)
    let sequence = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
    sequence.copyBytes(from: text)
    let previous = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
    previous.initialize(repeating: sigaction(), count: 65)
    let state = UnsafeMutablePointer<CrashState>.allocate(capacity: 1)
    state.initialize(
      to: CrashState(
        isArmed: true, input: input, output: output, modes: modes, sequence: sequence, previous: previous))
    crashState = state
    install(previous)
  }

  /// The terminal is not ours any more.
  static func disarm() { crashState?.pointee.isArmed = false }

  private static func install(_ previous: UnsafeMutablePointer<sigaction>) {
    var action = sigaction()
    sigemptyset(&action.sa_mask)
    // Async-signal-safe calls only (signal-safety(7)), no allocation, no reference counting.
    action.__sigaction_handler.sa_handler = { signal in
      guard let state = crashState else { return }
      if state.pointee.isArmed {
        state.pointee.isArmed = false
        _ = write(state.pointee.output, state.pointee.sequence.baseAddress, state.pointee.sequence.count)
        tcsetattr(state.pointee.input, TCSANOW, &state.pointee.modes)
      }
      // What was there before us (the default, or the runtime's backtrace) comes when this handler returns.
      sigaction(signal, state.pointee.previous + Int(signal), nil)
      raise(signal)
    }
    for signal in signals { sigaction(signal, &action, previous + Int(signal)) }
  }
}
