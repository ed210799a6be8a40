import AttaccaCore
import TestSupport
import Testing

@testable import AttaccaEngine

/// What follows can be changed up to the moment it is heard.
@Suite struct UpcomingTests {
  private let whole: [Float]
  init() throws { whole = try WAVFileContent("whole.wav").samples }

  private func item(_ name: String) -> MediaItem { TestMedia.item(name) }

  /// A rig that plays a.flac and whose test says what follows.
  private func started(ahead: Int = 88_200, sources: any ByteSourceProvider = FileSourceProvider()) throws -> (
    EngineRig, EngineLoad
  ) {
    let rig = makeRig(ahead: ahead, sources: sources)
    rig.follow(with: nil)
    let a = rig.makeLoad(item("flac/a.flac"))
    rig.send(.load(a))
    rig.send(.setRunning(true))
    try rig.waitFor("the wish") { $0 == .wantsNext(after: a.generation) }
    return (rig, a)
  }

  private func close(_ rig: EngineRig, after load: EngineLoad) throws {
    try rig.waitFor("the wish") { $0 == .wantsNext(after: load.generation) }
    rig.send(.setUpcoming(after: load.generation, loads: []))
  }

  private func finish(_ rig: EngineRig, _ load: EngineLoad, _ wanted: [Float]) throws {
    rig.output.play()
    try rig.waitForEnd(of: load.generation)
    #expect(difference(rig.output.captured, wanted) == nil)
  }

  @Test func replacedBeforeItWasDecoded() throws {
    let (rig, a) = try started()
    let (x, b) = (rig.makeLoad(item("flac/a.flac")), rig.makeLoad(item("flac/b.flac")))
    rig.send(.setUpcoming(after: a.generation, loads: [x]))
    rig.send(.setUpcoming(after: a.generation, loads: [b]))
    try close(rig, after: b)
    try finish(rig, b, whole)
  }

  /// Replaced when its frames are with the output already: they are taken back.
  @Test func replacedAfterItWasGivenToTheOutput() throws {
    let (rig, a) = try started()
    let (x, b) = (rig.makeLoad(item("wv/a.wv")), rig.makeLoad(item("flac/b.flac")))
    rig.send(.setUpcoming(after: a.generation, loads: [x]))
    try close(rig, after: x)
    #expect(rig.output.wait { _, queued, _ in queued == 88_200 })
    rig.output.play(50_000)
    try rig.waitForHeard(50_000)
    rig.send(.setUpcoming(after: a.generation, loads: [b]))
    try close(rig, after: b)
    try finish(rig, b, whole)
    #expect(!rig.events.contains { if case .advanced(_, x.generation, _) = $0 { true } else { false } })
  }

  @Test func replacedManyTimesQuickly() throws {
    let (rig, a) = try started()
    var last = a
    for round in 0..<50 {
      last = rig.makeLoad(item(round % 2 == 0 ? "wv/a.wv" : "flac/b.flac"))
      rig.send(.setUpcoming(after: a.generation, loads: [last]))
      // What follows the replacement is said at once, too.
      rig.send(.setUpcoming(after: last.generation, loads: []))
    }
    try rig.waitFor("the last") { if case .opened(last.generation, _) = $0 { true } else { false } }
    try finish(rig, last, whole)
  }

  @Test func replacedAfterAResampledJointHadBegun() throws {
    // a is resampled to 44.1 kHz because of the item before it; x continues its resampler's run.
    let rig = makeRig()
    rig.follow(with: nil)
    let loads = ["short/flac/000.flac", "48/flac/a.flac", "48/wv/a.wv", "48/flac/b.flac"].map { rig.makeLoad(item($0)) }
    rig.send(.load(loads[0]))
    rig.send(.setRunning(true))
    rig.send(.setUpcoming(after: loads[0].generation, loads: [loads[1]]))
    try rig.waitFor("the wish") { $0 == .wantsNext(after: loads[1].generation) }
    rig.send(.setUpcoming(after: loads[1].generation, loads: [loads[2]]))
    try close(rig, after: loads[2])
    rig.send(.setUpcoming(after: loads[1].generation, loads: [loads[3]]))
    try close(rig, after: loads[3])
    rig.output.play()
    try rig.waitForEnd(of: loads[3].generation)
    let wanted = try render(["short/flac/000.flac", "whole48.wav"])
    let heard = rig.output.captured
    #expect(heard.count == wanted.count)
    let joint = 441 + 66_649 * 441 / 480
    #expect(lag(of: heard, against: wanted, at: joint - 2500) == 0)
    // The new run begins on a whole frame, so it is a fraction of one off; the sweep is like itself some frames away.
    #expect(lag(of: heard, against: wanted, at: joint + 300, range: 3) == 0)
    // Nothing of a is lost or changed, but for the very end where the resampler heard what followed first.
    #expect(difference(heard[..<((joint - 40) * 2)], wanted[..<((joint - 40) * 2)], tolerance: 1e-6) == nil)
  }

