import AttaccaCore
import POSIXKit

/// An output whose device is a thread: it asks the source for frames and lets them be "heard" in real time, or, offline,
/// as fast as they come.
final class ThreadedOutput<Sink: FrameSink>: AudioOutput {
  private struct Mailbox {
    var commands: [OutputCommand] = []
    /// The thread takes nothing any more; commands would only keep alive what they hold.
    var isOver = false
  }

  private let mailbox = Monitor(Mailbox())
  let isOffline: Bool

  init(_ makeSink: @escaping @Sendable () -> Sink) {
    isOffline = Sink.isOffline
    let mailbox = mailbox
    let worker = Worker(name: "attacca-output") { Device(mailbox, makeSink()).run() }
    worker?.detach()
    if worker == nil { mailbox.withLock { $0.isOver = true } }
  }

  // A dropped output's thread must end too.
  deinit { post(.close {}) }

  func open(_ format: StreamFormat, source: any RenderSource, receive: @escaping @Sendable (OutputEvent) -> Void) {
    if !post(.open(format, source, receive)) {
      receive(.failed(MediaError(.playerOutputUnavailable, subject: "output", reason: "its thread is not there")))
    }
  }

  func edit(_ change: @escaping @Sendable (EditPoint) -> OutputTransport) { post(.edit(change)) }
  func sourceHasMore() { post(.more) }
  func setMarker(_ frame: Int64?) { post(.marker(frame)) }
  func close(_ completion: @escaping @Sendable () -> Void) { if !post(.close(completion)) { completion() } }

  /// Answers whether the thread will take the command.
  @discardableResult
  private func post(_ command: OutputCommand) -> Bool {
    mailbox.signal { box in
      if !box.isOver { box.commands.append(command) }
      return !box.isOver
    }
  }

  /// The device: everything here happens on its thread.
  private final class Device {
    private let mailbox: Monitor<Mailbox>
    private let sink: Sink
    private var format = StreamFormat(sampleRate: 48_000, channels: 2)
    private var source: (any RenderSource)?
    private var receive: @Sendable (OutputEvent) -> Void = { _ in }
    private var earlyEdits: [@Sendable (EditPoint) -> OutputTransport] = []
    private var isOpen = false
    private var hasFailed = false

    /// One past the last frame the source gave.
    private var end: Int64 = 0
    /// The frame heard at `since`; time runs from there while `isRunning`.
    private var heard: Int64 = 0
    private var since: Duration = .zero
    private var isRunning = false
    private var holdAfter: Int64?
    private var marker: Int64?
    private var isShort = false
    private var isDry = false
    private var buffer: UnsafeMutableBufferPointer<Float> = .allocate(capacity: 0)

    init(_ mailbox: Monitor<Mailbox>, _ sink: Sink) {
      self.mailbox = mailbox
      self.sink = sink
    }

    deinit { buffer.deallocate() }

    func run() {
      while true {
        let deadline = work()
        let commands = mailbox.wait(until: deadline) { box -> [OutputCommand]? in
          guard !box.commands.isEmpty else { return nil }
          defer { box.commands = [] }
          return box.commands
        }
        for (index, command) in (commands ?? []).enumerated() {
          switch command {
          case .open(let format, let source, let receive): open(format, source, receive)
          case .edit(let change): isOpen ? edit(change) : earlyEdits.append(change)
          case .more: if !isDry { isShort = false }
          case .marker(let frame): marker = frame
          case .close(let completion): return close([completion] + (commands?[(index + 1)...].completions ?? []))
          }
        }
      }
    }

    private func open(
      _ format: StreamFormat, _ source: any RenderSource, _ receive: @escaping @Sendable (OutputEvent) -> Void
    ) {
      self.format = format
      self.source = source
      self.receive = receive
      do throws(MediaError) {
        let info = try sink.open(format)
        isOpen = true
        let samples = Sink.isOffline ? 8192 * format.channels : format.sampleRate / 2 * format.channels
        buffer = .allocate(capacity: samples)
        receive(.opened(info))
        let edits = earlyEdits
        earlyEdits = []
        edits.forEach(edit)
      } catch {
        receive(.failed(error))
      }
    }

