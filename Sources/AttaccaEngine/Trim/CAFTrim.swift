import AttaccaCore

/// Reads the trim of a Core Audio file: priming and remainder in its packet table (Apple Core Audio Format
/// Specification, "Packet Table Chunk").
package enum CAFTrim {
  /// Reads the chunks up to the packet table; PCM has none and needs none.
  package static func read(_ source: any ByteSource) -> TrimRange {
    var reader = ByteReader(source, window: 4096, budget: 1 << 20)
    guard reader.has("caff", at: 0) else { return .none }
    var offset: Int64 = 8
    for _ in 0..<256 {
      guard let type = reader.code(at: offset), let size = reader.big(at: offset + 4, bytes: 8) else { break }
      let body = offset + 12
      if type == fourCC("pakt") {
        guard let valid = reader.big(at: body + 8, bytes: 8), let priming = reader.code(at: body + 16),
          let remainder = reader.code(at: body + 20),
          let frames = Int64(exactly: valid), frames > 0, frames < 1 << 56
        else { break }
        // Without either the count is that of whole packets (so FFmpeg writes it), and says nothing.
        guard priming != 0 || remainder != 0 else { break }
        let start = Int64(Int32(truncatingIfNeeded: Int64(priming)))
        guard start >= 0 else { break }
        return TrimRange(start: start, end: start + frames, source: .cafPacketTable)
      }
      // A size of −1: data to the end of the file.
      guard let count = Int64(exactly: size) else { break }
      offset = body.addingClamped(count)
    }
    return .none
  }
}
