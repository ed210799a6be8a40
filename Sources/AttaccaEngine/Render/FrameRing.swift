import Glibc

/// A ring of interleaved float frames addressed by absolute index.
///
/// `@unchecked Sendable`: the ring itself holds no indices. Its user keeps `floor ≤ end ≤ floor + capacity` under a lock,
/// reads only `floor ..< end`, and lets exactly one thread write, only at `end ..< floor + capacity`; what is written
/// becomes readable by publishing a new `end` under that lock. So no frame is ever read and written at once.
final class FrameRing: @unchecked Sendable {
  let channels: Int
  /// Frames it can hold.
  let capacity: Int
  private let samples: UnsafeMutablePointer<Float>

  /// Makes a ring; `nil` when out of memory. Pages are not touched before they are used.
  init?(capacity: Int, channels: Int) {
    self.capacity = max(1, capacity)
    self.channels = max(1, channels)
    guard let memory = calloc(self.capacity * self.channels, MemoryLayout<Float>.stride) else { return nil }
    samples = memory.bindMemory(to: Float.self, capacity: self.capacity * self.channels)
  }

  deinit { free(samples) }

  /// Copies whole frames of `source` to `index` on.
  func write(_ source: UnsafeBufferPointer<Float>, at index: Int64) {
    forEachPart(index, count: source.count / channels) { place, done, count in
      guard let from = source.baseAddress else { return }
      (samples + place * channels).update(from: from + done * channels, count: count * channels)
    }
  }

  /// Copies `count` frames from `index` on to `target`.
  func read(into target: UnsafeMutablePointer<Float>, from index: Int64, count: Int) {
    forEachPart(index, count: count) { place, done, count in
      (target + done * channels).update(from: samples + place * channels, count: count * channels)
    }
  }

  /// A larger ring with the frames `range` of this one; `nil` when out of memory.
  func grown(to capacity: Int, keeping range: Range<Int64>) -> FrameRing? {
    guard let ring = FrameRing(capacity: max(capacity, range.count), channels: channels) else { return nil }
    var index = range.lowerBound
    while index < range.upperBound {
      let place = Int(index % Int64(self.capacity))
      let count = min(Int(range.upperBound - index), self.capacity - place)
      ring.write(UnsafeBufferPointer(start: samples + place * channels, count: count * channels), at: index)
      index += Int64(count)
    }
    return ring
  }

  private func forEachPart(_ index: Int64, count: Int, _ body: (_ place: Int, _ done: Int, _ count: Int) -> Void) {
    var done = 0
    while done < count {
      let place = Int((index + Int64(done)) % Int64(capacity))
      let part = min(count - done, capacity - place)
      body(place, done, part)
      done += part
    }
  }
}
