import AttaccaCore
import Synchronization

/// Whether reads of a ``FailingByteSource`` fail; a test turns it.
public final class FailureSwitch: Sendable {
  private let offset = Atomic<Int64>(.max)
  /// Makes a switch that lets reads through.
  public init() {}
  /// Reads at or beyond this offset fail; `nil`: none does.
  public func set(failsFrom: Int64?) { offset.store(failsFrom ?? .max, ordering: .releasing) }
  fileprivate func fails(at position: Int64) -> Bool { position >= offset.load(ordering: .acquiring) }
}

/// A file in memory whose reads fail when a test says so, and work again when it says so.
public final class FailingByteSource: ByteSource {
  private let source: MemoryByteSource
  private let failure: FailureSwitch

  /// Makes a source.
  public init(_ bytes: [UInt8], _ failure: FailureSwitch) {
    var faults = MemoryByteSource.Faults()
    faults.largestRead = 4096
    source = MemoryByteSource(bytes, faults: faults)
    self.failure = failure
  }

  public var length: Int64? { source.length }
  public var isSeekable: Bool { true }
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> ByteRead {
    guard !failure.fails(at: offset) else {
      return .failed(MediaError(.sourceReadFailed, subject: "test", reason: "made to fail"))
    }
    return source.read(into: buffer, at: offset)
  }
  public func waitForBytes(at offset: Int64) {}
  public func cancel() { source.cancel() }
}
