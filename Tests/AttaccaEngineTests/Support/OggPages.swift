import TestSupport

@testable import AttaccaEngine

/// An Ogg file taken apart and put together.
enum OggPages {
  static func all(_ bytes: [UInt8]) -> [OggPage] {
    var pages: [OggPage] = []
    var reader = ByteReader(MemoryByteSource(bytes), window: 1 << 17, budget: 1 << 30)
    while let page = OggPage(at: pages.last?.end ?? 0, &reader) { pages.append(page) }
    return pages
  }

  /// The file with all granules of audio pages (or only the last one) moved on, and checksums to match.
  static func shifting(_ bytes: [UInt8], by granules: Int64, lastOnly: Bool = false) -> [UInt8] {
    var bytes = bytes
    for page in all(bytes) where page.granule > 0 && (page.isLast || !lastOnly) {
      let start = Int(page.offset)
      for index in 0..<8 {
        bytes[start + 6 + index] = UInt8(truncatingIfNeeded: (page.granule + granules) >> (8 * index))
      }
      for index in 22..<26 { bytes[start + index] = 0 }
      var sum: UInt32 = 0
      for byte in bytes[start..<Int(page.end)] {
        sum ^= UInt32(byte) << 24
        for _ in 0..<8 { sum = sum << 1 ^ (sum & 0x8000_0000 != 0 ? 0x04C1_1DB7 : 0) }
      }
      for index in 0..<4 { bytes[start + 22 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
    }
    return bytes
  }
}
