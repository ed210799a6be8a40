import AttaccaCore
import POSIXKit

/// The thread of a PCM pipe: renders as much as the file takes, and waits for whatever comes first.
final class PipeDevice {
  private enum Next { case again, wait(forRoom: Bool, until: Duration?) }
  /// Why nothing can be written.
  private enum Loss { case noReader, noRoom }

  private let mailbox: Monitor<PipeMailbox>
  private let wake: WakePipe
  private let target: PipeTarget
  private let format: PipeFormat
  private var source: (any RenderSource)?
  private var receive: @Sendable (OutputEvent) -> Void = { _ in }
  private var earlyEdits: [@Sendable (EditPoint) -> OutputTransport] = []
  private var isOpen = false
  private var hasFailed = false

  /// One past the last frame that was rendered; `pending` holds what of it was not written yet.
  private var end: Int64 = 0
  private var pending: [UInt8] = []
  private var offset = 0
  private var isRunning = false
  private var holdAfter: Int64?
  private var marker: Int64?
  /// When the source had nothing more.
  private var shortSince: Duration?
  private var isDry = false
  private var isConnected = false
  private var loss: Loss?
  private var fullSince: Duration?
  private var lastMeasured: Duration = .zero
  private let samples: UnsafeMutableBufferPointer<Float>

  /// A reader in a hurry empties the pipe faster than music is decoded: only what lasts is a stall.
  private static let patience = Duration.milliseconds(100)
  /// A reader that takes nothing for so long stands still, and so does the position.
  private static let readerPatience = Duration.seconds(1)
  /// How often a FIFO is looked at for a reader: the system tells nobody when one comes.
  private static let lookOut = Duration.milliseconds(100)

  init(mailbox: Monitor<PipeMailbox>, wake: WakePipe, target: PipeTarget, format: PipeFormat) {
    self.mailbox = mailbox
    self.wake = wake
    self.target = target
    self.format = format
    samples = .allocate(capacity: PipeTarget.atom / format.bytesPerFrame * format.channels)
  }

  deinit { samples.deallocate() }

  func run() {
    while true {
      let commands = mailbox.withLock { $0.take() }
      for (index, command) in commands.enumerated() {
        switch command {
        case .open(let format, let source, let receive): open(format, source, receive)
        case .edit(let change): isOpen ? edit(change) : earlyEdits.append(change)
        case .more: if !isDry { shortSince = nil }
        case .marker(let frame): marker = frame
        case .close(let completion): return close([completion] + commands[(index + 1)...].completions)
        }
      }
      switch step(Clocks.host) {
      case .again: break
      case .wait(let forRoom, let deadline): target.wait(forRoom: forRoom, wake: wake, until: deadline)
      }
    }
  }

  // MARK: Commands

  private func open(
    _ format: StreamFormat, _ source: any RenderSource, _ receive: @escaping @Sendable (OutputEvent) -> Void
  ) {
    self.source = source
    self.receive = receive
    do throws(MediaError) {
      let fixed = self.format.stream
      guard format.sampleRate == fixed.sampleRate, format.channels == fixed.channels else {
        throw MediaError(
          .playerOutputUnavailable, subject: target.name,
          reason: "takes \(fixed.sampleRate) Hz with \(fixed.channels) channels only")
      }
      try target.prepare()
      isOpen = true
      receive(.opened(OutputInfo(kind: "pipe", name: target.name)))
      let edits = earlyEdits
      earlyEdits = []
      edits.forEach(edit)
    } catch {
      receive(.failed(error))
    }
  }

  private func close(_ waiting: [@Sendable () -> Void]) {
    finishFrame()
    target.close()
    isOpen = false
    source = nil
    receive = { _ in }
    earlyEdits = []
    let rest = mailbox.withLock { box in
      box.isOver = true
      return box.take()
    }
    for completion in waiting + rest.completions { completion() }
  }

  private func edit(_ change: @Sendable (EditPoint) -> OutputTransport) {
    // A frame that was begun is finished as it was.
    let begun = unwritten % format.bytesPerFrame
    let earliest = end - Int64(unwritten / format.bytesPerFrame)
    let transport = change(EditPoint(earliest: earliest, heard: heard, hostTime: Clocks.host, end: end))
    pending = Array(pending[offset..<(offset + begun)])
    offset = 0
    end = earliest
    shortSince = nil
    isDry = false
    switch transport {
    case .running:
      isRunning = !hasFailed
      holdAfter = nil
    case .held(let after): holdAfter = isRunning ? after : nil
    }
  }

