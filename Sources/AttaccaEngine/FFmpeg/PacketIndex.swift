import AttaccaCore
import CFFmpeg

/// Exact places in formats whose container knows none, or only guesses: which byte a raw frame's packet begins at.
struct PacketIndex {
  private enum Kind {
    case frames(FrameIndex)
    case blocks(BlockIndex)
  }

  private var kind: Kind
  private let source: any ByteSource

  /// Makes an index for the formats that need one; `nil` for all others.
  ///
  /// - Parameter first: the first decoded frame.
  init?(_ source: any ByteSource, _ demuxer: Demuxer, first: UnsafeMutablePointer<AVFrame>) {
    self.source = source
    let samples = Int(first.pointee.nb_samples)
    switch demuxer.container {
    case "wav":
      guard let blocks = BlockIndex(demuxer.stream, start: demuxer.firstPosition) else { return nil }
      kind = .blocks(blocks)
      duration = nil
    default:
      guard let syntax = FrameSyntax(container: demuxer.container, samples: samples) else { return nil }
      var frames = FrameIndex(syntax, start: demuxer.firstPosition)
      duration = frames.estimate(source).map {
        MediaDuration(MediaTime(frames: $0, rate: Int(first.pointee.sample_rate)).duration, .estimated)
      }
      kind = .frames(frames)
    }
  }

  /// The duration, where the index can tell it without reading the whole file.
  let duration: MediaDuration?

  /// The byte at which decoding begins when played from the start.
  var start: Int64 {
    switch kind {
    case .frames(let frames): frames.start
    case .blocks(let blocks): blocks.start
    }
  }

  /// The packet boundary at or before raw frame `raw`: the raw index it begins with, and its byte.
  mutating func place(ofRaw raw: Int64) -> (raw: Int64, offset: Int64)? {
    switch kind {
    case .frames(var frames):
      defer { kind = .frames(frames) }
      return frames.place(ofRaw: raw, in: source)
    case .blocks(let blocks): return blocks.place(ofRaw: raw)
    }
  }

  /// How the frames of a bare stream look, where it is one.
  var syntax: FrameSyntax? { if case .frames(let frames) = kind { frames.syntax } else { nil } }

  /// How many raw frames a packet decodes to.
  func samples(in packet: UnsafeMutablePointer<AVPacket>) -> Int64 {
    let bytes = UnsafeRawBufferPointer(start: packet.pointee.data, count: Int(max(0, packet.pointee.size)))
    switch kind {
    case .frames(let frames): return frames.samples(in: bytes)
    case .blocks(let blocks): return blocks.samples(inBytes: bytes.count)
    }
  }
}

/// Blocks of one size, of which each decodes to the same count of frames: ADPCM and GSM in WAV files, whose times are
/// guessed from the bit rate by FFmpeg.
struct BlockIndex {
  let start: Int64
  private let size: Int64
  private let samples: Int64

  /// `nil` for codecs that are not in blocks of their own.
  init?(_ stream: UnsafeMutablePointer<AVStream>, start: Int64) {
    guard let parameters = stream.pointee.codecpar, start >= 0 else { return nil }
    let (size, channels) = (Int64(parameters.pointee.block_align), Int64(parameters.pointee.ch_layout.nb_channels))
    guard size > 0, channels > 0 else { return nil }
    switch parameters.pointee.codec_id {
    // Each channel's header of seven bytes holds two samples; then a nibble each.
    case AV_CODEC_ID_ADPCM_MS: samples = (size - 7 * channels) * 2 / channels + 2
    // Each channel's header of four bytes holds one sample; then, at the usual four bits, a nibble each.
    case AV_CODEC_ID_ADPCM_IMA_WAV where parameters.pointee.bits_per_coded_sample == 4:
      samples = (size - 4 * channels) * 2 / channels + 1
    case AV_CODEC_ID_GSM_MS: samples = size / 65 * 320
    default: return nil
    }
    guard samples > 0 else { return nil }
    self.start = start
    self.size = size
  }

  func place(ofRaw raw: Int64) -> (raw: Int64, offset: Int64) {
    let block = max(0, raw) / samples
    return (block * samples, start.addingClamped(block.multipliedClamped(size)))
  }

  func samples(inBytes count: Int) -> Int64 { Int64(count) / size * samples }
}
