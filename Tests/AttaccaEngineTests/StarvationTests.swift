import AttaccaCore
import POSIXKit
import TestSupport
import Testing

@testable import AttaccaEngine

/// Bytes that are late.
@Suite struct StarvationTests {
  private let whole: [Float]
  private let bytes: [UInt8]
  init() throws {
    whole = try WAVFileContent("whole.wav").samples
    bytes = try TestMedia.bytes("whole.wav")
  }

  private func rig(_ gate: Gate, pending: Bool = false, ahead: Int = 8192) -> (EngineRig, MediaItem) {
    let sources = TestSources(fallback: FileSourceProvider())
    let bytes = bytes
    let item = sources.add("slow") { GatedByteSource(bytes, gate, answersPending: pending) }
    let rig = makeRig(ahead: ahead, sources: sources)
    rig.follow(with: [])
    return (rig, item)
  }

  /// Plays what there is of a source with 200,000 bytes (44 of header, 4 a frame), and some time more. The last quarter of
  /// a second may stay with the decoder, which waits for more before it wakes the output.
  private func playUntilDry(_ rig: EngineRig, _ gate: Gate) throws {
    // Once the decoder stands at the gate, nothing more comes.
    #expect(gate.waitForReader())
    rig.output.play()
    #expect(rig.output.wait { heard, queued, _ in heard > 30_000 && queued == 0 })
    rig.output.advance(1000)
  }

  /// Plays up to where the bytes end, runs dry, and goes on when they come.
  ///
  /// The gate is at byte 200,000; the read of 4,096 bytes that begins before it still comes through.
  @Test(arguments: [false, true]) func runsDryAndGoesOnAtTheSameFrame(_ pending: Bool) throws {
    let gate = Gate(closedFrom: 200_000)
    let (rig, item) = rig(gate, pending: pending)
    let generation = rig.load(item)
    rig.send(.setRunning(true))
    try rig.waitFor("sound") { if case .anchored(_, let anchor) = $0 { anchor.rate == 1 } else { false } }
    try playUntilDry(rig, gate)
    let stalled = try rig.wait("the stall") { events -> PositionAnchor? in
      for case .stalled(generation, let anchor) in events { return anchor }
      return nil
    }
    #expect(stalled.rate == 0)
    let dry = Int(stalled.position.frames(at: 44_100))
    #expect(dry > 30_000 && dry <= (200_000 + 4096 - 44) / 4)
    // Time goes by without the position.
    rig.output.advance(10_000)
    rig.output.measure()
    gate.open()
    let resumed = try rig.wait("the way on") { events -> PositionAnchor? in
      guard let index = events.firstIndex(where: { if case .stalled = $0 { true } else { false } }) else { return nil }
      for case .anchored(_, let anchor) in events[index...] { return anchor }
      return nil
    }
    #expect(resumed == PositionAnchor(position: stalled.position, hostTime: resumed.hostTime, rate: 1))
    rig.output.play()
    #expect(try rig.waitForEnd() == time(132_300))
    let heard = rig.output.captured
    let gap = heard.count / 2 - 132_300
    #expect(gap >= 10_000)
    #expect(difference(heard[..<(dry * 2)], whole[..<(dry * 2)]) == nil)
    #expect(heard[(dry * 2)..<((dry + gap) * 2)].allSatisfy { $0 == 0 })
    // It begins again with a fade.
    #expect(difference(heard[((dry + gap + 441) * 2)...], whole[((dry + 441) * 2)...]) == nil)
  }

  @Test func pauseAndPlayWhileDry() throws {
    let gate = Gate(closedFrom: 200_000)
    let (rig, item) = rig(gate)
    rig.load(item)
    rig.send(.setRunning(true))
    try rig.waitFor("sound") { if case .anchored(_, let anchor) = $0 { anchor.rate == 1 } else { false } }
    try playUntilDry(rig, gate)
    let stalled = try rig.wait("the stall") { events -> PositionAnchor? in
      for case .stalled(_, let anchor) in events { return anchor }
      return nil
    }
    let count = rig.events.count
    rig.send(.setRunning(false))
    let held = try rig.wait("the hold") { events -> PositionAnchor? in
      for case .anchored(_, let anchor) in events.dropFirst(count) where anchor.rate == 0 { return anchor }
      return nil
    }
    #expect(held.position == stalled.position)
    rig.output.advance(2000)
    gate.open()
    try rig.waitFor("the wish") { if case .wantsNext = $0 { true } else { false } }
    let from = rig.output.heardFrames
    rig.send(.setRunning(true))
    rig.output.play()
    #expect(try rig.waitForEnd() == time(132_300))
    let dry = Int(stalled.position.frames(at: 44_100))
    #expect(rig.output.heardFrames - from == Int64(132_300 - dry))
    #expect(difference(rig.output.captured.suffix((132_300 - dry - 441) * 2), whole[((dry + 441) * 2)...]) == nil)
  }

  /// The decoder waits in a read; pausing does not wait for it.
  @Test func pauseWorksWhileTheDecoderIsBlocked() throws {
    let gate = Gate(closedFrom: 400_000)
    let (rig, item) = rig(gate)
    rig.load(item)
    rig.send(.setRunning(true))
    rig.output.play(1000)
    try rig.waitForHeard(1000)
    #expect(gate.waitForReader())
    let edits = rig.output.editCount
    rig.send(.setRunning(false))
    #expect(rig.output.waitForEdit(after: edits))
    rig.output.advance(441)
    #expect(rig.output.wait { _, _, isRunning in !isRunning })
    #expect(rig.output.heardFrames == 1441)
  }

