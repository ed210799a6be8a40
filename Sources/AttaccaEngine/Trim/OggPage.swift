/// An Ogg page's header (RFC 3533 §6).
struct OggPage {
  /// More bytes than any page has.
  static let largest = 65_307

  var offset: Int64
  var flags: UInt8
  /// The position at the end of the last packet that ends on this page; −1 when none does.
  var granule: Int64
  var serial: UInt32
  var sequence: UInt32
  /// The table of segment sizes.
  var segments: [UInt8]

  var isFirst: Bool { flags & 2 != 0 }
  var isLast: Bool { flags & 4 != 0 }
  var isContinued: Bool { flags & 1 != 0 }
  var bodyOffset: Int64 { offset + 27 + Int64(segments.count) }
  var size: Int { segments.reduce(27 + segments.count) { $0 + Int($1) } }
  var end: Int64 { offset + Int64(size) }

  /// Reads the header at `offset`; `nil` when no page starts there.
  init?(at offset: Int64, _ reader: inout ByteReader) {
    guard reader.has("OggS", at: offset), let head = reader.bytes(at: offset + 4, count: 2), head[0] == 0,
      let granule = reader.little(at: offset + 6, bytes: 8), let serial = reader.little(at: offset + 14, bytes: 4),
      let sequence = reader.little(at: offset + 18, bytes: 4), let count = reader.byte(at: offset + 26),
      let segments = reader.bytes(at: offset + 27, count: Int(count))
    else { return nil }
    self.offset = offset
    flags = head[1]
    self.granule = Int64(bitPattern: granule)
    self.serial = UInt32(serial)
    self.sequence = UInt32(sequence)
    self.segments = segments
  }

  /// The page at `offset`, or the first one behind it that belongs to the stream `serial`, where none is there whose
  /// header can be believed: it has the number that is `expected`, or another page follows it.
  static func next(from offset: Int64, serial: UInt32, expected: UInt32, _ reader: inout ByteReader) -> OggPage? {
    if let page = OggPage(at: offset, &reader),
      page.serial == serial && page.sequence == expected || page.isFollowed(&reader)
    {
      return page
    }
    var position = offset + 1
    // No page is farther than the largest one behind another; two may be destroyed.
    let limit = position.addingClamped(3 * Int64(largest))
    while position < limit {
      let available = reader.fill(at: position, atLeast: 4096)
      guard available >= 27 else { return nil }
      let found: [Int] = reader.withWindow(from: position) { bytes in
        (0..<bytes.count - 4).filter {
          bytes[$0] == 0x4F && bytes[$0 + 1] == 0x67 && bytes[$0 + 2] == 0x67 && bytes[$0 + 3] == 0x53
        }
      }
      for index in found {
        if let page = OggPage(at: position + Int64(index), &reader), page.serial == serial, page.isFollowed(&reader) {
          return page
        }
      }
      position += Int64(available - 4)
    }
    return nil
  }

  /// Whether another page, or the file's end, stands where this one ends: then its header is no chance.
  func isFollowed(_ reader: inout ByteReader) -> Bool {
    reader.has("OggS", at: end) || end == reader.length
  }

  /// Whether all of the page is in the reader's window's reach and its checksum is right.
  func isIntact(_ reader: inout ByteReader) -> Bool {
    guard reader.fill(at: offset, atLeast: size) >= size, let wanted = reader.little(at: offset + 22, bytes: 4) else {
      return false
    }
    let sum = reader.withWindow(from: offset) { bytes in
      var sum: UInt32 = 0
      for index in 0..<min(size, bytes.count) {
        // The checksum is made with its own field zero.
        let byte = (22..<26).contains(index) ? 0 : bytes[index]
        sum = sum << 8 ^ Self.table[Int((sum >> 24) as UInt32 ^ UInt32(byte))]
      }
      return sum
    }
    return sum == UInt32(wanted)
  }

  /// CRC-32 of polynomial 0x04C11DB7, not reflected.
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index) << 24) { sum, _ in sum << 1 ^ (sum & 0x8000_0000 != 0 ? 0x04C1_1DB7 : 0) }
  }
}
