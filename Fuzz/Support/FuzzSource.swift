import AttaccaCore

/// The file as libFuzzer made it up.
///
/// `@unchecked Sendable`: the bytes are never written, and outlive the source, which dies within one call.
public final class FuzzSource: ByteSource, @unchecked Sendable {
  private let bytes: UnsafeRawBufferPointer
  private let hidesLength: Bool
  private let largestRead: Int

  /// A source over `bytes`, which must outlive it; each read brings `largestRead` bytes at most.
  public init(_ bytes: UnsafeRawBufferPointer, hidesLength: Bool = false, largestRead: Int = .max) {
    self.bytes = bytes
    self.hidesLength = hidesLength
    self.largestRead = largestRead
  }

  public var length: Int64? { hidesLength ? nil : Int64(bytes.count) }
  public var isSeekable: Bool { true }
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> ByteRead {
    guard offset >= 0, offset < Int64(bytes.count), !buffer.isEmpty else { return .end }
    let count = min(buffer.count, bytes.count - Int(offset), largestRead)
    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[Int(offset)..<Int(offset) + count]))
    return .bytes(count)
  }
  public func waitForBytes(at offset: Int64) {}
  public func cancel() {}
}