  @Test(arguments: [0, 100_000, 400_000]) func loadCancelsABlockedRead(_ closedFrom: Int64) throws {
    let gate = Gate(closedFrom: closedFrom)
    let (rig, item) = rig(gate)
    let first = rig.load(item)
    rig.send(.setRunning(true))
    #expect(gate.waitForReader())
    let second = rig.load(TestMedia.item("flac/a.flac"))
    try rig.waitFor("the other item") { if case .opened(second, _) = $0 { true } else { false } }
    try rig.wait("its sound") { events -> Bool? in
      events.contains { if case .anchored(second, _) = $0 { true } else { false } } ? true : nil
    }
    rig.output.play()
    try rig.waitForEnd(of: second)
    // What was given up says nothing.
    #expect(!rig.events.contains { if case .failed(first, _) = $0 { true } else { false } })
    try rig.shutdown()
  }

  @Test(arguments: [0, 400_000]) func stopCancelsABlockedRead(_ closedFrom: Int64) throws {
    let gate = Gate(closedFrom: closedFrom)
    let (rig, item) = rig(gate)
    rig.load(item)
    #expect(gate.waitForReader())
    rig.send(.stop)
    #expect(rig.output.waitForClose())
    // Afterwards everything works, on an output of its own.
    let second = rig.load(TestMedia.item("flac/a.flac"))
    rig.send(.setRunning(true))
    #expect(rig.outputs.count == 2)
    rig.output.play()
    try rig.waitForEnd(of: second)
  }

  @Test(arguments: [0, 400_000]) func shutdownWhileBlockedEnds(_ closedFrom: Int64) throws {
    let gate = Gate(closedFrom: closedFrom)
    let dropped = Monitor(0)
    let sources = TestSources()
    let bytes = bytes
    let item = sources.add("slow") { GatedByteSource(bytes, gate) { dropped.signal { $0 += 1 } } }
    let rig = makeRig(sources: sources)
    rig.follow(with: [])
    rig.load(item)
    #expect(gate.waitForReader())
    try rig.shutdown()
    #expect(rig.output.isClosed)
    #expect(dropped.wait(until: Clocks.host + .seconds(5)) { $0 == 1 ? true : nil } == true)
    // Commands afterwards do nothing, and a second shutdown is over at once.
    rig.load(TestMedia.item("flac/a.flac"))
    rig.send(.setRunning(true))
    rig.send(.stop)
    try rig.shutdown()
    #expect(rig.outputs.count == 1)
  }

  /// Loads and stops in quick succession never share an output.
  @Test func loadStopLoad() throws {
    for _ in 0..<30 {
      let rig = makeRig()
      rig.follow(with: [])
      rig.load(TestMedia.item("flac/a.flac"))
      rig.send(.setRunning(true))
      rig.send(.stop)
      let last = rig.load(TestMedia.item("short/flac/001.flac"))
      rig.output.play()
      try rig.waitForEnd(of: last)
      #expect(rig.outputs.count == 2)
      #expect(rig.output.heardFrames == 441)
      try rig.shutdown()
      #expect(!rig.outputs.contains { !$0.isClosed })
    }
  }

  @Test func manyLoadsInARow() throws {
    let rig = makeRig()
    rig.follow(with: [])
    rig.send(.setRunning(true))
    var last = Generation(0)
    for round in 0..<40 { last = rig.load(TestMedia.item(round % 3 == 0 ? "mp3/a.mp3" : "flac/a.flac")) }
    last = rig.load(TestMedia.item("flac/b.flac"))
    try rig.wait("sound") { events -> Bool? in
      events.contains { if case .anchored(last, _) = $0 { true } else { false } } ? true : nil
    }
    rig.output.play()
    #expect(try rig.waitForEnd(of: last) == time(71_066))
  }

  // MARK: The output goes away

  @Test(arguments: [0, 500]) func lostAndRestoredGoesOnAtTheSameFrame(_ margin: Int) throws {
    let rig = makeRig(margin: margin)
    rig.follow(with: [])
    let generation = rig.load(TestMedia.item("flac/a.flac"))
    rig.send(.setRunning(true))
    rig.output.play(20_000)
    try rig.waitForHeard(20_000)
    rig.output.lose()
    let lost = try rig.waitFor("the loss") { if case .outputLost = $0 { true } else { false } }
    guard case .outputLost(let heard, let anchor) = lost else { return }
    #expect(heard == generation)
    #expect(anchor?.position == time(20_000))
    #expect(anchor?.rate == 0)
    rig.output.restore()
    try rig.waitFor("the return") { $0 == .outputRestored }
    rig.output.play()
    #expect(try rig.waitForEnd() == time(61_234))
    #expect(difference(rig.output.captured, whole[..<(61_234 * 2)]) == nil)
    // It says where it went on.
    let events = rig.events
    let index = try #require(events.firstIndex(of: .outputRestored))
    let positions = events[index...].compactMap { event -> Duration? in
      if case .anchored(_, let anchor) = event { anchor.position } else { nil }
    }
    #expect(positions.first == time(20_000))
  }

  @Test func pausedWhileLostStaysHeld() throws {
    let rig = makeRig()
    rig.follow(with: [])
    rig.load(TestMedia.item("flac/a.flac"))
    rig.send(.setRunning(true))
    rig.output.play(20_000)
    try rig.waitForHeard(20_000)
    rig.output.lose()
    rig.send(.setRunning(false))
    rig.output.restore()
    rig.output.advance(10_000)
    #expect(rig.output.wait { _, _, isRunning in !isRunning })
    #expect(rig.output.heardFrames <= 20_441)
    rig.send(.setRunning(true))
    rig.output.play()
    #expect(try rig.waitForEnd() == time(61_234))
  }
}
