/// The four bytes at the start of every MPEG audio frame (ISO/IEC 11172-3 §2.4.1.3, 13818-3 §2.4.1.3, and the
/// unofficial MPEG 2.5).
package struct MP3FrameHeader: Sendable, Hashable {
  /// The version; 2.5 stands for the extension to the lowest sample rates.
  package enum Version: UInt8, Sendable { case mpeg25 = 0, mpeg2 = 2, mpeg1 = 3 }

  /// The bits that stay the same in all frames of a stream: sync word, version, layer, sample rate.
  package static let streamMask: UInt32 = 0xFFFE_0C00

  /// The header as a big-endian number.
  package var bits: UInt32

  /// Parses a header; `nil` when the bits are none, or of the free format, whose frame size no header tells.
  package init?(_ bits: UInt32) {
    guard bits >> 21 == 0x7FF, (bits >> 19) & 3 != 1, (bits >> 17) & 3 != 0, (bits >> 12) & 15 != 15,
      (bits >> 12) & 15 != 0, (bits >> 10) & 3 != 3
    else { return nil }
    self.bits = bits
  }

  /// The version.
  package var version: Version { Version(rawValue: UInt8((bits >> 19) & 3)) ?? .mpeg1 }
  /// The layer: 1, 2 or 3.
  package var layer: Int { 4 - Int((bits >> 17) & 3) }
  /// Whether a 16-bit checksum follows the header.
  package var hasChecksum: Bool { (bits >> 16) & 1 == 0 }
  /// 1 or 2.
  package var channels: Int { (bits >> 6) & 3 == 3 ? 1 : 2 }
  /// Frames per second.
  package var sampleRate: Int {
    [44_100, 48_000, 32_000][Int((bits >> 10) & 3) % 3] >> (version == .mpeg1 ? 0 : version == .mpeg2 ? 1 : 2)
  }
  /// Bits per second.
  package var bitRate: Int { Self.kilobits(version, layer, Int((bits >> 12) & 15)) * 1000 }
  /// Decoded frames (samples per channel) of one coded frame.
  package var samples: Int { layer == 1 ? 384 : layer == 3 && version != .mpeg1 ? 576 : 1152 }

  /// Bytes of the whole coded frame.
  package var size: Int {
    let padding = Int((bits >> 9) & 1)
    return layer == 1
      ? (12 * bitRate / sampleRate + padding) * 4 : samples / 8 * bitRate / sampleRate + padding
  }

  /// Bytes of layer III side information behind the header and checksum.
  package var sideInformationSize: Int {
    version == .mpeg1 ? (channels == 1 ? 17 : 32) : (channels == 1 ? 9 : 17)
  }

  /// Whether `other` can be a frame of the same stream.
  package func isSameStream(as other: MP3FrameHeader) -> Bool {
    bits & Self.streamMask == other.bits & Self.streamMask
  }

  private static func kilobits(_ version: Version, _ layer: Int, _ index: Int) -> Int {
    switch (version == .mpeg1, layer) {
    case (true, 1): index * 32
    case (true, 2): [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384][index]
    case (true, _): [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320][index]
    case (false, 1): [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256][index]
    case (false, _): [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160][index]
    }
  }
}

/// The sizes of all frames one stream can hold, so that walking costs a mask and a look-up per frame.
struct MP3FrameSizes {
  private let pattern: UInt32
  private let sizes: [Int]

  init(of stream: MP3FrameHeader) {
    pattern = stream.bits & MP3FrameHeader.streamMask
    let fixed = pattern
    sizes = (0..<32).map { key in
      // The protection bit does not matter to the size.
      MP3FrameHeader(fixed | UInt32(key >> 1) << 12 | UInt32(key & 1) << 9)?.size ?? 0
    }
  }

  /// The size of the frame with this header; 0 when it is no header of the stream.
  @inline(__always)
  func size(_ bits: UInt32) -> Int {
    bits & MP3FrameHeader.streamMask == pattern ? sizes[Int((bits >> 11) & 0x1E | (bits >> 9) & 1)] : 0
  }
}
