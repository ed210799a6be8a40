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

/// One stream of one file (or of one link of a chain): demuxer, decoder and trim, giving exactly the frames that are to
/// be played.
///
/// Frames are counted from the decoder's first one ("raw"); the trim is cut here and nowhere else. Lives on one thread.
final class MediaStream {
  let info: MediaInfo
  /// Frames per second of the media.
  let sampleRate: Int
  private(set) var trim: TrimRange

  let demuxer: Demuxer
  let decoder: AudioDecoder
  let feed: PacketFeed
  private let packet: UnsafeMutablePointer<AVPacket>
  var mp3: MP3Seeking?
  /// Exact places in other formats without any.
  var index: PacketIndex?
  /// After a seek by ``index``: the raw index of the next packet.
  var packetRaw: Int64?
  /// How the container's times are to be taken.
  let grid: FrameGrid
  /// Finds losses by times that are not exact.
  var gaps: TimeGaps?

  /// The raw index of the next frame the decoder will give; `nil` after a seek, until its first frame tells.
  var raw: Int64?
  /// Raw frames before this are dropped (encoder delay, the way to a seek's target).
  var from: Int64
  /// The timestamp of the file's first packet, to go back to.
  let startTimestamp: Int64
  /// The timestamp of raw frame 0. (Vorbis gets no frame out of its first packet.)
  let firstTimestamp: Int64
  var held: (frame: UnsafeMutablePointer<AVFrame>, offset: Int, count: Int)?
  var losses = Losses()
  var isDrained = false
  /// How many frames an encoder's word about the whole is believed in.
  private let declaredEnd: Int64?
  /// Errors in a row without a frame: a decoder that only complains is left.
  private var complaints = 0

