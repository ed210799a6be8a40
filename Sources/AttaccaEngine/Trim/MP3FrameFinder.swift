/// Finds frames of MPEG audio between other bytes.
enum MP3FrameFinder {
  /// More than the largest frame (layer II, 384 kbit/s at 32 kHz: 1,729 bytes) and the header after it.
  static let lookAhead = 4096

  /// The first frame at or after `offset` and before `limit`, confirmed by another of its stream right behind it.
  ///
  /// A frame that ends at `end` (or beyond: a file of one cut frame), where nothing can confirm it, counts only when it
  /// stands at `offset` itself. With `stream` only frames of that stream count; the last one must then end at `end`.
  static func first(
    from offset: Int64, before limit: Int64, end: Int64?, stream: MP3FrameHeader? = nil, _ reader: inout ByteReader
  ) -> (offset: Int64, header: MP3FrameHeader)? {
    var position = offset
    while position < limit {
      // Everything looked at below lies in one window: candidates at its end must not make it jump to and fro.
      let available = reader.fill(at: position, atLeast: lookAhead)
      guard available >= 4 else { return nil }
      let isLast = available < lookAhead
      let count = Int(min(Int64(isLast ? available - 3 : available - lookAhead + 1), limit - position))
      let start = position
      let found: (Int, MP3FrameHeader)? = reader.withWindow(from: position) { bytes in
        for index in 0..<count where bytes[index] == 0xFF && bytes[index + 1] >= 0xE0 {
          guard let header = header(in: bytes, at: index), stream.map({ $0.isSameStream(as: header) }) ?? true
          else { continue }
          let next = index + header.size
          let isAtEnd = end.map { start + Int64(next) >= $0 } ?? (isLast && next >= bytes.count)
          let isConfirmed =
            isAtEnd
            ? (stream == nil ? start + Int64(index) == offset : start + Int64(next) == end)
            : self.header(in: bytes, at: next)?.isSameStream(as: header) ?? false
          if isConfirmed { return (index, header) }
        }
        return nil
      }
      if let found { return (start + Int64(found.0), found.1) }
      position += Int64(count)
    }
    return nil
  }

  /// The header at `index` of `bytes`.
  static func header(in bytes: UnsafeRawBufferPointer, at index: Int) -> MP3FrameHeader? {
    guard index >= 0, index + 4 <= bytes.count else { return nil }
    return MP3FrameHeader(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)))
  }

  /// The header at `offset`.
  static func header(at offset: Int64, _ reader: inout ByteReader) -> MP3FrameHeader? {
    reader.code(at: offset).flatMap { MP3FrameHeader($0) }
  }
}
