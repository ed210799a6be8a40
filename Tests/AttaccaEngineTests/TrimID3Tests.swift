import TestSupport
import Testing

@testable import AttaccaEngine

/// The gapless comment in hand-made ID3v2 tags.
@Suite struct TrimID3Tests {
  static let comment = " 00000000 00000240 0000033C 000000000000EF32 00000000"
  static let expected = TrimRange(start: 576 + 529, end: 576 + 529 + 61_234, source: .iTunSMPB)

  /// Twelve bare frames of MPEG 1 layer III, 128 kbit/s, 44.1 kHz: 417 bytes each.
  static let frames: [UInt8] = (0..<12).flatMap { _ in [0xFF, 0xFB, 0x90, 0x64] + [UInt8](repeating: 0, count: 413) }

  static func syncsafe(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (21 - 7 * $0) & 0x7F) } }
  static func plain(_ value: Int, _ count: Int = 4) -> [UInt8] {
    (0..<count).map { UInt8(value >> (8 * (count - 1 - $0)) & 0xFF) }
  }
  static func utf16(_ text: String, little: Bool) -> [UInt8] {
    text.utf16.flatMap { little ? [UInt8($0 & 0xFF), UInt8($0 >> 8)] : [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
  }
  static func unsynchronised(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      result.append(byte)
      if byte == 0xFF, index + 1 == bytes.count || bytes[index + 1] >= 0xE0 || bytes[index + 1] == 0 {
        result.append(0)
      }
    }
    return result
  }
  static func tag(_ version: UInt8, flags: UInt8 = 0, _ body: [UInt8]) -> [UInt8] {
    Array("ID3".utf8) + [version, 0, flags] + syncsafe(body.count) + body
      + (flags & 0x10 != 0 ? Array("3DI".utf8) + [version, 0, flags] + syncsafe(body.count) : [])
  }
  static func frame(_ id: String, _ content: [UInt8], version: UInt8, flags: UInt8 = 0) -> [UInt8] {
    switch version {
    case 2: Array(id.utf8) + plain(content.count, 3) + content
    case 3: Array(id.utf8) + plain(content.count) + [0, flags] + content
    default: Array(id.utf8) + syncsafe(content.count) + [0, flags] + content
    }
  }

  static let latin1 = Array("iTunSMPB\0\(comment)".utf8)
  static let utf16Marked =
    [0xFF, 0xFE] + utf16("iTunSMPB\0", little: true) + [0xFF, 0xFE] + utf16(comment, little: true)
  static let other = Array("engiTunNORM\0 00000000 00000240 0000033C 000000000000EF32".utf8)

  static let tags: [(name: String, bytes: [UInt8])] = [
    ("2.2 COM", tag(2, frame("COM", [0] + Array("eng".utf8) + latin1, version: 2))),
    ("2.2 TXX", tag(2, frame("TT2", [0, 65], version: 2) + frame("TXX", [0] + latin1, version: 2))),
    (
      "2.3 COMM behind another",
      tag(
        3,
        frame("COMM", [0] + other, version: 3)
          + frame("COMM", [0] + Array("eng".utf8) + latin1, version: 3) + [0, 0, 0, 0])
    ),
    ("2.3 UTF-16", tag(3, frame("COMM", [1] + Array("eng".utf8) + utf16Marked, version: 3))),
    (
      "2.3 UTF-16 big-endian mark",
      tag(
        3,
        frame(
          "TXXX",
          [1, 0xFE, 0xFF] + utf16("iTunSMPB\0", little: false) + [0xFE, 0xFF] + utf16(comment, little: false),
          version: 3))
    ),
    (
      "2.3 unsynchronised",
      tag(
        3, flags: 0x80,
        unsynchronised(
          frame("APIC", [0xFF, 0xE0, 0xFF, 0x00, 0xFF, 0xFF], version: 3)
            + frame("COMM", [1] + Array("eng".utf8) + utf16Marked, version: 3)))
    ),
    (
      "2.3 extended header",
      tag(3, flags: 0x40, plain(6) + [0, 0, 0, 0, 0, 0] + frame("TXXX", [0] + latin1, version: 3))
    ),
    ("2.3 grouped", tag(3, frame("TXXX", [9, 0] + latin1, version: 3, flags: 0x20))),
    ("2.4 UTF-16BE", tag(4, frame("TXXX", [2] + utf16("iTunSMPB\0" + comment, little: false), version: 4))),
    ("2.4 UTF-8 and footer", tag(4, flags: 0x10, frame("COMM", [3] + Array("eng".utf8) + latin1, version: 4))),
    ("2.4 extended header", tag(4, flags: 0x40, syncsafe(6) + [1, 0] + frame("TXXX", [0] + latin1, version: 4))),
    (
      "2.4 unsynchronised frame with a data length",
      tag(
        4,
        frame(
          "TXXX",
          syncsafe(1 + utf16Marked.count) + unsynchronised([1] + utf16Marked), version: 4, flags: 0x03))
    ),
    (
      "2.4 with plain sizes",
      tag(
        4,
        Array("APIC".utf8) + plain(300) + [0, 0] + [UInt8](repeating: 5, count: 300)
          + Array("TXXX".utf8) + plain(1 + latin1.count) + [0, 0] + [0] + latin1)
    ),
    (
      "second of two tags",
      tag(3, frame("TIT2", [0, 65], version: 3)) + tag(4, frame("TXXX", [0] + latin1, version: 4))
    ),
    (
      "behind a picture of 1 MB",
      tag(
        3,
        frame("APIC", [UInt8](repeating: 0xFF, count: 1 << 20), version: 3)
          + frame("TXXX", [0] + latin1, version: 3))
    ),
  ]

  @Test(arguments: 0..<tags.count)
  func isRead(_ index: Int) throws {
    let (name, tag) = Self.tags[index]
    let source = MemoryByteSource(tag + Self.frames)
    let info = try #require(MP3StreamInfo(of: source), "\(name)")
    #expect(info.firstFrameOffset == Int64(tag.count), "\(name)")
    #expect(info.trim == Self.expected, "\(name)")
  }

  @Test func isLeftAloneWhereItCannotBeMeant() throws {
    for text in [
      "", " ", "iTunSMPB", " 0 0", " 00000000 00000240 0000033C 0000000000000000", " x 240 33C EF32",
      " 0 FFFFFFFF 33C EF32", " 0 240 33C FFFFFFFFFFFFFFFF", " 0 240 33C 10000000000000EF32",
    ] {
      let tag = Self.tag(3, Self.frame("TXXX", [0] + Array("iTunSMPB\0\(text)".utf8), version: 3))
      let info = try #require(MP3StreamInfo(of: MemoryByteSource(tag + Self.frames)))
      #expect(info.trim == .none, "\(text)")
    }
    let compressed = Self.tag(3, Self.frame("TXXX", [0] + Self.latin1, version: 3, flags: 0x80))
    #expect(MP3StreamInfo(of: MemoryByteSource(compressed + Self.frames))?.trim == TrimRange.none)
  }

  @Test func unsynchronisationOfAHugeTagIsBounded() throws {
    let body = Self.frame("APIC", [UInt8](repeating: 1, count: 30 << 20), version: 3)
    let source = MemoryByteSource(Self.tag(3, flags: 0x80, body) + Self.frames)
    let info = try #require(MP3StreamInfo(of: source))
    #expect(info.trim == .none)
    #expect(source.bytesRead < 24 << 20)
  }
}
