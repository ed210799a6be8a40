/// An order of slots: a weight-balanced tree that counts, in which a slot is found by its position and a position by
/// its slot, both in O(log n).
///
/// The nodes are addressed by slot and lie in pages, 16 bytes each. Balance is that of Adams with ∆ = 3, Γ = 2, as
/// proved by Hirai and Yamamoto ("Balancing weight-balanced trees", 2011); every change is made of `split` and `link`.
struct OrderTree: Sendable {
  private struct Node: Sendable {
    var left: Int32 = none
    var right: Int32 = none
    var parent: Int32 = none
    var count: Int32 = 0
  }

  /// No slot.
  static let none: Int32 = -1
  private var nodes = PagedArray<Node>()
  private var root = none

  init() {}

  /// The order given by `slots`, each of them below `capacity` and there once; O(n).
  init(_ slots: ContiguousArray<Int32>, capacity: Int) {
    nodes = PagedArray(repeating: Node(), count: capacity)
    root = build(slots)
  }

  /// The number of slots in the order.
  var count: Int { Int(size(root)) }

  // MARK: Finding

  /// The slot at a position, which must be in `0 ..< count`; O(log n).
  func slot(at position: Int) -> Int32 {
    var tree = root
    var position = Int32(position)
    while true {
      let node = nodes[Int(tree)]
      let before = size(node.left)
      if position == before { return tree }
      if position < before {
        tree = node.left
      } else {
        position -= before + 1
        tree = node.right
      }
    }
  }

  /// The position of a slot of this order; O(log n).
  func position(of slot: Int32) -> Int {
    var node = nodes[Int(slot)]
    var position = size(node.left)
    var child = slot
    while node.parent != Self.none {
      let parent = nodes[Int(node.parent)]
      if parent.right == child { position += size(parent.left) + 1 }
      child = node.parent
      node = parent
    }
    return Int(position)
  }

  /// The slot after this one, or `none`; O(log n), over a run of slots O(1) each.
  func next(after slot: Int32) -> Int32 {
    var node = nodes[Int(slot)]
    if node.right != Self.none { return leftmost(node.right) }
    var child = slot
    while node.parent != Self.none {
      let parent = node.parent
      node = nodes[Int(parent)]
      if node.left == child { return parent }
      child = parent
    }
    return Self.none
  }

  /// The slot before this one, or `none`; O(log n), over a run of slots O(1) each.
  func previous(before slot: Int32) -> Int32 {
    var node = nodes[Int(slot)]
    if node.left != Self.none { return rightmost(node.left) }
    var child = slot
    while node.parent != Self.none {
      let parent = node.parent
      node = nodes[Int(parent)]
      if node.right == child { return parent }
      child = parent
    }
    return Self.none
  }

  /// The first slot, or `none`; O(log n).
  var first: Int32 { root == Self.none ? root : leftmost(root) }
  /// The last slot, or `none`; O(log n).
  var last: Int32 { root == Self.none ? root : rightmost(root) }

  // MARK: Changing

  /// Puts slots that are not in the order before the one now at `position` (`0 ... count`), as one block;
  /// O(log n + number of slots).
  mutating func insert(_ slots: ContiguousArray<Int32>, at position: Int) {
    guard let highest = slots.max() else { return }
    while nodes.count <= Int(highest) { nodes.append(Node()) }
    let block = build(slots)
    let (before, after) = split(root, at: Int32(position))
    setRoot(join(join(before, block), after))
  }

  /// Takes a slot out; O(log n).
  mutating func remove(_ slot: Int32) {
    let (before, rest) = split(root, at: Int32(position(of: slot)))
    let (_, after) = split(rest, at: 1)
    setRoot(join(before, after))
  }

  /// Puts a slot of the order where it then is at `position` (`0 ..< count`); O(log n).
  mutating func move(_ slot: Int32, to position: Int) {
    remove(slot)
    insert([slot], at: position)
  }

  /// The order without the slots that do not pass; O(n).
  func filtered(_ passes: (Int32) -> Bool) -> OrderTree {
    var slots: ContiguousArray<Int32> = []
    var slot = first
    while slot != Self.none {
      if passes(slot) { slots.append(slot) }
      slot = next(after: slot)
    }
    return OrderTree(slots, capacity: nodes.count)
  }

  // MARK: The tree

  @inline(__always) private func size(_ tree: Int32) -> Int32 { tree == Self.none ? 0 : nodes[Int(tree)].count }

  private func leftmost(_ tree: Int32) -> Int32 {
    var tree = tree
    while case let child = nodes[Int(tree)].left, child != Self.none { tree = child }
    return tree
  }

  private func rightmost(_ tree: Int32) -> Int32 {
    var tree = tree
    while case let child = nodes[Int(tree)].right, child != Self.none { tree = child }
    return tree
  }

