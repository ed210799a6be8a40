import AttaccaCore
import Synchronization

/// A byte source over an array, with faults on demand.
public final class MemoryByteSource: ByteSource {
  /// What goes wrong when reading.
  public struct Faults: Sendable {
    /// Reads that touch this offset or a later one fail; those before stop short of it.
    public var failsFrom: Int64?
    /// Answers `pending` this many times before each read that brings bytes.
    public var pendingReads = 0
    /// The most bytes one read brings.
    public var largestRead = Int.max
    /// Whether the source tells its length.
    public var hidesLength = false
    /// Makes no faults.
    public init() {}
  }

  /// The media.
  public let bytes: [UInt8]
  private let faults: Faults
  private let isCancelled = Atomic(false)
  private let pendingLeft: Atomic<Int>
  private let readBytes = Atomic<Int>(0)

  /// Makes a source.
  public init(_ bytes: [UInt8], faults: Faults = Faults()) {
    self.bytes = bytes
    self.faults = faults
    pendingLeft = Atomic(faults.pendingReads)
  }

  /// The sum of all that reads brought, in bytes.
  public var bytesRead: Int { readBytes.load(ordering: .relaxed) }

  /// The array's count, unless it is hidden.
  public var length: Int64? { faults.hidesLength ? nil : Int64(bytes.count) }
  /// Always.
  public var isSeekable: Bool { true }

  /// Reads from the array, with the faults asked for.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> ByteRead {
    let failure = ByteRead.failed(MediaError(.sourceReadFailed, subject: "memory", reason: "made to fail"))
    if isCancelled.load(ordering: .acquiring) || offset < 0 { return failure }
    if offset >= Int64(bytes.count) || buffer.isEmpty { return .end }
    var limit = Int64(bytes.count)
    if let failing = faults.failsFrom {
      if offset >= failing { return failure }
      limit = min(limit, failing)
    }
    if pendingLeft.load(ordering: .relaxed) > 0 {
      pendingLeft.subtract(1, ordering: .relaxed)
      return .pending
    }
    pendingLeft.store(faults.pendingReads, ordering: .relaxed)
    let count = min(buffer.count, Int(limit - offset), max(1, faults.largestRead))
    bytes.withUnsafeBytes { media in
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: media[Int(offset)..<Int(offset) + count]))
    }
    readBytes.add(count, ordering: .relaxed)
    return .bytes(count)
  }

  public func waitForBytes(at offset: Int64) {}

  /// Makes every later read fail.
  public func cancel() { isCancelled.store(true, ordering: .releasing) }
}
