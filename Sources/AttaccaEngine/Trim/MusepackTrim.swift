import AttaccaCore

/// Reads how many samples a Musepack file holds (Musepack stream specification, "SV7" and "SV8").
///
/// The synthesis filter of a decoder answers 481 samples late, which the count in the header leaves out.
package enum MusepackTrim {
  private static let delay: Int64 = 481

  /// Stream version 8: the stream header packet `SH` with the count and the silence at the beginning.
  package static func read8(_ source: any ByteSource) -> TrimRange {
    var reader = ByteReader(source, window: 1024, budget: 64 << 10)
    guard reader.has("MPCK", at: 0) else { return .none }
    var offset: Int64 = 4
    for _ in 0..<16 {
      guard let key = reader.big(at: offset, bytes: 2), let (size, body) = number(at: offset + 2, &reader),
        size >= body - offset
      else { break }
      if key == 0x5348 {  // SH: checksum (4 bytes), version (1), samples, silence
        guard let (samples, next) = number(at: body + 5, &reader), let (silence, _) = number(at: next, &reader),
          samples > silence, samples < 1 << 48
        else { break }
        return TrimRange(start: delay + silence, end: delay + samples, source: .musepackHeader)
      }
      offset = offset.addingClamped(size)
    }
    return .none
  }

  /// Stream version 7: frames of 1,152 samples, of which the last one holds fewer.
  package static func read7(_ source: any ByteSource) -> TrimRange {
    var reader = ByteReader(source, window: 1024, budget: 64 << 10)
    let start = ID3v2Tag.all(from: 0, &reader).last?.end ?? 0
    guard reader.has("MP+", at: start), let frames = reader.little(at: start + 4, bytes: 4), frames > 0,
      let tail = reader.little(at: start + 20, bytes: 4)
    else { return .none }
    // Bit 31: whether the length of the last frame is told, in the eleven bits below.
    let last = tail >> 31 == 1 ? Int64(tail >> 20 & 0x7FF) : 1152
    let samples = (Int64(frames) - 1) * 1152 + (last == 0 ? 1152 : last)
    return TrimRange(start: delay, end: delay + samples, source: .musepackHeader)
  }

  /// A number of seven bits per byte, the highest first; the top bit says that another follows.
  private static func number(at offset: Int64, _ reader: inout ByteReader) -> (value: Int64, end: Int64)? {
    var value: Int64 = 0
    for index in 0..<Int64(8) {
      guard let byte = reader.byte(at: offset + index) else { return nil }
      value = value << 7 | Int64(byte & 0x7F)
      if byte & 0x80 == 0 { return (value, offset + index + 1) }
    }
    return nil
  }
}
