import AttaccaCore
import CFFmpeg

extension Demuxer {
  /// The chapters that the container tells of: ID3v2 CHAP frames, MP4 text tracks and `chpl` boxes, Matroska editions,
  /// CHAPTERxxx comments (Ogg, FLAC). At most 4096, raw: they may overlap or lie outside.
  var chapters: [Chapter] {
    guard let list = format.pointee.chapters else { return [] }
    return (0..<min(4096, Int(format.pointee.nb_chapters))).compactMap { index in
      guard let chapter = list[index]?.pointee, chapter.time_base.num > 0, chapter.time_base.den > 0,
        let start = Self.duration(chapter.start, chapter.time_base)
      else { return nil }
      let title = av_dict_get(chapter.metadata, "title", nil, 0)?.pointee.value.map { String(cString: $0) }
      return Chapter(
        start: start, end: Self.duration(chapter.end, chapter.time_base), title: title.map { String($0.prefix(1024)) })
    }
  }

  /// A time in some base; `nil` for "unknown", and beyond 292,000 years.
  private static func duration(_ ticks: Int64, _ base: AVRational) -> Duration? {
    guard ticks != attacca_nopts else { return nil }
    let microseconds = av_rescale_q(ticks, base, AVRational(num: 1, den: 1_000_000))
    return microseconds == .min ? nil : .microseconds(microseconds)
  }
}