  @Test func tooLateGoesOnWithWhatIsHeard() throws {
    let (rig, a) = try started()
    let (b, x) = (rig.makeLoad(item("flac/b.flac")), rig.makeLoad(item("flac/a.flac")))
    rig.send(.setUpcoming(after: a.generation, loads: [b]))
    try close(rig, after: b)
    rig.output.play(62_000)
    try rig.waitForHeard(62_000)
    rig.send(.setUpcoming(after: a.generation, loads: [x]))
    try finish(rig, b, whole)
    #expect(!rig.events.contains { if case .opened(x.generation, _) = $0 { true } else { false } })
  }

  @Test func appendedAfterTheEndWasSaid() throws {
    let (rig, a) = try started()
    rig.send(.setUpcoming(after: a.generation, loads: []))
    rig.output.play(40_000)
    try rig.waitForHeard(40_000)
    let b = rig.makeLoad(item("flac/b.flac"))
    rig.send(.setUpcoming(after: a.generation, loads: [b]))
    try close(rig, after: b)
    try finish(rig, b, whole)
    #expect(rig.events.count { if case .ended = $0 { true } else { false } } == 1)
  }

  @Test func takenAwayEndsThere() throws {
    let (rig, a) = try started()
    let b = rig.makeLoad(item("flac/b.flac"))
    rig.send(.setUpcoming(after: a.generation, loads: [b]))
    try close(rig, after: b)
    let edits = rig.output.editCount
    rig.send(.setUpcoming(after: a.generation, loads: []))
    #expect(rig.output.waitForEdit(after: edits))
    try finish(rig, a, Array(whole[..<(61_234 * 2)]))
  }

  @Test func severalLoadsAtOnce() throws {
    let (rig, a) = try started()
    let more = (0..<5).map { rig.makeLoad(item("short/flac/00\($0).flac")) }
    rig.send(.setUpcoming(after: a.generation, loads: more))
    try close(rig, after: more[4])
    let short = try WAVFileContent("short/whole.wav").samples
    try finish(rig, more[4], Array(whole[..<(61_234 * 2)]) + short[..<(5 * 882)])
  }

  @Test func theSuccessorIsAskedForOncePerEnd() throws {
    let rig = makeRig()
    let names = (0..<30).map { "short/flac/0\($0 < 10 ? "0" : "")\($0).flac" }
    _ = try rig.render(names.map(item))
    let wishes = rig.events.compactMap { if case .wantsNext(let after) = $0 { after.rawValue } else { nil } }
    #expect(wishes == Array(1...30))
  }

  @Test func twoDeadOnesAndThenAnother() throws {
    let (rig, a) = try started()
    for name in ["missing.flac", "bad/text.mp3"] {
      let dead = rig.makeLoad(item(name))
      rig.send(.setUpcoming(after: a.generation, loads: [dead]))
      try rig.waitFor("the failure") { if case .failed(dead.generation, _) = $0 { true } else { false } }
    }
    let b = rig.makeLoad(item("flac/b.flac"))
    rig.send(.setUpcoming(after: a.generation, loads: [b]))
    try close(rig, after: b)
    try finish(rig, b, whole)
  }

  /// A load that fails underway is heard up to there, and then says so.
  @Test func failureUnderwayIsToldWhenHeard() throws {
    var faults = MemoryByteSource.Faults()
    faults.failsFrom = 44 + 40_000 * 4
    let bytes = try TestMedia.bytes("wav/a.wav")
    let sources = TestSources()
    let item = sources.add("a") { [faults] in MemoryByteSource(bytes, faults: faults) }
    let rig = makeRig(sources: sources)
    rig.follow(with: [])
    let generation = rig.load(item)
    rig.send(.setRunning(true))
    rig.output.play(30_000)
    try rig.waitForHeard(30_000)
    #expect(!rig.events.contains { if case .failed = $0 { true } else { false } })
    rig.output.play()
    let failed = try rig.waitFor("the failure") { if case .failed(generation, _) = $0 { true } else { false } }
    guard case .failed(_, let error) = failed else { return }
    #expect(error.code == .sourceReadFailed)
    let heard = rig.output.captured
    #expect(heard.count / 2 > 38_000 && heard.count / 2 <= 40_000)
    #expect(difference(heard, whole[..<heard.count]) == nil)
  }
}
