import AttaccaCore
import CFFmpeg
import FuzzSupport

@testable import AttaccaEngine

// The whole way of a file: recognised, opened, described, decoded, and sought in. The first byte says how the source
// behaves (0x80 hides the length, 0x40 makes short reads, the low bits are the number of seeks), the next two where to
// seek; the rest is the file. `scripts/fuzz-corpus` makes seeds of that form.

/// Chunks read at a stretch: a small file can tell of hours of silence.
private let mostChunks = 2000

/// Reads on; answers the frames that came.
private func read(_ media: OpenMedia) throws(MediaError) -> Int64 {
  var frames: Int64 = 0
  for _ in 0..<mostChunks {
    switch try media.read() {
    case .frames(let frame, let offset, let count):
      precondition(offset >= 0 && count > 0 && offset + count <= Int(frame.pointee.nb_samples))
      frames += Int64(count)
    case .concealment(let count):
      precondition(count > 0)
      frames += Int64(count)
    case .end: return frames
    }
  }
  return frames
}

private func check(_ info: MediaInfo) {
  precondition(info.sampleRate > 0 && info.channels > 0 && info.duration?.value ?? .zero >= .zero)
  for chapter in info.chapters.normalizedChapters(duration: info.duration?.value) {
    precondition(chapter.start >= .zero && chapter.end.map { $0 > chapter.start } ?? true)
  }
}

/// libFuzzer's entry.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDecode(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  guard let data, size > 3 else { return 0 }
  let source = FuzzSource(
    UnsafeRawBufferPointer(start: data + 3, count: size - 3), hidesLength: data[0] & 0x80 != 0,
    largestRead: data[0] & 0x40 != 0 ? 500 : .max)
  do throws(MediaError) {
    let media = try OpenMedia(source, name: "fuzz.mp3")
    check(media.info)
    let frames = try read(media)
    let known = max(media.frameCount ?? 0, frames, 1)
    for number in 0..<Int64(data[0] & 3) {
      let place = (Int64(data[1]) << 8 | Int64(data[2])) &* (number + 1) & 0xFFFF
      try media.seek(to: known.multipliedReportingOverflow(by: place).partialValue >> 16)
      _ = try read(media)
    }
  } catch {
    precondition(error.isItemFault)
  }
  return 0
}

/// The entry that SwiftPM's link command names.
@_cdecl("DecodeFuzz_main")
public func fuzzMain(_ count: CInt, _ arguments: UnsafeMutableRawPointer) -> CInt {
  runFuzzer(count, arguments, fuzzDecode)
}
