import AttaccaCore
import CFFmpeg

extension MediaInfo {
  /// Adds what is known beyond playing: tracks, chapters, cover, trim, and what is not as it should be. Reads nothing
  /// that the demuxer has not read already.
  mutating func describe(_ demuxer: Demuxer, trim range: TrimRange, length: Int64?) {
    audioTracks = demuxer.audioTracks
    audioTrack = demuxer.track
    if audioTracks.indices.contains(audioTrack) { audioTracks[audioTrack].channels = channels }
    chapters = demuxer.chapters
    trim = TrimInfo(start: range.start, end: range.end, source: range.source.rawValue)
    switch demuxer.artwork {
    case .success(let artwork): self.artwork = artwork
    case .failure(let warning): warnings.append(warning)
    case nil: break
    }
    let unplayable = audioTracks.filter { !$0.isPlayable }
    if !unplayable.isEmpty {
      warnings.append(
        MediaWarning(
          .trackUnsupported,
          "sound track \(unplayable.map { "\($0.index + 1) (\($0.codec))" }.joined(separator: ", ")) is not played"))
    }
    if let length, demuxer.claimsMore(than: length) {
      warnings.append(
        MediaWarning(.durationOverstated, "the header tells of more than the file holds, or of no length"))
    }
    if let claimed = claimedContainer(ofName: demuxer.name), !claimed.contains(container) {
      warnings.append(MediaWarning(.nameMisleading, "the name's extension belongs to another format"))
    }
  }

  /// Warns of what depends on the duration, once that is known as well as it will be.
  mutating func judgeDuration() {
    if duration?.confidence == .estimated {
      warnings.append(MediaWarning(.durationEstimated, "the duration is an estimate from size and bit rate"))
    }
    let dropped = chapters.count - chapters.normalizedChapters(duration: duration?.value).count
    if dropped > 0 {
      warnings.append(
        MediaWarning(.chaptersDropped, "\(dropped) of \(chapters.count) chapters lie outside, or where others begin"))
    }
  }
}

extension Demuxer {
  /// Whether the index, or the amount of PCM that the header tells of, reaches behind the file's end.
  func claimsMore(than length: Int64) -> Bool {
    guard let parameters = stream.pointee.codecpar?.pointee else { return false }
    let count = avformat_index_get_entries_count(stream)
    if container == "mov,mp4,m4a,3gp,3g2,mj2", count > 0,
      let last = avformat_index_get_entry(stream, count - 1)?.pointee
    {
      return last.pos.addingReportingOverflow(Int64(last.size)).partialValue > length
    }
    let frame = Int64(parameters.block_align)
    let isPCM = ["wav", "w64", "aiff", "au", "caf"].contains(container)
    guard isPCM, frame > 0, parameters.frame_size <= 1, parameters.sample_rate > 0,
      av_get_exact_bits_per_sample(parameters.codec_id) > 0
    else { return false }
    // FFmpeg takes no notice of a size that cannot be true.
    guard stream.pointee.duration > 0 else { return container == "wav" }
    let frames = av_rescale_q(
      stream.pointee.duration, stream.pointee.time_base, AVRational(num: 1, den: parameters.sample_rate))
    let (bytes, overflow) = frames.multipliedReportingOverflow(by: frame)
    return overflow || bytes > length
  }
}

/// The containers (as FFmpeg names them) that a name's extension stands for; `nil` when it stands for none in particular.
func claimedContainer(ofName name: String) -> Set<String>? {
  guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
  let mp4: Set<String> = ["mov,mp4,m4a,3gp,3g2,mj2"]
  return switch name[name.index(after: dot)...].lowercased() {
  case "mp3", "mp2", "mp1": ["mp3"]
  case "flac": ["flac"]
  case "m4a", "m4b", "mp4", "m4v", "mov": mp4
  case "ogg", "oga", "opus", "spx": ["ogg"]
  case "wav": ["wav", "w64"]
  case "aif", "aiff", "aifc": ["aiff"]
  case "aac": ["aac", "loas"]
  case "wv": ["wv"]
  case "ape": ["ape"]
  case "mpc": ["mpc", "mpc8"]
  case "tta": ["tta"]
  case "mka", "mkv", "webm": ["matroska,webm"]
  case "wma", "asf": ["asf"]
  case "caf": ["caf"]
  case "au", "snd": ["au"]
  case "dsf": ["dsf"]
  default: nil
  }
}
