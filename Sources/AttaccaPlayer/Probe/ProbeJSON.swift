import AttaccaCore

/// What a file is, as `probe --json` prints it: one object, its members as attacca(1) lists them. Times are integer
/// microseconds.
func probeJSON(_ locator: Locator, _ info: MediaInfo) -> JSONValue {
  .object([
    ("uri", .string(locator.uri)), ("format", .string(info.container)), ("codec", .string(info.codec)),
    ("sampleRate", .int(info.sampleRate)), ("channels", .int(info.channels)),
    ("bitsPerSample", info.bitsPerSample.map { .int($0) } ?? .null),
    ("duration", .microseconds(info.duration?.value)),
    ("confidence", .optional(info.duration?.confidence.rawValue)), ("isSeekable", .bool(info.isSeekable)),
    ("tracks", .array(info.audioTracks.map { object($0, isPlayed: $0.index == info.audioTrack) })),
    ("trim", info.trim.map(object) ?? .null), ("tags", tags(info.metadata)),
    ("gains", object(info.loudness)),
    ("chapters", .array(info.chapters.normalizedChapters(duration: info.duration?.value).map(object))),
    ("rawChapters", .array(info.chapters.map(object))), ("cover", info.artwork.map(object) ?? .null),
    (
      "warnings",
      .array(
        info.warnings.map { .object([("code", .string($0.code.rawValue)), ("text", .string($0.text))]) })
    ),
  ])
}

/// What could not be read, as `probe --json` prints it. What was not even found has no `uri`.
func probeJSON(_ locator: Locator?, _ error: MediaError) -> JSONValue {
  .object([
    ("uri", .optional(locator?.uri)),
    (
      "error",
      .object([
        ("code", .string(error.code.rawValue)), ("subject", .string(error.subject)),
        ("reason", .string(error.reason)),
      ])
    ),
  ])
}

private func object(_ track: AudioTrack, isPlayed: Bool) -> JSONValue {
  .object([
    ("index", .int(track.index)), ("codec", .string(track.codec)),
    ("channels", track.channels > 0 ? .int(track.channels) : .null), ("language", .optional(track.language)),
    ("title", .optional(track.title)), ("isDefault", .bool(track.isDefault)),
    ("isPlayable", .bool(track.isPlayable)), ("isPlayed", .bool(isPlayed)),
  ])
}

private func object(_ trim: TrimInfo) -> JSONValue {
  .object([
    ("start", .int(trim.start)), ("end", trim.end.map { .int($0) } ?? .null), ("source", .string(trim.source)),
  ])
}

private func object(_ chapter: Chapter) -> JSONValue {
  .object([
    ("start", .microseconds(chapter.start)), ("end", .microseconds(chapter.end)), ("title", .optional(chapter.title)),
  ])
}

private func object(_ artwork: Artwork) -> JSONValue {
  .object([
    ("mime", .string(artwork.mime)), ("size", .int(artwork.byteCount)), ("width", .int(artwork.width)),
    ("height", .int(artwork.height)),
  ])
}

/// Decibels with two places, peaks with six; `null` when the tags say nothing.
private func object(_ loudness: LoudnessTags) -> JSONValue {
  guard loudness != LoudnessTags() else { return .null }
  func decimal(_ value: Double?, places: Int, scale: Double) -> JSONValue {
    // The tags' parser lets nothing through that does not fit.
    guard let value, let scaled = Int64(exactly: (value * scale).rounded()) else { return .null }
    return .decimal(scaled, places: places)
  }
  return .object([
    ("source", .optional(loudness.source?.rawValue)),
    ("trackGain", decimal(loudness.trackGain, places: 2, scale: 100)),
    ("trackPeak", decimal(loudness.trackPeak, places: 6, scale: 1_000_000)),
    ("albumGain", decimal(loudness.albumGain, places: 2, scale: 100)),
    ("albumPeak", decimal(loudness.albumPeak, places: 6, scale: 1_000_000)),
  ])
}

/// The texts of each tag, in order.
private func tags(_ metadata: [MetadataItem]) -> JSONValue {
  var names: [String] = []
  for item in metadata where item.text != nil && !names.contains(item.id) { names.append(item.id) }
  return .object(names.map { name in (name, .array(metadata.texts(name).map { .string($0) })) })
}
