/// Why another entry became current.
public enum ItemChangeReason: String, Sendable, Hashable, Codable {
  /// The queue was started or replaced.
  case started
  /// The item before it was heard to its end.
  case naturalEnd
  /// The user went to it.
  case command
  /// The current entry was removed, or given another item.
  case edited
  /// The item before it could not be played.
  case failed
  /// The queue came to its end and stands at its beginning.
  case endOfQueue
}

/// What happened, once and in order. The one table of events: the library, golden tests and `--json` use it.
public enum PlayerEvent: Sendable, Hashable {
  /// Another entry is about to become current.
  case itemWillChange(now: EntryID?, new: EntryID?)
  /// Another entry is current.
  case itemDidChange(last: EntryID?, now: QueueEntry?, reason: ItemChangeReason)
  /// The media was opened and its tags read.
  case metadataRead(EntryID, MediaInfo)
  /// The duration became known, or better known.
  case durationKnown(EntryID, MediaDuration)
  /// The status changed.
  case statusChanged(PlayerStatus)
  /// A seek ended.
  case seekEnded(EntryID?, SeekOutcome)
  /// An item was heard to its end; `isLast` when nothing follows.
  case playedToEnd(EntryID, isLast: Bool)
  /// The queue was edited.
  case queueChanged(QueueChange)
  /// An item could not be played (and was skipped), or, without an entry, playing as a whole failed.
  case failed(EntryID?, MediaError)
  /// Sound now leaves through this output.
  case outputChanged(OutputInfo)
  /// A consumer was too slow and events were dropped: read the snapshot afresh.
  case resync

  /// The event's stable name, as in `--json`.
  public var name: String {
    switch self {
    case .itemWillChange: "itemWillChange"
    case .itemDidChange: "itemDidChange"
    case .metadataRead: "metadataRead"
    case .durationKnown: "durationKnown"
    case .statusChanged: "statusChanged"
    case .seekEnded: "seekEnded"
    case .playedToEnd: "playedToEnd"
    case .queueChanged: "queueChanged"
    case .failed: "failed"
    case .outputChanged: "outputChanged"
    case .resync: "resync"
    }
  }
}
