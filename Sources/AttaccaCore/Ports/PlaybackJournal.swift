/// Something worth remembering, in the order it happened. Positions are media time.
public struct JournalRecord: Sendable, Hashable {
  /// Why it is recorded.
  public enum Reason: String, Sendable, Hashable, Codable {
    case started, paused, seeked, switched, ended, stopped, shutdown
  }
  /// Why it is recorded.
  public var reason: Reason
  /// The queue entry.
  public var entry: EntryID
  /// The media.
  public var media: MediaID
  /// Where it stood.
  public var position: Duration
  /// When it was recorded.
  public var time: PlayerTime

  /// Makes a record.
  public init(reason: Reason, entry: EntryID, media: MediaID, position: Duration, time: PlayerTime) {
    self.reason = reason
    self.entry = entry
    self.media = media
    self.position = position
    self.time = time
  }
}

/// Takes the player's records to where they last. Returns at once; writing happens elsewhere.
public protocol PlaybackJournal: Sendable {
  /// Takes one record. Items that were never loaded never get here.
  func record(_ record: JournalRecord)
}
