import AttaccaCore
import TestSupport
import Testing

/// Items called a, b, c … of 10 s each, unless a test says otherwise.
private func items(_ names: String) -> [MediaItem] {
  names.map { MediaItem(.file("/music/\($0)"), id: MediaID(String($0))) }
}

private func ten(_ item: MediaItem) -> ScriptedMedia { ScriptedMedia(.seconds(10)) }

private let dead = MediaError(.sourceNotFound, subject: "dead", reason: "no such file")

@Suite struct PlayerGoldenTests {
  @Test func album() throws {
    var simulation = Simulation(ten)
    simulation.perform(.replaceQueue(items("abc"), autoStart: .play))
    simulation.runToEnd()
    try expectGolden(simulation.dump, "album")
  }

  @Test func albumWithDeadTracks() throws {
    var simulation = Simulation { item in
      ScriptedMedia(.seconds(10), failure: "bcf".contains(item.id.rawValue) ? dead : nil)
    }
    simulation.perform(.replaceQueue(items("abcdef"), autoStart: .play))
    simulation.runToEnd()
    try expectGolden(simulation.dump, "dead-tracks")
  }

  @Test func everythingDeadInRepeatAll() throws {
    var simulation = Simulation { _ in ScriptedMedia(.seconds(10), failure: dead) }
    simulation.perform(.setRepeat(.all))
    simulation.perform(.replaceQueue(items("abc"), autoStart: .play))
    simulation.runToEnd()
    let loads = simulation.sent.count { if case .load = $0 { true } else { false } }
    #expect(loads == 3)
    try expectGolden(simulation.dump, "all-dead")
  }

  @Test func trackThatBreaksUnderway() throws {
    var simulation = Simulation { item in
      ScriptedMedia(.seconds(10), breaksAt: item.id.rawValue == "a" ? .seconds(4) : nil)
    }
    simulation.perform(.replaceQueue(items("ab"), autoStart: .play))
    simulation.runToEnd()
    try expectGolden(simulation.dump, "breaks-underway")
  }

  @Test func pausesSeeksAndSkips() throws {
    var simulation = Simulation(ten)
    simulation.perform(.replaceQueue(items("abc"), autoStart: .play))
    simulation.run(for: .seconds(2))
    simulation.perform(.pause)
    simulation.run(for: .seconds(100))
    simulation.perform(.seek(.seconds(5)))
    simulation.run(for: .seconds(1))
    simulation.perform(.play)
    simulation.run(for: .milliseconds(50))
    simulation.perform(.skip(.seconds(1)))
    simulation.perform(.skip(.seconds(1)))
    simulation.run(for: .seconds(1))
    simulation.perform(.next())
    simulation.run(for: .seconds(4))
    simulation.perform(.previous())
    simulation.run(for: .seconds(1))
    simulation.perform(.previous())
    simulation.run(for: .seconds(1))
    simulation.perform(.seek(.seconds(99)))
    simulation.run(for: .seconds(1))
    simulation.perform(.stop)
    simulation.run(for: .seconds(5))
    try expectGolden(simulation.dump, "pauses-seeks-skips")
  }

  @Test func seekWhileOpening() throws {
    var simulation = Simulation { _ in ScriptedMedia(.seconds(10), openDelay: .seconds(2)) }
    simulation.perform(.replaceQueue(items("a"), autoStart: .play))
    simulation.perform(.seek(.seconds(3)))
    simulation.run(for: .seconds(1))
    simulation.perform(.seek(.seconds(4)))
    simulation.run(for: .seconds(3))
    try expectGolden(simulation.dump, "seek-while-opening")
  }

  @Test func repeatOneThenOff() throws {
    var simulation = Simulation(ten)
    simulation.perform(.setRepeat(.one))
    simulation.perform(.replaceQueue(items("ab"), autoStart: .play))
    simulation.run(for: .seconds(25))
    simulation.perform(.setRepeat(.off))
    simulation.runToEnd()
    let loads = simulation.sent.count { if case .load = $0 { true } else { false } }
    // A change of mode reloads nothing, and the loop is gapless.
    #expect(loads == 1)
    try expectGolden(simulation.dump, "repeat-one-then-off")
  }

  @Test func editsOfWhatFollows() throws {
    var simulation = Simulation(ten)
    simulation.perform(.replaceQueue(items("abc"), autoStart: .play))
    simulation.run(for: .seconds(3))
    // b was opened ahead; x takes its place, and b still follows x.
    simulation.perform(.insertNext(items("x")))
    simulation.run(for: .seconds(8))
    // The current entry goes: the one after it goes on.
    if let current = simulation.reducer.snapshot.entry?.id { simulation.perform(.remove([current])) }
    simulation.run(for: .seconds(1))
    simulation.perform(.clearQueue)
    simulation.run(for: .seconds(1))
    try expectGolden(simulation.dump, "edits")
  }

  @Test func outputLostAndBack() throws {
    var simulation = Simulation(ten)
    simulation.perform(.replaceQueue(items("a"), autoStart: .play))
    simulation.run(for: .seconds(2))
    simulation.report(
      .outputLost(Generation(1), PositionAnchor(position: .seconds(2), hostTime: simulation.now, rate: 0)))
    simulation.run(for: .seconds(1))
    simulation.report(.outputRestored)
    simulation.report(
      .anchored(Generation(1), PositionAnchor(position: .seconds(2), hostTime: simulation.now, rate: 1)))
    simulation.run(for: .seconds(1))
    try expectGolden(simulation.dump, "output-lost")
  }

  @Test func interruptionAndScrubbing() throws {
    var simulation = Simulation(ten)
    simulation.perform(.replaceQueue(items("ab"), autoStart: .play))
    simulation.run(for: .seconds(1))
    simulation.perform(.suppress(.interruption))
    simulation.run(for: .seconds(10))
    simulation.perform(.lift(.interruption))
    simulation.run(for: .seconds(1))
    simulation.perform(.beginScrub)
    simulation.perform(.seek(.seconds(6)))
    simulation.perform(.seek(.seconds(7)))
    simulation.run(for: .seconds(3))
    simulation.perform(.endScrub)
    simulation.run(for: .seconds(1))
    try expectGolden(simulation.dump, "interruption-scrubbing")
  }

  /// What is learned late about the current item is told at once; about the next one when it is current.
  @Test func learnedLate() throws {
    var simulation = Simulation(ten)
    simulation.perform(.replaceQueue(items("ab"), autoStart: .play))
    simulation.run(for: .seconds(1))
    let (a, b) = (Generation(1), Generation(2))
    simulation.report(.durationChanged(a, MediaDuration(.seconds(9), .exact)))
    simulation.report(.durationChanged(a, MediaDuration(.seconds(9), .exact)))
    simulation.report(.metadataChanged(a, [MetadataItem("title", text: "second link")]))
    #expect(simulation.reducer.snapshot.duration == MediaDuration(.seconds(9), .exact))
    #expect(simulation.reducer.snapshot.title == "second link")
    simulation.report(.durationChanged(b, MediaDuration(.seconds(11), .exact)))
    simulation.report(.metadataChanged(b, [MetadataItem("title", text: "next")]))
    simulation.report(.metadataChanged(Generation(77), [MetadataItem("title", text: "stale")]))
    #expect(simulation.reducer.snapshot.title == "second link")
    simulation.runToEnd()
    try expectGolden(simulation.dump, "learned-late")
    let titles = simulation.events.compactMap { event in
      if case .metadataRead(_, let info) = event { info.metadata.text("title") ?? "" } else { nil }
    }
    #expect(titles == ["", "second link", "next"])
  }
}