  // MARK: Work

  private var unwritten: Int { pending.count - offset }

  /// One past the last frame that was written whole.
  private var heard: Int64 {
    end - Int64((unwritten + format.bytesPerFrame - 1) / format.bytesPerFrame)
  }

  private func step(_ now: Duration) -> Next {
    guard isOpen, isRunning, let source else { return .wait(forRoom: false, until: nil) }
    if !isConnected {
      do throws(MediaError) { isConnected = try target.connect() } catch { return fail(error) }
      guard isConnected else {
        lose(.noReader)
        return .wait(forRoom: false, until: now + Self.lookOut)
      }
    }
    if loss == .noReader { restore() }
    if loss == nil {
      if report(now) { return .again }
      if let holdAfter, heard >= holdAfter, unwritten == 0 {
        isRunning = false
        self.holdAfter = nil
        return .wait(forRoom: false, until: nil)
      }
    }
    if unwritten == 0, let next = fill(source, now) { return next }
    return write(source, now)
  }

  /// Renders what is written next; answers what to do when there is nothing.
  private func fill(_ source: any RenderSource, _ now: Duration) -> Next? {
    if shortSince == nil {
      let room = Int64(samples.count / format.channels)
      let count = source.render(into: samples, from: end, count: Int(min(room, (holdAfter ?? .max) - end)))
      if count > 0 {
        pending.removeAll(keepingCapacity: true)
        offset = 0
        format.encoding.append(UnsafeBufferPointer(rebasing: samples[..<(count * format.channels)]), to: &pending)
        end += Int64(count)
        return nil
      }
      shortSince = now
    }
    guard !isDry, let shortSince else { return .wait(forRoom: false, until: nil) }
    guard now - shortSince >= Self.patience else { return .wait(forRoom: false, until: shortSince + Self.patience) }
    isDry = true
    receive(.starved(at: end))
    return .again
  }

  private func write(_ source: any RenderSource, _ now: Duration) -> Next {
    switch pending.withUnsafeBytes({ target.write(UnsafeRawBufferPointer(rebasing: $0[offset...])) }) {
    case .took(let count):
      fullSince = nil
      restore()
      offset += count
      source.didHear(upTo: heard)
      if now - lastMeasured >= .milliseconds(500) {
        lastMeasured = now
        receive(.measured(heard: heard, hostTime: now))
      }
      return .again
    case .full:
      let since = fullSince ?? now
      fullSince = since
      if loss == nil, now - since >= Self.readerPatience { lose(.noRoom) }
      return .wait(forRoom: true, until: loss == nil ? since + Self.readerPatience : nil)
    case .gone:
      target.realign(bytesPerFrame: format.bytesPerFrame)
      isConnected = false
      fullSince = nil
      return .again
    case .failed(let error):
      target.takeBack((format.bytesPerFrame - unwritten % format.bytesPerFrame) % format.bytesPerFrame)
      return fail(error)
    }
  }

  /// Tells what was written of the marks; answers whether something was told, to which the answer may be an edit.
  private func report(_ now: Duration) -> Bool {
    guard let frame = marker, heard >= frame else { return false }
    marker = nil
    receive(.reached(frame: frame, hostTime: now))
    return true
  }

  private func lose(_ reason: Loss) {
    if loss == nil { receive(.lost(at: heard)) }
    loss = reason
  }

  private func restore() {
    guard loss != nil else { return }
    loss = nil
    receive(.restored)
  }

  private func fail(_ error: MediaError) -> Next {
    isRunning = false
    hasFailed = true
    receive(.failed(error))
    return .wait(forRoom: false, until: nil)
  }

  /// A stream socket may have taken a part of a frame: gives it the rest, or gives up after a moment.
  private func finishFrame() {
    let rest = unwritten % format.bytesPerFrame
    guard isOpen, !hasFailed, rest > 0 else { return }
    let deadline = Clocks.host + .milliseconds(100)
    let last = offset + rest
    while offset < last, Clocks.host < deadline {
      switch pending.withUnsafeBytes({ target.write(UnsafeRawBufferPointer(rebasing: $0[offset..<last])) }) {
      case .took(let count): offset += count
      case .full: target.wait(forRoom: true, wake: wake, until: deadline)
      case .gone, .failed: return
      }
    }
  }
}
