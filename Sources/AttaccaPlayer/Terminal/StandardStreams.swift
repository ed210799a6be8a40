import Glibc
import POSIXKit

/// The process's standard output and standard error, unbuffered.
@MainActor class StandardStreams: TextStreams {
  private(set) var isClosed = false
  private let output: Int32

  /// What would go to standard output goes to the descriptor `out`.
  init(out: Int32 = STDOUT_FILENO) { output = out }

  func out(_ text: String) {
    guard !isClosed, !writeAll(text.utf8, to: output) else { return }
    // Nobody reads on. (A full disk is no reason to stop the music.)
    if errno == EPIPE { isClosed = true }
  }

  func err(_ text: String) { writeAll(text.utf8, to: STDERR_FILENO) }
}

/// The terminal on standard output, with keys from standard input if that is a terminal as well.
@MainActor final class TerminalConsole: StandardStreams, Console {
  private let input: InputThread?
  private let hasKeys = isatty(STDIN_FILENO) == 1
  /// The terminal's settings as we found them; set while ours are in force.
  private var original: termios?

  /// Keys are read by `input`.
  init(input: InputThread?) {
    self.input = input
    super.init()
  }

  var columns: Int {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  var isForeground: Bool {
    let group = tcgetpgrp(STDOUT_FILENO)
    // Not our controlling terminal: there is no background to be in.
    return group < 0 || group == getpgrp()
  }

  func enter() {
    // Read anew unless ours are in force: whoever had the terminal meanwhile may have changed it.
    var modes = termios()
    if hasKeys, original == nil, tcgetattr(STDIN_FILENO, &modes) == 0 { original = modes }
    CrashGuard.arm(input: original == nil ? -1 : STDIN_FILENO, output: STDOUT_FILENO, modes: original ?? modes)
    if let original {
      var keys = TerminalModes.keys(from: original)
      tcsetattr(STDIN_FILENO, TCSANOW, &keys)
      input?.readKeys()
    }
    out(TerminalModes.enter)
  }

  func leave() {
    input?.ignoreKeys()
    out(TerminalModes.leave)
    // What was typed ahead is left for whoever comes next.
    if var modes = original { tcsetattr(STDIN_FILENO, TCSANOW, &modes) }
    original = nil
    CrashGuard.disarm()
  }
}
