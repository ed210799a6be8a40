import AttaccaCore
import FuzzSupport

@testable import AttaccaEngine

// What files say of themselves, as far as parsers of our own read it. The first byte picks: low bits 0 an ID3v2 tag, 1 a
// picture's header, 2 chapters, 3 tags as FFmpeg gives them; the rest is the input.

/// libFuzzer's entry.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTag(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  guard let data, size > 0 else { return 0 }
  let bytes = UnsafeRawBufferPointer(start: data + 1, count: size - 1)
  switch data[0] & 3 {
  case 0: readID3(bytes)
  case 1:
    do throws(MediaWarning) {
      let artwork = try Artwork(picture: bytes)
      precondition(artwork.width > 0 && artwork.height > 0)
      precondition(artwork.width * artwork.height <= Artwork.maximumPixels && artwork.byteCount == bytes.count)
    } catch {
      precondition(error.code == .artworkDamaged || error.code == .artworkTooLarge)
    }
  case 2: normalise(bytes)
  default: readTags(bytes)
  }
  return 0
}

private func readID3(_ bytes: UnsafeRawBufferPointer) {
  var reader = ByteReader(FuzzSource(bytes), window: 4096, budget: 4 << 20)
  for tag in ID3v2Tag.all(from: 0, &reader) {
    precondition(tag.end > tag.offset && tag.bodySize >= 0)
    _ = tag.iTunSMPB(&reader)
  }
}

/// Chapters of 4 bytes each: start and length, signed, in quarters of a second.
private func normalise(_ bytes: UnsafeRawBufferPointer) {
  func time(_ index: Int) -> Duration { .milliseconds(250 * Int(Int8(bitPattern: bytes[index]))) }
  let count = min(200, bytes.count / 4)
  let chapters = (0..<count).map { index in
    Chapter(
      start: time(index * 4), end: bytes[index * 4 + 2] & 1 == 0 ? nil : time(index * 4) + time(index * 4 + 1),
      title: String(decoding: bytes[(index * 4 + 2)..<(index * 4 + 4)], as: UTF8.self))
  }
  let duration: Duration? = count > 0 && bytes[3] & 1 == 0 ? .milliseconds(250 * Int(bytes[0])) : nil
  let result = chapters.normalizedChapters(duration: duration)
  for (one, next) in zip(result, result.dropFirst()) {
    precondition(one.start < next.start && one.end.map { $0 > one.start && $0 <= next.start } == true)
  }
  precondition(result.first.map { $0.start >= .zero } ?? true)
  precondition(result.last.map { last in duration.map { last.end ?? .zero <= $0 } ?? true } ?? true)
  precondition(result.normalizedChapters(duration: duration) == result)
}

/// Keys and values, each up to a NUL.
private func readTags(_ bytes: UnsafeRawBufferPointer) {
  let words = bytes.prefix(1 << 16).split(separator: 0, omittingEmptySubsequences: false)
    .map { String(decoding: $0, as: UTF8.self) }
  let pairs = stride(from: 0, to: words.count - 1, by: 2).map { (words[$0], words[$0 + 1]) }
  for item in metadata(fromTags: pairs) {
    guard let text = item.text else { continue }
    precondition(sanitized(text) == text)
    precondition(JSONValue.string(text).text().utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
  }
}

/// The entry that SwiftPM's link command names.
@_cdecl("TagFuzz_main")
public func fuzzMain(_ count: CInt, _ arguments: UnsafeMutableRawPointer) -> CInt {
  runFuzzer(count, arguments, fuzzTag)
}
