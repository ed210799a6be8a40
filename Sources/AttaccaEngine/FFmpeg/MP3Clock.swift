import AttaccaCore
import CFFmpeg

/// Counts the frames of an MPEG audio stream by the bytes they stand at, also those that were destroyed.
struct MP3Clock {
  /// Decoded frames of one coded frame.
  let samplesPerFrame: Int
  private let info: MP3StreamInfo
  private var reader: ByteReader
  private var raw: Int64 = 0
  /// Where the next frame should stand; `nil` before the first.
  private var expected: Int64?
  private var lastSize = 0
  /// Where the parser was sent last, so that it is not sent there twice.
  private var lastResort: Int64 = -1
  /// Headers in a row that belong to another stream: after a few of them that is what the file goes on with.
  private var foreign = 0
  private var stream: MP3FrameHeader

  init(_ info: MP3StreamInfo, _ source: any ByteSource) {
    self.info = info
    stream = info.header
    samplesPerFrame = info.header.samples
    reader = ByteReader(source, window: 8192, budget: .max)
  }

  mutating func restart(at place: (raw: Int64, offset: Int64)?) {
    raw = place?.raw ?? 0
    expected = place?.offset
    lastSize = 0
    lastResort = -1
    foreign = 0
  }

  /// Gives the packet its time in decoded frames.
  mutating func place(_ packet: UnsafeMutablePointer<AVPacket>) -> PacketFeed.Placing {
    let size = Int(packet.pointee.size)
    guard let data = packet.pointee.data, size >= 4 else { return .drop }
    let bytes = UnsafeRawBufferPointer(start: data, count: size)
    let start = packet.pointee.pos
    let index = frameIndex(in: bytes)
    // After bytes that are none, the parser's next "frame" may be a header that stands in them by chance, and swallow
    // real ones: the true one is followed by another.
    if let expected, start >= 0, index.map({ start + Int64($0) != expected }) ?? true {
      let next = MP3FrameFinder.first(
        from: expected, before: expected + (64 << 10), end: info.audioEnd, stream: stream, &reader)
      if let next, next.offset != index.map({ start + Int64($0) }) {
        guard next.offset > lastResort else { return .drop }
        lastResort = next.offset
        return .goTo(next.offset)
      }
    }
    return place(packet, bytes, index) ? .take : .drop
  }

  private mutating func place(
    _ packet: UnsafeMutablePointer<AVPacket>, _ bytes: UnsafeRawBufferPointer, _ index: Int?
  ) -> Bool {
    let (start, size) = (packet.pointee.pos, bytes.count)
    guard let index else {
      // Headers can stand in damaged bytes by chance, but not three in a row.
      if let header = MP3FrameFinder.header(in: bytes, at: 0), header.size == size {
        foreign += 1
        if foreign >= 3 { stream = header }
      }
      return foreign >= 3 && take(packet, at: start)
    }
    foreign = 0
    if index > 0 {
      packet.pointee.data += index
      packet.pointee.size -= Int32(index)
    }
    return take(packet, at: start < 0 ? start : start + Int64(index))
  }

  /// Frames destroyed between the last one and the end of the audio.
  var framesLostAtEnd: Int64 {
    guard let expected, let end = info.audioEnd, end > expected else { return 0 }
    var reader = reader
    return info.framesLost(from: expected, to: end, near: lastSize, &reader) * Int64(samplesPerFrame)
  }

  /// Where the byte after the last packet stands.
  var position: Int64? { expected }

  private mutating func take(_ packet: UnsafeMutablePointer<AVPacket>, at offset: Int64) -> Bool {
    if let expected, offset > expected {
      let size = Int(packet.pointee.size)
      let near = lastSize > 0 ? (lastSize + size) / 2 : size
      let before = raw / Int64(max(1, samplesPerFrame))
      raw +=
        info.framesLost(from: expected, to: offset, near: near, before: before, &reader) * Int64(samplesPerFrame)
    }
    lastSize = Int(packet.pointee.size)
    packet.pointee.pts = raw
    packet.pointee.dts = raw
    raw += Int64(samplesPerFrame)
    if offset >= 0 { expected = offset + Int64(packet.pointee.size) }
    return true
  }

  /// The parser hands over what it passed by together with the frame behind it.
  private func frameIndex(in bytes: UnsafeRawBufferPointer) -> Int? {
    if isFrame(bytes, 0) { return 0 }
    return (1..<max(1, bytes.count - 3)).first { bytes[$0] == 0xFF && isFrame(bytes, $0) }
  }

  private func isFrame(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> Bool {
    guard let header = MP3FrameFinder.header(in: bytes, at: index), header.isSameStream(as: stream) else {
      return false
    }
    return index + header.size == bytes.count
  }
}
