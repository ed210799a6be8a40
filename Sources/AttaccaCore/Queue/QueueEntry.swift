/// The identity of one place in a queue. The same item queued twice has two of them.
public struct EntryID: Sendable, Hashable, Codable, Comparable, CustomStringConvertible {
  /// The number behind the identity; never reused within a queue.
  public var rawValue: UInt64
  /// Makes an identity from its number.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
  /// Earlier made entries come first.
  public static func < (a: EntryID, b: EntryID) -> Bool { a.rawValue < b.rawValue }
  /// The number as text.
  public var description: String { String(rawValue) }
}

/// An item in a queue.
public struct QueueEntry: Sendable, Hashable, Identifiable {
  /// The entry's own identity.
  public let id: EntryID
  /// What it plays.
  public var item: MediaItem

  /// Makes an entry.
  public init(id: EntryID, item: MediaItem) {
    self.id = id
    self.item = item
  }
}
