import AttaccaCore
import Synchronization
import TestSupport
import Testing

private let one = Generation(1)

private func items(_ names: String) -> [MediaItem] {
  names.map { MediaItem(.file("/music/\($0)"), id: MediaID(String($0))) }
}

private let info = MediaInfo(
  container: "test", codec: "test", sampleRate: 44_100, channels: 2,
  duration: MediaDuration(.seconds(100), .exact))

/// A player on an engine that does only what a test says, in virtual time.
private struct Stage: Sendable {
  let engine = ManualEngine()
  let clock = VirtualClock()
  let player: Player

  init() { player = Player(engine: engine, clock: clock) }

  /// Plays a queue up to sounding.
  func playing(_ names: String = "abc") async throws -> [EntryID] {
    let ids = try await player.replaceQueue(with: items(names), autoStart: .play)
    engine.report(.opened(one, info))
    engine.report(.anchored(one, PositionAnchor(position: .zero, hostTime: clock.now.host, rate: 1)))
    await until { $0.isPlaying }
    return ids
  }

  /// Returns once the snapshot fulfils a condition.
  func until(_ condition: (PlayerSnapshot) -> Bool) async {
    for await snapshot in await player.snapshots() where condition(snapshot) { return }
  }
}

@Suite(.timeLimit(.minutes(1))) struct PlayerActorTests {
  @Test func staleEventsAreDropped() async throws {
    let stage = Stage()
    let ids = try await stage.playing()
    try await stage.player.next()
    // The second load is another generation; the first one's news comes late.
    stage.engine.report(.ended(one, at: .seconds(100)))
    stage.engine.report(.failed(one, MediaError(.sourceDamaged, subject: "a", reason: "late")))
    stage.engine.report(.anchored(one, PositionAnchor(position: .seconds(50), hostTime: .zero, rate: 1)))
    stage.engine.report(.seekLanded(SeekID(1), one, PositionAnchor(position: .seconds(50), hostTime: .zero, rate: 1)))
    let two = Generation(2)
    stage.engine.report(.opened(two, info))
    stage.engine.report(.anchored(two, PositionAnchor(position: .zero, hostTime: stage.clock.now.host, rate: 1)))
    await stage.until { $0.isPlaying }
    let snapshot = await stage.player.snapshot
    #expect(snapshot.entry?.id == ids[1])
    #expect(await stage.player.position == .zero)
    try await stage.player.pause()
  }

  @Test func slowEventConsumerIsTold() async throws {
    let stage = Stage()
    var slow = await stage.player.events().makeAsyncIterator()
    let quick = await stage.player.events()
    let counting = Task {
      var count = 0
      for await event in quick {
        if case .resync = event { return -1 }
        if case .queueChanged = event { count += 1 }
        if count == 1500 { return count }
      }
      return count
    }
    for _ in 0..<1500 {
      try await stage.player.append(items("x"))
      // The quick one keeps up because it is let run.
      await Task.yield()
    }
    try await stage.player.append(items("y"))
    var kept = 0
    while case .queueChanged? = await slow.next() {
      kept += 1
      if kept == 1024 { break }
    }
    #expect(kept == 1024)
    // In place of what was dropped stands a marker, once there is room again.
    try await stage.player.append(items("z"))
    #expect(await slow.next() == .resync)
    guard case .queueChanged? = await slow.next() else {
      Issue.record("what comes after the marker is lost")
      return
    }
    let count = await counting.value
    #expect(count == 1500 || count == -1)
  }

  @Test func snapshotsAreTheNewestOnly() async throws {
    let stage = Stage()
    var first = await stage.player.snapshots().makeAsyncIterator()
    var second = await stage.player.snapshots().makeAsyncIterator()
    for volume in 1...50 { _ = await stage.player.perform(.setVolume(Double(volume) / 50)) }
    #expect(await first.next()?.volume == 1)
    #expect(await second.next()?.volume == 1)
    _ = await stage.player.perform(.setVolume(0.3))
    #expect(await first.next()?.volume == 0.3)
    // A consumer that comes later gets the present state at once.
    var third = await stage.player.snapshots().makeAsyncIterator()
    #expect(await third.next()?.volume == 0.3)
  }

  @Test func aConsumerThatLeavesIsForgotten() async throws {
    let stage = Stage()
    let task = Task { for await _ in await stage.player.events() {} }
    task.cancel()
    await task.value
    try await stage.player.append(items("a"))
    #expect(await stage.player.snapshot.queueCount == 1)
  }

  /// Every command that can be refused, and why.
  @Test(arguments: [
    (PlayerCommand.play, Refusal.Code.emptyQueue), (.togglePlayPause, .emptyQueue), (.next(), .noNext),
    (.previous(), .noCurrent), (.jump(EntryID(99)), .unknownEntry), (.beginScrub, .noCurrent),
    (.setVolume(.nan), .invalidValue), (.setVolume(.infinity), .invalidValue), (.append([]), .invalidValue),
    (.insertNext([]), .invalidValue), (.insertBefore(EntryID(99), items("a")), .unknownEntry),
    (.insertAfter(EntryID(99), items("a")), .unknownEntry), (.move(EntryID(99), to: 0), .unknownEntry),
    (.remove([EntryID(99)]), .unknownEntry), (.remove([]), .unknownEntry),
    (.replaceItem(EntryID(99), MediaItem(.file("/x"))), .unknownEntry),
  ])
  func refusals(_ command: PlayerCommand, _ code: Refusal.Code) async {
    let stage = Stage()
    let result = await stage.player.perform(command)
    guard case .refused(let refusal) = result else {
      Issue.record("\(command) was not refused: \(result)")
      return
    }
    #expect(refusal.code == code && !refusal.reason.isEmpty)
    #expect(!stage.engine.commands.contains { if case .load = $0 { true } else { false } })
  }

  @Test(arguments: [PlayerCommand.seek(.seconds(1)), .skip(.seconds(1))])
  func seeksWithoutAnItemAreRejected(_ command: PlayerCommand) async {
    let stage = Stage()
    guard case .seek(.rejected(let refusal)) = await stage.player.perform(command) else {
      Issue.record("not rejected")
      return
    }
    #expect(refusal.code == .noCurrent)
  }

  @Test func unseekableItemsAreNotSought() async throws {
    let stage = Stage()
    _ = try await stage.playing()
    var radio = info
    radio.isSeekable = false
    stage.engine.report(.opened(one, radio))
    await stage.until { !$0.can.seek }
    guard case .rejected(let refusal) = await stage.player.seek(to: .seconds(3)) else {
      Issue.record("not rejected")
      return
    }
    #expect(refusal.code == .notSeekable)
  }

  @Test(arguments: [
    PlayerCommand.play, .pause, .togglePlayPause, .stop, .next(), .previous(), .seek(.zero), .skip(.zero), .beginScrub,
    .endScrub, .setVolume(0.5), .setMuted(true), .setRepeat(.all), .append(items("a")), .clearQueue,
    .suppress(.interruption), .lift(.interruption), .replaceQueue(items("a")),
  ])
  func nothingWorksAfterShutdown(_ command: PlayerCommand) async {
    let stage = Stage()
    #expect(await stage.player.perform(.shutdown) == .done)
    #expect(stage.engine.isShutDown)
    let before = stage.engine.commands
    guard case .refused(let refusal) = await stage.player.perform(command) else {
      Issue.record("\(command) was not refused")
      return
    }
    #expect(refusal.code == .shutDown)
    #expect(stage.engine.commands == before)
    #expect(await stage.player.perform(.shutdown) == .done)
  }

  @Test func shutdownEndsStreamsAndSeeks() async throws {
    let stage = Stage()
    _ = try await stage.playing()
    let events = await stage.player.events()
    let snapshots = await stage.player.snapshots()
    let seek = Task { await stage.player.seek(to: .seconds(50)) }
    await stage.until { $0.pendingSeek != nil }
    #expect(await stage.player.perform(.shutdown) == .done)
    #expect(await seek.value == .superseded)
    for await _ in events {}
    for await _ in snapshots {}
  }

  @Test func aDroppedPlayerDropsItsEngine() async throws {
    weak var engine: ManualEngine?
    do {
      let stage = Stage()
      engine = stage.engine
      _ = try await stage.playing()
    }
    // The pump's task lets go as soon as it runs.
    for _ in 0..<10_000 where engine != nil { await Task.yield() }
    #expect(engine == nil)
  }
}

