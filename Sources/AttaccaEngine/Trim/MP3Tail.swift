/// Finds where the audio of an MP3 ends before the tags at the end of the file.
enum MP3Tail {
  /// The offset of the first byte behind the audio, in a file of `length` bytes whose audio starts at `start`.
  ///
  /// Known are ID3v1, APEv1/2, Lyrics3v2 and an appended ID3v2.4 tag, in any order.
  static func audioEnd(length: Int64, start: Int64, _ reader: inout ByteReader) -> Int64 {
    var end = length
    for _ in 0..<8 {
      guard let size = tagSize(before: end, &reader), size > 0, size <= end - start else { break }
      end -= size
    }
    return max(end, start)
  }

  private static func tagSize(before end: Int64, _ reader: inout ByteReader) -> Int64? {
    if end >= 128, reader.has("TAG", at: end - 128) { return 128 }
    if end >= 32, reader.has("APETAGEX", at: end - 32), let size = reader.little(at: end - 20, bytes: 4),
      let flags = reader.little(at: end - 12, bytes: 4)
    {
      // The size counts items and footer; bit 31 tells of a header of 32 bytes more.
      return size >= 32 ? Int64(size) + (flags & 0x8000_0000 != 0 ? 32 : 0) : nil
    }
    if end >= 15, reader.has("LYRICS200", at: end - 9), let digits = reader.bytes(at: end - 15, count: 6),
      digits.allSatisfy({ (0x30...0x39).contains($0) })
    {
      return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) } + 15
    }
    if end >= 10, reader.has("3DI", at: end - 10), let size = reader.bytes(at: end - 4, count: 4),
      size.allSatisfy({ $0 < 0x80 })
    {
      return size.reduce(0) { $0 << 7 | Int64($1) } + 20
    }
    return nil
  }
}
