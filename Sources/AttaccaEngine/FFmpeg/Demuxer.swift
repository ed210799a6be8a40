import AttaccaCore
import CFFmpeg

/// FFmpeg's demuxer over a byte source, reduced to one audio stream.
final class Demuxer {
  let io: ByteSourceIO
  let name: String
  let container: String
  let stream: UnsafeMutablePointer<AVStream>
  let format: UnsafeMutablePointer<AVFormatContext>
  /// All sound tracks, in the container's order, and which of them is ``stream``.
  let audioTracks: [AudioTrack]
  let track: Int
  /// The byte of the first packet that was read; −1 where the container does not say.
  private(set) var firstPosition: Int64 = -1
  private var hasRead = false
  /// How many packets with a place in the file are still to come before times can be believed.
  private var placesToPass = 0
  /// The first packet, where it had to be read to know what the stream is.
  private var first: UnsafeMutablePointer<AVPacket>?
  /// FFmpeg would write its remarks to the terminal; errors are told by ours.
  private static let isSetUp: Void = {
    av_log_set_level(AV_LOG_QUIET)
    // No single piece of memory may be larger: a cover of a gigabyte, an index of a file that lies. The index of an
    // audiobook of 40 hours needs 150 MB.
    av_max_alloc(256 << 20)
  }()

  /// Recognises the format and chooses the audio stream.
  ///
  /// - Parameter track: the sound track to play, by its place among them; `nil`: the default one, else the first that
  ///   can be decoded.
  /// - Throws: `source.unsupported`, `source.noAudio`, `source.damaged` or the source's own error.
  init(_ source: any ByteSource, name: String, track wanted: Int? = nil) throws(MediaError) {
    self.name = name
    Self.isSetUp
    io = ByteSourceIO(source)
    guard let context = io.open(), let allocated = avformat_alloc_context() else {
      throw MediaError(.sourceReadFailed, subject: name, reason: "out of memory")
    }
    allocated.pointee.pb = context
    allocated.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    allocated.pointee.max_streams = 64
    // Nothing but our byte source may ever be opened: not a segment, not a referenced file.
    allocated.pointee.io_open = { _, result, _, _, _ in
      result?.pointee = nil
      return attacca_averror_eio
    }

    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    av_dict_set(&options, "format_whitelist", Whitelist.formats, 0)
    av_dict_set(&options, "codec_whitelist", Whitelist.codecs, 0)
    av_dict_set(&options, "probesize", "65536", 0)
    av_dict_set(&options, "ignore_editlist", "1", 0)
    var opened: UnsafeMutablePointer<AVFormatContext>? = allocated
    // On failure FFmpeg has freed the context.
    let status = avformat_open_input(&opened, nil, nil, &options)
    guard status == 0, let opened else {
      if let failure = io.failure { throw failure }
      guard let claimed = claimedFormat(of: source) else {
        throw MediaError(.sourceUnsupported, subject: name, reason: "not a supported audio format")
      }
      throw MediaError(
        .sourceDamaged, subject: name, reason: "a damaged or cut off \(claimed) file: its header is incomplete")
    }
    format = opened
    container = opened.pointee.iformat?.pointee.name.map { String(cString: $0) } ?? ""

    // Some containers name their streams as they come along only.
    if opened.pointee.ctx_flags & AVFMTCTX_NOHEADER != 0 { Self.lookForStreams(in: opened) }
    let streams = Self.audioStreams(of: opened)
    audioTracks = streams.enumerated().map { AudioTrack($1, index: $0) }
    let choice = audioTracks.choice(wanted: wanted)
    track = choice?.index ?? 0
    let chosen = choice.map { streams[$0.index] }
    guard let chosen else {
      var context: UnsafeMutablePointer<AVFormatContext>? = opened
      avformat_close_input(&context)
      throw MediaError(
        .sourceNoAudio, subject: name, reason: wanted == nil ? "contains no audio" : "has no such sound track")
    }
    stream = chosen
    for index in 0..<Int(opened.pointee.nb_streams) {
      guard let other = opened.pointee.streams?[index], other != chosen else { continue }
      other.pointee.discard = AVDISCARD_ALL
    }
    if container == "mp3" || container == "wav" { recogniseByFirstPacket() }
  }

