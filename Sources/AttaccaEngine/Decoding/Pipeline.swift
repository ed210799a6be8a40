import AttaccaCore
import POSIXKit

/// The way into the engine's thread: commands in order, and the few that must act at once.
///
/// Pause, play and gain go straight to the renderer, so that they work while the engine's thread waits for bytes.
final class Pipeline: Sendable {
  struct Mailbox {
    var commands: [Decoding.Command] = []
    var wake = false
    var receive: (@Sendable (EngineEvent) -> Void)?
    /// The output in use, and the renderer once there is a stream format.
    var output: (any AudioOutput)?
    var renderer: Renderer?
    var isRunning = false
    var gain: Float = 1
    var rate = 1.0
    var sound = SoundSettings()
    /// The source being read right now, to be cancelled when a newer load makes that pointless.
    var reading: (any ByteSource)?
    var isStarted = false
    var isShutDown = false
    /// The engine's thread has ended (or never began).
    var hasEnded = false
    /// Outputs that are being closed.
    var closing = 0
    var isOver: Bool { hasEnded && closing == 0 }
    var completions: [@Sendable () -> Void] = []

    /// Whether what is being opened or decoded will not be heard: a newer load, a stop or the shutdown is waiting.
    var isSuperseded: Bool {
      isShutDown
        || commands.contains {
          switch $0 {
          case .load, .stop: true
          default: false
          }
        }
    }
  }

  let mailbox = Monitor(Mailbox())
  private let sources: any ByteSourceProvider
  private let makeOutput: @Sendable () -> any AudioOutput

  init(sources: any ByteSourceProvider, makeOutput: @escaping @Sendable () -> any AudioOutput) {
    self.sources = sources
    self.makeOutput = makeOutput
  }

  func start(_ receive: @escaping @Sendable (EngineEvent) -> Void) {
    mailbox.withLock { box in
      box.receive = receive
      box.isStarted = true
    }
    let decoding = Decoding(mailbox: mailbox, sources: sources, makeOutput: makeOutput)
    let worker = Worker(name: "attacca-decode") { decoding.run() }
    guard let worker else {
      mailbox.withLock { $0.hasEnded = true }
      receive(
        .outputFailed(MediaError(.playerOutputUnavailable, subject: "engine", reason: "no thread could be started")))
      return
    }
    worker.detach()
  }

  func send(_ command: EngineCommand) {
    switch command {
    case .load(let load):
      mailbox.signal { box in
        guard !box.isShutDown else { return }
        box.renderer?.supersede()
        box.reading?.cancel()
        let output = box.output ?? makeOutput()
        if box.output == nil {
          output.prepare()
          box.output = output
        }
        // With its output: a stop and another load may follow before this one's turn comes.
        box.commands.append(.load(load, output))
      }
    case .setRunning(let running): keep { $0.isRunning = running }?.setRunning(running)
    case .setGain(let gain): keep { $0.gain = Float(gain) }?.setGain(Float(gain))
    case .setRate(let rate): keep { $0.rate = rate }?.setRate(rate)
    case .setSound(let sound): keep { $0.sound = sound }?.setSound(sound)
    case .setUpcoming(let after, let loads):
      mailbox.signal { $0.commands.append(.setUpcoming(after: after, loads: loads)) }
    case .seek(let id, let generation, let position):
      mailbox.signal { $0.commands.append(.seek(id, generation, to: position)) }
    case .stop:
      mailbox.signal { box in
        box.reading?.cancel()
        // Taken out now, so that a load right after this makes an output of its own.
        box.commands.append(.stop(box.output))
        box.output = nil
        box.renderer = nil
      }
    }
  }

  /// Keeps what a renderer made later has to begin with; answers the present one.
  private func keep(_ body: (inout Mailbox) -> Void) -> Renderer? {
    mailbox.withLock { box in
      body(&box)
      return box.renderer
    }
  }

  func shutdown(_ completion: @escaping @Sendable () -> Void) {
    let isOver = mailbox.signal { box in
      box.isShutDown = true
      box.reading?.cancel()
      if box.isOver || !box.isStarted { return true }
      box.completions.append(completion)
      return false
    }
    if isOver { completion() }
  }
}
