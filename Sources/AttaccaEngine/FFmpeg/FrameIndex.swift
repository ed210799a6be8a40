import AttaccaCore

/// Where the frames of a bare stream begin, found by walking from header to header, as far as it is asked.
///
/// Bytes that are no frame are stepped over, as in the demuxer.
struct FrameIndex {
  /// The byte of the first frame.
  let start: Int64
  let syntax: FrameSyntax
  /// Marks are this many decoded frames or more apart.
  private static let stride: Int64 = 32_768
  /// Bytes that are no frame after which the search is given up: this is no audio any more.
  private static let patience: Int64 = 1 << 20
  /// What is left of the bytes that may be searched in all, so that no file is searched for minutes.
  private var patienceLeft: Int64 = 32 << 20
  private var marks: [(raw: Int64, offset: Int64)]
  /// How far the walk has come.
  private var front: (raw: Int64, offset: Int64)
  private var isComplete = false

  init(_ syntax: FrameSyntax, start: Int64) {
    self.syntax = syntax
    self.start = max(0, start)
    front = (0, self.start)
    marks = [front]
  }

  /// The frame that `raw` is in, or the last one before, where the file is too short.
  mutating func place(ofRaw raw: Int64, in source: any ByteSource) -> (raw: Int64, offset: Int64)? {
    var reader = ByteReader(source, window: 128 << 10, budget: .max)
    while front.raw <= raw, !isComplete {
      guard let next = next(after: front, &reader) else {
        isComplete = !reader.isInterrupted
        break
      }
      front = next
      if let last = marks.last, next.raw - last.raw >= Self.stride { marks.append(next) }
    }
    // The way from the last mark may be searched once more.
    patienceLeft = max(patienceLeft, 8 << 20)
    // A mark at the very end has no frame behind it; then it is one from the mark before.
    for mark in marks.lazy.filter({ $0.raw <= raw }).suffix(2).reversed() {
      if let found = walk(from: mark, to: raw, &reader) { return found }
    }
    return nil
  }

  /// The frame that `raw` is in: where it begins itself, behind what is no frame and what belongs to the one before.
  private mutating func walk(
    from mark: (raw: Int64, offset: Int64), to raw: Int64, _ reader: inout ByteReader
  ) -> (raw: Int64, offset: Int64)? {
    var place = mark
    var found: (raw: Int64, offset: Int64)?
    while place.raw <= raw, let frame = settle(&place.offset, &reader) {
      if frame.samples > 0 { found = place }
      place = (place.raw + frame.samples, place.offset + Int64(frame.size))
    }
    return found
  }

  /// How many decoded frames the whole file may hold, by the mean of its first seconds.
  mutating func estimate(_ source: any ByteSource) -> Int64? {
    guard let length = source.length, length > start else { return nil }
    _ = place(ofRaw: 500_000, in: source)
    guard front.offset > start else { return nil }
    return isComplete ? front.raw : front.raw.scaled(by: length - start, over: front.offset - start)
  }

  /// The decoded frames of all frames in a packet.
  func samples(in bytes: UnsafeRawBufferPointer) -> Int64 {
    var (sum, rest): (Int64, UnsafeRawBufferPointer) = (0, bytes)
    while let frame = syntax.frame(rest) {
      sum += frame.samples
      guard frame.size < rest.count else { break }
      rest = UnsafeRawBufferPointer(rebasing: rest[frame.size...])
    }
    return sum
  }

  private mutating func next(
    after place: (raw: Int64, offset: Int64), _ reader: inout ByteReader
  ) -> (raw: Int64, offset: Int64)? {
    var offset = place.offset
    guard let frame = settle(&offset, &reader) else { return nil }
    return (place.raw + frame.samples, offset + Int64(frame.size))
  }

  /// The next frame at or behind `offset`, which is moved to it.
  mutating func settle(_ offset: inout Int64, _ reader: inout ByteReader) -> FrameSyntax.Frame? {
    if let frame = frame(at: offset, &reader) { return frame }
    // Elsewhere bytes that look like a frame count only when another one follows.
    let start = offset
    var position = offset + 1
    let limit = position + min(Self.patience, patienceLeft)
    defer { patienceLeft -= position - start }
    while position < limit {
      let available = reader.fill(at: position, atLeast: FrameSyntax.headerSize)
      guard available > 8 else { return nil }
      let candidate = reader.withWindow(from: position) { bytes in
        bytes.dropLast(8).firstIndex { syntax.canBegin(with: $0) }
      }
      guard let candidate else {
        position += Int64(available - 8)
        continue
      }
      position += Int64(candidate)
      if let frame = frame(at: position, &reader),
        self.frame(at: position + Int64(frame.size), &reader) != nil
          || reader.fill(at: position + Int64(frame.size), atLeast: 1) == 0
      {
        offset = position
        return frame
      }
      position += 1
    }
    return nil
  }

  func frame(at offset: Int64, _ reader: inout ByteReader) -> FrameSyntax.Frame? {
    guard reader.fill(at: offset, atLeast: FrameSyntax.headerSize) >= 8 else { return nil }
    return reader.withWindow(from: offset) { syntax.frame($0) }
  }
}
