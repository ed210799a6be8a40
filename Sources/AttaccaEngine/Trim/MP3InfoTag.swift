/// What an encoder's tag frame, the first of the file, tells about the others: Xing, Info (Xing's twin for constant bit
/// rates) with LAME's part behind it, or Fraunhofer's VBRI.
package struct MP3InfoTag: Sendable, Hashable {
  /// The tag's four letters.
  package enum Kind: Sendable { case xing, info, vbri }

  /// Which tag it is.
  package var kind: Kind
  /// Audio frames in the file, without the tag's own; `nil` when it does not tell.
  package var frames: Int64?
  /// Bytes of all frames, with the tag's own; `nil` when it does not tell.
  package var bytes: Int64?
  /// LAME's encoder delay in decoded frames (0…4095); `nil` without a LAME part, or when it tells neither.
  package var delay: Int64?
  /// LAME's padding after the music in decoded frames (0…4095); present together with the delay.
  package var padding: Int64?

  /// Reads the tag in the frame at `offset`; `nil` when it is an ordinary frame.
  package init?(inFrameAt offset: Int64, _ header: MP3FrameHeader, _ reader: inout ByteReader) {
    guard header.layer == 3 else { return nil }
    let base = offset + 4 + Int64(header.sideInformationSize)
    if let tag = MP3InfoTag(xingAt: base, &reader) {
      self = tag
    } else if header.hasChecksum, let tag = MP3InfoTag(xingAt: base + 2, &reader) {
      self = tag
    } else if let tag = MP3InfoTag(vbriAt: offset + 36, &reader) {
      self = tag
    } else {
      return nil
    }
  }

  private init?(xingAt offset: Int64, _ reader: inout ByteReader) {
    if reader.has("Xing", at: offset) {
      kind = .xing
    } else if reader.has("Info", at: offset) {
      kind = .info
    } else {
      return nil
    }
    guard let flags = reader.code(at: offset + 4) else { return nil }
    var position = offset + 8
    if flags & 1 != 0 {
      frames = Self.count(at: position, &reader)
      position += 4
    }
    if flags & 2 != 0 {
      bytes = Self.count(at: position, &reader)
      position += 4
    }
    if flags & 4 != 0 { position += 100 }
    if flags & 8 != 0 { position += 4 }
    // "L3.9": some builds of LAME write a shortened name.
    let isLAME =
      reader.has("LAME", at: position) || reader.has("Lavf", at: position) || reader.has("Lavc", at: position)
      || reader.has("L3.9", at: position)
    // 9 bytes of name, 12 of other things, then two 12-bit numbers. Both 0 is what a copy of an MP3 by FFmpeg says: it
    // knew neither.
    guard isLAME, let numbers = reader.big(at: position + 21, bytes: 3), numbers != 0 else { return }
    delay = Int64(numbers >> 12)
    padding = Int64(numbers & 0xFFF)
  }

  private init?(vbriAt offset: Int64, _ reader: inout ByteReader) {
    guard reader.has("VBRI", at: offset) else { return nil }
    kind = .vbri
    bytes = Self.count(at: offset + 10, &reader)
    frames = Self.count(at: offset + 14, &reader)
  }

  private static func count(at offset: Int64, _ reader: inout ByteReader) -> Int64? {
    reader.code(at: offset).flatMap { $0 == 0 ? nil : Int64($0) }
  }
}
