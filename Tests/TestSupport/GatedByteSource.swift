import AttaccaCore
import POSIXKit

/// A gate that reads wait at while it is closed; a test opens and closes it.
public final class Gate: Sendable {
  private struct State {
    /// Reads at or beyond this offset wait; `nil`: none does.
    var closedFrom: Int64?
    var waiting = 0
  }

  private let state = Monitor(State())

  /// Makes an open gate, or one closed from an offset on.
  public init(closedFrom: Int64? = nil) { state.withLock { $0.closedFrom = closedFrom } }

  /// Lets every read through.
  public func open() { state.signal { $0.closedFrom = nil } }
  /// Makes reads at or beyond `offset` wait.
  public func close(from offset: Int64 = 0) { state.signal { $0.closedFrom = offset } }
  /// Waits until a read waits; answers whether one did.
  public func waitForReader(limit: Duration = .seconds(20)) -> Bool {
    state.wait(until: Clocks.host + limit) { $0.waiting > 0 ? true : nil } ?? false
  }

  fileprivate func pass(_ offset: Int64, _ isCancelled: Monitor<Bool>) {
    let mustWait = state.signal { state in
      let mustWait = state.closedFrom.map { offset >= $0 } ?? false
      if mustWait { state.waiting += 1 }
      return mustWait
    }
    guard mustWait else { return }
    let _: Bool? = state.wait { state in
      let isClosed = state.closedFrom.map { offset >= $0 } ?? false
      return !isClosed || isCancelled.withLock { $0 } ? true : nil
    }
    state.signal { $0.waiting -= 1 }
  }

  fileprivate func wake() { state.signal { _ in } }
  fileprivate func isClosed(at offset: Int64) -> Bool {
    state.withLock { $0.closedFrom.map { offset >= $0 } ?? false }
  }
}

/// A file in memory whose reads wait at a gate, as a network's would.
public final class GatedByteSource: ByteSource {
  private let bytes: [UInt8]
  private let gate: Gate
  private let answersPending: Bool
  private let isCancelled = Monitor(false)
  private let onEnd: @Sendable () -> Void

  /// Makes a source; `answersPending`: at the closed gate it answers `pending` instead of waiting. `onEnd` runs when it is
  /// dropped.
  public init(
    _ bytes: [UInt8], _ gate: Gate, answersPending: Bool = false, onEnd: @escaping @Sendable () -> Void = {}
  ) {
    self.bytes = bytes
    self.gate = gate
    self.answersPending = answersPending
    self.onEnd = onEnd
  }

  deinit { onEnd() }

  public var length: Int64? { Int64(bytes.count) }
  public var isSeekable: Bool { true }

  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> ByteRead {
    guard offset >= 0, offset < Int64(bytes.count), !buffer.isEmpty else { return .end }
    if answersPending {
      if gate.isClosed(at: offset), !isCancelled.withLock({ $0 }) { return .pending }
    } else {
      gate.pass(offset, isCancelled)
    }
    if isCancelled.withLock({ $0 }) {
      return .failed(MediaError(.sourceReadFailed, subject: "gate", reason: "reading was cancelled"))
    }
    let count = min(buffer.count, bytes.count - Int(offset), 4096)
    bytes.withUnsafeBytes {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[Int(offset)..<Int(offset) + count]))
    }
    return .bytes(count)
  }

  public func waitForBytes(at offset: Int64) { gate.pass(offset, isCancelled) }

  public func cancel() {
    isCancelled.withLock { $0 = true }
    gate.wake()
  }
}

/// Opens items by their id from what a test registered, and notes what was opened.
public final class TestSources: ByteSourceProvider {
  private struct State {
    var makers: [String: @Sendable () throws(MediaError) -> any ByteSource] = [:]
    var opened: [String] = []
  }

  private let state = Monitor(State())
  private let fallback: (any ByteSourceProvider)?

  /// Makes a provider that asks `fallback` for what was not registered.
  public init(fallback: (any ByteSourceProvider)? = nil) { self.fallback = fallback }

  /// Registers a source, and answers the item that opens it.
  public func add(
    _ name: String, _ make: @escaping @Sendable () throws(MediaError) -> any ByteSource
  ) -> MediaItem {
    state.withLock { $0.makers[name] = make }
    return MediaItem(.file("/test/\(name)"), id: MediaID(name))
  }

  /// The ids opened so far, in order.
  public var opened: [String] { state.withLock { $0.opened } }

  public func open(_ item: MediaItem) throws(MediaError) -> any ByteSource {
    let make = state.signal { state in
      state.opened.append(item.id.rawValue)
      return state.makers[item.id.rawValue]
    }
    if let make { return try make() }
    guard let fallback else { throw MediaError(.sourceNotFound, subject: item.id.rawValue, reason: "not registered") }
    return try fallback.open(item)
  }
}
