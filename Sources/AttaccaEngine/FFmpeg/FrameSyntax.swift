/// How the frames of a bare stream are found: each begins with a sync word and tells its own size.
struct FrameSyntax {
  enum Kind: Sendable { case adts, loas, ac3, dts }

  /// A frame's length, and the decoded frames it brings; 0 for a frame that belongs to the one before it.
  struct Frame: Equatable {
    var size: Int
    var samples: Int64
  }

  let kind: Kind
  /// What an AAC frame decodes to, which its header cannot tell: twice as many with spectral band replication.
  private let samples: Int64

  /// The longest header that is looked at.
  static let headerSize = 16

  /// The syntax of one of FFmpeg's demuxers of bare streams; `nil` for all others.
  ///
  /// - Parameter samples: what the first frame was decoded to.
  init?(container: String, samples: Int) {
    switch container {
    case "aac": kind = .adts
    case "loas": kind = .loas
    case "ac3", "eac3": kind = .ac3
    case "dts": kind = .dts
    default: return nil
    }
    self.samples = Int64(samples)
  }

  /// Whether a frame can begin with this byte.
  func canBegin(with byte: UInt8) -> Bool {
    switch kind {
    case .adts: byte == 0xFF
    case .loas: byte == 0x56
    case .ac3: byte == 0x0B
    case .dts: byte == 0x7F || byte == 0x64
    }
  }

  /// The frame that begins with these bytes; `nil` when none does.
  func frame(_ bytes: UnsafeRawBufferPointer) -> Frame? {
    guard bytes.count >= 8 else { return nil }
    let frame =
      switch kind {
      case .adts: adts(bytes)
      case .loas: loas(bytes)
      case .ac3: ac3(bytes)
      case .dts: dts(bytes)
      }
    return frame.flatMap { $0.size >= 8 ? $0 : nil }
  }

  /// ISO/IEC 14496-3 §1.A.2.2.
  private func adts(_ bytes: UnsafeRawBufferPointer) -> Frame? {
    guard bytes[0] == 0xFF, bytes[1] & 0xF6 == 0xF0, bytes[2] >> 2 & 15 < 13 else { return nil }
    let size = Int(bytes[3] & 3) << 11 | Int(bytes[4]) << 3 | Int(bytes[5] >> 5)
    return Frame(size: size, samples: samples * (Int64(bytes[6] & 3) + 1))
  }

  /// ISO/IEC 14496-3 §1.7.2: AudioSyncStream.
  private func loas(_ bytes: UnsafeRawBufferPointer) -> Frame? {
    guard bytes[0] == 0x56, bytes[1] & 0xE0 == 0xE0 else { return nil }
    return Frame(size: 3 + (Int(bytes[1] & 0x1F) << 8 | Int(bytes[2])), samples: samples)
  }

  /// ETSI TS 102 366 §4.4.1 (AC-3) and §E.1.3.1 (E-AC-3).
  private func ac3(_ bytes: UnsafeRawBufferPointer) -> Frame? {
    guard bytes[0] == 0x0B, bytes[1] == 0x77 else { return nil }
    if bytes[5] >> 3 > 10 {
      let size = 2 * ((Int(bytes[2] & 7) << 8 | Int(bytes[3])) + 1)
      // Dependent substreams and further programmes do not make it longer.
      guard bytes[2] >> 6 != 1, bytes[2] >> 3 & 7 == 0 else { return Frame(size: size, samples: 0) }
      let blocks: Int64 = bytes[4] >> 6 == 3 ? 6 : [1, 2, 3, 6][Int(bytes[4] >> 4 & 3)]
      return Frame(size: size, samples: 256 * blocks)
    }
    let (rate, code) = (Int(bytes[4] >> 6), Int(bytes[4] & 0x3F))
    guard rate < 3, code < 38 else { return nil }
    let kilobits = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640][code / 2]
    let words =
      switch rate {
      case 0: kilobits * 2
      case 1: kilobits * 96_000 / 44_100 + code % 2
      default: kilobits * 3
      }
    return Frame(size: 2 * words, samples: 1536)
  }

  /// ETSI TS 102 114 §5.3 (core) and §7.4 (extension substream, which belongs to the core before it). Streams of 14 bits
  /// per word or of swapped bytes are not understood here.
  private func dts(_ bytes: UnsafeRawBufferPointer) -> Frame? {
    guard bytes.count >= 10 else { return nil }
    let word = UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))
    func bits(_ from: Int, _ count: Int) -> Int {
      (from..<from + count).reduce(0) { $0 << 1 | Int(bytes[$1 / 8] >> UInt8(7 - $1 % 8) & 1) }
    }
    switch word {
    case 0x7FFE_8001: return Frame(size: bits(46, 14) + 1, samples: Int64(bits(39, 7) + 1) * 32)
    case 0x6458_2025:
      return bits(42, 1) == 0
        ? Frame(size: bits(51, 16) + 1, samples: 0) : Frame(size: bits(55, 20) + 1, samples: 0)
    default: return nil
    }
  }
}
