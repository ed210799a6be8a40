import Attacca
import Testing

@testable import AttaccaPlayer

private func parse(_ words: String...) throws -> Request { try parseArguments(words.map { Array($0.utf8) }) }

private func options(_ words: String...) throws -> PlayOptions {
  guard case .play(let options) = try parseArguments((["play"] + words).map { Array($0.utf8) }) else {
    throw UsageError("no play request")
  }
  return options
}

@Suite struct ArgumentsTests {
  @Test func defaults() throws {
    var expected = PlayOptions()
    expected.operands = [Array("a.mp3".utf8)]
    #expect(try options("a.mp3") == expected)
  }

  @Test func everyOptionSeparateOrAttached() throws {
    var expected = PlayOptions()
    expected.output = .wav(Array("out=1.wav".utf8))
    expected.volume = 0.35
    expected.start = .seconds(90)
    expected.json = true
    expected.noTerminal = true
    expected.operands = [Array("a".utf8), Array("b".utf8)]
    #expect(
      try options(
        "--output", "wav:out=1.wav", "--volume", "35", "a", "--start", "1:30", "--json", "--no-terminal", "b",
        "--no-resume") == expected)
    #expect(
      try options(
        "--output=wav:out=1.wav", "--volume=35", "--start=1:30", "--json", "--no-terminal", "--no-resume", "a", "b")
        == expected)
    #expect(try options("--repeat", "all", "x").repeatMode == .all)
    #expect(try options("--repeat=one", "x").repeatMode == .one)
  }

  @Test func theLastOptionWins() throws {
    #expect(try options("--output", "pulse", "--output=silent", "x").output == .silent)
  }

  @Test func doubleDashEndsOptions() throws {
    let operands = try options("--json", "--", "--json", "-", "--").operands
    #expect(operands.map { String(decoding: $0, as: UTF8.self) } == ["--json", "-", "--"])
  }

  @Test func operandsAndPathsKeepTheirBytes() throws {
    let name: [UInt8] = [0x61, 0xFF, 0x0A, 0x1B]
    let request = try parseArguments([Array("play".utf8), Array("--output=wav:".utf8) + name, name])
    guard case .play(let options) = request else { throw UsageError("no play request") }
    #expect(options.operands == [name])
    #expect(options.output == .wav(name))
  }

  @Test(arguments: [
    ["--help"], ["-h"], ["play", "--help"], ["play", "-h", "x"], ["play", "x", "--help", "--volume"],
  ])
  func help(_ words: [String]) throws {
    #expect(try parseArguments(words.map { Array($0.utf8) }) == .help)
  }

  @Test func version() throws {
    #expect(try parse("--version") == .version)
    #expect(try parse("play", "--version") == .version)
  }

  @Test(arguments: [
    ([], "no file or folder given"),
    (["--json"], "no file or folder given"),
    ([""], "an empty file name"),
    (["-"], "-: standard input cannot be played; a file called - is ./-"),
    (["-x", "a"], "-x: unknown option; see attacca play --help"),
    (["--otput", "a"], "--otput: unknown option; did you mean --output?"),
    (["--somethingelse", "a"], "--somethingelse: unknown option; see attacca play --help"),
    (["--json=1", "a"], "--json takes no value"),
    (["--help=x"], "--help takes no value"),
    (["a", "--output"], "--output needs a value: auto|pulse|silent|wav:PATH|pipe:PATH"),
    (["--output", "--json", "a"], "--output needs a value: auto|pulse|silent|wav:PATH|pipe:PATH"),
    (["--output=", "a"], "--output: empty value: not auto|pulse|silent|wav:PATH|pipe:PATH"),
    (["--output=wav:", "a"], "--output: wav: needs a path, as in wav:out.wav"),
    (["--output=Pulse", "a"], "--output: Pulse: not auto|pulse|silent|wav:PATH|pipe:PATH"),
    (["--output=pipe:", "a"], "--output: pipe: needs a path, as in pipe:fifo or pipe:-"),
    (["--output=pipe:-", "--json", "a"], "--json and the sound cannot both go to standard output"),
    (["--output=wav:x", "--pcm=s16", "a"], "--pcm is for --output pipe:PATH only"),
    (["--output=pipe:x", "--pcm=s8", "a"], "--pcm: s8: not s16|s24|f32[:RATE[:CHANNELS]]"),
    (["--repeat=two", "a"], "--repeat: two: not off|one|all"),
    (["--volume=101", "a"], "--volume: 101: not 0…100"),
    (["--volume=1.5", "a"], "--volume: 1.5: not 0…100"),
    (["--volume=-1", "a"], "--volume: -1: not 0…100"),
    (["--volume=99999999999999999999", "a"], "--volume: 99999999999999999999: not 0…100"),
    (["--start=soon", "a"], "--start: soon: not seconds or [h:]m:s[.fff]"),
    (["--output=wav:x", "--repeat=all", "a"], "--repeat all into a file would never end"),
  ])
  func usageErrors(_ words: [String], _ message: String) {
    #expect(throws: UsageError(message)) { try parseArguments((["play"] + words).map { Array($0.utf8) }) }
  }

  @Test func otherVerbs() {
    #expect(throws: UsageError("paly: unknown verb; attacca-player knows play and probe")) { try parse("paly", "x") }
    #expect(throws: UsageError("nothing to do")) { try parse() }
  }

  @Test func messagesAreFitForATerminal() {
    let bytes: [UInt8] = Array("--".utf8) + [0x1B, 0x5B, 0x33, 0xFF, 0x0A]
    #expect { try parseArguments([Array("play".utf8), bytes]) } throws: { error in
      guard let error = error as? UsageError else { return false }
      return error.message.hasPrefix("--") && !error.message.unicodeScalars.contains { $0.value < 0x20 }
    }
  }
}