  /// Recognises the bytes and decodes the first frame; `ogg` is what an Ogg file's pages tell.
  ///
  /// - Throws: ``MediaError`` with a `source.*` code; also when nothing at all can be decoded.
  init(_ source: any ByteSource, name: String, ogg: OggStreamInfo?, track: Int? = nil) throws(MediaError) {
    demuxer = try Demuxer(source, name: name, track: track)
    decoder = try AudioDecoder(demuxer.stream, name: name)
    // After a seek to an Ogg stream's last page, whose granule says where to cut instead of where it ends, FFmpeg makes up
    // times that can be wrong by nearly a second. Without one, seeking begins further back.
    if demuxer.container == "ogg" { demuxer.inferNoTimestamps() }
    guard let packet = av_packet_alloc() else {
      throw MediaError(.sourceReadFailed, subject: name, reason: "out of memory")
    }
    self.packet = packet

    let mpeg = demuxer.container == "mp3" ? MP3StreamInfo(of: source) : nil
    let isSame = demuxer.container == "ogg" && ogg?.codec == decoder.codecName
    let ogg = isSame ? ogg : nil
    feed = PacketFeed(demuxer, codec: decoder.codecName, mp3: mpeg, ogg: ogg, source: source)
    // The container's words on rate and layout can be wrong or missing (MP3, HE-AAC): the first frame knows.
    let first: UnsafeMutablePointer<AVFrame>
    let start: Int64?
    do throws(MediaError) {
      (first, start) = try Self.firstFrame(feed, decoder, packet, name: name)
    } catch {
      var packet: UnsafeMutablePointer<AVPacket>? = packet
      av_packet_free(&packet)
      throw error
    }
    let rate = Int(first.pointee.sample_rate)
    sampleRate = rate
    startTimestamp = start ?? 0
    // Where every packet's time is right, what was lost before the first frame counts too.
    let time = first.pointee.pts
    var origin = time == attacca_nopts ? startTimestamp : time
    if feed.times == .exact { origin = mpeg != nil ? 0 : startTimestamp }
    // Pages tell that the stream begins earlier than what could be read of it: more than a block is lost.
    if let ogg, let first = ogg.firstGranule, time != attacca_nopts, first - ogg.preSkip < time - 8192 {
      origin = first - ogg.preSkip
    }
    firstTimestamp = origin
    raw = 0
    let trim: TrimRange
    if let mpeg {
      trim = mpeg.trim
    } else if let ogg {
      trim = ogg.codec == "opus" ? ogg.trim : ogg.trim(firstFrame: origin)
    } else {
      trim = readTrim(of: source, demuxer, codec: decoder.codecName, sampleRate: rate)
    }
    self.trim = trim
    from = trim.start
    mp3 = mpeg.map { MP3Seeking($0, source) }
    index = mpeg == nil ? PacketIndex(source, demuxer, first: first) : nil
    grid = FrameGrid(demuxer, codec: decoder.codecName, first: first)
    gaps = TimeGaps(demuxer, codec: decoder.codecName, first: first)
    let declared = Self.duration(
      demuxer, trim: trim, rate: rate, mp3: mpeg, index: index, source: source, firstPacket: feed.firstPosition)
    declaredEnd =
      trim.end ?? declared.flatMap { $0.confidence == .estimated ? nil : trim.start + $0.value.frames(at: rate) }
    info = MediaInfo(
      container: demuxer.container, codec: decoder.codecName, sampleRate: rate,
      channels: Int(first.pointee.ch_layout.nb_channels), bitsPerSample: decoder.bitsPerSample,
      duration: declared, isSeekable: source.isSeekable,
      metadata: metadata(fromTags: demuxer.tags), hasArtwork: demuxer.hasArtwork)
    if let syntax = index?.syntax { feed.count(syntax, after: packet, samples: Int64(first.pointee.nb_samples)) }
    take(first, isFirst: true)
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

  /// How many frames have been given, counted from the first that is to be played.
  var position: Int64 { max(0, min(raw ?? from, trim.end ?? .max) - trim.start) }

  /// The next stretch to be played.
  ///
  /// - Throws: `source.readFailed` when the bytes cannot be read any more.
  func read() throws(MediaError) -> DecodedChunk {
    while true {
      let (frame, offset, count): (UnsafeMutablePointer<AVFrame>, Int, Int)
      if isPastEnd { return .end }
      let missing = losses.takePending()
      if missing > 0 {
        if let range = kept(missing) { return .concealment(count: range.count) }
        continue
      }
      if let held {
        (frame, offset, count) = held
        self.held = nil
      } else {
        switch try decode() {
        case .frames(let decoded, let at, let number): (frame, offset, count) = (decoded, at, number)
        case .concealment: continue
        case .end: return .end
        }
      }
      if let end = trim.end, (raw ?? 0) + Int64(count) >= end { doubtTheEnd() }
      if let range = kept(count) { return .frames(frame, offset: offset + range.lowerBound, count: range.count) }
    }
  }

  private var isPastEnd: Bool { held == nil && trim.end.map { raw ?? 0 >= $0 } ?? false }

  /// An encoder's count of frames that is less than there are: what follows is music too.
  private func doubtTheEnd() {
    guard let position = feed.mp3?.position, mp3?.hasMoreFrames(from: position) ?? false else { return }
    trim.end = nil
  }

  /// Advances by `count` raw frames and answers which of them are to be played.
  private func kept(_ count: Int) -> Range<Int>? {
    let start = raw ?? 0
    let end = start + Int64(count)
    raw = end
    let low = max(start, from)
    let high = min(end, trim.end ?? end)
    return low < high ? Int(low - start)..<Int(high - start) : nil
  }

  /// Decodes the next frame. `concealment` only says that frames are pending in ``losses``.
  func decode() throws(MediaError) -> DecodedChunk {
    while true {
      switch decoder.receive() {
      case .frame(let frame):
        complaints = 0
        if raw == nil {
          guard let position = rawIndex(of: frame) else { continue }
          raw = position
          losses.forget()
        }
        take(frame)
        guard losses.pending == 0, let (frame, offset, count) = held else { return .concealment(count: 0) }
        held = nil
        return .frames(frame, offset: offset, count: count)
      case .end: return concealTail() ? .concealment(count: 0) : .end
      case .corrupt:
        complaints += 1
        if complaints > 1 << 12 { return .end }
        if raw != nil { losses.refused(packet, frameSize: decoder.frameSize, self) }
        continue
      case .needsPacket: break
      }
      if isDrained { return concealTail() ? .concealment(count: 0) : .end }
      switch feed.read(into: packet) {
      case .packet:
        if let next = packetRaw, let index {
          // Our own count, in frames, is what the decoded frame will carry back.
          packet.pointee.pts = next
          packetRaw = next + index.samples(in: packet)
        }
        if !decoder.send(packet), raw != nil { losses.refused(packet, frameSize: decoder.frameSize, self) }
      case .end:
        isDrained = true
        _ = decoder.send(nil)
      case .failed(let error): throw error
      }
    }
  }

  /// Holds a decoded frame, and works out what is missing before it.
  private func take(_ frame: UnsafeMutablePointer<AVFrame>, isFirst: Bool = false) {
    let count = Int(frame.pointee.nb_samples)
    var isTold = isFirst || feed.times == .exact
    if let mended = feed.mended, mended.contains(frame.pointee.pts) {
      isTold = true
      feed.mended = nil
    }
    let limit = declaredEnd.map { max(0, $0 - (raw ?? 0)) } ?? .max
    let expected = raw ?? 0
    var place = rawIndex(of: frame)
    if gaps != nil, let time = ticks(of: frame) {
      place = gaps?.place(time, expected: expected)
      isTold = true
    }
    let cut = losses.found(at: place, isExact: isTold, expected: expected, limit: limit, sampleRate)
    if let time = ticks(of: frame), let place, place < expected, cut == 0 { gaps?.accept(time, at: expected) }
    losses.lastCount = count
    // Silence that was too long (a damaged time) is made up for.
    held = cut < count ? (frame, cut, count - cut) : nil
  }

  /// At the end: frames that were destroyed there, as far as it is known how many there were.
  private func concealTail() -> Bool {
    var lost = losses.takeRefused().addingClamped(feed.takeLostAtEnd())
    // What is missing by the container's word, and by the bytes that are there, which vary by up to two.
    if let end = declaredEnd, let raw, end - raw > 2 * Int64(losses.lastCount) {
      lost = max(lost, Int64(min(1e15, 2 * feed.shareBehind * Double(raw))))
    }
    guard lost > 0, let end = declaredEnd, let raw, raw < end, end - raw <= lost,
      end - raw <= Int64(sampleRate) * Losses.longest
    else { return false }
    losses.add(end - raw)
    return true
  }

  /// A frame's time in decoded frames, as the container has it.
  private func ticks(of frame: UnsafeMutablePointer<AVFrame>) -> Int64? {
    let timestamp = frame.pointee.pts
    guard timestamp != attacca_nopts else { return nil }
    return av_rescale_q(
      timestamp.subtractingClamped(firstTimestamp), demuxer.stream.pointee.time_base,
      AVRational(num: 1, den: Int32(sampleRate)))
  }

  /// Where a frame stands.
  func rawIndex(of frame: UnsafeMutablePointer<AVFrame>) -> Int64? {
    let timestamp = frame.pointee.pts
    guard timestamp != attacca_nopts else { return nil }
    if mp3 != nil || packetRaw != nil || feed.frames != nil { return timestamp }
    return ticks(of: frame).map { grid.snap($0) }
  }

  private static func firstFrame(
    _ feed: PacketFeed, _ decoder: AudioDecoder, _ packet: UnsafeMutablePointer<AVPacket>, name: String
  ) throws(MediaError) -> (UnsafeMutablePointer<AVFrame>, startTimestamp: Int64?) {
    var start: Int64?
    // A damaged start is passed over, but not for ever.
    for _ in 0..<4096 {
      switch feed.read(into: packet) {
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
}
