import AttaccaCore
import CFFmpeg

/// Names of what may be opened. A name proves nothing (a playlist script can be called `song.mp3`), so FFmpeg is told
/// what it may recognise, whatever the file is called.
enum Whitelist {
  static let formats = "mp3,flac,ogg,mov,wav,aiff,wv"
  static let codecs = """
    mp3float,mp3,flac,alac,aac,vorbis,opus,wavpack,\
    pcm_s16le,pcm_s16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be,pcm_u8,pcm_s8,pcm_f32le,pcm_f32be,pcm_f64le,pcm_f64be
    """
}

/// FFmpeg's demuxer over a byte source, reduced to one audio stream.
final class Demuxer {
  let io: ByteSourceIO
  let name: String
  let container: String
  let stream: UnsafeMutablePointer<AVStream>
  let format: UnsafeMutablePointer<AVFormatContext>
  /// FFmpeg would write its remarks to the terminal; errors are told by ours.
  private static let isQuiet: Void = av_log_set_level(AV_LOG_QUIET)

  /// Recognises the format and chooses the audio stream.
  ///
  /// - Throws: `source.unsupported`, `source.noAudio`, `source.damaged` or the source's own error.
  init(_ source: any ByteSource, name: String) throws(MediaError) {
    self.name = name
    Self.isQuiet
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

    var chosen: UnsafeMutablePointer<AVStream>?
    for index in 0..<Int(opened.pointee.nb_streams) {
      guard let stream = opened.pointee.streams?[index], let parameters = stream.pointee.codecpar else { continue }
      let isAudio = parameters.pointee.codec_type == AVMEDIA_TYPE_AUDIO
      let isDefault = stream.pointee.disposition & AV_DISPOSITION_DEFAULT != 0
      if isAudio, chosen == nil || (isDefault && chosen?.pointee.disposition ?? 0 & AV_DISPOSITION_DEFAULT == 0) {
        chosen = stream
      }
    }
    guard let chosen else {
      var context: UnsafeMutablePointer<AVFormatContext>? = opened
      avformat_close_input(&context)
      throw MediaError(.sourceNoAudio, subject: name, reason: "contains no audio")
    }
    stream = chosen
    for index in 0..<Int(opened.pointee.nb_streams) {
      guard let other = opened.pointee.streams?[index], other != chosen else { continue }
      other.pointee.discard = AVDISCARD_ALL
    }
  }

  deinit {
    var context: UnsafeMutablePointer<AVFormatContext>? = format
    avformat_close_input(&context)
  }

  /// What reading a packet brought.
  enum Packet { case packet, end, failed(MediaError) }

  /// Reads the chosen stream's next packet into `packet` (which is unreferenced first).
  func read(into packet: UnsafeMutablePointer<AVPacket>) -> Packet {
    while true {
      av_packet_unref(packet)
      let status = av_read_frame(format, packet)
      if status == 0 {
        if packet.pointee.stream_index == stream.pointee.index { return .packet }
        continue
      }
      if status == attacca_averror_eagain { continue }
      if let failure = io.failure { return .failed(failure) }
      // Any other status is data the demuxer cannot make sense of: what follows is not audio.
      return .end
    }
  }

  /// Goes to the packet at or before `timestamp` (in the stream's time base).
  func seek(toTimestamp timestamp: Int64) -> Bool {
    io.clearFailure()
    return av_seek_frame(format, stream.pointee.index, timestamp, AVSEEK_FLAG_BACKWARD) >= 0
  }

  /// Goes to a byte.
  func seek(toByte offset: Int64) -> Bool {
    io.clearFailure()
    return av_seek_frame(format, stream.pointee.index, offset, AVSEEK_FLAG_BYTE) >= 0
  }

  /// Gives packets only the times that the container holds, none that were worked out from others.
  func inferNoTimestamps() { format.pointee.flags |= AVFMT_FLAG_NOFILLIN }

  /// The stream's duration in its time base, when the demuxer knows one.
  var streamDuration: Int64? {
    stream.pointee.duration == attacca_nopts || stream.pointee.duration <= 0 ? nil : stream.pointee.duration
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
