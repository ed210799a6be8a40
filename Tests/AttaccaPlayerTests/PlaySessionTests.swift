import AttaccaCore
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AttaccaPlayer

/// A player that does what the test says and notes what it is asked.
private final class ScriptedLink: PlayerLink {
  let commands: AsyncStream<PlayerCommand>
  let events: AsyncStream<PlayerEvent>.Continuation
  private let eventStream: AsyncStream<PlayerEvent>
  private let noted: AsyncStream<PlayerCommand>.Continuation
  private let current = Mutex(PlayerSnapshot())
  private let consumers = Mutex<[AsyncStream<PlayerSnapshot>.Continuation]>([])
  private let answer: @Sendable (PlayerCommand) -> CommandResult

  init(_ answer: @escaping @Sendable (PlayerCommand) -> CommandResult = { _ in .done }) {
    (eventStream, events) = AsyncStream.makeStream(of: PlayerEvent.self)
    (commands, noted) = AsyncStream.makeStream(of: PlayerCommand.self)
    self.answer = answer
  }

  func perform(_ command: PlayerCommand) async -> CommandResult {
    noted.yield(command)
    return answer(command)
  }

  func set(_ snapshot: PlayerSnapshot) {
    current.withLock { $0 = snapshot }
    for consumer in consumers.withLock({ $0 }) { consumer.yield(snapshot) }
  }

  func snapshots() async -> AsyncStream<PlayerSnapshot> {
    let (stream, continuation) = AsyncStream.makeStream(of: PlayerSnapshot.self, bufferingPolicy: .bufferingNewest(1))
    continuation.yield(current.withLock { $0 })
    consumers.withLock { $0.append(continuation) }
    return stream
  }

  func events() async -> AsyncStream<PlayerEvent> { eventStream }
  func queueEntries(in range: Range<Int>) async -> [QueueEntry] { [] }

  /// As a player does: its streams end.
  func shutdown() {
    events.finish()
    noted.finish()
    for consumer in consumers.withLock({ $0 }) { consumer.finish() }
  }
}

/// Output and terminal in memory.
@MainActor private final class ScriptedConsole: Console {
  var output = ""
  var errors = ""
  var calls: [String] = []
  var columns = 80
  var isForeground = true
  var isClosed = false
  func out(_ text: String) { output += text }
  func err(_ text: String) { errors += text }
  func enter() { calls.append("enter") }
  func leave() { calls.append("leave") }

  /// What was written since the last call.
  func take() -> String {
    defer { output = "" }
    return output
  }
}

/// A session around a scripted link, to be driven by a test.
@MainActor private final class Rig {
  let link: ScriptedLink
  let console = ScriptedConsole()
  let clock = VirtualClock()
  let system: AsyncStream<SystemInput>.Continuation
  private let inputs: AsyncStream<SystemInput>
  var commands: AsyncStream<PlayerCommand>.AsyncIterator
  var hooks: [String] = []

  init(_ answer: @escaping @Sendable (PlayerCommand) -> CommandResult = { _ in .done }) {
    link = ScriptedLink(answer)
    commands = link.commands.makeAsyncIterator()
    (inputs, system) = AsyncStream.makeStream(of: SystemInput.self)
  }

  func start(
    _ face: any Face, _ items: [MediaItem] = [testItem("a.flac")], from start: Duration? = nil
  ) -> Task<SessionEnding, Never> {
    let hooks = PlaySession.Hooks(
      stopProcess: { self.hooks.append("stop") }, willEnd: { self.hooks.append("willEnd") },
      didStart: { self.hooks.append("didStart") },
      shutdown: {
        self.hooks.append("shutdown")
        self.link.shutdown()
      })
    let session = PlaySession(link: link, face: face, streams: console, clock: clock, hooks: hooks)
    let inputs = inputs
    return Task { await session.run(items, start: start, inputs: inputs) }
  }

  func command() async -> PlayerCommand? {
    var iterator = commands
    defer { commands = iterator }
    return await iterator.next(isolation: MainActor.shared)
  }
}

private let entry = QueueEntry(id: EntryID(1), item: testItem("a.flac"))
private let fault = MediaError(.sourceEmpty, subject: "a.flac", reason: "the file is empty")

