import AttaccaCore

/// What `probe` was asked for.
enum ProbeRequest: Equatable {
  case probe(operands: [[UInt8]], json: Bool)
  case help
  case version
}

/// Parses the arguments after `probe`: options and operands in any order, as bytes.
func parseProbeArguments(_ arguments: [[UInt8]]) throws(UsageError) -> ProbeRequest {
  var operands: [[UInt8]] = []
  var json = false
  var rest = arguments[...]
  while let argument = rest.popFirst() {
    switch String(decoding: argument, as: UTF8.self) {
    case "--":
      operands += rest
      rest = []
    case "--json": json = true
    case "--help", "-h": return .help
    case "--version": return .version
    case "": throw UsageError("an empty file name")
    case let word where argument.first == UInt8(ascii: "-"):
      if argument.count == 1 { throw UsageError("-: standard input cannot be read; a file called - is ./-") }
      throw UsageError("\(word): unknown option; see attacca probe --help")
    default: operands.append(argument)
    }
  }
  if operands.isEmpty { throw UsageError("no file or folder given") }
  return .probe(operands: operands, json: json)
}

/// What `probe --help` prints.
let probeHelp = """
  usage: attacca probe [--json] FILE|DIR…

  Says what files are, without playing them: format, sound tracks, duration and how far it
  can be trusted, which frames are played, tags, gains, chapters, cover, and what is wrong.
  Folders are searched for audio files. `--` ends the options.

  options:
        --json
            one JSON object per file and line on standard output, see attacca(1)
    -h, --help
            explain the options
        --version
            print the version

  exit status: 0 all could be read, 1 some could not, 2 wrong usage

  """
