import AttaccaCore

/// One box of an MP4 file (ISO/IEC 14496-12 §4.2).
package struct MP4Box: Sendable, Hashable {
  /// The box's four-character code.
  package var type: UInt32
  /// Offset of its content.
  package var start: Int64
  /// Offset behind its content: never more than its parent's.
  package var end: Int64
}

/// Walks over the boxes of an MP4 file.
struct MP4BoxReader {
  var bytes: ByteReader
  /// Hostile files are full of tiny boxes; real ones have a few hundred outside of their media.
  private var boxesLeft = 100_000

  init(_ source: any ByteSource) { bytes = ByteReader(source, window: 4096, budget: 64 << 20) }

  /// Calls `visit` with each box between two offsets until it answers `false`.
  mutating func forEachBox(from start: Int64, to limit: Int64, _ visit: (inout MP4BoxReader, MP4Box) -> Bool) {
    var position = start
    while boxesLeft > 0, let box = box(at: position, limit: limit) {
      boxesLeft -= 1
      guard visit(&self, box) else { return }
      position = box.end
    }
  }

  /// The content of the first box of `type` between two offsets.
  mutating func first(_ type: StaticString, in parent: MP4Box) -> MP4Box? {
    let code = fourCC(type)
    var found: MP4Box?
    forEachBox(from: parent.start, to: parent.end) { _, box in
      if box.type == code { found = box }
      return found == nil
    }
    return found
  }

  /// The box at the end of a path of types below `parent`.
  mutating func first(_ path: [StaticString], in parent: MP4Box) -> MP4Box? {
    var box = parent
    for type in path {
      guard let child = first(type, in: box) else { return nil }
      box = child
    }
    return box
  }

  private mutating func box(at offset: Int64, limit: Int64) -> MP4Box? {
    guard offset <= limit - 8, let size = bytes.code(at: offset), let type = bytes.code(at: offset + 4) else {
      return nil
    }
    var start = offset + 8
    var end = offset + Int64(size)
    if size == 0 {
      end = limit
    } else if size == 1 {
      guard let large = bytes.big(at: offset + 8, bytes: 8), large <= UInt64(Int64.max) else { return nil }
      start += 8
      end = offset.addingClamped(Int64(large))
    }
    guard end >= start else { return nil }
    return MP4Box(type: type, start: min(start, limit), end: min(end, limit))
  }
}
