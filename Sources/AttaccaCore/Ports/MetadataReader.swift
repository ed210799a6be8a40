/// Reads what a media is without playing it.
public protocol MetadataReader: Sendable {
  /// Opens `item`, reads its tags, format and duration, and closes it. Works on a thread of the reader's own.
  ///
  /// - Throws: ``MediaError`` with a `source.*` code.
  func read(_ item: MediaItem) async throws(MediaError) -> MediaInfo
}
