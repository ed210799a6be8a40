import AttaccaCore
import TestSupport
import Testing

@testable import AttaccaEngine

private let fade = 441

/// What is heard from a seek's target on is what is heard there when the item is played through.
@Suite struct SeekTests {
  /// How far a decoder that began before the target may be from one that came from the beginning. MP3 and Vorbis carry
  /// nothing over but one overlap; Opus converges (RFC 7845 §4.6); AAC is made without noise
  /// substitution, which is never the same twice.
  static func tolerance(_ format: String) -> Float {
    switch format {
    case "opus": 1e-5
    case "m4a", "m4b": 1e-4
    default: 0
    }
  }

  @Test(arguments: TestMedia.formats) func everyTargetIsExact(_ format: TestMedia.Format) throws {
    var random = SeededRandom.announced("seek in \(format)")
    let name = format.a
    let wanted = try render([name])
    let frames = wanted.count / 2
    try check(
      name, wanted, rate: format.rate, tolerance: Self.tolerance(format.folder),
      targets: (0..<24).map { _ in
        Int.random(in: 0..<frames, using: &random)
      } + [0, 1, frames - 1, frames - 2000])
  }

  /// Seeks while held, plays a little from each target, and compares.
  private func check(
    _ name: String, _ wanted: [Float], rate: Int, tolerance: Float, targets: [Int], length: Int = 6000
  ) throws {
    let rig = makeRig()
    rig.follow(with: [])
    let generation = rig.load(name.hasPrefix("/") ? MediaItem(.file(name)) : TestMedia.item(name))
    let frames = wanted.count / 2
    let fade = rate / 100
    for target in targets {
      let anchor = try rig.waitForLanding(rig.seek(generation, to: time(target, at: rate)))
      #expect(anchor == PositionAnchor(position: time(target, at: rate), hostTime: anchor.hostTime, rate: 0))
      let from = rig.output.captured.count
      rig.send(.setRunning(true))
      let count = min(length, frames - target)
      rig.output.play(count)
      try rig.waitForHeard(Int64(from / 2 + count))
      rig.send(.setRunning(false))
      rig.output.advance(fade)
      let heard = rig.output.captured
      let skip = min(count, target == 0 ? 0 : fade)
      let difference = difference(
        heard[(from + skip * 2)..<(from + count * 2)], wanted[((target + skip) * 2)..<((target + count) * 2)],
        tolerance: tolerance)
      #expect(difference == nil, "target \(target) of \(frames)")
      if tolerance > 0, count >= 4096 {
        let place = from / 2 + 600
        let wanted = [Float](repeating: 0, count: place * 2) + wanted[((target + 600) * 2)..<((target + 2700) * 2)]
        #expect(lag(of: heard, against: wanted, at: place, count: 1000, range: 16) == 0, "target \(target)")
      }
    }
  }

  @Test(arguments: ["cbr", "vbr", "vbr-noxing"]) func longMP3IsExact(_ kind: String) throws {
    var random = SeededRandom.announced("seek in \(kind)")
    let name = "seek/30s-\(kind).mp3"
    let wanted = try render([name])
    let frames = wanted.count / 2
    try check(
      name, wanted, rate: 44_100, tolerance: 0,
      targets: (0..<20).map { _ in Int.random(in: 0..<frames, using: &random) } + [frames - 500, 5000, frames - 60_000])
  }

  /// Containers of many pages and chunks, of which the short halves have only a few.
  @Test(arguments: ["ogg", "opus", "m4a"]) func longFilesAreExact(_ kind: String) throws {
    var random = SeededRandom.announced("seek in a long \(kind)")
    let media = try TrimMedia()
    let (source, target) = (
      TestMedia.path(kind == "opus" ? "pieces/whole48.wav" : "pieces/whole.wav"), media.path("long." + kind)
    )
    switch kind {
    case "ogg": try media.run("oggenc", "-Q", "-q", "4", "-o", target, source)
    case "opus": try media.run("opusenc", "--quiet", "--bitrate", "96", source, target)
    default:
      try media.run("ffmpeg", "-v", "error", "-i", source, "-c:a", "aac", "-aac_pns", "0", "-b:a", "160k", target)
    }
    let rate = kind == "opus" ? 48_000 : 44_100
    let wanted = try makeRig().render([MediaItem(.file(target))])
    #expect(wanted.count / 2 == 20 * rate)
    try check(
      target, wanted, rate: rate, tolerance: Self.tolerance(kind),
      targets: (0..<20).map { _ in Int.random(in: 0..<20 * rate, using: &random) } + [19 * rate, 20 * rate - 3000])
  }

