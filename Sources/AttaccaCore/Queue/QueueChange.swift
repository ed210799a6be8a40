/// One edit of a queue: enough to bring a list view up to date and to follow the current entry.
public struct QueueChange: Sendable, Hashable {
  /// What happened to the list order. Positions count from 0.
  public enum Kind: Sendable, Hashable {
    /// All entries are new (or gone); there are `count` now.
    case reset(count: Int)
    /// A block of entries was put in; the first of them is at position `at` now.
    case inserted(at: Int, ids: [EntryID])
    /// The entries at these positions of the list before the edit are gone; ascending, apart from each other.
    case removed([Range<Int>])
    /// An entry that was at position `from` is at `to` now.
    case moved(EntryID, from: Int, to: Int)
    /// An entry has another item now.
    case replaced(EntryID, at: Int)
  }

  /// The queue's revision after the edit.
  public var revision: UInt64
  /// What happened to the list order.
  public var kind: Kind
  /// The current entry before the edit.
  public var currentBefore: EntryID?
  /// The current entry after the edit.
  public var currentAfter: EntryID?
  /// Whether the entry that was current is gone: the only way an edit changes which one is.
  public var currentWasRemoved: Bool
  /// If the current entry was removed while others stayed: the one of those that follows it in the play order,
  /// `nil` at the end. It is current now; whether it plays is the caller's to decide.
  public var follower: EntryID?

  /// Makes a change.
  public init(
    revision: UInt64, kind: Kind, currentBefore: EntryID?, currentAfter: EntryID?, currentWasRemoved: Bool = false,
    follower: EntryID? = nil
  ) {
    self.revision = revision
    self.kind = kind
    self.currentBefore = currentBefore
    self.currentAfter = currentAfter
    self.currentWasRemoved = currentWasRemoved
    self.follower = follower
  }
}
