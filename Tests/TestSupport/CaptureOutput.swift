import AttaccaCore
import POSIXKit

/// A sound card that a test turns by hand: it queues frames ahead like a real one, lets them be heard when told to, and
/// keeps every frame that was. What was queued but not heard can be rewritten.
///
/// Time passes only by ``advance(_:)``, which is as merciless as a real device (it runs dry), or ``play(_:)``, which waits
/// for the source. Everything is carried out in order, by whichever thread finds the device idle.
public final class CaptureOutput: AudioOutput {
  private enum Command: Sendable {
    case open(StreamFormat, any RenderSource, @Sendable (OutputEvent) -> Void)
    case edit(@Sendable (EditPoint) -> OutputTransport)
    case more
    case marker(Int64?)
    case advance(Int)
    case play(Int)
    case measure
    case lose
    case restore
    case close(@Sendable () -> Void)
  }

  /// The device itself; touched only by the thread that made it busy.
  ///
  /// `@unchecked Sendable`: one thread at a time owns it, and the lock that passes it on orders their accesses.
  private final class Device: @unchecked Sendable {
    var format = StreamFormat(sampleRate: 44_100, channels: 2)
    var source: (any RenderSource)?
    var receive: @Sendable (OutputEvent) -> Void = { _ in }
    var early: [@Sendable (EditPoint) -> OutputTransport] = []
    var queue: [Float] = []
    var heard: Int64 = 0
    var budget = 0
    /// What the last edit asked for.
    var wantsToRun = false
    var isLost = false
    var holdAfter: Int64?
    var marker: Int64?
    var isShort = false
    var isDry = false
    var isClosed = false
    var isRunning: Bool { wantsToRun && !isLost }
    var queued: Int { queue.count / format.channels }
  }

  private struct State {
    var commands: [Command] = []
    var isBusy = false
    var captured: [Float] = []
    var heard: Int64 = 0
    var queued = 0
    var isRunning = false
    var isOpen = false
    var isClosed = false
    var format = StreamFormat(sampleRate: 44_100, channels: 2)
    var edits = 0
  }

  public let isOffline = false
  private let state = Monitor(State())
  private let device = Device()
  private let ahead: Int
  private let margin: Int
  private let step: Int

  /// Makes a device that queues `ahead` frames, can rewrite all but the next `margin` of them, and reports what it has
  /// heard every `step` frames.
  public init(ahead: Int = 88_200, margin: Int = 0, step: Int = 441) {
    self.ahead = ahead
    self.margin = margin
    self.step = max(1, step)
  }

  /// Everything heard so far, interleaved.
  public var captured: [Float] { state.withLock { $0.captured } }
  /// Frames heard so far.
  public var heardFrames: Int64 { state.withLock { $0.heard } }
  /// Whether the stream runs.
  public var isRunning: Bool { state.withLock { $0.isRunning } }
  /// Frames given but not heard.
  public var queuedFrames: Int { state.withLock { $0.queued } }
  /// Whether it was opened.
  public var isOpen: Bool { state.withLock { $0.isOpen } }
  /// Whether it was closed.
  public var isClosed: Bool { state.withLock { $0.isClosed } }
  /// The stream's format.
  public var format: StreamFormat { state.withLock { $0.format } }
  /// How many edits were carried out.
  public var editCount: Int { state.withLock { $0.edits } }

  /// Lets `frames` pass, whether the source has them or not. Time does not pass while the stream is held.
  public func advance(_ frames: Int) { post(.advance(frames)) }

  /// Lets `frames` more pass, each when it is there: the device never runs dry. What is left when the stream is held is
  /// forgotten.
  public func play(_ frames: Int = .max) { post(.play(frames)) }

  /// Reports where the stream stands.
  public func measure() { post(.measure) }

  /// Loses the server at the frame now heard.
  public func lose() { post(.lose) }

  /// Brings the server back.
  public func restore() { post(.restore) }

