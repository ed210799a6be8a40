import AttaccaCore
import CFFmpeg

// Which streams there are, and what they really hold.
extension Demuxer {
  /// The sound streams, in the container's order.
  static func audioStreams(of format: UnsafeMutablePointer<AVFormatContext>) -> [UnsafeMutablePointer<AVStream>] {
    (0..<Int(format.pointee.nb_streams)).compactMap { index in
      guard let stream = format.pointee.streams?[index], let parameters = stream.pointee.codecpar,
        parameters.pointee.codec_type == AVMEDIA_TYPE_AUDIO
      else { return nil }
      return stream
    }
  }

  /// Reads on until the streams are known, within tight limits: only for containers that tell of them underway (MPEG
  /// transport and program streams, FLV). FFmpeg keeps what it read, so nothing is lost.
  static func lookForStreams(in format: UnsafeMutablePointer<AVFormatContext>) {
    // A picture's parameters are not waited for.
    format.pointee.probesize = 512 << 10
    format.pointee.max_analyze_duration = 1_000_000
    format.pointee.fps_probe_size = 0
    avformat_find_stream_info(format, nil)
  }
}

extension AudioTrack {
  /// What a stream's parameters and tags tell.
  init(_ stream: UnsafeMutablePointer<AVStream>, index: Int) {
    let parameters = stream.pointee.codecpar
    let id = parameters?.pointee.codec_id ?? AV_CODEC_ID_NONE
    let decoder = avcodec_find_decoder(id).flatMap { $0.pointee.name }.map { String(cString: $0) }
    func tag(_ name: String) -> String? {
      av_dict_get(stream.pointee.metadata, name, nil, 0)?.pointee.value.map { sanitized(String(cString: $0)) }
    }
    self.init(
      index: index, codec: String(cString: avcodec_get_name(id)),
      channels: Int(max(0, min(255, parameters?.pointee.ch_layout.nb_channels ?? 0))),
      language: tag("language").flatMap { $0 == "und" || $0.isEmpty ? nil : $0 }, title: tag("title"),
      isDefault: stream.pointee.disposition & AV_DISPOSITION_DEFAULT != 0,
      isPlayable: decoder.map { Whitelist.allows(decoder: $0) } ?? false)
  }
}