  deinit {
    av_packet_free(&first)
    var context: UnsafeMutablePointer<AVFormatContext>? = format
    avformat_close_input(&context)
  }

  /// Lets FFmpeg look at the first packets where the header does not tell the codec: MPEG audio is of one of three
  /// layers, and a WAV file that claims PCM may hold DTS or AC-3 ("DTS CD"), which as PCM would be noise.
  private func recogniseByFirstPacket() {
    guard let packet = av_packet_alloc() else { return }
    // What stands in the way comes again when the packet is read for decoding.
    guard case .packet = read(into: packet) else {
      var packet: UnsafeMutablePointer<AVPacket>? = packet
      return av_packet_free(&packet)
    }
    first = packet
    guard container == "mp3", packet.pointee.size >= 4, let data = packet.pointee.data,
      let header = MP3FrameHeader(
        UInt32(data[0]) << 24 | UInt32(data[1]) << 16 | UInt32(data[2]) << 8 | UInt32(data[3]))
    else { return }
    stream.pointee.codecpar?.pointee.codec_id =
      header.layer == 1 ? AV_CODEC_ID_MP1 : header.layer == 2 ? AV_CODEC_ID_MP2 : AV_CODEC_ID_MP3
  }

  /// What reading a packet brought.
  enum Packet { case packet, end, failed(MediaError) }

