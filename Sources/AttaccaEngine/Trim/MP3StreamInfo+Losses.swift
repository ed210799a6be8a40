/// How much music was where no frames are.
extension MP3StreamInfo {
  /// Bytes of an average frame: by the encoder's counts, else by the bit rate or the sampled ones.
  var meanFrameSize: Double {
    if let tag = infoTag, let frames = tag.frames, let bytes = tag.bytes, frames > 0, bytes / frames < 4096 {
      let mean = Double(bytes) / Double(frames)
      if mean >= 24 { return mean }
    }
    let (numerator, denominator) = nominalFrameSize
    let nominal = Double(numerator) / Double(max(1, denominator))
    guard !isConstantBitRate, let secondsPerByte, secondsPerByte > 0 else { return max(24, nominal) }
    return max(24, Double(header.samples) / Double(header.sampleRate) / secondsPerByte)
  }

  /// The frames that stood between two frames before the bytes there were damaged.
  ///
  /// Tags stand there by right and were never music; nor is it believed of more than a megabyte. A few were about as
  /// large as their neighbours, `near` bytes.
  func framesLost(from start: Int64, to end: Int64, near: Int, _ reader: inout ByteReader) -> Int64 {
    var start = start
    for _ in 0..<8 where start < end {
      if let tag = ID3v2Tag.all(from: start, &reader).last, tag.end > start {
        start = tag.end
      } else if reader.has("TAG", at: start) {
        start += 128
      } else if reader.has("APETAGEX", at: start), let size = reader.little(at: start + 12, bytes: 4) {
        // The size counts the footer but not the header, where one stands before the items.
        start += 32 + Int64(size)
      } else {
        break
      }
    }
    guard start < end, end - start <= 1 << 20 else { return 0 }
    let bytes = Double(end - start)
    let isShort = !isConstantBitRate && near > 24 && bytes < 64 * Double(near)
    return Int64((bytes / (isShort ? Double(near) : meanFrameSize)).rounded())
  }
}
