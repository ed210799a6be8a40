/// The options of `play`: the one table behind the parser, the help, and the test that the manual and the completions
/// know every option.
enum PlayOption: String, CaseIterable {
  case output, `repeat`, volume, start
  case noResume = "no-resume"
  case json
  case noTerminal = "no-terminal"
  case help, version

  /// The option as typed: `--output`.
  var flag: String { "--\(rawValue)" }

  /// The one-letter form, where there is one.
  var short: Character? { self == .help ? "h" : nil }

  /// What the option's value looks like; `nil` for an option without one.
  var placeholder: String? {
    switch self {
    case .output: "auto|pulse|silent|wav:PATH"
    case .repeat: "off|one|all"
    case .volume: "0…100"
    case .start: "TIME"
    case .noResume, .json, .noTerminal, .help, .version: nil
    }
  }

  /// Values that can be completed; a trailing colon means that something follows.
  var values: [String] {
    switch self {
    case .output: ["auto", "pulse", "silent", "wav:"]
    case .repeat: ["off", "one", "all"]
    default: []
    }
  }

  /// What the option does, in one line or more.
  var explanation: [String] {
    switch self {
    case .output:
      [
        "where sound goes: the sound server, or silence in real time if there is none (auto);",
        "the sound server only (pulse); silence in real time; a WAV file, as fast as it goes",
      ]
    case .repeat: ["what follows the end of an item or of the queue (off)"]
    case .volume: ["loudness in per cent (100)"]
    case .start: ["where the first item begins: seconds, or [h:]m:s[.fff]"]
    case .noResume: ["begin at the beginning; so far that is always so"]
    case .json: ["one JSON object per event on standard output, see attacca(1)"]
    case .noTerminal: ["plain lines and no keys, also on a terminal"]
    case .help: ["explain the options"]
    case .version: ["print the version"]
    }
  }
}

/// The texts of `--help` and of wrong usage.
enum HelpText {
  /// One line, for standard error when nothing was asked for.
  static let short = "usage: attacca play [options] FILE|DIR…   (attacca play --help explains)\n"

  /// What `--help` prints: made from the tables of options and keys.
  static var full: String {
    var text = """
      usage: attacca play [options] FILE|DIR…

      Plays files and folders here, one after the other without a gap. Folders are searched
      for audio files, in natural order. `--` ends the options.

      options:

      """
    for option in PlayOption.allCases {
      let short = option.short.map { "-\($0), " } ?? "    "
      text += "  \(short)\(option.flag)\(option.placeholder.map { " \($0)" } ?? "")\n"
      for line in option.explanation { text += "          \(line)\n" }
    }
    text += "\nkeys, on a terminal:\n"
    for line in KeyBinding.table {
      text += "  " + line.keys + String(repeating: " ", count: max(1, 12 - line.keys.count)) + line.explanation + "\n"
    }
    text += "\nexit status: 0 done, 1 nothing could be played, 2 wrong usage\n"
    return text
  }
}
