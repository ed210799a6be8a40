import AttaccaCore
import AttaccaEngine
import FuzzSupport

// One entry for all parsers that look into foreign files for their trim. libFuzzer calls it with the bytes it makes up;
// the first byte picks the parser and how the source behaves, the rest is the file. `scripts/fuzz-corpus` makes seeds of that form.

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

/// The entry that SwiftPM's link command names.
@_cdecl("TrimFuzz_main")
public func fuzzMain(_ count: CInt, _ arguments: UnsafeMutableRawPointer) -> CInt {
  runFuzzer(count, arguments, fuzzTrim)
}