  /// Reads the chosen stream's next packet into `packet` (which is unreferenced first).
  func read(into packet: UnsafeMutablePointer<AVPacket>) -> Packet {
    if let first {
      av_packet_unref(packet)
      av_packet_move_ref(packet, first)
      av_packet_free(&self.first)
      return .packet
    }
    var patience = 256
    while true {
      av_packet_unref(packet)
      let status = av_read_frame(format, packet)
      if status == 0 {
        guard io.countPacket() else { return .end }
        guard packet.pointee.stream_index == stream.pointee.index else { continue }
        if !hasRead { firstPosition = packet.pointee.pos }
        hasRead = true
        passPlaces(packet)
        // Matroska alone tells the end with the packet it is in; the others' trim is counted from the whole file.
        if !isMatroska { av_packet_shrink_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, 0) }
        return .packet
      }
      if let failure = io.failure { return .failed(failure) }
      // Any other status is data the demuxer cannot make sense of. What follows may be audio again, but a demuxer that
      // stands still is not asked for ever.
      patience -= 1
      if status == attacca_averror_eof || patience == 0 || io.isAtEnd { return .end }
    }
  }

  var isMatroska: Bool { container == "matroska,webm" }

  /// A seek in an MPEG stream lands amid a frame. FFmpeg gives the time of the first whole frame to the torn one, and to
  /// the whole ones those of their successors, until the next packet of the stream sets it right.
  private func passPlaces(_ packet: UnsafeMutablePointer<AVPacket>) {
    guard placesToPass > 0 else { return }
    if packet.pointee.pos >= 0 { placesToPass -= 1 }
    if placesToPass > 0 { packet.pointee.pts = attacca_nopts }
  }

  /// Goes to the packet at or before `timestamp` (in the stream's time base).
  func seek(toTimestamp timestamp: Int64) -> Bool {
    io.clearFailure()
    av_packet_free(&first)
    placesToPass = container == "mpeg" || container == "mpegts" ? 2 : 0
    return av_seek_frame(format, stream.pointee.index, timestamp, AVSEEK_FLAG_BACKWARD) >= 0
  }

  /// Goes to a byte.
  func seek(toByte offset: Int64) -> Bool {
    io.clearFailure()
    av_packet_free(&first)
    return av_seek_frame(format, stream.pointee.index, offset, AVSEEK_FLAG_BYTE) >= 0
  }

  /// Gives packets only the times that the container holds, none that were worked out from others.
  func inferNoTimestamps() { format.pointee.flags |= AVFMT_FLAG_NOFILLIN }

  /// The stream's duration in its time base, when the demuxer knows one, or the container's.
  var streamDuration: Int64? {
    if stream.pointee.duration != attacca_nopts, stream.pointee.duration > 0 { return stream.pointee.duration }
    guard format.pointee.duration != attacca_nopts, format.pointee.duration > 0 else { return durationBySize }
    return av_rescale_q(format.pointee.duration, AVRational(num: 1, den: AV_TIME_BASE), stream.pointee.time_base)
  }

  /// The duration of samples of one size, by how many bytes follow (Core Audio, Wave64, DSDIFF, some AVI).
  private var durationBySize: Int64? {
    guard let parameters = stream.pointee.codecpar, let length = io.source.length, firstPosition >= 0,
      length > firstPosition
    else { return nil }
    let id = parameters.pointee.codec_id
    let isBitstream = [AV_CODEC_ID_DSD_LSBF, AV_CODEC_ID_DSD_MSBF].contains(id)
    let bits = Int64(isBitstream ? 8 : av_get_exact_bits_per_sample(id))
    let (channels, rate) = (Int64(parameters.pointee.ch_layout.nb_channels), parameters.pointee.sample_rate)
    // IMA 4:1 has packets of 34 bytes per channel.
    let isIMA = id == AV_CODEC_ID_ADPCM_IMA_QT
    let block = isIMA ? 34 * channels : Int64(parameters.pointee.block_align)
    let samples = isIMA ? 64 : Int64(parameters.pointee.frame_size)
    guard channels > 0, rate > 0, ["caf", "w64", "iff", "avi"].contains(container) else { return nil }
    let bytes = length - firstPosition
    let frames: Int64
    if bits > 0 {
      frames = bytes.multipliedClamped(8) / (bits * channels)
    } else {
      guard block > 0, samples > 0 else { return nil }
      frames = (bytes / block).multipliedClamped(samples)
    }
    return av_rescale_q(frames, AVRational(num: 1, den: rate), stream.pointee.time_base)
  }

  /// Whether the container counts the very frames that are decoded: not packets of a lossy codec, nor milliseconds.
  func countsFrames(at rate: Int) -> Bool {
    let base = stream.pointee.time_base
    guard base.num == 1, Int(base.den) == rate, stream.pointee.duration != attacca_nopts,
      let id = stream.pointee.codecpar?.pointee.codec_id
    else { return false }
    // A Core Audio file counts whole packets where it counts packets at all.
    if container == "caf", stream.pointee.codecpar?.pointee.bits_per_coded_sample ?? 0 == 0 || id == AV_CODEC_ID_ALAC {
      return false
    }
    let isLossless = (avcodec_descriptor_get(id)?.pointee.props ?? 0) & AV_CODEC_PROP_LOSSLESS != 0
    return isLossless && id != AV_CODEC_ID_DTS || id == AV_CODEC_ID_PCM_ALAW || id == AV_CODEC_ID_PCM_MULAW
  }

  /// Tags of the container and of the stream; the stream's win.
  var tags: [(String, String)] {
    dictionary(format.pointee.metadata) + dictionary(stream.pointee.metadata)
  }

  /// Whether a picture is attached.
  var hasArtwork: Bool {
    (0..<Int(format.pointee.nb_streams)).contains {
      (format.pointee.streams?[$0]?.pointee.disposition ?? 0) & AV_DISPOSITION_ATTACHED_PIC != 0
    }
  }

  private func dictionary(_ dictionary: OpaquePointer?) -> [(String, String)] {
    var result: [(String, String)] = []
    var entry: UnsafeMutablePointer<AVDictionaryEntry>?
    while result.count < 512, let next = av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX) {
      if let key = next.pointee.key, let value = next.pointee.value {
        result.append((String(cString: key), String(cString: value)))
      }
      entry = next
    }
    return result
  }
}
