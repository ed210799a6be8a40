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

  /// The frames that stood between two frames before the bytes there were damaged, behind `before` frames of audio.
  ///
  /// Where the encoder counted its frames, and no more than a few megabytes follow, all the frames that are there are
  /// counted instead of guessed from bytes: what is left was lost.
  func framesLost(
    from start: Int64, to end: Int64, near: Int, before: Int64, _ reader: inout ByteReader
  ) -> Int64 {
    let guess = framesLost(from: start, to: end, near: near, &reader)
    guard guess > 0, !isConstantBitRate, !isTagFrameDelivered, let all = claimedFrames, let audioEnd,
      audioEnd - end <= 4 << 20
    else { return guess }
    var wide = reader.widened(to: 128 << 10)
    guard let after = framesAfter(end, &wide) else { return guess }
    let lost = all.subtractingClamped(before).subtractingClamped(after)
    // Frames are 24 bytes or more; and an encoder that counts wrongly, or a file that was cut, tells nothing.
    return lost > 0 && lost <= max(3, 2 * guess) && 2 * lost + 2 >= guess ? lost : guess
  }

  /// Frames from the one at `offset` to the end of the audio; `nil` where damage makes that a guess.
  private func framesAfter(_ offset: Int64, _ reader: inout ByteReader) -> Int64? {
    var (position, count, holes, size) = (offset, Int64(0), 0, 0)
    let end = audioEnd ?? .max
    while position < end {
      if let header = MP3FrameFinder.header(at: position, &reader), header.isSameStream(as: self.header) {
        (position, count, size) = (position + Int64(header.size), count + 1, header.size)
        continue
      }
      holes += 1
      let next = MP3FrameFinder.first(from: position, before: end, end: end, stream: header, &reader)
      guard holes <= 4, let next else { return nil }
      count += framesLost(from: position, to: next.offset, near: (size + next.header.size) / 2, &reader)
      position = next.offset
    }
    return reader.isInterrupted ? nil : count
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
