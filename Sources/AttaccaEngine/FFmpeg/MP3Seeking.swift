import AttaccaCore

/// Exact places in an MP3, whose container has none: our own walk over the frame headers instead of guesses from the
/// bit rate.
struct MP3Seeking {
  let samplesPerFrame: Int
  /// The byte at which decoding begins when played from the start.
  let start: Int64
  private let info: MP3StreamInfo
  private let source: any ByteSource
  private var index: MP3FrameIndex
  /// Samples the demuxer delivers before the index's first frame (a tag frame it takes for audio).
  private let offset: Int64

  init(_ info: MP3StreamInfo, _ source: any ByteSource) {
    self.info = info
    self.source = source
    samplesPerFrame = info.header.samples
    start = info.isTagFrameDelivered ? info.firstFrameOffset : info.firstAudioFrameOffset
    offset =
      info.isTagFrameDelivered && info.firstFrameOffset != info.firstAudioFrameOffset
      ? Int64(info.header.samples) : 0
    index = MP3FrameIndex(info)
  }

  /// The frame boundary at or before raw frame `raw`: the raw index it begins with, and its byte.
  mutating func place(ofRaw raw: Int64) -> (raw: Int64, offset: Int64)? {
    guard samplesPerFrame > 0, let place = index.offset(ofFrame: (raw - offset) / Int64(samplesPerFrame), in: source)
    else {
      return nil
    }
    return (place.frame * Int64(samplesPerFrame) + offset, place.offset)
  }

  /// Walks on over at most `bytes` of the file; answers the raw frames it has once the end is reached.
  mutating func scan(bytes: Int64) -> Int64? {
    index.extend(bytes: bytes, in: source).map { $0 * Int64(samplesPerFrame) + offset }
  }

  /// Whether several frames stand behind `position`, where the encoder's count says that there are none.
  func hasMoreFrames(from position: Int64) -> Bool {
    var reader = ByteReader(source, window: 16 << 10, budget: 64 << 10)
    guard info.infoTag?.frames != nil, position < info.audioEnd ?? .max else { return false }
    let first = MP3FrameFinder.first(
      from: position, before: position + 4096, end: info.audioEnd, stream: info.header, &reader)
    guard var (offset, header) = first else { return false }
    // Encoders may miscount by a frame or two.
    for _ in 0..<5 {
      offset += Int64(header.size)
      guard let next = MP3FrameFinder.header(at: offset, &reader), next.isSameStream(as: header) else { return false }
      header = next
    }
    return true
  }
}
