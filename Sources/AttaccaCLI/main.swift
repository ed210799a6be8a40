// `attacca`: finds out which program a verb belongs to and becomes it. It links nothing but the standard library, so
// that it adds at most 3 ms; arguments are never turned into Swift strings, because file names are bytes.
import Glibc
import POSIXKit

func complain(_ text: String) { writeAll(text.utf8, to: STDERR_FILENO) }

/// Text fit for a terminal, whatever bytes were typed: controls and format characters are dropped.
func printable(_ word: UnsafePointer<CChar>) -> String {
  let text = String(decoding: UnsafeRawBufferPointer(start: word, count: strlen(word)), as: UTF8.self)
  let unfit: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator]
  return String(
    String.UnicodeScalarView(text.unicodeScalars.filter { !unfit.contains($0.properties.generalCategory) }))
}

func becomePlayer(_ arguments: [UnsafeMutablePointer<CChar>]) -> Int32 {
  let (path, error) = PlayerProgram.find().run(arguments)
  complain("attacca: \(String(decoding: path, as: UTF8.self)): \(String(cString: strerror(error)))\n")
  return 1
}

func run(_ arguments: [UnsafeMutablePointer<CChar>]) -> Int32 {
  guard let first = arguments.first else {
    complain(Usage.short)
    return 2
  }
  let word = printable(first)
  switch word {
  case "--version":
    writeAll("attacca \(ProductVersion.current)\n".utf8, to: STDOUT_FILENO)
    return 0
  case "--help", "-h":
    writeAll(Usage.full.utf8, to: STDOUT_FILENO)
    return 0
  default: break
  }
  switch Verb(rawValue: word) {
  case .play, .probe:
    return becomePlayer(arguments)
  case .help:
    guard arguments.count > 1 else {
      writeAll(Usage.full.utf8, to: STDOUT_FILENO)
      return 0
    }
    switch Verb(rawValue: printable(arguments[1])) {
    case .play, .probe:
      guard let help = strdup("--help") else { return 1 }
      return becomePlayer([arguments[1], help])
    case .help:
      writeAll(Usage.full.utf8, to: STDOUT_FILENO)
      return 0
    case nil: return unknown(printable(arguments[1]))
    }
  case nil: return unknown(word)
  }
}

func unknown(_ word: String) -> Int32 {
  let kind = word.hasPrefix("-") ? "option" : "verb"
  let known = word.hasPrefix("-") ? ["--help", "--version"] : Verb.allCases.map(\.rawValue)
  let hint = nearestWord(to: word, among: known).map { "; did you mean \($0)?" } ?? "; see attacca --help"
  complain("attacca: \(word): unknown \(kind)\(hint)\n")
  return 2
}

// No arguments at all (argc = 0) is possible too.
exit(run((0..<Int(CommandLine.argc)).dropFirst().compactMap { CommandLine.unsafeArgv[$0] }))
