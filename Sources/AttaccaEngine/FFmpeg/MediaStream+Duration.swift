import AttaccaCore
import CFFmpeg

/// What is known of a stream's duration before it has been decoded.
extension MediaStream {
  static func duration(
    _ demuxer: Demuxer, trim: TrimRange, rate: Int, mp3: MP3StreamInfo?, index: PacketIndex?, source: any ByteSource,
    firstPacket: Int64?
  ) -> MediaDuration? {
    if let mp3 { return mp3.duration }
    if let end = trim.end {
      return MediaDuration(MediaTime(frames: max(0, end - trim.start), rate: rate).duration, .exact)
    }
    if let duration = index?.duration { return duration }
    let ticks = demuxer.streamDuration
    let base = demuxer.stream.pointee.time_base
    var frames = ticks.map { av_rescale_q($0, base, AVRational(num: 1, den: Int32(rate))) }
    var isExact = frames != nil && demuxer.countsFrames(at: rate)
    let parameters = demuxer.stream.pointee.codecpar.pointee
    if ["wav", "aiff", "au"].contains(demuxer.container), isPCM(parameters.codec_id), parameters.block_align > 0,
      let length = source.length, let firstPacket
    {
      // A recorder that was switched off leaves sizes of 0 or of everything; and a file can be cut: what is there counts.
      let present = max(0, length - firstPacket) / Int64(parameters.block_align)
      frames = min(frames ?? present, present)
      isExact = true
    }
    return frames.map { MediaDuration(MediaTime(frames: $0, rate: rate).duration, isExact ? .exact : .declared) }
  }

  /// Linear and logarithmic PCM: as many bytes for each frame.
  private static func isPCM(_ codec: AVCodecID) -> Bool {
    (AV_CODEC_ID_FIRST_AUDIO.rawValue..<AV_CODEC_ID_ADPCM_IMA_QT.rawValue).contains(codec.rawValue)
  }
}
