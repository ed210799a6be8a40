extension MediaInfo {
  /// What the tags say of the loudness, in decibels to −18 LUFS whatever the tags are relative to.
  public var loudness: LoudnessTags { LoudnessTags(metadata, codec: codec) }
}
