import AttaccaCore
import CFFmpeg

/// A stretch of decoded audio that survived the trim.
enum DecodedChunk {
  /// `count` frames of `frame`, from its frame `offset` on. Valid until the next read.
  case frames(UnsafeMutablePointer<AVFrame>, offset: Int, count: Int)
  /// `count` frames that could not be decoded and are replaced by silence, so that time is kept.
  case concealment(count: Int)
  /// The end of what is to be played.
  case end
}

/// An opened media: demuxer, decoder and trim, giving exactly the frames that are to be played.
///
/// Frames are counted from the decoder's first one ("raw"); the trim is cut here and nowhere else. Lives on one thread.
final class OpenMedia {
  let info: MediaInfo
  let trim: TrimRange
  /// Frames per second of the media.
  let sampleRate: Int
  /// Where its bytes come from.
  let source: any ByteSource

  private let demuxer: Demuxer
  private let decoder: AudioDecoder
  private let packet: UnsafeMutablePointer<AVPacket>
  private var mp3: MP3Seeking?

  /// The raw index of the next frame the decoder will give; `nil` after a seek, until its first frame tells.
  private var raw: Int64?
  /// Raw frames before this are dropped (encoder delay, the way to a seek's target).
  private var from: Int64
  /// The timestamp of the file's first packet, to go back to.
  private var startTimestamp: Int64 = 0
  /// The timestamp of the first decoded frame: raw frame 0. (Vorbis gets no frame out of its first packet.)
  private var firstTimestamp: Int64 = 0
  /// For MP3, whose timestamps are guesses after a seek: the raw index of the next packet.
  private var packetRaw: Int64?
  private var lost = 0
  private var decoderDrained = false
  private var held: (frame: UnsafeMutablePointer<AVFrame>, offset: Int, count: Int)?

  /// Opens an item's bytes, recognises them and decodes the first frame.
  ///
  /// - Throws: ``MediaError`` with a `source.*` code; also when nothing at all can be decoded.
  init(_ source: any ByteSource, name: String) throws(MediaError) {
    let source = PatientByteSource(source)
    self.source = source
    demuxer = try Demuxer(source, name: name)
    decoder = try AudioDecoder(demuxer.stream, name: name)
    // After a seek to an Ogg stream's last page, whose granule says where to cut instead of where it ends, FFmpeg makes up
    // times that can be wrong by nearly a second. Without one, seeking begins further back.
    if demuxer.container == "ogg" { demuxer.inferNoTimestamps() }
    guard let packet = av_packet_alloc() else {
      throw MediaError(.sourceReadFailed, subject: name, reason: "out of memory")
    }
    self.packet = packet
    raw = 0

    // The container's words on rate and layout can be wrong or missing (MP3, HE-AAC): the first frame knows.
    let first: UnsafeMutablePointer<AVFrame>
    let start: Int64?
    do throws(MediaError) {
      (first, start) = try Self.firstFrame(demuxer, decoder, packet, name: name)
    } catch {
      var packet: UnsafeMutablePointer<AVPacket>? = packet
      av_packet_free(&packet)
      throw error
    }
    startTimestamp = start ?? 0
    sampleRate = Int(first.pointee.sample_rate)
    trim = readTrim(of: source, container: demuxer.container, codec: decoder.codecName, sampleRate: sampleRate)
    from = trim.start
    if decoder.codecName == "mp3" { mp3 = MP3Seeking(source) }
    info = MediaInfo(
      container: demuxer.container, codec: decoder.codecName, sampleRate: sampleRate,
      channels: Int(first.pointee.ch_layout.nb_channels), bitsPerSample: decoder.bitsPerSample,
      duration: Self.duration(demuxer, trim: trim, rate: sampleRate, mp3: mp3), isSeekable: source.isSeekable,
      metadata: metadata(fromTags: demuxer.tags), hasArtwork: demuxer.hasArtwork)
    firstTimestamp = first.pointee.pts == attacca_nopts ? startTimestamp : first.pointee.pts
    held = (first, 0, Int(first.pointee.nb_samples))
  }

