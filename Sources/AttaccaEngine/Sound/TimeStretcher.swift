/// Makes media faster or slower and keeps its pitch.
///
/// WSOLA (W. Verhelst, M. Roelands: "An overlap-add technique based on waveform similarity", ICASSP 1993): the output is
/// put together from stretches of the input at their own speed. Each begins near its nominal place, where the input is
/// most like what would have followed the stretch before, and the two are faded over. `docs/time-stretching.md` has the
/// figures and what else was tried.
///
/// Output frame `k` stands for input frame `k · rate`. Nothing is early or late on average; a single sound may be by
/// half a stretch's gain (15 ms of media at most up to 2×) and the search range (12 ms). The first output frame is the
/// first input frame, the last one the last. Lives on one thread; allocates only when more is written at once than ever
/// before.
final class TimeStretcher {
  /// Input frames per output frame.
  let rate: Double
  /// Samples per frame.
  let channels: Int

  private let shape: StretchShape
  private var input: StretchInput
  /// The weight of the new stretch, from 0 to 1 over the overlap.
  private let fade: UnsafeMutablePointer<Float>
  private var hasEnded = false
  /// Output frames given, and where the present stretch began among them.
  private var produced = 0
  private var begin = 0
  /// Where the present stretch is taken from, where the one before would go on, and how much of it has been given.
  private var source = 0
  private var previous = 0
  private var given = 0
  private var length = 0

  /// Makes a stretcher; `nil` for a rate, sample rate or number of channels that makes no sense (the rate must be within
  /// 1/16…16).
  init?(sampleRate: Int, channels: Int, rate: Double) {
    guard rate >= 1 / 16, rate <= 16, (1...256).contains(channels), (1_000...3_072_000).contains(sampleRate) else {
      return nil
    }
    self.rate = rate
    self.channels = channels
    shape = StretchShape(sampleRate: sampleRate, rate: rate)
    input = StretchInput(channels: channels, decimation: shape.decimation, capacity: shape.reach * 2)
    fade = .allocate(capacity: shape.overlap)
    for index in 0..<shape.overlap {
      // A straight line bends at both ends; 3x² − 2x³ does not, and still adds up to 1 with its mirror image.
      let x = (Float(index) + 0.5) / Float(shape.overlap)
      fade[index] = x * x * (3 - 2 * x)
    }
  }

  deinit {
    fade.deallocate()
    input.deallocate()
  }

  /// Takes interleaved input frames; an incomplete frame at the end is left out, what is not a number becomes 0.
  func write(_ frames: UnsafeBufferPointer<Float>) {
    guard !hasEnded else { return }
    input.append(frames)
  }

  /// Says that nothing more comes: what is held can be read to the end, which is `round(input frames / rate)` frames
  /// from the beginning.
  func finish() {
    guard !hasEnded else { return }
    hasEnded = true
    input.appendSilence(shape.reach)
  }

  /// Forgets everything, as if new.
  func reset() {
    input.removeAll()
    hasEnded = false
    (produced, begin, source, previous, given, length) = (0, 0, 0, 0, 0, 0)
  }

  /// How many more input frames are needed before anything can be read; 0 when something can be, or nothing ever.
  var framesWanted: Int {
    if given < length || hasEnded { return 0 }
    let forLength = Int((Double(produced + shape.longest) * rate).rounded(.up)) + 1
    return max(0, nominalSource(for: shape.hop) + shape.reach - input.written, forLength - input.written)
  }

  /// Whether everything has been read after ``finish()``.
  var isAtEnd: Bool { hasEnded && produced >= total }

  /// Gives interleaved output frames, as many as there are and fit.
  ///
  /// - Returns: how many frames.
  func read(into output: UnsafeMutableBufferPointer<Float>) -> Int {
    guard var out = output.baseAddress else { return 0 }
    let room = output.count / channels
    var done = 0
    while done < room {
      if given == length, !next() { break }
      let count = give(min(room - done, length - given), to: out)
      out += count * channels
      done += count
    }
    return done
  }

