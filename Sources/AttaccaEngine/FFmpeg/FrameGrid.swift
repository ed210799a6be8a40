import CFFmpeg

/// Turns the coarse times of some containers (milliseconds in Matroska and FLV, 1/90,000 s in MPEG streams) back into
/// frame counts: codecs whose packets all decode to the same number of frames begin packets on a grid, whose lines lie
/// farther apart than the times are wrong.
struct FrameGrid {
  /// How containers' times are to be taken.
  enum Trust {
    /// They count frames.
    case exact
    /// They are near a line of this grid.
    case snapped(Int64)
    /// They cannot be turned into frames: only counting from the beginning is right.
    case none
  }

  let trust: Trust

  /// Decides by container, codec and the first decoded frame.
  init(_ demuxer: Demuxer, codec: String, first: UnsafeMutablePointer<AVFrame>) {
    let base = demuxer.stream.pointee.time_base
    let rate = first.pointee.sample_rate
    guard base.num != 1 || rate <= 0 || base.den % rate != 0 else {
      trust = .exact
      return
    }
    // After a seek in a programme stream FFmpeg now and then gives a frame the time of its neighbour.
    guard demuxer.container != "mpeg" else {
      trust = .none
      return
    }
    let samples = Int64(first.pointee.nb_samples)
    let grid: Int64? =
      switch codec {
      // A quarter of the short and of the long block: 64 frames are the least (Vorbis I §4.3.8).
      case "vorbis": 64
      case "aac", "aac_latm", "mp3", "mp2", "mp1", "opus", "ac3", "eac3": samples
      case "dts": 256
      case "wmav1", "wmav2": Self.windowsMedia(rate: Int(rate), isFirst: codec == "wmav1")
      case "flac": Self.hasConstantBlocks(demuxer) ? samples : nil
      case "alac", "tta", "wavpack", "speex": samples
      case let name where name.hasPrefix("pcm_"): samples
      default: nil
      }
    // Two times are compared, each of which is rounded.
    let error = Int64(rate) * Int64(base.num) / Int64(max(1, base.den)) + 1
    trust = grid.map { $0 > error ? .snapped($0) : .none } ?? .none
  }

  /// The frame that a time means.
  func snap(_ raw: Int64) -> Int64 {
    guard case .snapped(let grid) = trust, raw >= 0 else { return raw }
    return (raw + grid / 2) / grid * grid
  }

  /// Whether positions can be found by the container's times at all.
  var isUsable: Bool { if case .none = trust { false } else { true } }

  /// Frames of Windows Media Audio, by rate.
  private static func windowsMedia(rate: Int, isFirst: Bool) -> Int64 {
    if rate <= 16_000 { return 512 }
    if rate <= 22_050 || rate <= 32_000 && isFirst { return 1024 }
    return rate <= 48_000 || isFirst ? 2048 : rate <= 96_000 ? 4096 : 8192
  }

  /// Whether a FLAC stream's header promises blocks of one size (RFC 9639 §8.2).
  private static func hasConstantBlocks(_ demuxer: Demuxer) -> Bool {
    guard let parameters = demuxer.stream.pointee.codecpar, parameters.pointee.extradata_size >= 4,
      let bytes = parameters.pointee.extradata
    else { return false }
    return bytes[0] == bytes[2] && bytes[1] == bytes[3]
  }
}
