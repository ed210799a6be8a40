import AttaccaCore

/// The options of `play`: the one table behind the parser, the help, and the test that the manual and the completions
/// know every option.
enum PlayOption: String, CaseIterable {
  case output, pcm, `repeat`, volume, rate, start, track
  case replaygain, preamp, eq, balance, mono, crossfade
  case skipSilence = "skip-silence"
  case levelSpeech = "level-speech"
  case bitPerfect = "bit-perfect"
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
    case .output: "auto|pulse|silent|wav:PATH|pipe:PATH"
    case .pcm: "s16|s24|f32[:RATE[:CHANNELS]]"
    case .repeat: "off|one|all"
    case .volume: "0…100"
    case .rate: "0.25…4"
    case .start: "TIME"
    case .track: "NUMBER"
    case .replaygain: "off|track|album|auto"
    case .preamp: "-15…15"
    case .eq: "BANDS"
    case .balance: "-100…100"
    case .crossfade: "0…12"
    case .mono, .skipSilence, .levelSpeech, .bitPerfect, .noResume, .json, .noTerminal, .help, .version: nil
    }
  }

  /// Whether the value is a number that may be below zero, and so begin with a dash.
  var takesSignedNumber: Bool { self == .preamp || self == .balance }

  /// Values that can be completed; a trailing colon means that something follows.
  var values: [String] {
    switch self {
    case .output: ["auto", "pulse", "silent", "wav:", "pipe:"]
    case .pcm: ["s16", "s24", "f32"]
    case .repeat: ["off", "one", "all"]
    case .replaygain: LoudnessMode.allCases.map(\.rawValue)
    default: []
    }
  }

  /// What the option does, in one line or more.
  var explanation: [String] {
    switch self {
    case .output:
      [
        "where sound goes: the sound server, or silence in real time if there is none (auto);",
        "the sound server only (pulse); silence in real time; a WAV file, as fast as it goes;",
        "a FIFO, a file or (pipe:-) standard output, as bare PCM at its reader's pace",
      ]
    case .pcm: ["what a pipe carries (s16:44100:2)"]
    case .repeat: ["what follows the end of an item or of the queue (off)"]
    case .volume: ["loudness in per cent (100)"]
    case .rate: ["how fast, with the pitch kept: 1 is as recorded (1)"]
    case .replaygain:
      [
        "level by the loudness tags of each item (track), of its album (album), or of the album",
        "unless shuffled (auto); off by default",
      ]
    case .preamp: ["decibels added to items with loudness tags (0)"]
    case .eq:
      [
        "ten-band equalizer in decibels: bass+3, treble-2, 1k:-2.5, several with commas,",
        "or a preset: rock, classical, speech, loudness …",
      ]
    case .balance: ["left (below 0) or right (above), in per cent (0)"]
    case .mono: ["the same sound from both sides"]
    case .crossfade: ["seconds that two items sound together, but for tracks of one album (0)"]
    case .skipSilence: ["pass over long silence"]
    case .levelSpeech: ["bring quiet and loud voices to one level"]
    case .bitPerfect: ["samples untouched, in the media's own format; no volume, rate or other sound"]
    case .track: ["which sound track of files with several, counted from 1"]
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
