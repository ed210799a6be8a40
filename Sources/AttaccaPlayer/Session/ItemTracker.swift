import AttaccaCore

/// Follows the events to know what to call the current item, when that is known, and whether it was heard.
struct ItemTracker {
  /// What a face may want to say.
  enum Note: Equatable {
    /// The current item's tags are known: this is it.
    case opened(String)
    /// An item that was heard is not current any more.
    case left(String)
  }

  private var entry: QueueEntry?
  private var isPlaying = false
  private var isHeard = false
  private var isAnnounced = false
  /// What was learnt of the current item and those opened ahead; the oldest go first.
  private var infos: [(entry: EntryID, info: MediaInfo)] = []
  private static let kept = 8

  /// Takes an event; answers what is worth a line.
  mutating func handle(_ event: PlayerEvent) -> [Note] {
    switch event {
    case .itemDidChange(_, let now, let reason):
      // An item left at its natural end was heard, however short it was.
      if reason == .naturalEnd { isHeard = true }
      let left = leave()
      entry = reason == .endOfQueue ? nil : now
      // Without a gap the status does not change from item to item.
      isHeard = isPlaying
      return left + announce()
    case .metadataRead(let id, let info):
      infos.removeAll { $0.entry == id }
      infos.append((id, info))
      if infos.count > Self.kept { infos.removeFirst() }
      return announce()
    case .durationKnown(let id, let duration):
      if let index = infos.firstIndex(where: { $0.entry == id }) { infos[index].info.duration = duration }
    case .statusChanged(let status):
      isPlaying = status == .playing
      isHeard = isHeard || isPlaying
    case .playedToEnd: isHeard = true
    case .failed(let id?, _) where id == entry?.id: isAnnounced = true
    default: break
    }
    return []
  }

  /// The current item goes; answers its line if it was heard.
  mutating func leave() -> [Note] {
    defer { (entry, isHeard, isAnnounced) = (nil, false, false) }
    guard let entry, isHeard else { return [] }
    return [.left(itemLine(entry, info(of: entry.id)))]
  }

  private mutating func announce() -> [Note] {
    guard !isAnnounced, let entry, let info = info(of: entry.id) else { return [] }
    isAnnounced = true
    return [.opened(itemLine(entry, info))]
  }

  private func info(of id: EntryID) -> MediaInfo? { infos.last { $0.entry == id }?.info }
}

/// `artist – title (album) [3:21]`, without what is unknown.
func itemLine(_ entry: QueueEntry, _ info: MediaInfo?) -> String {
  var snapshot = PlayerSnapshot()
  snapshot.entry = entry
  snapshot.info = info
  var line = snapshot.artists.joined(separator: ", ")
  if !line.isEmpty { line += " – " }
  line += snapshot.title ?? entry.item.displayTitle
  if let album = snapshot.album { line += " (\(album))" }
  if let duration = info?.duration { line += " [\(formatTime(duration.value))]" }
  return line
}
