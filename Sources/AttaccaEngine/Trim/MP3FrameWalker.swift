/// Walks from frame to frame of an MP3, reading only their headers.
struct MP3FrameWalker: Sendable {
  /// The number of the next frame.
  private(set) var frame: Int64
  /// Where to look for the next frame: it starts there or behind other bytes.
  private(set) var offset: Int64

  /// The last frame that was passed before bytes that are none.
  private(set) var beforeGap: (frame: Int64, offset: Int64)?

  private let info: MP3StreamInfo
  private var lastOffset: Int64
  private var lastSize = 0
  private let stream: MP3FrameHeader
  private let sizes: MP3FrameSizes
  private let end: Int64?

  /// Makes a walker that finds `frame` at or behind `offset`.
  init(_ info: MP3StreamInfo, frame: Int64, offset: Int64) {
    self.frame = frame
    self.offset = offset
    self.info = info
    lastOffset = offset
    stream = info.header
    sizes = MP3FrameSizes(of: info.header)
    end = info.audioEnd
  }

  /// A place on the way, with what was known there: the frame passed last, by whose size a gap is judged.
  struct Place: Sendable {
    var frame: Int64
    var offset: Int64
    fileprivate var lastOffset: Int64
    fileprivate var lastSize: Int
  }

  /// Where the walk stands.
  var place: Place { Place(frame: frame, offset: offset, lastOffset: lastOffset, lastSize: lastSize) }

  /// The same walk, taken up at an earlier place: it goes on from there just as it did.
  func moved(to place: Place) -> MP3FrameWalker {
    var walker = self
    (walker.frame, walker.offset, walker.beforeGap) = (place.frame, place.offset, nil)
    (walker.lastOffset, walker.lastSize) = (place.lastOffset, place.lastSize)
    return walker
  }

  /// Walks over frames until `goal` is the next one, or one behind it: frames that were destroyed count too.
  ///
  /// - Returns: `false` when there are not so many; ``frame`` then is how many there are.
  mutating func walk(to goal: Int64, _ reader: inout ByteReader) -> Bool {
    while frame < goal {
      let before = frame
      passFrames(to: goal, &reader)
      guard frame == before else { continue }
      guard settle(&reader) else { return false }
      passFrames(to: goal, &reader)
      // A frame that was there a moment ago and is not now: the source fails, or gives now more bytes, now fewer.
      if frame == before { return false }
    }
    return true
  }

  /// Moves on to where the next frame starts, over bytes that are no frame; those count as the frames they were.
  ///
  /// - Returns: `false` when no whole frame follows.
  mutating func settle(_ reader: inout ByteReader) -> Bool {
    if let bits = reader.code(at: offset) {
      let size = sizes.size(bits)
      if size > 0, isWhole(size, &reader) { return true }
      let found = MP3FrameFinder.first(
        from: offset + 1, before: end ?? .max, end: end, stream: stream, &reader)
      if let found {
        let near = lastSize > 0 ? (lastSize + found.header.size) / 2 : found.header.size
        let lost = info.framesLost(from: offset, to: found.offset, near: near, before: frame, &reader)
        if lost > 0 {
          beforeGap = (max(0, frame - 1), lastOffset)
          frame += lost
        }
        offset = found.offset
        lastOffset = offset
        return true
      }
    }
    return false
  }

  private func isWhole(_ size: Int, _ reader: inout ByteReader) -> Bool {
    end.map { offset + Int64(size) <= $0 } ?? (reader.byte(at: offset + Int64(size) - 1) != nil)
  }

  /// The inner loop: frames that stand one behind the other in the reader's window.
  private mutating func passFrames(to goal: Int64, _ reader: inout ByteReader) {
    // Where the end is not known, only frames that are in the window as a whole are passed.
    guard reader.fill(at: offset, atLeast: end == nil ? MP3FrameFinder.lookAhead : 4) >= 4 else { return }
    let (start, room) = (offset, (end ?? .max) - offset)
    var (count, position, last) = (0, 0, 0)
    let wanted = Int(min(goal - frame, 1 << 30))
    let hasEnd = end != nil
    reader.withWindow(from: start) { bytes in
      while count < wanted, position + 4 <= bytes.count {
        let size = sizes.size(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
        // Where the end is not known, a frame that leaves the window is left to `settle` to look at.
        guard size > 0, hasEnd ? Int64(position + size) <= room : position + size <= bytes.count else { break }
        last = position
        position += size
        count += 1
      }
    }
    if count > 0 { (lastOffset, lastSize) = (start + Int64(last), position - last) }
    frame += Int64(count)
    offset = start + Int64(position)
  }
}
