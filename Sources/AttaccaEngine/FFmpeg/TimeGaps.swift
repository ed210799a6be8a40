import CFFmpeg

/// Finds what was lost by the containers' times where those are coarse or drift: a frame that comes later than the one
/// before it ended, by a whole frame or more.
///
/// Times are compared with those just before, not with the beginning's: an encoder's clock that runs a little fast would
/// else, after an hour, look like a loss. (Matroska and FLV count milliseconds, Windows Media too, MPEG streams 1/90,000 s
/// of a clock of their own.)
struct TimeGaps {
  /// Decoded frames between possible places.
  private let grid: Int64
  /// Fewer frames than these were not lost: times are not so exact.
  private let least: Int64
  /// The container's time less our count, as the last frame had it.
  private var offset: Int64?

  /// `nil` for containers whose times are counted by the demuxer, and for codecs that begin packets anywhere.
  init?(_ demuxer: Demuxer, codec: String, first: UnsafeMutablePointer<AVFrame>) {
    guard ["matroska,webm", "mpegts", "mpeg", "flv", "asf", "avi"].contains(demuxer.container) else { return nil }
    let base = demuxer.stream.pointee.time_base
    let rate = Int64(first.pointee.sample_rate)
    let error = rate * Int64(base.num) / Int64(max(1, base.den)) + 1
    switch codec {
    case "vorbis": (grid, least) = (64, max(512, 4 * error))
    case "flac", "alac", "tta", "wavpack": (grid, least) = (1, max(512, 4 * error))
    case let name where name.hasPrefix("pcm_"): (grid, least) = (1, max(512, 4 * error))
    // A packet of Windows Media holds any number of frames.
    case "wmav1", "wmav2": (grid, least) = (512, max(512, 4 * error))
    case "aac", "aac_latm", "mp3", "mp2", "mp1", "opus", "ac3", "eac3", "dts":
      grid = Int64(first.pointee.nb_samples)
      least = max(grid / 2 + 1, 2 * error)
    default: return nil
    }
  }

  /// Times say nothing of what was before a seek.
  mutating func restart() { offset = nil }

  /// The place of a frame of time `time` (in decoded frames), while `expected` is what comes next by counting.
  mutating func place(_ time: Int64, expected: Int64) -> Int64 {
    let distance = time.subtractingClamped(expected)
    guard let before = offset else {
      offset = distance
      return expected
    }
    let gap = distance.subtractingClamped(before)
    guard gap.magnitude >= least.magnitude else {
      offset = distance
      return expected
    }
    let whole = (gap.magnitude &+ grid.magnitude / 2) / grid.magnitude * grid.magnitude
    return expected.addingClamped(gap < 0 ? 0 - Int64(clamping: whole) : Int64(clamping: whole))
  }

  /// The time was not believed: from now on it is the measure all the same.
  mutating func accept(_ time: Int64, at frame: Int64) { offset = time.subtractingClamped(frame) }
}