@MainActor @Suite struct PlaySessionTests {
  @Test func playsToTheEnd() async {
    let rig = Rig()
    let running = rig.start(PlainFace(rig.console))
    #expect(await rig.command() == .replaceQueue([testItem("a.flac")], autoStart: .play))
    for event: PlayerEvent in [
      .itemDidChange(last: nil, now: entry, reason: .started), .statusChanged(.waiting(.opening)),
      .metadataRead(entry.id, testInfo(title: "T")), .statusChanged(.playing), .playedToEnd(entry.id, isLast: true),
      .itemDidChange(last: entry.id, now: entry, reason: .endOfQueue), .statusChanged(.stopped),
    ] { rig.link.events.yield(event) }
    #expect(await running.value == .finished(heard: true, outputFailed: false))
    #expect(rig.console.output == "Playing: T [3:21]\n")
    #expect(rig.console.errors == "")
    #expect(rig.hooks == ["didStart", "willEnd", "shutdown"])
  }

  @Test func nothingPlayable() async {
    let rig = Rig()
    let running = rig.start(PlainFace(rig.console))
    rig.link.events.yield(.statusChanged(.waiting(.opening)))
    rig.link.events.yield(.failed(entry.id, fault))
    rig.link.events.yield(.statusChanged(.failed(fault)))
    #expect(await running.value == .finished(heard: false, outputFailed: false))
    #expect(rig.console.errors == "attacca: a.flac: the file is empty (source.empty)\n")
    #expect(rig.console.output == "")
  }

  @Test func theStatusBeforeTheStartIsNotTheEnd() async {
    let rig = Rig()
    let running = rig.start(PlainFace(rig.console))
    rig.link.events.yield(.statusChanged(.stopped))
    rig.link.events.yield(.statusChanged(.playing))
    rig.link.events.yield(.statusChanged(.stopped))
    #expect(await running.value == .finished(heard: true, outputFailed: false))
  }

  @Test func aFailingOutputIsAFailureHoweverMuchWasHeard() async {
    let rig = Rig()
    let running = rig.start(QuietFace(rig.console))
    let error = MediaError(.playerOutputFailed, subject: "out.wav", reason: "no space left")
    rig.link.events.yield(.statusChanged(.playing))
    rig.link.events.yield(.failed(nil, error))
    rig.link.events.yield(.statusChanged(.failed(error)))
    #expect(await running.value == .finished(heard: true, outputFailed: true))
    #expect(rig.console.errors == "attacca: out.wav: no space left (player.outputFailed)\n")
  }

  @Test func silenceIsAnnounced() async {
    let rig = Rig()
    let running = rig.start(PlainFace(rig.console))
    rig.link.events.yield(.outputChanged(OutputInfo(kind: "silent", name: "silence", fallbackReason: "refused")))
    rig.system.yield(.key(.character("q")))
    rig.link.events.finish()
    _ = await running.value
    #expect(rig.console.errors == "attacca: no sound server: playing silently\n")
  }

  @Test func aStartIsASeekBeforePlaying() async {
    let rig = Rig()
    let running = rig.start(PlainFace(rig.console), from: .seconds(90))
    #expect(await rig.command() == .replaceQueue([testItem("a.flac")]))
    #expect(await rig.command() == .seek(.seconds(90)))
    #expect(await rig.command() == .play)
    rig.system.yield(.key(.character("q")))
    #expect(await running.value == .quit)
  }

  @Test func aRefusedStartEnds() async throws {
    var reducer = PlayerReducer()
    let effects = reducer.handle(.command(CommandID(1), .play), at: PlayerTime(host: .zero, boot: .zero, wall: .zero))
    guard case .reply(_, let refused) = try #require(effects.first) else { return #expect(Bool(false)) }
    let rig = Rig { _ in refused }
    #expect(await rig.start(PlainFace(rig.console)).value == .finished(heard: false, outputFailed: false))
    #expect(rig.console.errors == "attacca: the queue is empty (player.emptyQueue)\n")
  }