  private mutating func setRoot(_ tree: Int32) {
    root = tree
    if tree != Self.none { nodes[Int(tree)].parent = Self.none }
  }

  /// A perfectly balanced tree; each node is written once, which counts when a million of them are in random order.
  private mutating func build(_ slots: ContiguousArray<Int32>) -> Int32 {
    func middle(_ low: Int, _ high: Int) -> Int32 { low < high ? slots[(low + high) / 2] : Self.none }
    func build(_ low: Int, _ high: Int, _ parent: Int32, _ nodes: inout PagedArray<Node>) {
      guard low < high else { return }
      let at = (low + high) / 2
      let slot = slots[at]
      nodes[Int(slot)] = Node(
        left: middle(low, at), right: middle(at + 1, high), parent: parent, count: Int32(high - low))
      build(low, at, slot, &nodes)
      build(at + 1, high, slot, &nodes)
    }
    build(0, slots.count, Self.none, &nodes)
    return middle(0, slots.count)
  }

  /// Makes `tree` the root of two trees that balance each other.
  private mutating func bind(_ left: Int32, _ tree: Int32, _ right: Int32) -> Int32 {
    nodes[Int(tree)] = Node(left: left, right: right, parent: Self.none, count: size(left) + size(right) + 1)
    if left != Self.none { nodes[Int(left)].parent = tree }
    if right != Self.none { nodes[Int(right)].parent = tree }
    return tree
  }

  /// Whether a side with this many slots is too heavy for the other.
  private func outweighs(_ heavy: Int32, _ light: Int32) -> Bool {
    Int(heavy) + Int(light) > 1 && Int(heavy) > 3 * Int(light)
  }

  /// As `bind`, for two trees of which one has become too heavy by one step.
  private mutating func balance(_ left: Int32, _ tree: Int32, _ right: Int32) -> Int32 {
    if outweighs(size(right), size(left)) {
      let node = nodes[Int(right)]
      if size(node.left) < 2 * size(node.right) {
        return bind(bind(left, tree, node.left), right, node.right)
      }
      let inner = nodes[Int(node.left)]
      return bind(bind(left, tree, inner.left), node.left, bind(inner.right, right, node.right))
    }
    if outweighs(size(left), size(right)) {
      let node = nodes[Int(left)]
      if size(node.right) < 2 * size(node.left) {
        return bind(node.left, left, bind(node.right, tree, right))
      }
      let inner = nodes[Int(node.right)]
      return bind(bind(node.left, left, inner.left), node.right, bind(inner.right, tree, right))
    }
    return bind(left, tree, right)
  }

  /// One tree of two of any size with a slot between them.
  private mutating func link(_ left: Int32, _ middle: Int32, _ right: Int32) -> Int32 {
    if outweighs(size(right), size(left)) {
      let node = nodes[Int(right)]
      return balance(link(left, middle, node.left), right, node.right)
    }
    if outweighs(size(left), size(right)) {
      let node = nodes[Int(left)]
      return balance(node.left, left, link(node.right, middle, right))
    }
    return bind(left, middle, right)
  }

  /// One tree of two of any size.
  private mutating func join(_ left: Int32, _ right: Int32) -> Int32 {
    if left == Self.none { return right }
    if right == Self.none { return left }
    let (first, rest) = split(right, at: 1)
    return link(left, first, rest)
  }

  /// The first `count` slots of a tree and the others.
  private mutating func split(_ tree: Int32, at count: Int32) -> (Int32, Int32) {
    if tree == Self.none { return (Self.none, Self.none) }
    let node = nodes[Int(tree)]
    let before = size(node.left)
    if count <= before {
      let (low, high) = split(node.left, at: count)
      return (low, link(high, tree, node.right))
    }
    let (low, high) = split(node.right, at: count - before - 1)
    return (link(node.left, tree, low), high)
  }
}

extension OrderTree {
  /// Whether every link, count and weight of the tree is right, and its depth; for tests. O(n).
  func audit() -> (isSound: Bool, depth: Int) {
    var isSound = true
    func visit(_ tree: Int32, _ parent: Int32) -> (count: Int32, depth: Int) {
      guard tree != Self.none else { return (0, 0) }
      let node = nodes[Int(tree)]
      let (left, right) = (visit(node.left, tree), visit(node.right, tree))
      if node.parent != parent || node.count != left.count + right.count + 1 { isSound = false }
      if outweighs(left.count, right.count) || outweighs(right.count, left.count) { isSound = false }
      return (left.count + right.count + 1, max(left.depth, right.depth) + 1)
    }
    let depth = visit(root, Self.none).depth
    return (isSound, depth)
  }
}
