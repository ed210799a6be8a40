import AttaccaCore
import Foundation
import POSIXKit
import TestSupport
import Testing

@testable import AttaccaAudio

/// A stream whose samples say which frame and which version of it they are, and what was asked of it.
final class NumberedSource: RenderSource {
  struct State {
    /// Frames the source has.
    var end: Int64 = .max
    var version: Float = 0
    /// What was given last for each frame.
    var given: [Float] = []
    var heard: Int64 = 0
    /// Heard frames may not be asked for again.
    var askedForHeard = false
    var isClosed = false
    var calledAfterClose = false
    var threads: Set<String> = []
    var events: [OutputEvent] = []
    var points: [EditPoint] = []
  }
  let state = Monitor(State())
  let channels: Int
  init(channels: Int = 2) { self.channels = channels }

  func render(into buffer: UnsafeMutableBufferPointer<Float>, from start: Int64, count: Int) -> Int {
    state.signal { state in
      if state.isClosed { state.calledAfterClose = true }
      if start < state.heard { state.askedForHeard = true }
      let count = Int(max(0, min(Int64(count), state.end - start)))
      for index in 0..<count {
        let frame = start + Int64(index)
        let sample = Float(frame % 10_000) / 20_000 + state.version
        for channel in 0..<channels { buffer[index * channels + channel] = sample }
        if frame < 1 << 20 {
          while state.given.count <= Int(frame) { state.given.append(.nan) }
          state.given[Int(frame)] = sample
        }
      }
      return count
    }
  }

  func didHear(upTo frame: Int64) {
    state.signal { state in
      if state.isClosed { state.calledAfterClose = true }
      state.heard = max(state.heard, frame)
    }
  }

  func receive(_ event: OutputEvent) { state.signal { $0.events.append(event) } }

  func wait<Found>(_ find: (inout State) -> Found?) -> Found? {
    state.wait(until: Clocks.host + .seconds(10), for: find)
  }
}

/// An implementation of the port under test.
struct Implementation: Sendable, CustomStringConvertible {
  let description: String
  let make: @Sendable () -> any AudioOutput
  /// What turns a captured output; others turn by themselves.
  var turn: @Sendable (any AudioOutput, Int) -> Void = { _, _ in }
  /// Whether frames leave at the sample rate.
  var isPaced = true

  static let all: [Implementation] = {
    var all = [
      Implementation(description: "silent") { SilentOutput() },
      Implementation(description: "wav") {
        WAVOutput(path: Array("/tmp/attacca-contract-\(getpid())-\(UUID().uuidString).wav".utf8))
      },
      Implementation(
        description: "pipe",
        make: {
          let path = "/tmp/attacca-contract-\(getpid())-\(UUID().uuidString).pcm"
          _ = FileManager.default.createFile(atPath: path, contents: nil)
          return PipeOutput(path: Array(path.utf8))
        }, isPaced: false),
      Implementation(
        description: "pipe with a reader",
        make: {
          let path = "/tmp/attacca-contract-\(getpid())-\(UUID().uuidString).fifo"
          let reader = PipeReader(path)
          return ReadPipe(destination: PipeOutput(path: Array(path.utf8)), reader: reader)
        }, isPaced: false),
      Implementation(
        description: "capture", make: { CaptureOutput(margin: 10) },
        turn: { output, frames in (output as? CaptureOutput)?.advance(frames) }),
      Implementation(description: "fallback to the first") {
        FallbackOutput(SilentOutput()) { SilentOutput(fallbackReason: $0) }
      },
      Implementation(description: "fallback to the second") {
        FallbackOutput(WAVOutput(path: Array("/nowhere/at all/x.wav".utf8))) { SilentOutput(fallbackReason: $0) }
      },
    ]
    // Only under a private server (scripts/with-pulse): tests make no noise.
    if ProcessInfo.processInfo.environment["PULSE_SERVER"] != nil {
      all.append(Implementation(description: "pulse") { PulseOutput() })
      all.append(
        Implementation(description: "fallback to pulse") {
          FallbackOutput(PulseOutput()) { SilentOutput(fallbackReason: $0) }
        })
    }
    return all
  }()
}

@Suite(.serialized) final class OutputContractTests {
  // WAV outputs of these tests leave files; each suite instance takes them away.
  deinit {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/tmp")) ?? []
    for name in names where name.hasPrefix("attacca-contract-\(getpid())-") {
      try? FileManager.default.removeItem(atPath: "/tmp/" + name)
    }
  }

  private let format = StreamFormat(sampleRate: 44_100, channels: 2)

  private func open(_ implementation: Implementation, _ source: NumberedSource) -> any AudioOutput {
    let output = implementation.make()
    output.prepare()
    output.open(format, source: source) { [weak source] in source?.receive($0) }
    return output
  }

  private func close(_ output: any AudioOutput, _ source: NumberedSource) {
    let done = Monitor(false)
    output.close { [weak source] in
      source?.state.withLock { $0.isClosed = true }
      done.signal { $0 = true }
    }
    #expect(done.wait(until: Clocks.host + .seconds(10)) { $0 ? true : nil } == true)
  }