  @Test func jsonTellsWhatHappensUpToTheVeryEnd() async {
    let rig = Rig()
    let face = JSONFace(rig.console) { .microseconds(5) }
    let running = rig.start(face)
    rig.link.events.yield(.statusChanged(.playing))
    rig.link.events.yield(.itemDidChange(last: entry.id, now: nil, reason: .endOfQueue))
    rig.link.events.yield(.statusChanged(.stopped))
    _ = await running.value
    #expect(
      rig.console.output == """
        {"event":"statusChanged","time":5,"status":"playing","reason":null}
        {"event":"itemDidChange","time":5,"last":1,"now":null,"reason":"endOfQueue"}
        {"event":"statusChanged","time":5,"status":"stopped","reason":null}

        """)
  }

  @Test func anUnreadPipeEnds() async {
    let rig = Rig()
    rig.console.isClosed = true
    let running = rig.start(PlainFace(rig.console))
    rig.link.events.yield(.statusChanged(.playing))
    #expect(await running.value == .unread)
  }

  @Test func signalsEnd() async {
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
      let rig = Rig()
      let running = rig.start(PlainFace(rig.console))
      rig.system.yield(.signal(signal))
      #expect(await running.value == .signal(signal))
      #expect(rig.hooks == ["willEnd", "shutdown"])
    }
  }

  @Test(arguments: [true, false]) func stoppingTheProcessPausesWhatPlays(_ isPlaying: Bool) async {
    let rig = Rig()
    let face = TerminalFace(rig.console, unicode: true, styled: false) { rig.clock.now.host }
    var snapshot = testSnapshot(status: isPlaying ? .playing : .paused(.user))
    snapshot.wantsToPlay = isPlaying
    rig.link.set(snapshot)
    let running = rig.start(face)
    _ = await rig.command()
    rig.system.yield(.signal(SIGTSTP))
    if isPlaying {
      #expect(await rig.command() == .pause)
      // The fade is waited for by the clock; a sleeper of the face may be there as well.
      while rig.hooks.isEmpty {
        rig.clock.advance(by: PlaySession.fade)
        await Task.yield()
      }
      #expect(await rig.command() == .play)
    }
    rig.system.yield(.key(.character("q")))
    #expect(await running.value == .quit)
    #expect(rig.hooks == ["stop", "willEnd", "shutdown"])
    #expect(rig.console.calls == ["enter", "leave", "enter", "leave"])
  }

  @Test func keysBecomeCommands() async {
    let rig = Rig()
    var snapshot = testSnapshot()
    snapshot.volume = 0.5
    rig.link.set(snapshot)
    let face = TerminalFace(rig.console, unicode: true, styled: false) { rig.clock.now.host }
    let running = rig.start(face)
    _ = await rig.command()
    // Keys are read against a snapshot: wait until it is drawn.
    while !rig.console.output.contains("vol 50%") { await Task.yield() }
    let expected: [(Key, PlayerCommand)] = [
      (.character(" "), .togglePlayPause), (.left, .skip(.seconds(-5))), (.up, .skip(.seconds(60))),
      (.character("n"), .next()), (.character("p"), .previous()), (.character("+"), .setVolume(0.55)),
      (.character("+"), .setVolume(0.6)), (.character("-"), .setVolume(0.55)), (.character("m"), .setMuted(true)),
      (.character("m"), .setMuted(false)), (.character("r"), .setRepeat(.all)),
    ]
    for (key, command) in expected {
      rig.system.yield(.key(key))
      #expect(await rig.command() == command)
    }
    for _ in 0..<20 { rig.system.yield(.key(.character("-"))) }
    var last: PlayerCommand?
    for _ in 0..<20 { last = await rig.command() }
    #expect(last == .setVolume(0))
    rig.system.yield(.key(.character("q")))
    #expect(await running.value == .quit)
  }
}

@MainActor @Suite struct TerminalFaceTests {
  private let console = ScriptedConsole()
  private let clock = VirtualClock(host: .seconds(1000))

  private func face() -> TerminalFace {
    let clock = clock
    return TerminalFace(console, unicode: true, styled: false) { clock.now.host }
  }

  @Test func drawsAtOnceAndThenOncePerSecond() {
    let face = face()
    #expect(console.calls == ["enter"])
    face.show(testSnapshot())
    #expect(console.take().contains("1:23"))
    #expect(face.deadline == .seconds(1001))
    clock.advance(by: .milliseconds(400))
    face.tick()
    #expect(console.take() == "", "nothing visible changed")
    clock.advance(by: .milliseconds(600))
    face.tick()
    #expect(console.take().contains("1:24"))
  }

