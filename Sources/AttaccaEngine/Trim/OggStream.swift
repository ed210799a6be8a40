/// An Ogg stream as its first pages tell.
struct OggStream {
  var serial: UInt32
  /// The first page's number.
  private var first: UInt32
  /// Offset behind the first page.
  var end: Int64
  /// `opus`, `vorbis`, `flac` or empty.
  var codec = ""
  /// Frames per second; 0 when not known.
  var sampleRate = 0
  /// Opus: frames to drop at the start, at 48 kHz.
  var preSkip: Int64 = 0
  /// Vorbis: the most frames one packet holds.
  private var largestBlock: Int64 = 0
  /// FLAC: header packets behind the first; 0 when it does not say.
  private var flacHeaders = 0

  init(_ page: OggPage, _ reader: inout ByteReader) {
    serial = page.serial
    first = page.sequence
    end = page.end
    let body = page.bodyOffset
    if reader.has("OpusHead", at: body), let skip = reader.little(at: body + 10, bytes: 2) {
      codec = "opus"
      sampleRate = 48_000
      preSkip = Int64(skip)
    } else if reader.has("\u{1}vorbis", at: body), let sizes = reader.byte(at: body + 28) {
      codec = "vorbis"
      sampleRate = Int(reader.little(at: body + 12, bytes: 4) ?? 0)
      largestBlock = 1 << Int64(sizes >> 4)
    } else if reader.has("\u{7F}FLAC", at: body), let numbers = reader.big(at: body + 27, bytes: 3) {
      // The mapping's header (9 bytes), `fLaC` and a block's header (4 each), then STREAMINFO, with the rate in the upper
      // 20 bits at its byte 10.
      codec = "flac"
      sampleRate = Int(numbers >> 4)
      flacHeaders = Int(reader.big(at: body + 7, bytes: 2) ?? 0)
    }
  }

  /// The streams that begin at the start of the file: all first pages stand before any other.
  static func all(_ reader: inout ByteReader) -> [OggStream] {
    var streams: [OggStream] = []
    while streams.count < 64, let page = OggPage(at: streams.last?.end ?? 0, &reader), page.isFirst {
      streams.append(OggStream(page, &reader))
    }
    return streams
  }

  /// The granule at which the music begins, from the first page on which audio ends: 0 but for streams cut out of longer
  /// ones (RFC 7845 §4.3).
  ///
  /// Vorbis packets do not tell their length without the decoder's set-up, so a Vorbis stream that cannot begin at 0
  /// answers `nil`. With it comes the number of that page, or of the one that stood there, where it was destroyed.
  func firstAudio(from offset: Int64, _ reader: inout ByteReader) -> (granule: Int64?, sequence: UInt32)? {
    // Headers still to come: Opus' tags; Vorbis' tags and set-up; of FLAC as many as its first says.
    var headers = codec == "opus" ? 1 : codec == "vorbis" ? 2 : flacHeaders
    guard headers > 0 else { return nil }
    var position = offset
    var (packetStart, packetSize): (Int64, Int64) = (0, 0)
    var packets: [Int64] = []
    var (expected, missing): (UInt32, Int64) = (first &+ 1, 0)
    // Tags with a large picture fill hundreds of pages.
    for _ in 0..<10_000 {
      guard let page = OggPage.next(from: position, serial: serial, expected: expected, &reader) else { return nil }
      position = page.end
      guard page.serial == serial else { continue }
      if page.isFirst { return nil }
      if page.sequence > expected {
        missing += Int64(page.sequence - expected)
        (packetSize, packets) = (0, [])
      }
      expected = page.sequence &+ 1
      var segmentOffset = page.bodyOffset
      var hasAudioEnd = false
      for segment in page.segments {
        if packetSize == 0 { packetStart = segmentOffset }
        packetSize += Int64(segment)
        segmentOffset += Int64(segment)
        guard segment < 255 else { continue }
        if headers > 0 {
          headers -= 1
        } else {
          hasAudioEnd = true
          packets.append(codec == "opus" && packetSize > 0 ? Self.opusFrames(at: packetStart, &reader) : 0)
        }
        packetSize = 0
      }
      guard hasAudioEnd, page.granule >= 0 else { continue }
      let sequence = page.sequence &- UInt32(clamping: missing)
      switch codec {
      case "vorbis":
        let most = Int64(packets.count).multipliedClamped(largestBlock).multipliedClamped(2 * missing + 1)
        return (page.granule <= most ? 0 : nil, sequence)
      case "opus": return (Self.opusStart(page, packets, missing: missing, &reader), sequence)
      default: return (0, sequence)
      }
    }
    return nil
  }

  /// Where an Opus stream begins whose first page of audio is this one, behind `missing` that were destroyed.
  private static func opusStart(
    _ page: OggPage, _ packets: [Int64], missing: Int64, _ reader: inout ByteReader
  ) -> Int64 {
    var frames = packets.reduce(0, +)
    if let usual = packets.first, packets.contains(where: { $0 != usual }) {
      var wide = reader.widened(to: OggPage.largest)
      // Packets of a damaged page are as long as most of them.
      if !page.isIntact(&wide) {
        guard page.isFollowed(&reader) else { return page.granule <= 5 * 48_000 ? 0 : page.granule - 48_000 }
        let counts = Dictionary(packets.map { ($0, 1) }, uniquingKeysWith: +)
        let most = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? usual
        frames = Int64(packets.count) * most
      }
    }
    let start = max(0, page.granule.subtractingClamped(frames))
    guard missing > 0 else { return start }
    // The pages before held about as much each, if there was anything else before them.
    let before = missing.multipliedClamped(max(frames, 48_000))
    return start <= before.multipliedClamped(2) ? 0 : start - before
  }

  /// Frames at 48 kHz of the Opus packet at `offset` (RFC 6716 §3.1).
  static func opusFrames(at offset: Int64, _ reader: inout ByteReader) -> Int64 {
    guard let contents = reader.byte(at: offset) else { return 0 }
    let configuration = Int(contents >> 3)
    let size: Int64 =
      switch configuration {
      case 0..<12: [480, 960, 1920, 2880][configuration & 3]
      case 12..<16: [480, 960][configuration & 1]
      default: 120 << Int64(configuration & 3)
      }
    switch contents & 3 {
    case 0: return size
    case 1, 2: return size * 2
    default: return size * Int64((reader.byte(at: offset + 1) ?? 0) & 0x3F)
    }
  }
}

extension Int64 {
  func subtractingClamped(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }
}
