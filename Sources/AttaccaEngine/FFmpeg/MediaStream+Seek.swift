import AttaccaCore
import CFFmpeg

/// Going to a place of a stream, exact to the frame.
extension MediaStream {
  /// Goes to a media frame: the next ``read()`` begins exactly there. A target at or past the end leaves nothing to read.
  ///
  /// - Throws: `source.readFailed` when the position cannot be reached.
  func seek(to mediaFrame: Int64) throws(MediaError) {
    let target = trim.start.addingClamped(max(0, mediaFrame))
    // The way back grows when a format's index was too optimistic; the beginning is always exact.
    var preroll = Int64(Preroll.frames(codec: decoder.codecName, sampleRate: sampleRate))
    while true {
      let wanted = mp3 == nil && index == nil && !grid.isUsable ? 0 : target - preroll
      try restart(at: max(0, wanted))
      from = target
      if wanted <= 0 { return }
      // Decode up to the first frame to see whether the demuxer really landed before the target.
      switch try decode() {
      case .frames(let frame, let offset, let count):
        held = (frame, offset, count)
        if raw ?? .max <= target { return }
        held = nil
      case .concealment: if raw ?? .max <= target { return }
      case .end:
        // Behind the last packet: nothing is left, which reading will find by itself, unless the index was wrong.
        if trim.end.map({ target >= $0 }) ?? false { return }
      }
      preroll = preroll < 1 << 20 ? preroll * 4 + 8192 : target
    }
  }

  private func restart(at wanted: Int64) throws(MediaError) {
    held = nil
    losses = Losses()
    isDrained = false
    raw = nil
    packetRaw = nil
    gaps?.restart()
    if wanted == 0 {
      guard demuxer.seek(toTimestamp: startTimestamp) || demuxer.seek(toByte: 0) else { throw seekError }
      // Count from the first packet again: the only way that needs no timestamp.
      raw = 0
      if let start = mp3?.start, demuxer.seek(toByte: start) {
        feed.restart(at: (0, start))
      } else {
        var place: (raw: Int64, offset: Int64)?
        if let start = index?.start, demuxer.seek(toByte: start) {
          place = (0, start)
          if feed.frames == nil { packetRaw = 0 }
        }
        feed.restart(at: place)
      }
      decoder.restart()
      return
    }
    if let place = mp3?.place(ofRaw: wanted), demuxer.seek(toByte: place.offset) {
      feed.restart(at: place)
      decoder.flush()
      return
    }
    if let place = index?.place(ofRaw: wanted), demuxer.seek(toByte: place.offset) {
      feed.restart(at: place)
      decoder.flush()
      if feed.frames == nil { packetRaw = place.raw }
      return
    }
    let timestamp = av_rescale_q(
      wanted, AVRational(num: 1, den: Int32(sampleRate)), demuxer.stream.pointee.time_base)
    if demuxer.seek(toTimestamp: timestamp.addingClamped(firstTimestamp)) {
      feed.restart()
      return decoder.flush()
    }
    guard demuxer.seek(toTimestamp: startTimestamp) else { throw seekError }
    feed.restart()
    decoder.restart()
    raw = 0
  }

  private var seekError: MediaError {
    demuxer.io.failure
      ?? MediaError(.sourceReadFailed, subject: demuxer.name, reason: "the position cannot be reached")
  }
}
