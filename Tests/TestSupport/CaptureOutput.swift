import AttaccaCore
import Synchronization

/// A sound card that a test turns by hand: it queues frames ahead like a real one, lets them be heard when told to, and
/// keeps every frame that was. What was queued but not heard can be rewritten.
public final class CaptureOutput: AudioOutput {
  private enum Command {
    case edit(@Sendable (EditPoint) -> OutputTransport)
    case more
    case marker(Int64?)
    case advance(Int)
  }

  private struct Device {
    var format = StreamFormat(sampleRate: 44_100, channels: 2)
    var source: (any RenderSource)?
    var receive: @Sendable (OutputEvent) -> Void = { _ in }
    var queue: [Float] = []
    var heard: Int64 = 0
    var captured: [Float] = []
    var isRunning = false
    var holdAfter: Int64?
    var marker: Int64?
    var isDry = false
    var isClosed = false
  }

  private struct State {
    var commands: [Command] = []
    var isBusy = false
    var device = Device()
    var host: Duration = .zero
  }

  public let isOffline = false
  private let state = Mutex(State())
  private let ahead: Int
  private let margin: Int

  /// Makes a device that queues `ahead` frames and can rewrite all but the next `margin` of them.
  public init(ahead: Int = 88_200, margin: Int = 0) {
    self.ahead = ahead
    self.margin = margin
  }

  /// Everything heard so far, interleaved.
  public var captured: [Float] { state.withLock { $0.device.captured } }
  /// Whether the stream runs.
  public var isRunning: Bool { state.withLock { $0.device.isRunning } }
  /// Frames given but not heard.
  public var queuedFrames: Int { state.withLock { $0.device.queue.count / $0.device.format.channels } }
  /// Whether it was closed.
  public var isClosed: Bool { state.withLock { $0.device.isClosed } }
  /// The stream's format.
  public var format: StreamFormat { state.withLock { $0.device.format } }

  /// Lets `frames` pass.
  public func advance(_ frames: Int) { post(.advance(frames)) }

  /// Loses the server at the frame now heard.
  public func lose() {
    let (heard, receive) = state.withLock { state in
      state.device.isRunning = false
      state.device.queue = []
      return (state.device.heard, state.device.receive)
    }
    receive(.lost(at: heard))
  }

  /// Brings the server back.
  public func restore() {
    let receive = state.withLock { state in
      state.device.isRunning = true
      return state.device.receive
    }
    receive(.restored)
    post(.more)
  }

  public func open(
    _ format: StreamFormat, source: any RenderSource, receive: @escaping @Sendable (OutputEvent) -> Void
  ) {
    state.withLock { state in
      state.device.format = format
      state.device.source = source
      state.device.receive = receive
    }
    receive(.opened(OutputInfo(kind: "capture", name: "capture")))
  }

  public func edit(_ change: @escaping @Sendable (EditPoint) -> OutputTransport) { post(.edit(change)) }
  public func sourceHasMore() { post(.more) }
  public func setMarker(_ frame: Int64?) { post(.marker(frame)) }

  public func close(_ completion: @escaping @Sendable () -> Void) {
    state.withLock { state in
      state.device.isClosed = true
      state.device.source = nil
      state.device.receive = { _ in }
    }
    completion()
  }

  /// Runs commands one at a time, on whichever thread finds the device idle.
  private func post(_ command: Command) {
    let isFirst = state.withLock { state in
      state.commands.append(command)
      defer { state.isBusy = true }
      return !state.isBusy
    }
    guard isFirst else { return }
    while let next = state.withLock({ state -> Command? in
      guard !state.commands.isEmpty else {
        state.isBusy = false
        return nil
      }
      return state.commands.removeFirst()
    }) { run(next) }
  }

  // Only the thread that holds `isBusy` changes the device, so it may be copied out and back around calls to the source.
  private func run(_ command: Command) {
    var device = state.withLock { $0.device }
    guard !device.isClosed else { return }
    let channels = device.format.channels
    switch command {
    case .edit(let change):
      let end = device.heard + Int64(device.queue.count / channels)
      let earliest = min(
        max(device.heard + (device.isRunning ? Int64(margin) : 0), device.heard), max(end, device.heard))
      let transport = change(
        EditPoint(earliest: earliest, heard: device.heard, hostTime: hostTime(device), end: end))
      device.queue.removeLast(max(0, device.queue.count - Int(earliest - device.heard) * channels))
      device.isDry = false
      switch transport {
      case .running:
        device.isRunning = true
        device.holdAfter = nil
      case .held(let after): device.holdAfter = device.isRunning ? after : nil
      }
      fill(&device)
    case .more: if !device.isDry { fill(&device) }
    case .marker(let frame):
      device.marker = frame
      report(&device)
    case .advance(let frames): advance(frames, &device)
    }
    let result = device
    state.withLock { state in
      let isClosed = state.device.isClosed
      state.device = result
      state.device.isClosed = isClosed
      if isClosed { state.device.source = nil }
    }
  }

  private func hostTime(_ device: Device) -> Duration {
    .seconds(1000) + device.format.duration(of: device.heard)
  }

  private func fill(_ device: inout Device) {
    guard let source = device.source else { return }
    let channels = device.format.channels
    let missing = ahead - device.queue.count / channels
    guard missing > 0 else { return }
    let start = device.heard + Int64(device.queue.count / channels)
    let fresh = [Float](unsafeUninitializedCapacity: missing * channels) { buffer, count in
      count = source.render(into: buffer, from: start, count: missing) * channels
    }
    device.queue += fresh
  }

  private func advance(_ frames: Int, _ device: inout Device) {
    let channels = device.format.channels
    var left = frames
    while left > 0, device.isRunning {
      fill(&device)
      var step = min(left, 441)
      if let hold = device.holdAfter { step = min(step, Int(hold - device.heard)) }
      let ready = min(step, device.queue.count / channels)
      device.captured += device.queue[..<(ready * channels)]
      device.queue.removeFirst(ready * channels)
      if ready < step {
        device.captured += [Float](repeating: 0, count: (step - ready) * channels)
        if !device.isDry {
          device.isDry = true
          device.receive(.starved(at: device.heard + Int64(ready)))
        }
      }
      device.heard += Int64(step)
      left -= step
      if let hold = device.holdAfter, device.heard >= hold {
        device.isRunning = false
        device.holdAfter = nil
      }
      device.source?.didHear(upTo: device.heard)
      report(&device)
    }
  }

  private func report(_ device: inout Device) {
    guard let frame = device.marker, device.heard > frame || (device.heard == frame && device.isRunning) else { return }
    device.marker = nil
    device.receive(
      .reached(frame: frame, hostTime: hostTime(device) - device.format.duration(of: device.heard - frame)))
    // The next marker is waiting among the commands; joints close together are told in order.
    let next = state.withLock { state -> Int64?? in
      guard let index = state.commands.lastIndex(where: { if case .marker = $0 { true } else { false } }),
        case .marker(let frame) = state.commands[index]
      else { return nil }
      state.commands.removeAll { if case .marker = $0 { true } else { false } }
      return .some(frame)
    }
    if let next {
      device.marker = next
      report(&device)
    }
  }
}
