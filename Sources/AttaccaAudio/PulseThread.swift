import AttaccaCore
import CPulse
import Glibc
import POSIXKit

/// libpulse's own thread: connection, stream, timing and the rewriting of queued audio.
///
/// Used by its thread only. Frames are counted from the stream's beginning as the source counts them; `base` is the frame
/// at the server stream's byte 0 (not 0 after a reconnection).
final class PulseThread {
  let mailbox: Monitor<PulseMailbox>
  var loop: OpaquePointer?
  var api: UnsafeMutablePointer<pa_mainloop_api>?
  var context: OpaquePointer?
  var stream: OpaquePointer?
  var timer: OpaquePointer?
  var closing: [@Sendable () -> Void]?

  var format = StreamFormat(sampleRate: 44_100, channels: 2)
  var source: (any RenderSource)?
  var receive: @Sendable (OutputEvent) -> Void = { _ in }
  var wasOpened = false
  var isLost = false
  var connectDeadline: Duration?
  var retryAt: Duration?
  var retries = 0
  /// PipeWire cannot take back what its graph has read, so edits begin at what it will read next.
  var canRewind = true

  var base: Int64 = 0
  /// The next frame to be given.
  var next: Int64 = 0
  /// One past the last frame given, silence put in place of missing frames included.
  var written: Int64 = 0
  var isCorked = true
  var isReady = false
  var holdAfter: Int64?
  /// When a held stream starts at the latest, though the server does not have all it wants.
  var startBy: Duration?
  var isShort = false
  /// The source was told that it ran dry at `next`.
  var hasToldDry = false
  var marker: Int64?
  var edits: [@Sendable (EditPoint) -> OutputTransport] = []
  var isMeasuring = false
  var mustMeasure = false
  /// The last measurement: this frame was heard at that host time.
  var measured: (frame: Int64, host: Duration)?
  var lastReport: Duration = .zero

  /// The source has frames again; whether in time is being measured.
  var isResuming = false
  /// What the last edit asked for, kept over a lost connection.
  var wantsToRun = false
  var timerSetFor: Duration?
  /// Why no stream could be made.
  var failure: MediaError?

  /// When a stream that is drained or still to be edited is closed at the latest.
  var closeAt: Duration?

  private var isClosed: Bool { closing != nil && closeAt.map { $0 <= Clocks.host } ?? true }

  init(_ mailbox: Monitor<PulseMailbox>) { self.mailbox = mailbox }

  func run() {
    guard let loop = pa_mainloop_new() else {
      mailbox.withLock { $0.isOver = true }
      return
    }
    self.loop = loop
    api = pa_mainloop_get_api(loop)
    mailbox.withLock { $0.loop = loop }
    pa_mainloop_set_poll_func(
      loop, { files, count, timeout, data in PulseThread.poll(files, count, timeout, data) },
      Unmanaged.passUnretained(self).toOpaque())
    connect()
    while !isClosed {
      takeCommands()
      guard !isClosed else { break }
      schedule()
      let isEmpty = mailbox.withLock { box in
        box.isAwake = !box.commands.isEmpty
        return box.commands.isEmpty
      }
      if isEmpty {
        pa_mainloop_iterate(loop, 1, nil)
        mailbox.withLock { $0.isAwake = true }
      }
    }
    disconnect()
    freeTimer()
    mailbox.withLock { box in
      box.loop = nil
      box.isOver = true
    }
    pa_mainloop_free(loop)
    source = nil
    let rest = mailbox.withLock { box in
      defer { box.commands = [] }
      return box.commands
    }
    closing?.forEach { $0() }
    rest.completions.forEach { $0() }
  }

  /// Waits as `poll` does, but takes what the server says in one turn together.
  ///
  /// For each block of audio it has used up the server sends a message of its own, a dozen within a millisecond. Taken one
  /// by one each of them would wake this thread; a millisecond's patience with the first makes it once. Nobody waits for
  /// that: not while a command or an answer is due.
  static func poll(
    _ files: UnsafeMutablePointer<pollfd>?, _ count: UInt, _ timeout: Int32, _ data: UnsafeMutableRawPointer?
  ) -> Int32 {
    let ready = Glibc.poll(files, nfds_t(count), timeout)
    guard ready > 0, timeout != 0, let thread = from(data), !thread.isBusy else { return ready }
    Glibc.poll(nil, 0, 1)
    return Glibc.poll(files, nfds_t(count), 0)
  }

  private var isBusy: Bool {
    isMeasuring || !isReady || !edits.isEmpty || isShort || mailbox.withLock { !$0.commands.isEmpty }
  }

  func takeCommands() {
    let commands = mailbox.withLock { box in
      defer { box.commands = [] }
      return box.commands
    }
    for command in commands {
      switch command {
      case .open(let format, let source, let receive):
        self.format = format
        self.source = source
        self.receive = receive
        if let failure { fail(failure) } else { openStream() }
      case .edit(let change):
        edits.append(change)
        processEdits()
      case .more: if isShort { resumeGiving() }
      case .marker(let frame):
        marker = frame
        if frame != nil, measured == nil { measure() }
      case .close(let completion):
        closing = (closing ?? []) + [completion]
        finish()
      }
    }
  }
}
