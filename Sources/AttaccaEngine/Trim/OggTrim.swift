import AttaccaCore

/// What an Ogg file tells of its audio stream.
package struct OggStreamInfo: Sendable, Hashable {
  /// The stream's serial number.
  package var serial: UInt32
  /// The codec: `opus`, `vorbis`, `flac`, or empty.
  package var codec: String
  /// Frames before the music that the decoder delivers (Opus; 0 otherwise).
  package var preSkip: Int64
  /// The granule at which the stream begins: not 0 where it was cut out of a longer one; `nil` when it cannot be told.
  package var firstGranule: Int64?
  /// The number of the first page on which audio ends.
  package var firstAudioPage: UInt32?
  /// The last page's granule; `nil` when it was not found.
  package var lastGranule: Int64?
  /// Whether further links follow the first one: then the end applies to none of them, and is left open.
  package var isChained: Bool
  /// The part of the decoded frames that is music.
  package var trim: TrimRange

  /// The trim of a Vorbis or FLAC stream whose first decoded frame stands at granule `first`: only the set-up headers
  /// tell how long the first packets are. A stream cut out of a longer one begins there; frames before granule 0 are
  /// dropped (Vorbis I §A.2).
  package func trim(firstFrame first: Int64) -> TrimRange {
    let end = isChained ? nil : lastGranule?.subtractingClamped(first)
    let isSilent = codec != "vorbis" || end == nil && first >= 0
    return TrimRange(start: max(0, 0 - max(first, -(1 << 20))), end: end, source: isSilent ? .none : .vorbisGranule)
  }
}

/// Reads the trim of an Ogg Opus (RFC 7845 §4) or Ogg Vorbis file.
package enum OggTrim {
  /// Reads the first stream of the codec (`opus` or `vorbis`) among those that begin at the start of the file; `nil`
  /// when there is none.
  package static func read(_ source: any ByteSource, codec: String) -> OggStreamInfo? {
    guard codec == "opus" || codec == "vorbis" else { return nil }
    return read(source) { $0.codec == codec }
  }

  /// Reads the first audio stream whose codec is known here; `nil` when the bytes are no Ogg file or hold none.
  package static func read(_ source: any ByteSource) -> OggStreamInfo? { read(source) { !$0.codec.isEmpty } }

  private static func read(_ source: any ByteSource, where isWanted: (OggStream) -> Bool) -> OggStreamInfo? {
    var reader = ByteReader(source, window: 8192, budget: 16 << 20)
    let streams = OggStream.all(&reader)
    guard let stream = streams.first(where: isWanted), let after = streams.last?.end else { return nil }
    let first = stream.firstAudio(from: after, &reader)
    let firstGranule = stream.codec == "flac" ? 0 : first?.granule
    var end = OggEnd(source, serial: stream.serial, serials: Set(streams.map(\.serial)), start: after)
    let lastGranule = end.lastGranule()
    let last = lastGranule.flatMap { last in firstGranule.map { last.subtractingClamped($0) } }
    let music = end.isChained ? nil : last.flatMap { $0 >= stream.preSkip ? $0 : nil }
    let trim =
      switch stream.codec {
      case "opus": TrimRange(start: stream.preSkip, end: music, source: .opusHeader)
      case "vorbis": TrimRange(start: 0, end: music, source: music == nil ? .none : .vorbisGranule)
      default: TrimRange.none
      }
    return OggStreamInfo(
      serial: stream.serial, codec: stream.codec, preSkip: stream.preSkip, firstGranule: firstGranule,
      firstAudioPage: first?.sequence, lastGranule: lastGranule, isChained: end.isChained, trim: trim)
  }
}