  /// How long the output becomes if nothing more is written.
  private var total: Int { Int((Double(input.written) / rate).rounded()) }

  /// Where a stretch of `length` frames that begins now is best taken from: the middle of what is heard of it, from the
  /// middle of one fade to the middle of the next, is where it should be.
  private func nominalSource(for length: Int) -> Int {
    if produced == 0 { return 0 }
    let middle = Double(length + shape.overlap) / 2
    return Int(((Double(produced) + middle) * rate - middle).rounded())
  }

  /// Begins the next stretch; `false` when the input does not suffice.
  private func next() -> Bool {
    let left = total - produced
    // The last stretch is longer than its fade, so that the end is heard as it is: whether this is it must be known.
    let isLast = left < shape.longest
    guard hasEnded ? left > 0 : !isLast else { return false }
    let newLength = isLast ? left : shape.hop
    var target = nominalSource(for: newLength)
    guard target + shape.reach <= input.written || hasEnded else { return false }
    // The end of the input becomes the end of the output, not silence behind it.
    var after = shape.search
    if isLast { target = input.written - newLength }
    target = max(0, min(target, input.written - newLength))
    after = max(0, min(after, input.written - newLength - target))
    previous = source + length
    if produced > 0 {
      source = input.likest(
        previous, around: target, before: isLast ? 0 : shape.search, after: after, overlap: shape.overlap)
    }
    length = newLength
    given = 0
    begin = produced
    return true
  }

  private func give(_ count: Int, to out: UnsafeMutablePointer<Float>) -> Int {
    var count = count
    let from = input.frame(source + given)
    if begin > 0, given < shape.overlap {
      count = min(count, shape.overlap - given)
      let old = input.frame(previous + given)
      for index in 0..<count {
        let weight = fade[given + index]
        for sample in (index * channels)..<((index + 1) * channels) {
          out[sample] = old[sample] + (from[sample] - old[sample]) * weight
        }
      }
    } else {
      out.update(from: from, count: count * channels)
    }
    given += count
    produced += count
    if given == length { input.remove(before: min(source + length, earliestSource)) }
    return count
  }

  /// Before this, no stretch to come can be taken from the input, not even the last ones, which are moved to its end.
  private var earliestSource: Int {
    let back = max(0, 1 - rate) * Double(shape.longest + shape.overlap)
    return Int(Double(produced) * rate - back) - shape.search - shape.decimation * 2
  }
}

/// The lengths that WSOLA works with, in frames.
struct StretchShape {
  /// Output frames of a stretch.
  let hop: Int
  /// Frames over which two stretches are faded.
  let overlap: Int
  /// How far from its nominal place a stretch may begin, each way.
  let search: Int
  /// The last stretch is shorter than this, and longer than its fade.
  var longest: Int { hop + overlap * 2 }
  /// The first search looks at every `decimation`th frame.
  let decimation: Int
  /// How many input frames from a stretch's nominal beginning on must be known.
  let reach: Int

  /// A stretch skips or repeats about 30 ms: enough for a period of any voice, too little for a syllable to get lost.
  init(sampleRate: Int, rate: Double) {
    let perMillisecond = Double(sampleRate) / 1_000
    let hopLength = min(max(30 / max(abs(rate - 1), 1e-3), 24), 60)
    overlap = max(4, Int(Self.overlapLength * perMillisecond))
    search = max(4, Int(Self.searchLength * perMillisecond))
    hop = max(overlap, Int(hopLength * perMillisecond))
    // 16 kHz and more tells where the waves are; the second search then finds the very frame.
    decimation = max(1, sampleRate / 16_000)
    reach = search + hop + overlap * 3 + decimation * 2
  }

  private static let overlapLength = 16.0
  private static let searchLength = 12.0
}