  /// Waits until `condition` holds of (frames heard, frames queued, runs); answers whether it did within `limit`.
  @discardableResult
  public func wait(
    limit: Duration = .seconds(8), until condition: (_ heard: Int64, _ queued: Int, _ isRunning: Bool) -> Bool
  ) -> Bool {
    state.wait(until: Clocks.host + limit) { condition($0.heard, $0.queued, $0.isRunning) ? true : nil } ?? false
  }

  /// Waits until `frames` in all have been heard.
  @discardableResult
  public func waitForHeard(_ frames: Int64) -> Bool { wait { heard, _, _ in heard >= frames } }

  /// Waits until it is closed.
  @discardableResult
  public func waitForClose() -> Bool {
    state.wait(until: Clocks.host + .seconds(8)) { $0.isClosed ? true : nil } ?? false
  }

  /// Waits until more than `count` edits have been carried out.
  @discardableResult
  public func waitForEdit(after count: Int) -> Bool {
    state.wait(until: Clocks.host + .seconds(8)) { $0.edits > count ? true : nil } ?? false
  }

  public func open(
    _ format: StreamFormat, source: any RenderSource, receive: @escaping @Sendable (OutputEvent) -> Void
  ) { post(.open(format, source, receive)) }
  public func edit(_ change: @escaping @Sendable (EditPoint) -> OutputTransport) { post(.edit(change)) }
  public func sourceHasMore() { post(.more) }
  public func setMarker(_ frame: Int64?) { post(.marker(frame)) }
  public func close(_ completion: @escaping @Sendable () -> Void) { post(.close(completion)) }

  private func post(_ command: Command) {
    let isFirst = state.withLock { state in
      state.commands.append(command)
      defer { state.isBusy = true }
      return !state.isBusy
    }
    guard isFirst else { return }
    while let next = nextCommand() { run(next) }
  }

  private func nextCommand() -> Command? {
    let device = device
    return state.signal { state in
      state.heard = device.heard
      state.queued = device.queued
      state.isRunning = device.isRunning
      state.format = device.format
      guard !state.commands.isEmpty else {
        state.isBusy = false
        return nil
      }
      return state.commands.removeFirst()
    }
  }

  private func run(_ command: Command) {
    if device.isClosed {
      if case .close(let completion) = command { completion() }
      return
    }
    switch command {
    case .open(let format, let source, let receive):
      device.format = format
      device.source = source
      device.receive = receive
      state.signal { $0.isOpen = true }
      receive(.opened(OutputInfo(kind: "capture", name: "capture")))
      let early = device.early
      device.early = []
      early.forEach(carryOut)
    case .edit(let change): device.source == nil || device.isLost ? device.early.append(change) : carryOut(change)
    case .more: if !device.isDry { device.isShort = false }
    case .marker(let frame): device.marker = frame
    case .advance(let frames): passMercilessly(frames)
    case .play(let frames):
      device.budget = device.budget.addingReportingOverflow(frames).overflow ? .max : device.budget + frames
    case .measure: if device.isRunning { device.receive(.measured(heard: device.heard, hostTime: hostTime)) }
    case .lose:
      device.isLost = true
      device.queue = []
      device.receive(.lost(at: device.heard))
    case .restore:
      device.isLost = false
      device.isShort = false
      device.receive(.restored)
      let early = device.early
      device.early = []
      early.forEach(carryOut)
    case .close(let completion):
      device.isClosed = true
      device.source = nil
      device.receive = { _ in }
      device.early = []
      device.wantsToRun = false
      device.queue = []
      state.signal { $0.isClosed = true }
      return completion()
    }
    report()
    fill()
    pass()
  }

  private var hostTime: Duration { .seconds(1000) + device.format.duration(of: device.heard) }

