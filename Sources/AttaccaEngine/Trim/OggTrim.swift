import AttaccaCore

/// What an Ogg file tells of its Opus or Vorbis stream.
package struct OggStreamInfo: Sendable, Hashable {
  /// The stream's serial number.
  package var serial: UInt32
  /// Frames before the music that the decoder delivers (Opus; 0 for Vorbis).
  package var preSkip: Int64
  /// The granule at which the stream begins: not 0 where it was cut out of a longer one; `nil` when it cannot be told.
  package var firstGranule: Int64?
  /// The last page's granule; `nil` when it was not found.
  package var lastGranule: Int64?
  /// Whether further links follow the first one: then the end applies to none of them, and is left open.
  package var isChained: Bool
  /// The part of the decoded frames that is music.
  package var trim: TrimRange
}

/// Reads the trim of an Ogg Opus (RFC 7845 §4) or Ogg Vorbis file.
package enum OggTrim {
  /// Reads the first stream of the codec (`opus` or `vorbis`) among those that begin at the start of the file; `nil`
  /// when there is none.
  package static func read(_ source: any ByteSource, codec: String) -> OggStreamInfo? {
    var reader = ByteReader(source, window: 8192, budget: 16 << 20)
    let streams = OggStream.all(&reader)
    guard let stream = streams.first(where: { $0.codec == codec && !codec.isEmpty }), let after = streams.last?.end
    else {
      return nil
    }
    let firstGranule = stream.firstGranule(from: after, &reader)
    var end = OggEnd(source, serial: stream.serial, serials: Set(streams.map(\.serial)), start: after)
    let lastGranule = end.lastGranule()
    let last = lastGranule.flatMap { last in firstGranule.map { last.subtractingClamped($0) } }
    let music = end.isChained ? nil : last.flatMap { $0 >= stream.preSkip ? $0 : nil }
    return OggStreamInfo(
      serial: stream.serial, preSkip: stream.preSkip, firstGranule: firstGranule, lastGranule: lastGranule,
      isChained: end.isChained,
      trim: codec == "opus"
        ? TrimRange(start: stream.preSkip, end: music, source: .opusHeader)
        : TrimRange(start: 0, end: music, source: music == nil ? .none : .vorbisGranule))
  }
}