  /// Forward and back by more than a second while it plays, quickly, each with its own landing.
  @Test(arguments: ["seek/30s.flac", "seek/30s-vbr.mp3"]) func backAndForthWhilePlaying(_ name: String) throws {
    let wanted = try render([name])
    let rig = makeRig(margin: 200)
    rig.follow(with: [])
    let generation = rig.load(TestMedia.item(name))
    rig.send(.setRunning(true))
    try rig.waitFor("sound") { if case .anchored(_, let anchor) = $0 { anchor.rate == 1 } else { false } }
    var random = SeededRandom.announced("back and forth in \(name)")
    for _ in 0..<20 {
      let target = Int.random(in: 0..<wanted.count / 2 - 50_000, using: &random)
      let before = rig.output.heardFrames
      let edits = rig.output.editCount
      let id = rig.seek(generation, to: time(target))
      #expect(rig.output.waitForEdit(after: edits))
      // The output has to turn before the landing is heard.
      rig.output.play(Int.random(in: 1000...9000, using: &random))
      let landing = try rig.waitForLanding(id)
      #expect(landing.position == time(target))
      #expect(landing.rate == 1)
      let landed = (landing.hostTime - .seconds(1000)).frames(at: 44_100)
      rig.output.play(5000)
      try rig.waitForHeard(landed + 5000)
      let heard = rig.output.captured
      let difference = difference(
        heard[((Int(landed) + fade) * 2)..<((Int(landed) + 5000) * 2)],
        wanted[((target + fade) * 2)..<((target + 5000) * 2)])
      #expect(difference == nil, "from \(before) to \(target)")
    }
  }

  @Test func toTheStart() throws {
    let rig = makeRig()
    rig.follow(with: [])
    let generation = rig.load(TestMedia.item("flac/a.flac"))
    rig.send(.setRunning(true))
    rig.output.play(20_000)
    try rig.waitForHeard(20_000)
    let id = rig.seek(generation, to: .zero)
    #expect(try rig.waitForLanding(id).position == .zero)
    rig.output.play()
    #expect(try rig.waitForEnd() == time(61_234))
    // The old sound fades out over the beginning, which itself begins at once; from then on it is exact.
    let heard = rig.output.captured
    let wanted = try WAVFileContent("whole.wav").samples
    #expect(heard.count / 2 == 20_000 + 61_234)
    #expect(difference(heard[((20_000 + fade) * 2)...], wanted[(fade * 2)..<(61_234 * 2)]) == nil)
  }

  @Test(arguments: ["flac/a.flac", "mp3/a.mp3", "ogg/a.ogg", "opus/a.opus", "m4a/a.m4a"], [0, 1, 1_000_000])
  func toTheEndAndPast(_ name: String, _ beyond: Int) throws {
    let rate = name.hasPrefix("opus") ? 48_000 : 44_100
    let frames = rate == 48_000 ? 66_649 : 61_234
    let rig = makeRig()
    rig.follow(with: [TestMedia.item("flac/b.flac")])
    let generation = rig.load(TestMedia.item(name))
    rig.send(.setRunning(true))
    rig.output.play(10_000)
    try rig.waitForHeard(10_000)
    let edits = rig.output.editCount
    let id = rig.seek(generation, to: time(frames + beyond, at: rate))
    // Not before the seek is under way: what is decoded already would be over in no time.
    #expect(rig.output.waitForEdit(after: edits))
    rig.output.play()
    #expect(try rig.waitForLanding(id).position == time(frames, at: rate))
    // The natural end: what follows is heard from its beginning.
    let joint = try rig.wait("the joint") { events -> PositionAnchor? in
      for case .advanced(generation, _, let anchor) in events { return anchor }
      return nil
    }
    #expect(joint.position == .zero)
    try rig.waitForEnd(of: Generation(2))
  }

  @Test func whileHeldStaysHeld() throws {
    let rig = makeRig()
    rig.follow(with: [])
    let generation = rig.load(TestMedia.item("flac/a.flac"))
    try rig.waitFor("the load") { if case .anchored = $0 { true } else { false } }
    let anchor = try rig.waitForLanding(rig.seek(generation, to: time(30_000)))
    #expect(anchor.rate == 0)
    rig.output.play(1000)
    rig.output.advance(1000)
    #expect(rig.output.heardFrames == 0)
    #expect(!rig.output.isRunning)
  }