  /// Edits, and waits until that was carried out.
  private func edit(
    _ output: any AudioOutput, _ source: NumberedSource, _ change: @escaping @Sendable (EditPoint) -> OutputTransport
  ) -> EditPoint? {
    let point = Monitor<EditPoint?>(nil)
    output.edit { now in
      let transport = change(now)
      point.signal { $0 = now }
      return transport
    }
    return point.wait(until: Clocks.host + .seconds(10)) { $0 }
  }

  /// Waits until a frame leaves the output, as the output itself tells.
  private func waitForFrame(_ frame: Int64, _ output: any AudioOutput, _ source: NumberedSource) -> Bool {
    output.setMarker(frame)
    return source.wait { state in
      state.events.contains { if case .reached(frame, _) = $0 { true } else { false } } ? true : nil
    } ?? false
  }

  @Test(arguments: Implementation.all) func opensOnceAndIsHeld(_ implementation: Implementation) throws {
    let source = NumberedSource()
    let output = open(implementation, source)
    let info = source.wait { $0.events.lazy.compactMap { if case .opened(let info) = $0 { info } else { nil } }.first }
    #expect(try #require(info).kind.isEmpty == false)
    implementation.turn(output, 1000)
    let point = try #require(edit(output, source) { .held(after: $0.earliest) })
    #expect(point.heard == 0 && point.earliest == 0)
    close(output, source)
    let opened = source.state.withLock { $0.events.count { if case .opened = $0 { true } else { false } } }
    #expect(opened == 1)
  }

  @Test(arguments: Implementation.all) func editsRunInOrderAtSanePoints(_ implementation: Implementation) throws {
    let source = NumberedSource()
    let output = open(implementation, source)
    let order = Monitor<[Int]>([])
    for number in 0..<50 {
      // From the first one on, before the stream exists.
      output.edit { [weak source] point in
        order.signal { $0.append(number) }
        source?.state.withLock { $0.points.append(point) }
        return .running
      }
      implementation.turn(output, 20)
    }
    #expect(order.wait(until: Clocks.host + .seconds(10)) { $0.count == 50 ? $0 : nil } == Array(0..<50))
    let points = source.state.withLock { $0.points }
    for point in points {
      #expect(point.heard <= point.earliest && point.heard >= 0 && point.end >= 0)
    }
    for (before, after) in zip(points, points.dropFirst()) {
      #expect(before.heard <= after.heard && before.hostTime <= after.hostTime)
    }
    close(output, source)
    #expect(source.state.withLock { !$0.calledAfterClose })
  }

  /// What is heard is the newest version of every frame; one that has left is not asked for again.
  @Test(arguments: Implementation.all) func rewrittenFramesAreThoseHeard(_ implementation: Implementation) throws {
    let source = NumberedSource()
    source.state.withLock { $0.end = 30_000 }
    let output = open(implementation, source)
    _ = edit(output, source) { _ in .running }
    implementation.turn(output, 3000)
    #expect(waitForFrame(1000, output, source))
    let changed = edit(output, source) { [weak source] _ in
      source?.state.withLock { $0.version = 0.25 }
      return .running
    }
    let point = try #require(changed)
    implementation.turn(output, 28_000)
    // What was heard from `earliest` on is of the new version, before it of the old.
    #expect(waitForFrame(25_000, output, source))
    let given = source.state.withLock { $0.given[..<25_000] }
    for frame in given.indices {
      let version: Float = frame < point.earliest ? 0 : 0.25
      guard abs(given[frame] - (Float(frame % 10_000) / 20_000 + version)) < 1e-6 else {
        Issue.record("frame \(frame) of \(given.count), rewritten from \(point.earliest): \(given[frame])")
        break
      }
    }
    close(output, source)
    #expect(source.state.withLock { !$0.askedForHeard })
  }