    private func close(_ waiting: [@Sendable () -> Void]) {
      if isOpen {
        do throws(MediaError) { try sink.finish() } catch { if !hasFailed { receive(.failed(error)) } }
      }
      isOpen = false
      source = nil
      receive = { _ in }
      earlyEdits = []
      let rest = mailbox.withLock { box -> [OutputCommand] in
        box.isOver = true
        defer { box.commands = [] }
        return box.commands
      }
      for completion in waiting + rest.completions { completion() }
    }

    private func edit(_ change: @Sendable (EditPoint) -> OutputTransport) {
      // The thread may be late: what is heard by now has to be given first.
      if isRunning, let source, !Sink.isOffline { _ = workInRealTime(source) }
      let now = Clocks.host
      let place = heardNow(now)
      let earliest = Sink.isOffline ? end : place
      let transport = change(EditPoint(earliest: earliest, heard: place, hostTime: now, end: end))
      end = earliest
      heard = place
      since = now
      isShort = false
      isDry = false
      switch transport {
      case .running:
        isRunning = true
        holdAfter = nil
      case .held(let after): holdAfter = isRunning ? after : nil
      }
    }

    private func heardNow(_ now: Duration) -> Int64 {
      guard isRunning, !Sink.isOffline else { return heard }
      // Floor, not nearest: a frame is heard when its time has come.
      let frames = (now - since - .nanoseconds(500_000_000 / format.sampleRate)).frames(at: format.sampleRate)
      return min(heard + max(0, frames), holdAfter ?? .max)
    }

    /// Lets what is due be heard and gives when there is something to do next; `nil` = when a command comes.
    private func work() -> Duration? {
      guard isOpen, let source else { return nil }
      return Sink.isOffline ? workOffline(source) : workInRealTime(source)
    }

    private func workOffline(_ source: any RenderSource) -> Duration? {
      guard isRunning else { return nil }
      // The source may find out only afterwards that what it gave last was the end, and ask to be told.
      report(Clocks.host)
      guard !isShort else { return nil }
      let room = holdAfter.map { Int(max(0, min(Int64(buffer.count), $0 - end))) } ?? .max
      let count = source.render(into: buffer, from: end, count: min(room, buffer.count / format.channels))
      if count == 0 {
        isShort = true
      } else {
        do throws(MediaError) {
          try sink.write(UnsafeBufferPointer(rebasing: buffer[..<(count * format.channels)]))
        } catch {
          isRunning = false
          hasFailed = true
          receive(.failed(error))
          return nil
        }
        end += Int64(count)
        heard = end
        source.didHear(upTo: heard)
      }
      if let holdAfter, heard >= holdAfter {
        isRunning = false
        self.holdAfter = nil
      }
      report(Clocks.host)
      return Clocks.host
    }

    private func workInRealTime(_ source: any RenderSource) -> Duration? {
      let now = Clocks.host
      let place = heardNow(now)
      if isRunning {
        source.didHear(upTo: min(place, end))
        if let holdAfter, place >= holdAfter {
          heard = holdAfter
          since = now
          isRunning = false
          self.holdAfter = nil
        }
      }
      report(now)
      guard isRunning else { return nil }
      let half = buffer.count / format.channels
      while !isShort, end - place < Int64(half) {
        let count = source.render(into: buffer, from: end, count: half)
        if count < half { isShort = true }
        end += Int64(count)
      }
      if isShort, place >= end, !isDry {
        isDry = true
        receive(.starved(at: end))
      }
      var next: [Int64] = []
      if let marker { next.append(marker) }
      if let holdAfter { next.append(holdAfter) }
      if !isShort { next.append(end - Int64(half / 2)) } else if !isDry { next.append(end) }
      guard let frame = next.min() else { return nil }
      return max(now, since + format.duration(of: frame - heard + 1))
    }

    private func report(_ now: Duration) {
      let place = heardNow(now)
      while let frame = marker, place >= frame, !Sink.isOffline || heard > 0 || frame == 0 {
        marker = nil
        receive(.reached(frame: frame, hostTime: now - format.duration(of: place - frame)))
        // The answer is a new marker, by command: take it now, so that joints close together are told in order.
        takeMarker()
      }
    }

    private func takeMarker() {
      mailbox.withLock { box in
        guard let index = box.commands.lastIndex(where: { if case .marker = $0 { true } else { false } }) else {
          return
        }
        if case .marker(let frame) = box.commands[index] { marker = frame }
        box.commands.removeAll { if case .marker = $0 { true } else { false } }
      }
    }
  }
}