@Suite struct PCMSyntaxTests {
  @Test(arguments: [
    ("s16", PipeFormat()), ("s24:48000", PipeFormat(encoding: .s24, sampleRate: 48_000)),
    ("f32:384000:8", PipeFormat(encoding: .f32, sampleRate: 384_000, channels: 8)),
    ("s16:08000:1", PipeFormat(sampleRate: 8000, channels: 1)),
  ])
  func reads(_ text: String, _ format: PipeFormat) { #expect(parsePCMFormat(Array(text.utf8)) == format) }

  @Test(arguments: [
    "", "S16", "s16:", "s16::2", "s16:44100:", "s16:44100:2:", "s16:7999", "s16:384001", "s16:44100:0", "s16:44100:9",
    "s16:-8000", "s16:44.1", "s16: 44100", "s16:99999999999999999999",
  ])
  func refuses(_ text: String) { #expect(parsePCMFormat(Array(text.utf8)) == nil) }

  @Test func aPipeKeepsItsBytesAndFormat() throws {
    let name: [UInt8] = [0x61, 0xFF, 0x3A]
    let request = try parseArguments([
      Array("play".utf8), Array("--output=pipe:".utf8) + name, Array("--pcm".utf8), Array("f32:48000".utf8), name,
    ])
    guard case .play(let options) = request else { throw UsageError("no play request") }
    #expect(options.output == .pipe(name))
    #expect(options.pcm == PipeFormat(encoding: .f32, sampleRate: 48_000))
    // Endless sound into a pipe is what a pipe is for.
    #expect(throws: Never.self) {
      try parseArguments(["play", "--output", "pipe:-", "--repeat", "all", "a"].map { Array($0.utf8) })
    }
  }
}

@Suite struct TimeSyntaxTests {
  @Test(arguments: [
    ("0", Duration.zero), ("90", .seconds(90)), ("007", .seconds(7)), ("90.5", .milliseconds(90_500)),
    ("1:30", .seconds(90)), ("1:02:03.250", .milliseconds(3_723_250)), ("100:00", .seconds(6000)),
    ("0.000000001", .nanoseconds(1)), ("0.0000000019", .nanoseconds(1)), ("100000:00:00", .seconds(360_000_000)),
    ("99999999999999", .seconds(99_999_999_999_999)),
  ])
  func reads(_ text: String, _ time: Duration) { #expect(parseTime(Array(text.utf8)) == time) }

  @Test(arguments: [
    "", ".", ":", "1:", ":1", "1.", ".5", "-1", "+1", "1:60", "1:60:00", "1:2:3:4", "1:234", "1.5:30", "1:30.", "1 ",
    "1e3", "١", "999999999999999", "1.5.5", "0x10",
  ])
  func refuses(_ text: String) { #expect(parseTime(Array(text.utf8)) == nil) }
}
