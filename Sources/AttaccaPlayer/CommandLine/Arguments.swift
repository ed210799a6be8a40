import Attacca
import POSIXKit

/// Where sound shall go.
enum OutputOption: Equatable {
  case auto, pulse, silent
  /// A WAV file, by the bytes of its path.
  case wav([UInt8])
  /// A PCM pipe, by the bytes of its path; `-` is standard output.
  case pipe([UInt8])
}

/// What `play` was asked to do.
struct PlayOptions: Equatable {
  var output = OutputOption.auto
  /// What a pipe carries.
  var pcm = PipeFormat()
  var repeatMode = RepeatMode.off
  /// Loudness 0…1.
  var volume = 1.0
  /// Media seconds per second.
  var rate = 1.0
  var sound = SoundSettings()
  /// Which sound track of files with several, counted from 1.
  var track: Int?
  /// Where the first item begins.
  var start: Duration?
  var json = false
  var noTerminal = false
  /// Files, folders and addresses, as typed.
  var operands: [[UInt8]] = []

  /// Whether the sound goes to standard output, which text then cannot.
  var isPCMOnStandardOutput: Bool { output == .pipe([UInt8(ascii: "-")]) }
}

/// What the command line asks for.
enum Request: Equatable {
  case play(PlayOptions)
  case help
  case version
}

/// A command line that makes no sense; exit status 2.
struct UsageError: Error, Equatable {
  /// What was wrong, without the program's name and fit for display.
  var message: String

  init(_ message: String) { self.message = sanitized(message) }
}

/// Parses the arguments after the program's name: `play`, options and operands in any order.
///
/// Arguments are bytes throughout: a file name need not be UTF-8. The last of several equal options wins.
func parseArguments(_ arguments: [[UInt8]]) throws(UsageError) -> Request {
  guard let verb = arguments.first else { throw UsageError("nothing to do") }
  switch text(verb) {
  case "play": break
  case "--help", "-h": return .help
  case "--version": return .version
  default: throw UsageError("\(text(verb)): unknown verb; attacca-player knows play and probe")
  }

  var options = PlayOptions()
  var isPCMAsked = false
  var rest = arguments.dropFirst()
  while let argument = rest.popFirst() {
    if argument == Array("--".utf8) {
      options.operands += rest
      break
    }
    guard argument.first == UInt8(ascii: "-") else {
      if argument.isEmpty { throw UsageError("an empty file name") }
      options.operands.append(argument)
      continue
    }
    let (option, attached) = try recognise(argument)
    var value: [UInt8] = []
    if option.placeholder == nil {
      if attached != nil { throw UsageError("\(option.flag) takes no value") }
    } else {
      if let attached { value = attached } else { value = try separateValue(of: option, from: &rest) }
    }
    switch option {
    case .help: return .help
    case .version: return .version
    case .json: options.json = true
    case .noTerminal: options.noTerminal = true
    case .noResume: break
    case .output: options.output = try outputOption(value)
    case .pcm:
      guard let format = parsePCMFormat(value) else { throw wrong(value, for: option) }
      options.pcm = format
      isPCMAsked = true
    case .repeat:
      guard let mode = RepeatMode(rawValue: text(value)) else { throw wrong(value, for: option) }
      options.repeatMode = mode
    case .volume:
      guard value.count <= 3, value.allSatisfy(isDigit), let percent = Int(text(value)), percent <= 100 else {
        throw wrong(value, for: option)
      }
      options.volume = Double(percent) / 100
    case .rate, .replaygain, .preamp, .eq, .balance, .mono, .crossfade, .skipSilence, .levelSpeech, .bitPerfect:
      try applySound(option, value, to: &options)
    case .track:
      guard value.count <= 2, value.allSatisfy(isDigit), let track = Int(text(value)), track > 0 else {
        throw wrong(value, for: option, "a track's number, from 1")
      }
      options.track = track
    case .start:
      guard let time = parseTime(value) else { throw wrong(value, for: option, "seconds or [h:]m:s[.fff]") }
      options.start = time
    }
  }
  if case .wav = options.output, options.repeatMode != .off {
    throw UsageError("--repeat \(options.repeatMode.rawValue) into a file would never end")
  }
  if case .pipe = options.output {
    if options.isPCMOnStandardOutput, options.json {
      throw UsageError("--json and the sound cannot both go to standard output")
    }
  } else if isPCMAsked {
    throw UsageError("--pcm is for --output pipe:PATH only")
  }
  if options.operands.isEmpty { throw UsageError("no file or folder given") }
  return .play(options)
}

/// The option an argument names, and the value after `=`.
private func recognise(_ argument: [UInt8]) throws(UsageError) -> (PlayOption, [UInt8]?) {
  let parts = argument.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
  let name = text(Array(parts[0]))
  if argument.count == 1 { throw UsageError("-: standard input cannot be played; a file called - is ./-") }
  if let option = PlayOption.allCases.first(where: { $0.flag == name }) {
    return (option, parts.count > 1 ? Array(parts[1]) : nil)
  }
  if let option = PlayOption.allCases.first(where: { $0.short.map { "-\($0)" } == text(argument) }) {
    return (option, nil)
  }
  let known = PlayOption.allCases.map(\.flag)
  let hint = nearestWord(to: name, among: known).map { "did you mean \($0)?" } ?? "see attacca play --help"
  throw UsageError("\(name): unknown option; \(hint)")
}

/// The value that is an argument of its own. One that begins with a dash is taken for a forgotten value.
private func separateValue(
  of option: PlayOption, from rest: inout ArraySlice<[UInt8]>
) throws(UsageError) -> [UInt8] {
  let isNumber = rest.first.map { option.takesSignedNumber && parseNumber($0) != nil } ?? false
  guard let value = rest.first, value.first != UInt8(ascii: "-") || isNumber else {
    throw UsageError("\(option.flag) needs a value: \(option.placeholder ?? "")")
  }
  rest.removeFirst()
  return value
}

private func outputOption(_ value: [UInt8]) throws(UsageError) -> OutputOption {
  switch text(value) {
  case "auto": return .auto
  case "pulse": return .pulse
  case "silent": return .silent
  default: break
  }
  for (prefix, make, example) in [
    ("wav:", OutputOption.wav, "wav:out.wav"), ("pipe:", OutputOption.pipe, "pipe:fifo or pipe:-"),
  ] where value.starts(with: prefix.utf8) {
    if value.count == prefix.utf8.count { throw UsageError("--output: \(prefix) needs a path, as in \(example)") }
    return make(Array(value.dropFirst(prefix.utf8.count)))
  }
  throw wrong(value, for: .output)
}

func wrong(_ value: [UInt8], for option: PlayOption, _ wanted: String? = nil) -> UsageError {
  let shown = value.isEmpty ? "empty value" : text(value)
  return UsageError("\(option.flag): \(shown): not \(wanted ?? option.placeholder ?? "")")
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
