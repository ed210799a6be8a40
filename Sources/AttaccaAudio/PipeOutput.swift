import AttaccaCore
import POSIXKit

/// What a PCM pipe carries: interleaved frames without a header.
public struct PipeFormat: Sendable, Hashable {
  /// How samples are stored.
  public var encoding: PCMEncoding
  /// Frames per second, 8,000…384,000 (clamped).
  public var sampleRate: Int
  /// Samples per frame, 1…8 (clamped).
  public var channels: Int

  /// Makes a format; what Snapcast and most others expect unless said otherwise.
  public init(encoding: PCMEncoding = .s16, sampleRate: Int = 44_100, channels: Int = 2) {
    self.encoding = encoding
    self.sampleRate = min(max(8000, sampleRate), 384_000)
    self.channels = min(max(1, channels), 8)
  }

  /// Bytes of a frame.
  var bytesPerFrame: Int { encoding.bytesPerSample * channels }

  var stream: StreamFormat {
    StreamFormat(
      sampleRate: sampleRate, channels: channels,
      significantBits: encoding == .s16 ? 16 : encoding == .s24 ? 24 : 32)
  }
}

/// Writes bare PCM to a FIFO, a file or standard output, at the reader's pace: what was written counts as heard.
///
/// - A FIFO is made, with mode 0600, where nothing is at the path, and taken away at ``close(_:)``. Without a reader the
///   output is *lost* (``OutputEvent/lost(at:)``) and goes on at the same frame with the next one, who also gets what the
///   reader before it left unread. (One who comes in the very moment the last one leaves is taken for the same, and may get
///   the rest of a frame first.) A reader that takes nothing for a second is waited for in the same way.
/// - Standard output or a file that cannot be written any more is a failure: ``MediaError/Code/playerOutputFailed``.
/// - Only whole frames are written. Held, nothing is. Nothing is written beyond the end.
/// - A wait ends at once for an edit or the close. (The system offers no such thing for a file on a slow disk.)
public final class PipeOutput: AudioOutput {
  private let mailbox: Monitor<PipeMailbox>
  private let wake: WakePipe?
  private let format: PipeFormat

  /// Makes an output that writes to `path` (any bytes but NUL; `-` is standard output).
  public init(path: [UInt8], format: PipeFormat = PipeFormat()) {
    self.format = format
    let mailbox = Monitor(PipeMailbox())
    let wake = WakePipe()
    self.mailbox = mailbox
    self.wake = wake
    let worker = wake.flatMap { wake in
      Worker(name: "attacca-pipe") {
        PipeDevice(mailbox: mailbox, wake: wake, target: PipeTarget(path: path), format: format).run()
      }
    }
    worker?.detach()
    if worker == nil { mailbox.withLock { $0.isOver = true } }
  }

  // A dropped output's thread must end too.
  deinit { post(.close {}) }

  public var isOffline: Bool { false }
  public var fixedFormat: StreamFormat? { format.stream }

  public func open(
    _ format: StreamFormat, source: any RenderSource, receive: @escaping @Sendable (OutputEvent) -> Void
  ) {
    if !post(.open(format, source, receive)) {
      receive(.failed(MediaError(.playerOutputUnavailable, subject: "output", reason: "its thread is not there")))
    }
  }

  public func edit(_ change: @escaping @Sendable (EditPoint) -> OutputTransport) { post(.edit(change)) }
  public func sourceHasMore() { post(.more) }
  public func setMarker(_ frame: Int64?) { post(.marker(frame)) }
  public func close(_ completion: @escaping @Sendable () -> Void) { if !post(.close(completion)) { completion() } }

  /// Answers whether the thread will take the command.
  @discardableResult
  private func post(_ command: OutputCommand) -> Bool {
    let taken = mailbox.withLock { box in
      if !box.isOver { box.commands.append(command) }
      return !box.isOver
    }
    if taken { wake?.wake() }
    return taken
  }
}

/// What the pipe's thread is asked for.
struct PipeMailbox {
  var commands: [OutputCommand] = []
  /// The thread takes nothing any more; commands would only keep alive what they hold.
  var isOver = false

  mutating func take() -> [OutputCommand] {
    defer { commands = [] }
    return commands
  }
}
