/// What one read from a ``ByteSource`` brought.
public enum ByteRead: Sendable, Equatable {
  /// This many bytes (at least one) were stored.
  case bytes(Int)
  /// Nothing is there yet; ask again later. A file never answers this.
  case pending
  /// The position is at or behind the end.
  case end
  /// Reading is impossible; asking again will not help.
  case failed(MediaError)
}

/// The only way media bytes reach a demuxer or a tag parser.
///
/// Reading is positional and synchronous, so a source holds no cursor and several readers may share it. It is called
/// on the engine's own thread, never on Swift's cooperative pool.
public protocol ByteSource: AnyObject, Sendable {
  /// The whole length in bytes; `nil` when the source cannot know it (a live stream, a chunked response).
  var length: Int64? { get }

  /// Whether a read at an arbitrary position costs about the same as one that goes on.
  var isSeekable: Bool { get }

  /// Reads up to `buffer.count` bytes from `offset` (in bytes, from the start) into `buffer`.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> ByteRead

  /// After `pending`: returns once a read at `offset` may bring something else, or the source was cancelled.
  func waitForBytes(at offset: Int64)

  /// Makes a read or a wait under way, and every later one, return promptly; reads fail from then on. May be called from any thread.
  func cancel()
}

/// Opens the bytes behind an item's locator.
public protocol ByteSourceProvider: Sendable {
  /// Opens `item`; blocking is allowed, since this is called on the engine's thread.
  ///
  /// - Throws: ``MediaError`` with a `source.*` code.
  func open(_ item: MediaItem) throws(MediaError) -> any ByteSource
}
