import AttaccaCore
import AttaccaEngine

// One entry for all parsers that look into foreign files for their trim. libFuzzer calls it with the bytes it makes up;
// the first byte picks the parser and how the source behaves, the rest is the file. `scripts/fuzz-corpus` makes seeds of that form.

/// The file as libFuzzer made it up.
///
/// `@unchecked Sendable`: the bytes are never written, and outlive the source, which dies within one call.
private final class FuzzSource: ByteSource, @unchecked Sendable {
  private let bytes: UnsafeRawBufferPointer
  private let hidesLength: Bool
  private let largestRead: Int
  init(_ bytes: UnsafeRawBufferPointer, hidesLength: Bool, largestRead: Int) {
    self.bytes = bytes
    self.hidesLength = hidesLength
    self.largestRead = largestRead
  }
  var length: Int64? { hidesLength ? nil : Int64(bytes.count) }
  var isSeekable: Bool { true }
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> ByteRead {
    guard offset >= 0, offset < Int64(bytes.count), !buffer.isEmpty else { return .end }
    let count = min(buffer.count, bytes.count - Int(offset), largestRead)
    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[Int(offset)..<Int(offset) + count]))
    return .bytes(count)
  }
  func waitForBytes(at offset: Int64) {}
  func cancel() {}
}

private func check(_ trim: TrimRange) {
  precondition(trim.start >= 0 && trim.end ?? .max >= trim.start)
}

/// libFuzzer's entry.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTrim(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  guard let data, size > 0 else { return 0 }
  let source = FuzzSource(
    UnsafeRawBufferPointer(start: data + 1, count: size - 1), hidesLength: data[0] & 0x80 != 0,
    largestRead: data[0] & 0x40 != 0 ? 50 : .max)
  switch data[0] & 0x03 {
  case 0:
    guard let info = MP3StreamInfo(of: source) else { return 0 }
    check(info.trim)
    precondition(info.duration?.value ?? .zero >= .zero)
  case 1:
    let rates = [44_100, 48_000, 22_050, 0]
    check(
      readTrim(
        of: source, container: "mov,mp4,m4a,3gp,3g2,mj2", codec: "aac", sampleRate: rates[Int(data[0] >> 2) & 3]))
  case 2:
    check(readTrim(of: source, container: "ogg", codec: data[0] & 4 == 0 ? "opus" : "vorbis", sampleRate: 48_000))
  default:
    guard let info = MP3StreamInfo(of: source) else { return 0 }
    // A jump, then the way on foot: both must know the same frames.
    var (index, walked) = (MP3FrameIndex(info), MP3FrameIndex(info))
    let wanted = Int64(size % 64)
    let found = index.offset(ofFrame: wanted, in: source)
    let total = walked.countFrames(in: source)
    let again = walked.offset(ofFrame: wanted, in: source)
    // Destroyed frames count but cannot be gone to: the one before them is the place.
    precondition(again == nil || total > 0)
    precondition(again?.frame ?? 0 <= max(0, min(wanted, total - 1)) && again?.offset ?? 0 < Int64(size))
    precondition(found?.frame ?? 0 <= wanted && found?.offset ?? 0 < Int64(size))
    if !info.isConstantBitRate { precondition(found?.frame == again?.frame && found?.offset == again?.offset) }
  }
  return 0
}