  deinit {
    var packet: UnsafeMutablePointer<AVPacket>? = packet
    av_packet_free(&packet)
  }

  /// The number of frames to be played, when it is known.
  var frameCount: Int64? {
    if let end = trim.end { return max(0, end - trim.start) }
    guard let duration = info.duration, duration.confidence == .exact else { return nil }
    return duration.value.frames(at: sampleRate)
  }

  /// The next stretch to be played.
  ///
  /// - Throws: `source.readFailed` when the bytes cannot be read any more.
  func read() throws(MediaError) -> DecodedChunk {
    while true {
      let (frame, offset, count): (UnsafeMutablePointer<AVFrame>, Int, Int)
      if let held {
        (frame, offset, count) = held
        self.held = nil
      } else {
        switch try decode() {
        case .frames(let decoded, let at, let number): (frame, offset, count) = (decoded, at, number)
        case .concealment(let number):
          if let range = kept(number) { return .concealment(count: range.count) }
          if isPastEnd { return .end }
          continue
        case .end: return .end
        }
      }
      if let range = kept(count) { return .frames(frame, offset: offset + range.lowerBound, count: range.count) }
      if isPastEnd { return .end }
    }
  }

  private var isPastEnd: Bool { trim.end.map { raw ?? 0 >= $0 } ?? false }

  /// Advances by `count` raw frames and answers which of them are to be played.
  private func kept(_ count: Int) -> Range<Int>? {
    let start = raw ?? 0
    let end = start + Int64(count)
    raw = end
    let low = max(start, from)
    let high = min(end, trim.end ?? end)
    return low < high ? Int(low - start)..<Int(high - start) : nil
  }

  private func decode() throws(MediaError) -> DecodedChunk {
    while true {
      switch decoder.receive() {
      case .frame(let frame):
        let count = Int(frame.pointee.nb_samples)
        if raw == nil {
          guard let position = rawIndex(of: frame) else { continue }
          raw = position
          lost = 0
        }
        if lost > 0 {
          // Packets before this one could not be decoded: keep their time.
          let missing = lost
          lost = 0
          held = (frame, 0, count)
          return .concealment(count: missing)
        }
        return .frames(frame, offset: 0, count: count)
      case .end: return .end
      case .corrupt: continue
      case .needsPacket: break
      }
      if decoderDrained { return .end }
      switch demuxer.read(into: packet) {
      case .packet: sendPacket()
      case .end:
        decoderDrained = true
        _ = decoder.send(nil)
      case .failed(let error): throw error
      }
    }
  }

  private func sendPacket() {
    if let next = packetRaw, let mp3 {
      // Our own count, in units of frames, is what the decoded frame will carry back.
      packet.pointee.pts = next
      packetRaw = next + Int64(mp3.samplesPerFrame)
    }
    if !decoder.send(packet), raw != nil {
      let duration = av_rescale_q(
        packet.pointee.duration, demuxer.stream.pointee.time_base, AVRational(num: 1, den: Int32(sampleRate)))
      lost += decoder.frameSize > 0 ? decoder.frameSize : Int(max(0, min(duration, 1 << 16)))
    }
  }

  /// Where the first frame after a seek stands.
  private func rawIndex(of frame: UnsafeMutablePointer<AVFrame>) -> Int64? {
    let timestamp = frame.pointee.pts
    guard timestamp != attacca_nopts else { return nil }
    if packetRaw != nil { return timestamp }
    return av_rescale_q(
      timestamp - firstTimestamp, demuxer.stream.pointee.time_base, AVRational(num: 1, den: Int32(sampleRate)))
  }

