import Glibc

/// What the environment says about the terminal.
struct TerminalTraits: Equatable {
  /// Whether the cursor can be moved: `TERM` is set and not `dumb`.
  var hasCursor: Bool
  /// Whether bold and dim may be used: not under a non-empty `NO_COLOR` (no-color.org).
  var styled: Bool
  /// Whether the locale's character set is UTF-8, by the variable POSIX lets win (`LC_ALL`, `LC_CTYPE`, `LANG`).
  /// Read from its name, so that a locale which is not installed still shows what the terminal expects.
  var unicode: Bool

  init(environment: (String) -> String?) {
    func value(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
    hasCursor = value("TERM").map { $0 != "dumb" } ?? false
    styled = value("NO_COLOR") == nil
    let locale = (value("LC_ALL") ?? value("LC_CTYPE") ?? value("LANG") ?? "").lowercased()
    let codeset = locale.split(separator: ".").dropFirst().first?.prefix { $0 != "@" } ?? ""
    unicode = codeset == "utf-8" || codeset == "utf8"
  }

  /// The traits of this process's environment.
  static var current: TerminalTraits { TerminalTraits { name in getenv(name).map { String(cString: $0) } } }
}

/// The line discipline's settings while keys are read one by one.
enum TerminalModes {
  /// Keys come at once and are not echoed. Control-C, -\ and -Z still make signals; Control-S is a key, for a terminal
  /// that was halted could not be given back.
  static func keys(from original: termios) -> termios {
    var modes = original
    modes.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
    modes.c_iflag &= ~tcflag_t(IXON)
    withUnsafeMutableBytes(of: &modes.c_cc) {
      $0[Int(VMIN)] = 1
      $0[Int(VTIME)] = 0
    }
    return modes
  }

  /// Hides the cursor and asks for pastes to be marked.
  static let enter = "\u{1B}[?25l\u{1B}[?2004h"
  /// Undoes it.
  static let leave = "\u{1B}[0m\u{1B}[?2004l\u{1B}[?25h"
}
