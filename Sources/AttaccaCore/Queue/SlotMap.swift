/// Where the entry of each identity is stored.
///
/// Identities are handed out increasing, so a table addressed by them needs no hashing: 4 bytes per identity, in pages
/// that are given back when the last identity in them is gone.
struct SlotMap: Sendable {
  private static let shift: UInt64 = 8
  private static let pageSize = 1 << Int(shift)

  private struct Page: Sendable {
    var slots: ContiguousArray<Int32> = []
    var live = 0
  }

  private let base: UInt64
  private var pages: ContiguousArray<Page> = []

  /// An empty map for identities from `base` on.
  init(base: UInt64) { self.base = base }

  /// The slot of an identity, `nil` when it is not (or no longer) in the map; constant time.
  subscript(id: EntryID) -> Int32? {
    guard id.rawValue >= base else { return nil }
    let offset = id.rawValue - base
    guard offset >> Self.shift < UInt64(pages.count) else { return nil }
    let page = pages[Int(offset >> Self.shift)].slots
    guard !page.isEmpty else { return nil }
    let slot = page[Int(offset) & (Self.pageSize - 1)]
    return slot >= 0 ? slot : nil
  }

  /// Adds an identity that is not in the map; not below the base.
  mutating func insert(_ id: EntryID, slot: Int32) {
    let offset = Int(id.rawValue - base)
    let page = offset >> Int(Self.shift)
    while pages.count <= page { pages.append(Page()) }
    if pages[page].slots.isEmpty { pages[page].slots = ContiguousArray(repeating: -1, count: Self.pageSize) }
    pages[page].slots[offset & (Self.pageSize - 1)] = slot
    pages[page].live += 1
  }

  /// Takes out an identity that is in the map.
  mutating func remove(_ id: EntryID) {
    let offset = Int(id.rawValue - base)
    let page = offset >> Int(Self.shift)
    pages[page].live -= 1
    if pages[page].live == 0 {
      pages[page].slots = []
    } else {
      pages[page].slots[offset & (Self.pageSize - 1)] = -1
    }
  }
}
