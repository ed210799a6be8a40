import AttaccaCore
import POSIXKit

/// The engine's thread: opens media, decodes ahead, and turns one load's end into the next one's beginning.
///
/// `@unchecked Sendable`: handed to its thread once, before anything else touches it; all its state is used on that
/// thread only. What others share is in the mailbox and the renderer, each behind its own lock.
final class Decoding: @unchecked Sendable {
  enum Command {
    case load(EngineLoad, any AudioOutput)
    case setUpcoming(after: Generation, loads: [EngineLoad])
    case seek(SeekID, Generation, to: Duration)
    case truncated(Int, Renderer.Truncation)
    case stop((any AudioOutput)?)
  }

  /// How much is decoded ahead of the output, in seconds of sound.
  enum Ahead {
    static let low = 1.5
    static let high = 3.5
    /// Frames made at a time, at the output's rate.
    static let step = 8192
  }

  let mailbox: Monitor<Pipeline.Mailbox>
  let sources: any ByteSourceProvider
  let makeOutput: @Sendable () -> any AudioOutput
  let emit: @Sendable (EngineEvent) -> Void
  var chain = LoadChain()
  var renderer: Renderer?
  var converter: StreamConverter?
  var ring: FrameRing?
  /// One past the last frame written to the ring.
  var end: Int64 = 0
  var chunk: (chunk: DecodedChunk, used: Int)?
  /// The media frame of the head at which what was not converted yet begins.
  var consumed: Int64 = 0
  var isFilling = true
  var isFinished = false
  /// Something decoded too early is being taken back on the output's thread; nothing is decoded until then, and what the
  /// player says about what follows waits its turn.
  var truncation: (number: Int, after: Generation, loads: [EngineLoad])?
  var lastTruncation = 0
  var deferred: [(after: Generation, loads: [EngineLoad])] = []

  init(
    mailbox: Monitor<Pipeline.Mailbox>, sources: any ByteSourceProvider,
    makeOutput: @escaping @Sendable () -> any AudioOutput
  ) {
    self.mailbox = mailbox
    self.sources = sources
    self.makeOutput = makeOutput
    let receive = mailbox.withLock { $0.receive }
    emit = receive ?? { _ in }
  }

  func run() {
    while !mailbox.withLock({ $0.isShutDown }) {
      if let command = nextCommand() {
        handle(command)
      } else if !step() {
        waitForWork()
      }
    }
    finish()
  }

  func nextCommand() -> Command? {
    mailbox.withLock { (box: inout Pipeline.Mailbox) -> Command? in
      box.wake = false
      guard !box.commands.isEmpty else { return nil }
      return box.commands.removeFirst()
    }
  }

  func waitForWork() {
    let _: Bool? = mailbox.wait { (box: inout Pipeline.Mailbox) -> Bool? in
      let hasWork = box.wake || !box.commands.isEmpty || box.isShutDown
      return hasWork ? true : nil
    }
  }

  func finish() {
    forgetChain()
    renderer = nil
    let outputs = mailbox.withLock { box -> [any AudioOutput] in
      // A stop that was not carried out any more has an output to close too.
      let stopped = box.commands.compactMap { if case .stop(let output) = $0 { output } else { nil } }
      defer {
        box.output = nil
        box.renderer = nil
        box.receive = nil
        box.commands = []
        box.closing += 1
        box.hasEnded = true
      }
      return stopped + [box.output].compactMap { $0 }
    }
    for output in outputs { close(output) }
    Self.hasClosed(mailbox)
  }

  /// Closes an output. A shutdown is complete when the thread has ended and every output has closed, those of earlier
  /// stops too: a file is not whole before.
  func close(_ output: any AudioOutput) {
    let mailbox = mailbox
    mailbox.withLock { $0.closing += 1 }
    output.close { Self.hasClosed(mailbox) }
  }

  static func hasClosed(_ mailbox: Monitor<Pipeline.Mailbox>) {
    let completions = mailbox.withLock { box -> [@Sendable () -> Void] in
      box.closing -= 1
      guard box.isOver else { return [] }
      defer { box.completions = [] }
      return box.completions
    }
    completions.forEach { $0() }
  }

  func handle(_ command: Command) {
    switch command {
    case .load(let load, let output): start(load, on: output)
    case .setUpcoming(let after, let loads): setUpcoming(after: after, loads: loads)
    case .seek(let id, let generation, let position): seek(id, generation, to: position)
    case .truncated(let number, let result): truncated(number, result)
    case .stop(let output):
      forgetChain()
      renderer = nil
      converter = nil
      ring = nil
      if let output { close(output) }
    }
  }

  func forgetChain() {
    chain.removeAll()
    chunk = nil
    isFinished = false
    truncation = nil
    deferred = []
  }
}