  @Test func whileOpening() throws {
    let gate = Gate(closedFrom: 0)
    let sources = TestSources()
    let bytes = try TestMedia.bytes("flac/a.flac")
    let item = sources.add("a") { GatedByteSource(bytes, gate) }
    let rig = makeRig(sources: sources)
    rig.follow(with: [])
    let generation = rig.load(item)
    rig.send(.setRunning(true))
    #expect(gate.waitForReader())
    let first = rig.seek(generation, to: time(10_000))
    let second = rig.seek(generation, to: time(40_000))
    gate.open()
    rig.output.play()
    let landing = try rig.waitForLanding(second)
    #expect(landing.position == time(40_000))
    try rig.waitForEnd()
    // The first may have been overtaken, but if it landed then where it was asked to.
    for case .seekLanded(first, _, let anchor) in rig.events { #expect(anchor.position == time(10_000)) }
    let wanted = try WAVFileContent("whole.wav").samples
    let heard = rig.output.captured
    let tail = 61_234 - 40_000 - fade
    #expect(difference(heard.suffix(tail * 2), wanted[((40_000 + fade) * 2)..<(61_234 * 2)]) == nil)
  }

  @Test func twoInARow() throws {
    let rig = makeRig()
    rig.follow(with: [])
    let generation = rig.load(TestMedia.item("flac/a.flac"))
    rig.send(.setRunning(true))
    rig.output.play(3000)
    try rig.waitForHeard(3000)
    // Without a margin a landing is heard at once; the sound of the first may never come.
    for round in 0..<20 {
      let (one, two) = (10_000 + round * 100, 30_000 - round * 57)
      let first = rig.seek(generation, to: time(one))
      let second = rig.seek(generation, to: time(two))
      rig.output.play(2000)
      let landing = try rig.waitForLanding(second)
      #expect(landing.position == time(two))
      for case .seekLanded(first, _, let anchor) in rig.events { #expect(anchor.position == time(one)) }
    }
  }

  /// Back into an item whose successor was decoded already: both are heard again.
  @Test(arguments: ["flac", "mp3", "opus", "ogg", "m4a", "alac", "wav", "wv"])
  func backWhileTheNextIsDecodedAhead(_ kind: String) throws {
    let format = try #require(TestMedia.formats.first { $0.folder == kind })
    let whole = try render([format.a, format.b])
    let rig = makeRig()
    rig.follow(with: [TestMedia.item(format.b)])
    let generation = rig.load(TestMedia.item(format.a))
    rig.send(.setRunning(true))
    rig.output.play(format.cut - 8000)
    try rig.waitForHeard(Int64(format.cut - 8000))
    // The next item's end has been asked about: it is decoded, and given to the output.
    try rig.waitFor("the wish after b") { $0 == .wantsNext(after: Generation(2)) }
    let id = rig.seek(generation, to: time(20_000, at: format.rate))
    #expect(try rig.waitForLanding(id).position == time(20_000, at: format.rate))
    rig.output.play()
    try rig.waitForEnd(of: Generation(2))
    let fade = format.rate / 100
    let count = whole.count / 2 - 20_000 - fade
    let difference = difference(
      rig.output.captured.suffix(count * 2), whole.suffix(count * 2), tolerance: Self.tolerance(kind))
    #expect(difference == nil)
    #expect(rig.output.heardFrames == Int64(format.cut - 8000 + format.total - 20_000))
  }

  /// A seek that cannot be done changes nothing, be the rest decoded already or not.
  @Test(arguments: [(0, 50_000, true), (3_000_000, 850_000, false)])
  func failedSeekGoesOn(_ failsFrom: Int64, _ target: Int, _ isShort: Bool) throws {
    let sources = TestSources()
    let name = isShort ? "wav/a.wav" : "pieces/whole.wav"
    let wanted = try WAVFileContent(name)
    let bytes = try TestMedia.bytes(name)
    let failure = FailureSwitch()
    let item = sources.add("a") { FailingByteSource(bytes, failure) }
    let rig = makeRig(sources: sources)
    rig.follow(with: [])
    let generation = rig.load(item)
    rig.send(.setRunning(true))
    rig.output.play(2000)
    try rig.waitForHeard(2000)
    if isShort { try rig.waitFor("the wish") { if case .wantsNext = $0 { true } else { false } } }
    failure.set(failsFrom: failsFrom)
    let id = rig.seek(generation, to: time(target))
    try rig.waitFor("the failure") { if case .seekFailed(id, _, _) = $0 { true } else { false } }
    failure.set(failsFrom: nil)
    rig.output.play()
    #expect(try rig.waitForEnd() == time(wanted.frames))
    #expect(difference(rig.output.captured, wanted.samples) == nil)
  }
}