  @Test func atMostFourDrawingsASecond() {
    let face = face()
    var drawings = 0
    var snapshot = testSnapshot()
    for step in 0..<200 {
      snapshot.volume = Double(step % 100) / 100
      face.show(snapshot)
      if let deadline = face.deadline, deadline <= clock.now.host { face.tick() }
      if !console.take().isEmpty { drawings += 1 }
      clock.advance(by: .milliseconds(10))
    }
    #expect(drawings == 8)
    // The last change is not lost.
    #expect(face.deadline.map { $0 <= clock.now.host + .milliseconds(250) } == true)
    clock.advance(by: .milliseconds(250))
    face.tick()
    #expect(console.take().contains("vol 99%"))
  }

  @Test func nothingWakesWhilePaused() {
    let face = face()
    face.show(testSnapshot(status: .paused(.user), rate: 0))
    #expect(console.take().contains("⏸"))
    #expect(face.deadline == nil)
    face.show(testSnapshot(status: .paused(.user), rate: 0))
    #expect(console.take() == "")
    #expect(face.deadline == nil)
  }

  @Test func nothingIsDrawnInTheBackground() {
    console.isForeground = false
    let face = face()
    face.show(testSnapshot())
    #expect(console.calls == [] && console.output == "")
    #expect(face.deadline == .seconds(1001), "somebody may bring it forward")
    face.show(testSnapshot(status: .paused(.user), rate: 0))
    #expect(face.deadline == nil)
    console.isForeground = true
    face.tick()
    #expect(console.calls == ["enter"] && console.output.contains("⏸"))
  }

  @Test func errorsAndFinishedItemsStayAbove() {
    let face = face()
    face.show(testSnapshot())
    _ = console.take()
    face.report("attacca: x")
    #expect(console.errors == "attacca: x\n")
    #expect(console.take().hasPrefix("\r\u{1B}[1A\u{1B}[J"), "the lines make room")
    clock.advance(by: TerminalFace.interval)
    face.tick()
    #expect(console.take().hasPrefix("\r▶"), "and come back below")
    face.show(.itemDidChange(last: nil, now: entry, reason: .started))
    face.show(.metadataRead(entry.id, testInfo(title: "T")))
    face.show(.statusChanged(.playing))
    face.show(.itemDidChange(last: entry.id, now: nil, reason: .command))
    #expect(console.take().hasPrefix("\r\u{1B}[1A\u{1B}[JT [3:21]\n"))
  }

  @Test func hintsGoAway() {
    let face = face()
    face.show(testSnapshot(status: .paused(.user), rate: 0))
    clock.advance(by: .seconds(1))
    face.hint("nothing follows")
    #expect(console.take().contains("nothing follows"))
    #expect(face.deadline == clock.now.host + TerminalFace.hintTime)
    clock.advance(by: TerminalFace.hintTime)
    face.tick()
    #expect(console.take().hasSuffix("\u{1B}[J"))
    #expect(face.deadline == nil)
    clock.advance(by: .seconds(1))
    face.toggleHelp()
    #expect(console.take().contains("q quit"))
  }

  @Test func aResizeDrawsAnewThoughNothingChanged() {
    let face = face()
    face.show(testSnapshot(status: .paused(.user), rate: 0))
    #expect(console.take().contains("vol 100%"))
    clock.advance(by: .seconds(1))
    face.redraw()
    #expect(console.take().contains("vol 100%"), "the same lines")
    clock.advance(by: .seconds(1))
    console.columns = 30
    face.redraw()
    let narrow = console.take()
    #expect(narrow.contains("⏸") && !narrow.contains("vol 100%"))
    // The second line was 67 columns wide: three rows now, below the title's one.
    #expect(narrow.hasPrefix("\r\u{1B}[3A"))
  }

  @Test func theTerminalIsGivenBackOnce() {
    let face = face()
    face.show(testSnapshot())
    face.suspend()
    face.show(testSnapshot(position: 100))
    #expect(face.deadline == nil)
    face.resume()
    face.finish()
    face.finish()
    #expect(console.calls == ["enter", "leave", "enter", "leave"])
  }
}