  private func carryOut(_ change: @Sendable (EditPoint) -> OutputTransport) {
    let end = device.heard + Int64(device.queued)
    let earliest = min(device.heard + (device.isRunning ? Int64(margin) : 0), end)
    let transport = change(EditPoint(earliest: earliest, heard: device.heard, hostTime: hostTime, end: end))
    device.queue.removeLast(device.queue.count - Int(earliest - device.heard) * device.format.channels)
    device.isShort = false
    device.isDry = false
    state.signal { $0.edits += 1 }
    switch transport {
    case .running:
      device.wantsToRun = true
      device.holdAfter = nil
    case .held(let after):
      device.holdAfter = device.wantsToRun ? after : nil
      holdIfDue()
    }
  }

  private func holdIfDue() {
    guard let hold = device.holdAfter, device.heard >= hold else { return }
    device.wantsToRun = false
    device.holdAfter = nil
    device.budget = 0
  }

  private func fill() {
    guard let source = device.source, !device.isShort, !device.isDry, !device.isLost else { return }
    let missing = ahead - device.queued
    guard missing > 0 else { return }
    let channels = device.format.channels
    let start = device.heard + Int64(device.queued)
    device.queue += [Float](unsafeUninitializedCapacity: missing * channels) { buffer, count in
      count = source.render(into: buffer, from: start, count: missing) * channels
    }
    device.isShort = device.queued < ahead
  }

  /// Lets pass what may and can.
  private func pass() {
    // Commands come first; each is followed by another pass.
    while device.budget > 0, device.isRunning, device.queued > 0, state.withLock({ $0.commands.isEmpty }) {
      let before = device.heard
      hear(min(device.budget, device.queued))
      if device.budget != .max { device.budget = max(0, device.budget - Int(device.heard - before)) }
      fill()
    }
  }

  private func passMercilessly(_ frames: Int) {
    var left = frames
    while left > 0, device.isRunning {
      fill()
      let before = device.heard
      if device.queued > 0 {
        hear(min(left, device.queued))
      } else {
        if !device.isDry {
          device.isDry = true
          device.receive(.starved(at: device.heard))
        }
        let silent = min(left, step)
        state.signal { $0.captured += [Float](repeating: 0, count: silent * device.format.channels) }
        device.heard += Int64(silent)
        device.source?.didHear(upTo: device.heard)
        report()
      }
      left -= Int(device.heard - before)
      // What the source asked for meanwhile (an edit that ends the dryness) comes first, and the rest of the time after it.
      if left > 0, postponed(left) { return }
    }
  }

  /// Puts the rest of an advance behind the commands that are waiting, if there are any.
  private func postponed(_ left: Int) -> Bool {
    state.withLock { state in
      guard !state.commands.isEmpty else { return false }
      state.commands.append(.advance(left))
      return true
    }
  }

  /// Lets queued frames be heard: at most one step, and not beyond the hold.
  private func hear(_ frames: Int) {
    var count = min(frames, step)
    if let hold = device.holdAfter { count = min(count, Int(max(0, hold - device.heard))) }
    let samples = count * device.format.channels
    let fresh = device.queue[..<samples]
    state.signal { state in
      state.captured += fresh
      state.heard = device.heard + Int64(count)
    }
    device.queue.removeFirst(samples)
    device.heard += Int64(count)
    device.source?.didHear(upTo: device.heard)
    holdIfDue()
    report()
  }

  private func report() {
    while let frame = device.marker,
      device.heard > frame || (device.heard == frame && device.isRunning)
    {
      device.marker = nil
      device.receive(
        .reached(frame: frame, hostTime: hostTime - device.format.duration(of: device.heard - frame)))
      // The next marker is waiting among the commands; joints close together are told in order.
      let next = state.withLock { state -> Int64?? in
        guard let index = state.commands.lastIndex(where: { if case .marker = $0 { true } else { false } }),
          case .marker(let frame) = state.commands[index]
        else { return nil }
        state.commands.removeAll { if case .marker = $0 { true } else { false } }
        return .some(frame)
      }
      if let next { device.marker = next }
    }
  }
}
