/// The input frames that a ``TimeStretcher`` still needs, and the search for likeness in them.
///
/// Frames are counted from the first one written. Besides the frames it holds a guide: all channels in one and fewer
/// samples, where the search costs little whatever the format. Its owner must call ``deallocate()``.
struct StretchInput {
  /// Frames written, without the silence appended.
  private(set) var written = 0

  private let channels: Int
  private let decimation: Int
  private var samples: UnsafeMutablePointer<Float>
  private var guide: UnsafeMutablePointer<Float>
  private var capacity: Int
  /// The first frame held (a multiple of the decimation), and how many are.
  private var base = 0
  private var count = 0
  private var guideCount = 0

  init(channels: Int, decimation: Int, capacity: Int) {
    self.channels = channels
    self.decimation = decimation
    self.capacity = capacity
    samples = .allocate(capacity: capacity * channels)
    guide = .allocate(capacity: capacity / decimation + 1)
  }

  func deallocate() {
    samples.deallocate()
    guide.deallocate()
  }

  /// The frame after the last one held.
  var end: Int { base + count }

  /// The samples from a frame on; the frame must be held.
  func frame(_ index: Int) -> UnsafeMutablePointer<Float> { samples + (index - base) * channels }

  mutating func append(_ frames: UnsafeBufferPointer<Float>) {
    let added = frames.count / channels
    guard added > 0, let from = frames.baseAddress else { return }
    reserve(added)
    let to = samples + count * channels
    for index in 0..<(added * channels) {
      let sample = from[index]
      to[index] = sample.magnitude < .infinity ? sample : 0
    }
    count += added
    written += added
    extendGuide()
  }

  mutating func appendSilence(_ frames: Int) {
    reserve(frames)
    (samples + count * channels).update(repeating: 0, count: frames * channels)
    count += frames
    extendGuide()
  }

  /// Lets go of the frames before `frame`, sooner or later.
  mutating func remove(before frame: Int) {
    let whole = min(frame - base, count) / decimation * decimation
    // Moving what stays costs as much as it is long: do it seldom.
    guard whole >= capacity / 4 else { return }
    samples.update(from: samples + whole * channels, count: (count - whole) * channels)
    guide.update(from: guide + whole / decimation, count: guideCount - whole / decimation)
    base += whole
    count -= whole
    guideCount -= whole / decimation
  }

  mutating func removeAll() {
    (written, base, count, guideCount) = (0, 0, 0, 0)
  }

  /// The frame within `target − before … target + after` from which on the input is most like it is from `pattern` on.
  func likest(_ pattern: Int, around target: Int, before: Int, after: Int, overlap: Int) -> Int {
    let first = max(target - before, base)
    let last = max(first, min(target + after, end - overlap))
    let target = min(max(target, first), last)
    guard pattern >= base, pattern + overlap <= end, first < last else { return target }
    return base
      + search(
        Search(
          pattern: pattern - base, first: first - base, last: last - base, target: target - base, overlap: overlap))
  }

  /// What is searched, in frames held.
  private struct Search {
    var pattern: Int
    var first: Int
    var last: Int
    var target: Int
    var overlap: Int
  }

  /// Searches the guide, and where it has peaks, the frames themselves.
  private func search(_ wanted: Search) -> Int {
    let length = wanted.overlap / decimation
    // The pattern begins somewhere within a guide sample: count all candidates from the same phase.
    let phase = wanted.pattern % decimation
    let start = max(0, (wanted.first - phase + decimation - 1) / decimation)
    let stop = min((wanted.last - phase) / decimation, guideCount - length)
    guard stop > start, wanted.pattern / decimation + length <= guideCount else { return wanted.target }
    return withUnsafeTemporaryAllocation(of: Float.self, capacity: stop - start + 1) { scores in
      let centre = Float(wanted.target - phase) / Float(decimation)
      let greatest = score(
        scores, pattern: wanted.pattern / decimation, from: start, length: length, centre: centre)
      guard greatest > 0 else { return wanted.target }
      var (best, bestScore) = (wanted.target, Float(0))
      var looks = Self.looks(decimation: decimation, channels: channels)
      for index in scores.indices where scores[index] > greatest * 0.97 {
        let before = index > 0 ? scores[index - 1] : 0
        let after = index + 1 < scores.count ? scores[index + 1] : 0
        guard scores[index] >= before, scores[index] > after else { continue }
        guard looks > 0 || scores[index] == greatest else { continue }
        looks -= 1
        look(near: (start + index) * decimation + phase, wanted, &best, &bestScore)
      }
      return best
    }
  }