@Suite(.timeLimit(.minutes(1))) @MainActor struct PlayerModelTests {
  private func model(_ stage: Stage) async -> PlayerModel {
    let model = PlayerModel(link: stage.player, clock: stage.clock)
    return model
  }

  private func until(_ model: PlayerModel, _ condition: () -> Bool) async {
    for _ in 0..<100_000 where !condition() { await Task.yield() }
    #expect(condition())
  }

  /// Moves the clock once somebody sleeps on it.
  private func advance(_ stage: Stage, by step: Duration, sleepers: Int = 1) async {
    for _ in 0..<100_000 where stage.clock.sleeperCount < sleepers { await Task.yield() }
    stage.clock.advance(by: step)
  }

  @Test func mirrorsThePlayer() async throws {
    let stage = Stage()
    let model = await model(stage)
    let ids = try await stage.playing()
    await until(model) { model.isPlaying }
    #expect(model.currentItem?.id == ids[0] && model.wantsToPlay && model.duration == .seconds(100))
    #expect(model.progress == 0)
    stage.clock.advance(by: .seconds(25))
    #expect(model.position == .seconds(25))
    #expect(abs((model.progress ?? 0) - 0.25) < 1e-9)
    // Beyond an exact end it does not run.
    stage.clock.advance(by: .seconds(1000))
    #expect(model.progress == 1)
    #expect(await model.queueEntries(in: 0..<99).map(\.id) == ids)
    #expect(await model.perform(.pause) == .done)
    await until(model) { !model.wantsToPlay }
  }

  @Test func progressIsUnknownWithoutDuration() async throws {
    let stage = Stage()
    let model = await model(stage)
    #expect(model.position == nil && model.progress == nil)
    try await stage.player.replaceQueue(with: items("a"), autoStart: .play)
    var live = info
    live.duration = nil
    stage.engine.report(.opened(one, live))
    stage.engine.report(.anchored(one, PositionAnchor(position: .zero, hostTime: stage.clock.now.host, rate: 1)))
    await until(model) { model.isPlaying }
    #expect(model.progress == nil && model.position == .zero)
  }

  @Test func errorsAreKept() async throws {
    let stage = Stage()
    let model = await model(stage)
    for _ in 0..<50 { await Task.yield() }
    _ = try await stage.playing("a")
    await until(model) { model.isPlaying }
    stage.engine.report(.failed(one, MediaError(.sourceDamaged, subject: "a", reason: "broken")))
    await until(model) { model.lastError != nil }
    #expect(model.lastError?.code == .sourceDamaged)
  }

  @Test func timesTickWhilePlaying() async throws {
    let stage = Stage()
    let model = await model(stage)
    _ = try await stage.playing()
    await until(model) { model.isPlaying }
    #expect(stage.clock.sleeperCount == 0)
    var times = model.times(every: .seconds(1)).makeAsyncIterator()
    for second in 0..<5 {
      #expect(await times.next() == .seconds(second))
      await advance(stage, by: .seconds(1))
    }
    #expect(await times.next() == .seconds(5))
    // Held, nobody sleeps; the last position is told, and it goes on later.
    _ = await model.perform(.pause)
    stage.engine.report(.anchored(one, PositionAnchor(position: .seconds(5), hostTime: stage.clock.now.host, rate: 0)))
    await until(model) { !model.isPlaying && model.snapshot.anchor?.rate == 0 }
    for _ in 0..<1000 where stage.clock.sleeperCount > 0 { await Task.yield() }
    #expect(stage.clock.sleeperCount == 0)
  }

  @Test func boundariesAreToldAsTheyPass() async throws {
    let stage = Stage()
    let model = await model(stage)
    _ = try await stage.playing()
    await until(model) { model.isPlaying }
    var boundaries = model.boundaries(at: [.seconds(9), .seconds(3), .seconds(10)]).makeAsyncIterator()
    await advance(stage, by: .seconds(3))
    #expect(await boundaries.next() == .seconds(3))
    await advance(stage, by: .seconds(20))
    #expect(await boundaries.next() == .seconds(9))
    #expect(await boundaries.next() == .seconds(10))
  }

  @Test func aDroppedModelEndsItsStreams() async throws {
    let stage = Stage()
    _ = try await stage.playing()
    let times: AsyncStream<Duration>
    do {
      let model = await model(stage)
      await until(model) { model.isPlaying }
      times = model.times(every: .seconds(1))
    }
    var count = 0
    for await _ in times { count += 1 }
    #expect(count <= 1)
  }
}
