import Glibc
import Testing

@testable import AttaccaCore
@testable import AttaccaPlayer

/// A file of the package, found from this source file.
private func packageFile(_ path: String, here: String = #filePath) throws -> String {
  let root = here.split(separator: "/").dropLast(3).joined(separator: "/")
  let file = try #require(fopen("/\(root)/\(path)", "r"), "\(path) is missing")
  defer { fclose(file) }
  var bytes: [UInt8] = []
  while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(byte)) }
  return String(decoding: bytes, as: UTF8.self)
}

/// Whether `word` stands in `text` with no letter, digit or dash on either side.
private func mentions(_ text: String, _ word: String) -> Bool {
  func belongs(_ character: Character?) -> Bool { character.map { $0.isLetter || $0.isNumber || $0 == "-" } ?? false }
  return text.ranges(of: word).contains { range in
    let before = range.lowerBound == text.startIndex ? nil : text[text.index(before: range.lowerBound)]
    let after = range.upperBound == text.endIndex ? nil : text[range.upperBound]
    return !belongs(before) && !belongs(after)
  }
}

@Suite struct OptionTableTests {
  @Test(arguments: PlayOption.allCases) func everyOptionIsExplainedEverywhere(_ option: PlayOption) throws {
    #expect(mentions(HelpText.full, option.flag))
    // mdoc writes `--json` as `Fl Fl json`.
    #expect(try mentions(packageFile("man/attacca.1"), "Fl Fl \(option.rawValue)"))
    #expect(try mentions(packageFile("completions/attacca.bash"), option.flag))
    let zsh = try packageFile("completions/_attacca")
    #expect(mentions(zsh, option.flag))
    let fish = try packageFile("completions/attacca.fish").split(separator: "\n")
    let line = try #require(fish.last { mentions(String($0), "-l \(option.rawValue)") }).description
    if let short = option.short {
      #expect(try mentions(packageFile("man/attacca.1"), "Fl \(short) , Fl Fl \(option.rawValue)"))
      #expect(mentions(zsh, "-\(short)"))
      #expect(mentions(line, "-s \(short)"))
    }
    for value in option.values {
      let word = value.split(separator: ":")[0].description
      #expect(try mentions(packageFile("man/attacca.1"), word))
      #expect(try mentions(packageFile("completions/attacca.bash"), word))
      #expect(mentions(zsh, word))
      #expect(try mentions(packageFile("completions/attacca.fish"), word))
    }
  }

  @Test func theCompletionsKnowNoOtherOptions() throws {
    let known = Set(PlayOption.allCases.map(\.rawValue))
    for line in try packageFile("completions/attacca.fish").split(separator: "\n")
    where line.hasPrefix("complete ") && line.contains(" -l ") {
      let name = line[line.firstRange(of: " -l ")!.upperBound...].prefix { $0 != " " }
      #expect(known.contains(String(name)), "\(name)")
    }
  }

  @Test func theManualKnowsEveryKey() throws {
    let manual = try packageFile("man/attacca.1")
    for binding in KeyBinding.table {
      let lines = manual.split(separator: "\n").filter { $0.hasPrefix(".It Sy ") }
        .map {
          $0.replacing(".It Sy ", with: "").replacing("\\(<-", with: "←").replacing("\\(->", with: "→")
            .replacing("\\(da", with: "↓").replacing("\\(ua", with: "↑").replacing("\\&", with: "")
            .replacing(" ,", with: ",")
        }
      #expect(lines.contains { $0 == binding.keys }, "\(binding.keys)")
    }
  }

  @Test func theManualKnowsEveryEventMemberAndCode() throws {
    let manual = try packageFile("man/attacca.1")
    for (event, _) in eventTable {
      #expect(mentions(manual, ".It Cm \(event.name)"), "\(event.name)")
      for key in keys(eventJSON(event, at: .zero)) { #expect(mentions(manual, key), "\(event.name).\(key)") }
    }
    for code in MediaError.Code.allCases { #expect(mentions(manual, ".It Cm \(code.rawValue)"), "\(code)") }
  }

  private func keys(_ value: JSONValue) -> Set<String> {
    switch value {
    case .object(let members): members.reduce(into: []) { $0.formUnion(keys($1.1).union([$1.0])) }
    case .array(let values): values.reduce(into: []) { $0.formUnion(keys($1)) }
    default: []
    }
  }

  @Test func helpFitsATerminal() {
    for line in HelpText.full.split(separator: "\n") { #expect(columns(String(line)) <= 100, "\(line)") }
    #expect(columns(KeyBinding.line(unicode: true)) < 80)
  }
}

@Suite struct ProbeManualTests {
  @Test func theManualKnowsEveryMemberAndWarning() throws {
    let manual = try packageFile("man/attacca.1")
    var info = MediaInfo(container: "", codec: "", sampleRate: 1, channels: 1, duration: nil)
    info.artwork = Artwork(mime: "", byteCount: 0, width: 1, height: 1)
    info.chapters = [Chapter(start: .zero)]
    info.trim = TrimInfo(start: 0, end: nil, source: "")
    info.audioTracks = [AudioTrack(index: 0, codec: "", channels: 0)]
    info.metadata = [MetadataItem("replaygain_track_gain", text: "-1 dB")]
    info.warnings = [MediaWarning(.durationEstimated, "")]
    let names =
      memberNames(probeJSON(.file("a"), info))
      .union(memberNames(probeJSON(nil, MediaError(.sourceEmpty, subject: "", reason: ""))))
    for name in names where name != "replaygain_track_gain" { #expect(mentions(manual, name), "\(name)") }
    for code in MediaWarning.Code.allCases { #expect(mentions(manual, ".It Cm \(code.rawValue)"), "\(code)") }
    for word in ["probe", "--json", "--help", "-h", "--version"] {
      #expect(try mentions(packageFile("completions/attacca.bash"), word))
      #expect(try mentions(packageFile("completions/_attacca"), word))
    }
    for line in probeHelp.split(separator: "\n") { #expect(columns(String(line)) <= 100) }
  }

  private func memberNames(_ value: JSONValue) -> Set<String> {
    switch value {
    case .object(let members): members.reduce(into: []) { $0.formUnion(memberNames($1.1).union([$1.0])) }
    case .array(let values): values.reduce(into: []) { $0.formUnion(memberNames($1)) }
    default: []
    }
  }
}

@Suite struct ProbeArgumentsTests {
  private func parse(_ words: String...) throws -> ProbeRequest {
    try parseProbeArguments(words.map { Array($0.utf8) })
  }

  @Test func readsOptionsAndOperands() throws {
    let (a, dash) = (Array("a".utf8), Array("--json".utf8))
    #expect(try parse("a") == .probe(operands: [a], json: false))
    #expect(try parse("a", "--json", "a") == .probe(operands: [a, a], json: true))
    #expect(try parse("--", "--json", "a") == .probe(operands: [dash, a], json: false))
    #expect(try parse("a", "-h") == .help && parse("--version") == .version)
    #expect(try parseProbeArguments([[0xFF]]) == .probe(operands: [[0xFF]], json: false))
  }

  @Test(arguments: [
    ([], "no file or folder given"), (["--json"], "no file or folder given"), ([""], "an empty file name"),
    (["-"], "-: standard input cannot be read; a file called - is ./-"),
    (["--jason", "a"], "--jason: unknown option; see attacca probe --help"),
  ])
  func refuses(_ words: [String], _ message: String) {
    #expect(throws: UsageError(message)) { try parseProbeArguments(words.map { Array($0.utf8) }) }
  }
}
