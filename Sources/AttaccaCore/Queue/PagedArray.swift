/// An array in pages that are shared between copies until one of them writes.
///
/// A copy of the whole is one retain. The first write after a copy duplicates the page it touches and the table of
/// pages, not the contents, so that a queue held elsewhere never makes an edit linear.
struct PagedArray<Element> {
  private static var shift: Int { 8 }
  private static var mask: Int { (1 << shift) - 1 }

  private var pages: ContiguousArray<ContiguousArray<Element>> = []
  private(set) var count = 0

  init() {}

  /// `count` times the same element.
  init(repeating element: Element, count: Int) {
    reserve(count)
    let page = ContiguousArray(repeating: element, count: Self.mask + 1)
    for _ in 0..<(count >> Self.shift) { pages.append(page) }
    let rest = count & Self.mask
    if rest > 0 { pages.append(ContiguousArray(repeating: element, count: rest)) }
    self.count = count
  }

  /// Makes room for `total` elements in all.
  mutating func reserve(_ total: Int) { pages.reserveCapacity((total + Self.mask) >> Self.shift) }

  /// Adds at the end, in amortised constant time.
  mutating func append(_ element: Element) {
    if count & Self.mask == 0 {
      var page: ContiguousArray<Element> = []
      // The first page grows by doubling, so that a short queue stays small.
      if count > 0 { page.reserveCapacity(Self.mask + 1) }
      pages.append(page)
    }
    pages[count >> Self.shift].append(element)
    count += 1
  }

  /// Constant time; a write to a shared page copies that page.
  subscript(index: Int) -> Element {
    @inline(__always) get { pages[index >> Self.shift][index & Self.mask] }
    @inline(__always) _modify { yield &pages[index >> Self.shift][index & Self.mask] }
  }
}

extension PagedArray: Sendable where Element: Sendable {}
