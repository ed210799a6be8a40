/// What is to be played: a list of entries in the order the user sees, and a *play order* beside it.
///
/// A value. Copying it is O(1), and an edit after a copy duplicates the few pages it touches, so a snapshot costs
/// next to nothing. Unless said otherwise a call is O(log n) in the number of entries; about 32 bytes are spent per
/// entry besides the item itself, 16 more while the play order differs from the list order.
///
/// An entry is known by its ``EntryID``, handed out increasing and never used again by the same queue. An edit never
/// changes which entry is current, unless it removes that one.
public struct PlayQueue: Sendable {
  /// What follows at the end; changing it moves nothing.
  public var repeatMode = RepeatMode.off
  /// The entry that is, or would be, heard.
  public internal(set) var currentID: EntryID?
  /// Grows with each edit.
  public internal(set) var revision: UInt64 = 0

  // Both orders are of slots, the places in `entries`; a slot is used again once its entry is removed.
  var entries = PagedArray<QueueEntry?>()
  var freeSlots: ContiguousArray<Int32> = []
  var nextID: UInt64 = 1
  var slots = SlotMap(base: 1)
  var list = OrderTree()
  /// The play order; `nil` while it equals the list order.
  var play: OrderTree?

  /// An empty queue with nothing current.
  public init() {}

  // MARK: The list order

  /// The number of entries; O(1).
  public var count: Int { list.count }
  /// Whether there are no entries; O(1).
  public var isEmpty: Bool { count == 0 }
  /// The current entry; O(1).
  public var current: QueueEntry? { currentID.flatMap { self[$0] } }

  /// The entry with this identity, `nil` when it is not in the queue; O(1).
  public subscript(id: EntryID) -> QueueEntry? { slots[id].flatMap { entries[Int($0)] } }

  /// The entry at a position of the list order, `nil` outside.
  public func entry(at index: Int) -> QueueEntry? { entry(at: index, in: list) }

  /// The position of an entry in the list order.
  public func index(of id: EntryID) -> Int? { slots[id].map { list.position(of: $0) } }

  /// The entries at these positions of the list order, as far as there are any; O(log n + number of entries).
  public func entries(in range: Range<Int>) -> [QueueEntry] {
    let range = range.clamped(to: 0..<count)
    var result: [QueueEntry] = []
    guard !range.isEmpty else { return result }
    result.reserveCapacity(range.count)
    var slot = list.slot(at: range.lowerBound)
    while slot != OrderTree.none, result.count < range.count {
      if let entry = entries[Int(slot)] { result.append(entry) }
      slot = list.next(after: slot)
    }
    return result
  }

  // MARK: The play order

  /// The entry at a position of the play order, `nil` outside.
  public func playEntry(at index: Int) -> QueueEntry? { entry(at: index, in: playOrder) }

  /// The position of an entry in the play order.
  public func playIndex(of id: EntryID) -> Int? { slots[id].map { playOrder.position(of: $0) } }

  /// Whether the play order differs from the list order (shuffle).
  public var isPlayOrderDifferent: Bool { play != nil }

  /// The entry the play order begins with.
  public var firstInPlayOrder: QueueEntry? { entry(in: playOrder.first) }

  /// Makes `ids` the play order, or the list order the play order again (`nil`); what is current stays so, and no edit
  /// is counted. O(n).
  ///
  /// - Returns: `false`, and nothing is changed, if `ids` are not exactly the queue's entries.
  @discardableResult
  mutating func setPlayOrder(_ ids: [EntryID]?) -> Bool {
    guard let ids else {
      play = nil
      return true
    }
    guard ids.count == count else { return false }
    var order: ContiguousArray<Int32> = []
    order.reserveCapacity(ids.count)
    var isTaken = ContiguousArray(repeating: false, count: entries.count)
    for id in ids {
      guard let slot = slots[id], !isTaken[Int(slot)] else { return false }
      isTaken[Int(slot)] = true
      order.append(slot)
    }
    play = OrderTree(order, capacity: entries.count)
    return true
  }

  // MARK: Inside

  var playOrder: OrderTree { play ?? list }

  /// The entry in a slot, `nil` for no slot.
  func entry(in slot: Int32) -> QueueEntry? { slot == OrderTree.none ? nil : entries[Int(slot)] }

  private func entry(at index: Int, in order: OrderTree) -> QueueEntry? {
    (0..<order.count).contains(index) ? entry(in: order.slot(at: index)) : nil
  }
}