  /// Goes to a media frame: the next ``read()`` begins exactly there. A target at or past the end leaves nothing to read.
  ///
  /// - Throws: `source.readFailed` when the position cannot be reached.
  func seek(to mediaFrame: Int64) throws(MediaError) {
    let target = trim.start + max(0, mediaFrame)
    // The way back grows when a format's index was too optimistic; the beginning is always exact.
    var preroll = Int64(Preroll.frames(codec: decoder.codecName, sampleRate: sampleRate))
    while true {
      let wanted = target - preroll
      try restart(at: max(0, wanted))
      from = target
      if wanted <= 0 { return }
      // Decode up to the first frame to see whether the demuxer really landed before the target.
      switch try decode() {
      case .frames(let frame, let offset, let count):
        held = (frame, offset, count)
        if raw ?? .max <= target { return }
        held = nil
      case .concealment(let count):
        if raw ?? .max <= target {
          _ = kept(count)
          return
        }
      case .end:
        // Behind the last packet: nothing is left, which reading will find by itself, unless the index was wrong.
        if trim.end.map({ target >= $0 }) ?? false { return }
      }
      preroll = preroll < 1 << 20 ? preroll * 4 + 8192 : target
    }
  }

  private func restart(at wanted: Int64) throws(MediaError) {
    held = nil
    lost = 0
    decoderDrained = false
    packetRaw = nil
    raw = nil
    if wanted == 0 {
      guard demuxer.seek(toTimestamp: startTimestamp) || demuxer.seek(toByte: 0) else { throw seekError }
      decoder.flush()
      // Count from the first packet again: the only way that needs no timestamp.
      raw = 0
      if let mp3, let start = mp3.start, demuxer.seek(toByte: start) { packetRaw = 0 }
      return
    }
    if mp3 != nil, let place = mp3?.place(ofRaw: wanted), demuxer.seek(toByte: place.offset) {
      decoder.flush()
      packetRaw = place.raw
      return
    }
    let timestamp = av_rescale_q(
      wanted, AVRational(num: 1, den: Int32(sampleRate)), demuxer.stream.pointee.time_base)
    guard demuxer.seek(toTimestamp: timestamp + firstTimestamp) else {
      if demuxer.seek(toTimestamp: startTimestamp) {
        decoder.flush()
        raw = 0
        return
      }
      throw seekError
    }
    decoder.flush()
  }

  private var seekError: MediaError {
    demuxer.io.failure
      ?? MediaError(.sourceReadFailed, subject: demuxer.name, reason: "the position cannot be reached")
  }

  private static func firstFrame(
    _ demuxer: Demuxer, _ decoder: AudioDecoder, _ packet: UnsafeMutablePointer<AVPacket>, name: String
  ) throws(MediaError) -> (UnsafeMutablePointer<AVFrame>, startTimestamp: Int64?) {
    var start: Int64?
    // A damaged start is passed over, but not for ever.
    for _ in 0..<4096 {
      switch demuxer.read(into: packet) {
      case .packet: if start == nil, packet.pointee.pts != attacca_nopts { start = packet.pointee.pts }
      case .end:
        _ = decoder.send(nil)
        if case .frame(let frame) = decoder.receive() { return (frame, start) }
        throw MediaError(.sourceDamaged, subject: name, reason: "nothing in it can be decoded")
      case .failed(let error): throw error
      }
      _ = decoder.send(packet)
      if case .frame(let frame) = decoder.receive() { return (frame, start) }
    }
    throw MediaError(.sourceDamaged, subject: name, reason: "nothing in its first part can be decoded")
  }

  private static func duration(_ demuxer: Demuxer, trim: TrimRange, rate: Int, mp3: MP3Seeking?) -> MediaDuration? {
    if let end = trim.end {
      return MediaDuration(MediaTime(frames: max(0, end - trim.start), rate: rate).duration, .exact)
    }
    if let duration = mp3?.duration { return duration }
    guard let ticks = demuxer.streamDuration else { return nil }
    let base = demuxer.stream.pointee.time_base
    let frames = av_rescale_q(ticks, base, AVRational(num: 1, den: Int32(rate)))
    // Sample counts of PCM, FLAC and WavPack headers are in frames.
    let exact = base.num == 1 && Int(base.den) == rate && demuxer.container != "mp3"
    return MediaDuration(MediaTime(frames: frames, rate: rate).duration, exact ? .exact : .declared)
  }
}