  @Test(arguments: Implementation.all) func markerIsReportedOnceAndNotEarly(_ implementation: Implementation) throws {
    let source = NumberedSource()
    let output = open(implementation, source)
    let started = Clocks.host
    output.setMarker(4410)
    _ = edit(output, source) { _ in .running }
    implementation.turn(output, 4409)
    if implementation.description == "capture" {
      #expect(source.state.withLock { !$0.events.contains { if case .reached = $0 { true } else { false } } })
    }
    implementation.turn(output, 500)
    let host = try #require(
      source.wait { $0.events.lazy.compactMap { if case .reached(4410, let host) = $0 { host } else { nil } }.first })
    if !output.isOffline, implementation.isPaced, implementation.description != "capture" {
      // A tenth of a second of sound takes a tenth of a second.
      #expect(host - started >= .milliseconds(95))
      #expect(Clocks.host >= host - .milliseconds(1))
    }
    implementation.turn(output, 5000)
    #expect(waitForFrame(6000, output, source))
    close(output, source)
    let reached = source.state.withLock { $0.events.count { if case .reached(4410, _) = $0 { true } else { false } } }
    #expect(reached == 1)
  }

  @Test(arguments: Implementation.all) func holdsAfterTheFrameAskedFor(_ implementation: Implementation) throws {
    let source = NumberedSource()
    let output = open(implementation, source)
    _ = edit(output, source) { _ in .running }
    implementation.turn(output, 2000)
    #expect(waitForFrame(500, output, source))
    let point = try #require(edit(output, source) { .held(after: $0.earliest + 441) })
    let end = point.earliest + 441
    implementation.turn(output, 3000)
    // Held: later edits find it where it was told to stop, however much later.
    let limit = Clocks.host + .seconds(5)
    let tick = Monitor(())
    var place: Int64 = 0
    while place < end, Clocks.host < limit {
      let _: Bool? = tick.wait(until: Clocks.host + .milliseconds(20)) { _ in nil }
      place = try #require(edit(output, source) { .held(after: max(end, $0.earliest)) }).heard
    }
    implementation.turn(output, 3000)
    let _: Bool? = tick.wait(until: Clocks.host + .milliseconds(60)) { _ in nil }
    let held = try #require(edit(output, source) { .held(after: $0.earliest) })
    // A server stops between its blocks; nothing else has an excuse.
    let slack: Int64 = implementation.description.contains("pulse") ? 4410 : 0
    #expect(held.heard >= end && held.heard <= end + slack)
    close(output, source)
  }

  @Test(arguments: Implementation.all) func starvedOnlyWhenDry(_ implementation: Implementation) throws {
    let source = NumberedSource()
    source.state.withLock { $0.end = 5000 }
    let output = open(implementation, source)
    _ = edit(output, source) { _ in .running }
    implementation.turn(output, 4000)
    if output.isOffline {
      // A file waits without running dry, and goes on when told to.
      #expect(source.wait { $0.heard == 5000 ? true : nil } == true)
      source.state.withLock { $0.end = 9000 }
      output.sourceHasMore()
      #expect(source.wait { $0.heard == 9000 ? true : nil } == true)
    } else {
      source.state.withLock { $0.end = 9000 }
      output.sourceHasMore()
      implementation.turn(output, 6000)
      let frame = source.wait {
        $0.events.lazy.compactMap { if case .starved(let frame) = $0 { frame } else { nil } }.first
      }
      #expect(frame == 9000)
    }
    close(output, source)
    #expect(source.state.withLock { $0.events.count { if case .starved = $0 { true } else { false } } } <= 1)
  }

  @Test(arguments: Implementation.all) func closingTwiceAndBeforeOpening(_ implementation: Implementation) throws {
    let source = NumberedSource()
    let output = open(implementation, source)
    _ = edit(output, source) { _ in .running }
    close(output, source)
    close(output, source)
    // What comes afterwards does nothing and keeps nothing alive.
    weak var held: NumberedSource?
    do {
      let more = NumberedSource()
      held = more
      output.edit { point in
        more.receive(.restored)
        return .held(after: point.earliest)
      }
      output.setMarker(1)
      output.sourceHasMore()
    }
    if !implementation.description.contains("pulse") { #expect(held == nil) }
    #expect(source.state.withLock { !$0.calledAfterClose })
    let unopened = implementation.make()
    close(unopened, source)
    close(unopened, source)
  }

  /// Calls return at once, even while the output's thread is inside the source.
  @Test(arguments: Implementation.all.filter { $0.description != "capture" })
  func callersAreNeverBlocked(_ implementation: Implementation) throws {
    let source = NumberedSource()
    let output = open(implementation, source)
    let gate = Monitor((isIn: false, isOpen: false))
    output.edit { _ in
      gate.signal { $0.isIn = true }
      let _: Bool? = gate.wait(until: Clocks.host + .seconds(10)) { $0.isOpen ? true : nil }
      return .running
    }
    #expect(gate.wait(until: Clocks.host + .seconds(10)) { $0.isIn ? true : nil } == true)
    for _ in 0..<100 {
      output.edit { _ in .running }
      output.setMarker(10)
      output.sourceHasMore()
    }
    // Had one of them waited, this line would not be reached before the gate's time is over.
    #expect(gate.withLock { !$0.isOpen })
    gate.signal { $0.isOpen = true }
    close(output, source)
  }

  /// A dropped output ends its thread, and gives back its source.
  @Test(arguments: Implementation.all) func droppedIsGone(_ implementation: Implementation) throws {
    weak var gone: NumberedSource?
    do {
      let source = NumberedSource()
      gone = source
      let output = open(implementation, source)
      _ = edit(output, source) { _ in .running }
      implementation.turn(output, 100)
    }
    let tick = Monitor(())
    let end = Clocks.host + .seconds(5)
    while gone != nil, Clocks.host < end {
      let _: Bool? = tick.wait(until: Clocks.host + .milliseconds(2)) { _ in nil }
    }
    #expect(gone == nil)
  }
}
