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
  /// Headers in a row that belong to another stream: after a few of them that is what the file goes on with.
  private var foreign = 0
  private var stream: MP3FrameHeader

  init(_ info: MP3StreamInfo, _ source: any ByteSource) {
    self.info = info
    stream = info.header
    samplesPerFrame = info.header.samples
    reader = ByteReader(source, window: 512, budget: .max)
  }

  mutating func restart(at place: (raw: Int64, offset: Int64)?) {
    raw = place?.raw ?? 0
    expected = place?.offset
    foreign = 0
  }

  /// Gives the packet its time in decoded frames; answers `false` when it is no frame of the stream.
  mutating func place(_ packet: UnsafeMutablePointer<AVPacket>) -> Bool {
    let size = Int(packet.pointee.size)
    guard let data = packet.pointee.data, size >= 4 else { return false }
    let bytes = UnsafeRawBufferPointer(start: data, count: size)
    let start = packet.pointee.pos
    guard let index = frameIndex(in: bytes) else {
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
    return info.framesLost(from: expected, to: end, &reader) * Int64(samplesPerFrame)
  }

  /// Where the byte after the last packet stands.
  var position: Int64? { expected }

  private mutating func take(_ packet: UnsafeMutablePointer<AVPacket>, at offset: Int64) -> Bool {
    if let expected, offset > expected {
      raw += info.framesLost(from: expected, to: offset, &reader) * Int64(samplesPerFrame)
    }
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
    guard let header = MP3FrameFinder.header(in: bytes, at: index), header.isSameStream(as: stream) else { return false }
    return index + header.size == bytes.count
  }
}