  /// How many peaks may be looked at closely.
  private static func looks(decimation: Int, channels: Int) -> Int {
    max(1, min(16, 64 / ((decimation * 2 + 1) * channels)) * 4)
  }

  /// Normalised correlation of the guide with its part at `pattern`, for each place from `start` on.
  ///
  /// - Returns: the greatest one.
  private func score(
    _ scores: UnsafeMutableBufferPointer<Float>, pattern: Int, from start: Int, length: Int, centre: Float
  ) -> Float {
    var energy = 0.0
    for index in start..<(start + length) { energy += Double(guide[index]) * Double(guide[index]) }
    let width = Float(scores.count)
    var greatest: Float = 0
    for index in scores.indices {
      let candidate = start + index
      let product = dotProduct(guide + pattern, guide + candidate, length)
      // Of equals, the one nearest to the nominal place.
      let distance = (Float(candidate) - centre) / width
      let score =
        product > 0 ? product / (Float(max(energy, 0)) + 1e-12).squareRoot() * (1 - 0.04 * distance * distance) : 0
      scores[index] = score
      greatest = max(greatest, score)
      let (out, new) = (Double(guide[candidate]), Double(guide[candidate + length]))
      energy += new * new - out * out
    }
    return greatest
  }

  /// Compares the frames themselves: the guide has every n-th only.
  private func look(near: Int, _ wanted: Search, _ best: inout Int, _ bestScore: inout Float) {
    // The middle of the overlap, where both are heard, tells enough.
    let length = min(wanted.overlap, 768)
    let skip = (wanted.overlap - length) / 2
    let like = samples + (wanted.pattern + skip) * channels
    let (first, last) = (max(near - decimation, wanted.first), min(near + decimation, wanted.last))
    guard first <= last else { return }
    for candidate in first...last {
      let other = samples + (candidate + skip) * channels
      let product = dotProduct(like, other, length * channels)
      guard product > 0 else { continue }
      let score = product / (dotProduct(other, other, length * channels) + 1e-12).squareRoot()
      if score > bestScore { (best, bestScore) = (candidate, score) }
    }
  }

  /// Brings the guide up to the frames held.
  private mutating func extendGuide() {
    while (guideCount + 1) * decimation <= count {
      var sum: Float = 0
      var sample = samples + guideCount * decimation * channels
      for _ in 0..<decimation {
        // Unequal weights, so that opposite channels do not cancel each other.
        var weight: Float = 1
        for channel in 0..<channels {
          sum += sample[channel] * weight
          weight *= 0.7
        }
        sample += channels
      }
      guide[guideCount] = sum
      guideCount += 1
    }
    // One sample more than whole groups: the search's running sum looks one ahead.
    guide[guideCount] = 0
  }

  private mutating func reserve(_ added: Int) {
    guard count + added > capacity else { return }
    let larger = (count + added) * 2
    let newSamples = UnsafeMutablePointer<Float>.allocate(capacity: larger * channels)
    newSamples.update(from: samples, count: count * channels)
    let newGuide = UnsafeMutablePointer<Float>.allocate(capacity: larger / decimation + 1)
    newGuide.update(from: guide, count: guideCount)
    deallocate()
    (samples, guide, capacity) = (newSamples, newGuide, larger)
  }
}

/// Σ a·b, eight at a time: the compiler may not reorder a float sum by itself.
@inline(__always)
private func dotProduct(_ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ count: Int) -> Float {
  let (rawA, rawB) = (UnsafeRawPointer(a), UnsafeRawPointer(b))
  var (even, odd) = (SIMD8<Float>(), SIMD8<Float>())
  var index = 0
  while index &+ 16 <= count {
    let offset = index &* 4
    even +=
      rawA.loadUnaligned(fromByteOffset: offset, as: SIMD8<Float>.self)
      * rawB.loadUnaligned(fromByteOffset: offset, as: SIMD8<Float>.self)
    odd +=
      rawA.loadUnaligned(fromByteOffset: offset &+ 32, as: SIMD8<Float>.self)
      * rawB.loadUnaligned(fromByteOffset: offset &+ 32, as: SIMD8<Float>.self)
    index &+= 16
  }
  var sum = (even + odd).sum()
  while index < count {
    sum += a[index] * b[index]
    index &+= 1
  }
  return sum
}
