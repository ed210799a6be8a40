import AttaccaCore
import CFFmpeg

/// Counts the frames of a bare stream (ADTS, LATM, AC-3, DTS) by the bytes they stand at, also those that were destroyed.
struct FrameClock {
  private let syntax: FrameSyntax
  private var finder: FrameIndex
  private var reader: ByteReader
  private var raw: Int64
  /// Where the next frame should stand.
  private var expected: Int64?
  /// Bytes and decoded frames of all that was taken so far, and the decoded frames of the last packet.
  private var taken: (bytes: Int64, samples: Int64)
  private var usual: Int64
  /// Where the demuxer was sent last, so that it is not sent there twice.
  private var lastResort: Int64 = -1
  private let end: Int64?

  /// More than this was not lost, but is something else.
  private static let most: Int64 = 1 << 20

  /// Makes a clock that goes on behind `packet`, which was decoded to the first `samples` frames.
  init(_ syntax: FrameSyntax, _ source: any ByteSource, after packet: UnsafeMutablePointer<AVPacket>, samples: Int64) {
    self.syntax = syntax
    finder = FrameIndex(syntax, start: 0)
    reader = ByteReader(source, window: 8192, budget: .max)
    end = source.length
    raw = samples
    let (position, size) = (packet.pointee.pos, Int64(packet.pointee.size))
    if position >= 0 { expected = position + size }
    taken = (size, samples)
    usual = samples
  }

  /// After a seek to raw frame `raw`, which begins at byte `offset`.
  mutating func restart(at place: (raw: Int64, offset: Int64)?) {
    raw = place?.raw ?? 0
    expected = place?.offset
    lastResort = -1
  }

  /// Gives the packet its time in decoded frames.
  mutating func place(_ packet: UnsafeMutablePointer<AVPacket>) -> PacketFeed.Placing {
    let size = Int(packet.pointee.size)
    guard let data = packet.pointee.data, size >= 8 else { return .drop }
    let bytes = UnsafeRawBufferPointer(start: data, count: size)
    let position = packet.pointee.pos
    let index = frameIndex(in: bytes)
    // After bytes that are none, what looks like a frame may stand in them by chance, and swallow real ones.
    if let expected, position >= 0, index.map({ position + Int64($0) != expected }) ?? true {
      var offset = expected
      let found = finder.settle(&offset, &reader)
      if found == nil, end.map({ expected < $0 }) ?? false { return .drop }
      if found != nil, offset != index.map({ position + Int64($0) }) {
        if offset > lastResort {
          lastResort = offset
          return .goTo(offset)
        }
        guard index != nil else { return .drop }
      }
    }
    guard let index else { return .drop }
    // A header whose size was damaged swallows the frames behind it.
    if position >= 0, case let next = position + Int64(size), next < end ?? .max,
      finder.frame(at: next, &reader) == nil
    {
      var offset = position + Int64(index) + 1
      if finder.settle(&offset, &reader) != nil, offset < next, offset > lastResort {
        lastResort = offset
        return .goTo(offset)
      }
    }
    if index > 0 {
      packet.pointee.data += index
      packet.pointee.size -= Int32(index)
    }
    // How many blocks a frame of AAC holds never changes; the number of them may be damaged.
    let samples =
      syntax.kind == .adts ? usual : finder.samples(in: UnsafeRawBufferPointer(rebasing: bytes[index...]))
    let start = position < 0 ? position : position + Int64(index)
    if let expected, start > expected {
      raw = raw.addingClamped(lost(start - expected))
    }
    packet.pointee.pts = raw
    packet.pointee.dts = raw
    raw = raw.addingClamped(samples)
    if start >= 0 { expected = start + Int64(size - index) }
    taken = (taken.bytes.addingClamped(Int64(size - index)), taken.samples.addingClamped(samples))
    return .take
  }

  /// Decoded frames that were destroyed behind the last one.
  var framesLostAtEnd: Int64 {
    guard let expected, let end, end > expected else { return 0 }
    return lost(end - expected)
  }

  /// The decoded frames that `bytes` between two packets were, by the mean size of all: neighbours may be what looks
  /// like a frame by chance.
  private func lost(_ bytes: Int64) -> Int64 {
    guard taken.samples > 0, usual > 0, bytes < Self.most,
      let samples = bytes.scaled(by: taken.samples, over: max(1, taken.bytes))
    else { return 0 }
    return (samples + usual / 2) / usual * usual
  }

  /// Where the frames of a packet begin: the demuxer may hand over what it passed by together with the frame behind it.
  private func frameIndex(in bytes: UnsafeRawBufferPointer) -> Int? {
    if fills(bytes) { return 0 }
    return (1..<max(1, bytes.count - 8)).first {
      syntax.canBegin(with: bytes[$0]) && fills(UnsafeRawBufferPointer(rebasing: bytes[$0...]))
    }
  }

  /// Whether these bytes are whole frames, one behind the other.
  private func fills(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes
    while let frame = syntax.frame(rest), frame.size <= rest.count {
      if frame.size == rest.count { return true }
      rest = UnsafeRawBufferPointer(rebasing: rest[frame.size...])
    }
    return false
  }
}
