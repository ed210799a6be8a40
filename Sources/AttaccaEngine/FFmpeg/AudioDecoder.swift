import AttaccaCore
import CFFmpeg

/// FFmpeg's decoder with every skip and discard of its own switched off: what it decodes is what we count.
final class AudioDecoder {
  private var context: UnsafeMutablePointer<AVCodecContext>
  /// Where the parameters come from; it lives as long as the demuxer, which outlives its decoder.
  private let stream: UnsafeMutablePointer<AVStream>
  private let frame: UnsafeMutablePointer<AVFrame>
  let codecName: String

  /// Opens the decoder for a stream.
  ///
  /// - Throws: `source.unsupported` when there is none, or it may not be used.
  init(_ stream: UnsafeMutablePointer<AVStream>, name: String) throws(MediaError) {
    guard let parameters = stream.pointee.codecpar,
      let codec = Self.decoder(parameters.pointee.codec_id)
    else { throw MediaError(.sourceUnsupported, subject: name, reason: "its audio format has no decoder here") }
    codecName = String(cString: avcodec_get_name(parameters.pointee.codec_id))
    guard let frame = av_frame_alloc() else {
      throw MediaError(.sourceReadFailed, subject: name, reason: "out of memory")
    }
    guard let context = Self.open(codec, for: stream) else {
      var frame: UnsafeMutablePointer<AVFrame>? = frame
      av_frame_free(&frame)
      throw MediaError(.sourceUnsupported, subject: name, reason: "its audio format (\(codecName)) is not played")
    }
    self.context = context
    self.frame = frame
    self.stream = stream
  }

  private static func open(
    _ codec: UnsafePointer<AVCodec>, for stream: UnsafeMutablePointer<AVStream>
  ) -> UnsafeMutablePointer<AVCodecContext>? {
    guard let context = avcodec_alloc_context3(codec) else { return nil }
    avcodec_parameters_to_context(context, stream.pointee.codecpar)
    context.pointee.flags2 |= AV_CODEC_FLAG2_SKIP_MANUAL
    context.pointee.pkt_timebase = stream.pointee.time_base
    context.pointee.thread_count = 1
    context.pointee.max_samples = 1 << 22
    var options: OpaquePointer?
    av_dict_set(&options, "codec_whitelist", Whitelist.codecs, 0)
    let status = avcodec_open2(context, codec, &options)
    av_dict_free(&options)
    if status == 0 { return context }
    var failed: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&failed)
    return nil
  }

  /// FFmpeg's first choice, but of the layers of MPEG audio the decoders in floating point: those in whole numbers dither,
  /// so that a passage is never the same twice.
  private static func decoder(_ id: AVCodecID) -> UnsafePointer<AVCodec>? {
    switch id {
    case AV_CODEC_ID_MP1: avcodec_find_decoder_by_name("mp1float") ?? avcodec_find_decoder(id)
    case AV_CODEC_ID_MP2: avcodec_find_decoder_by_name("mp2float") ?? avcodec_find_decoder(id)
    default: avcodec_find_decoder(id)
    }
  }

  deinit {
    var frame: UnsafeMutablePointer<AVFrame>? = frame
    av_frame_free(&frame)
    var context: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&context)
  }

  /// What can be resampled and mixed: 1 Hz is nonsense, eight times DSD512's 2.8 MHz is none that exists.
  private static let rates: ClosedRange<Int32> = 100...22_579_200
  private static let channels: ClosedRange<Int32> = 1...64

  /// What one step of decoding brought.
  enum Step { case frame(UnsafeMutablePointer<AVFrame>), needsPacket, end, corrupt }

  /// The next decoded frame; valid until the next call.
  func receive() -> Step {
    let status = avcodec_receive_frame(context, frame)
    if status == 0 {
      cutDiscardedEnd()
      guard frame.pointee.nb_samples > 0, Self.rates.contains(frame.pointee.sample_rate),
        Self.channels.contains(frame.pointee.ch_layout.nb_channels)
      else { return .corrupt }
      return .frame(frame)
    }
    if status == attacca_averror_eagain { return .needsPacket }
    if status == attacca_averror_eof { return .end }
    return .corrupt
  }

  /// Gives the decoder a packet; `nil` tells it that no more will come. Answers whether it could use it.
  func send(_ packet: UnsafeMutablePointer<AVPacket>?) -> Bool { avcodec_send_packet(context, packet) == 0 }

  /// Forgets all that was sent (before a seek). What is decoded next may still bear traces of what was decoded last.
  func flush() {
    // Some decoders do not let go of their prediction at all.
    ["speex", "wmav1", "wmav2", "gsm", "gsm_ms", "nellymoser"].contains(codecName)
      ? restart() : avcodec_flush_buffers(context)
  }

  /// Begins anew, as if just opened: many decoders keep the overlap of what they decoded last through a flush, which
  /// at the start of a stream is no overlap.
  func restart() {
    guard let codec = context.pointee.codec, let fresh = Self.open(codec, for: stream) else {
      return avcodec_flush_buffers(context)
    }
    var old: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&old)
    context = fresh
  }

  /// Samples per channel in a packet, for codecs with a constant frame size; 0 otherwise.
  var frameSize: Int { Int(context.pointee.frame_size) }

  /// Takes off the end of a frame what its packet says is padding (Matroska's DiscardPadding). The demuxer hides what
  /// other containers say there: their trim is read elsewhere.
  private func cutDiscardedEnd() {
    guard let data = av_frame_get_side_data(frame, AV_FRAME_DATA_SKIP_SAMPLES), data.pointee.size >= 8,
      let bytes = data.pointee.data
    else { return }
    let discarded = (4..<8).reduce(Int64(0)) { $0 | Int64(bytes[$1]) << (8 * ($1 - 4)) }
    frame.pointee.nb_samples = Int32(clamping: max(0, Int64(frame.pointee.nb_samples) - discarded))
  }

  /// Bits per sample of a lossless codec; `nil` for a lossy one.
  var bitsPerSample: Int? {
    let id = context.pointee.codec_id
    guard let properties = avcodec_descriptor_get(id)?.pointee.props, properties & AV_CODEC_PROP_LOSSLESS != 0,
      id != AV_CODEC_ID_DTS
    else { return codecName.hasPrefix("dsd_") ? 24 : nil }
    let raw = Int(context.pointee.bits_per_raw_sample)
    // One-bit sound comes out of its low-pass filter as floating point.
    if raw < 24, context.pointee.sample_fmt == AV_SAMPLE_FMT_FLTP, codecName == "wavpack" { return 24 }
    return raw > 0 ? raw : Int(av_get_bytes_per_sample(context.pointee.sample_fmt)) * 8
  }
}
