import AttaccaCore

/// Exact places in an MP3, whose container has none: our own walk over the frame headers instead of guesses from the
/// bit rate.
struct MP3Seeking {
  let samplesPerFrame: Int
  let duration: MediaDuration?
  /// The byte at which decoding begins when played from the start.
  let start: Int64?
  private let source: any ByteSource
  private var index: MP3FrameIndex
  /// Samples the demuxer delivers before the index's first frame (a tag frame it takes for audio).
  private let offset: Int64

  /// Reads what is needed from the file's start; `nil` when no frames are found.
  init?(_ source: any ByteSource) {
    guard let info = MP3StreamInfo(of: source) else { return nil }
    self.source = source
    samplesPerFrame = info.header.samples
    duration = info.duration
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
}
