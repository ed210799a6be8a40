import AttaccaCore
import CPulse
import POSIXKit

/// Plays through PulseAudio's protocol, which PipeWire serves too.
///
/// All of libpulse runs on one thread of the output's own; callers only put a command in its mailbox.
public final class PulseOutput: AudioOutput {
  public let isOffline = false
  private let mailbox = Monitor(PulseMailbox())

  /// Makes an output for the user's default sink (libpulse's own configuration applies).
  public init() {}

  deinit { mailbox.withLock { $0.post(.close {}) } }

  public func prepare() {
    let isNew = mailbox.withLock { box in
      defer { box.isStarted = true }
      return !box.isStarted
    }
    guard isNew else { return }
    let mailbox = mailbox
    if let worker = Worker(name: "attacca-pulse", { PulseThread(mailbox).run() }) {
      worker.detach()
    } else {
      mailbox.withLock { $0.isOver = true }
    }
  }

  public func open(
    _ format: StreamFormat, source: any RenderSource, receive: @escaping @Sendable (OutputEvent) -> Void
  ) {
    prepare()
    let isPosted = mailbox.withLock { box in
      guard !box.isOver else { return false }
      box.post(.open(format, source, receive))
      return true
    }
    if !isPosted {
      receive(
        .failed(MediaError(.playerOutputUnavailable, subject: "PulseAudio", reason: "no thread could be started")))
    }
  }

  public func edit(_ change: @escaping @Sendable (EditPoint) -> OutputTransport) {
    mailbox.withLock { $0.post(.edit(change)) }
  }

  public func sourceHasMore() { mailbox.withLock { $0.post(.more) } }

  public func setMarker(_ frame: Int64?) { mailbox.withLock { $0.post(.marker(frame)) } }

  public func close(_ completion: @escaping @Sendable () -> Void) {
    let isPosted = mailbox.withLock { box in
      guard box.isStarted, !box.isOver else { return false }
      box.post(.close(completion))
      return true
    }
    if !isPosted { completion() }
  }
}

/// Commands for the PulseAudio thread, and the way to wake it.
struct PulseMailbox {
  var commands: [OutputCommand] = []
  var isStarted = false
  /// The thread has ended (or never began).
  var isOver = false
  /// The thread's main loop while it may be waiting. `pa_mainloop_wakeup` is the one call libpulse allows from other
  /// threads; the loop is freed only after this is `nil`, under the same lock.
  nonisolated(unsafe) var loop: OpaquePointer?
  /// The thread that is inside its own callbacks needs no waking.
  var isAwake = true

  mutating func post(_ command: OutputCommand) {
    // What nobody will take must not be kept: it holds on to the engine.
    guard !isOver else { return }
    if case .more = command, case .more? = commands.last { return }
    commands.append(command)
    if !isAwake, let loop {
      isAwake = true
      pa_mainloop_wakeup(loop)
    }
  }
}
