/// Format and size of a picture, from its first bytes. Looks at a bounded number of them whatever they are.
struct PictureHeader: Equatable {
  var mime: String
  /// Pixels, 1…2³¹ − 1.
  var width: Int
  /// Pixels, 1…2³¹ − 1.
  var height: Int

  /// `nil` for another format, a header that breaks off, or a side of no pixels.
  init?(_ bytes: UnsafeRawBufferPointer) {
    let bytes = PictureBytes(bytes)
    let found: (String, (Int, Int)?)
    if bytes.has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      found = ("image/png", Self.png(bytes))
    } else if bytes.has([0xFF, 0xD8, 0xFF]) {
      found = ("image/jpeg", Self.jpeg(bytes))
    } else if bytes.has("GIF87a".utf8) || bytes.has("GIF89a".utf8) {
      found = ("image/gif", Self.gif(bytes))
    } else if bytes.has("RIFF".utf8), bytes.has("WEBP".utf8, at: 8) {
      found = ("image/webp", Self.webp(bytes))
    } else if bytes.has("BM".utf8) {
      found = ("image/bmp", Self.bmp(bytes))
    } else {
      return nil
    }
    guard let (width, height) = found.1, (1...0x7FFF_FFFF).contains(width), (1...0x7FFF_FFFF).contains(height) else {
      return nil
    }
    (mime, self.width, self.height) = (found.0, width, height)
  }

  /// PNG (ISO/IEC 15948) §11.2.2: the first chunk is IHDR.
  private static func png(_ bytes: PictureBytes) -> (Int, Int)? {
    guard bytes.has("IHDR".utf8, at: 12), let width = bytes.big(16, 4), let height = bytes.big(20, 4) else {
      return nil
    }
    return (width, height)
  }

  /// GIF89a §18: the logical screen.
  private static func gif(_ bytes: PictureBytes) -> (Int, Int)? {
    guard let width = bytes.little(6, 2), let height = bytes.little(8, 2) else { return nil }
    return (width, height)
  }

  /// JPEG (ITU-T T.81) Annex B: marker segments up to the frame header, which has the size.
  private static func jpeg(_ bytes: PictureBytes) -> (Int, Int)? {
    var offset = 2
    // A picture from a camera has a few dozen segments, some of them large.
    for _ in 0..<1024 {
      guard bytes.byte(offset) == 0xFF else { return nil }
      var fill = 0
      while bytes.byte(offset + 1) == 0xFF {
        offset += 1
        fill += 1
        if fill > 4096 { return nil }
      }
      guard let marker = bytes.byte(offset + 1) else { return nil }
      switch marker {
      case 0x01, 0xD0...0xD8: offset += 2
      case 0xD9, 0xDA: return nil
      case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
        guard let height = bytes.big(offset + 5, 2), let width = bytes.big(offset + 7, 2) else { return nil }
        return (width, height)
      default:
        guard let length = bytes.big(offset + 2, 2), length >= 2 else { return nil }
        offset += 2 + length
      }
    }
    return nil
  }

  /// WebP container specification, VP8 (RFC 6386 §9.1), VP8L and VP8X.
  private static func webp(_ bytes: PictureBytes) -> (Int, Int)? {
    if bytes.has("VP8 ".utf8, at: 12) {
      guard bytes.has([0x9D, 0x01, 0x2A], at: 23), let width = bytes.little(26, 2), let height = bytes.little(28, 2)
      else { return nil }
      return (width & 0x3FFF, height & 0x3FFF)
    }
    if bytes.has("VP8L".utf8, at: 12) {
      guard bytes.byte(20) == 0x2F, let bits = bytes.little(21, 4) else { return nil }
      return ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    }
    guard bytes.has("VP8X".utf8, at: 12), let width = bytes.little(24, 3), let height = bytes.little(27, 3) else {
      return nil
    }
    return (width + 1, height + 1)
  }

  /// BITMAPCOREHEADER (12 bytes) or BITMAPINFOHEADER and longer; a negative height means rows from the top.
  private static func bmp(_ bytes: PictureBytes) -> (Int, Int)? {
    guard let size = bytes.little(14, 4) else { return nil }
    if size == 12 {
      guard let width = bytes.little(18, 2), let height = bytes.little(20, 2) else { return nil }
      return (width, height)
    }
    guard size >= 40, let width = bytes.little(18, 4), let height = bytes.little(22, 4) else { return nil }
    return (Int(Int32(truncatingIfNeeded: width)), abs(Int(Int32(truncatingIfNeeded: height))))
  }
}

/// Bytes that may not be there.
private struct PictureBytes {
  private let bytes: UnsafeRawBufferPointer
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  func byte(_ offset: Int) -> Int? { offset >= 0 && offset < bytes.count ? Int(bytes[offset]) : nil }

  func big(_ offset: Int, _ count: Int) -> Int? {
    guard offset >= 0, offset + count <= bytes.count else { return nil }
    return bytes[offset..<(offset + count)].reduce(0) { $0 << 8 | Int($1) }
  }

  func little(_ offset: Int, _ count: Int) -> Int? {
    guard offset >= 0, offset + count <= bytes.count else { return nil }
    return bytes[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  func has(_ text: some Collection<UInt8>, at offset: Int = 0) -> Bool {
    bytes.count >= offset + text.count && bytes[offset..<(offset + text.count)].elementsEqual(text)
  }
}
