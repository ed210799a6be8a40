import AttaccaCore
import Glibc

/// Takes frames out of a program for the sound chain: each item at its gain, the end of one over the beginning of the next
/// where they sound together, long silences left out where that is wished.
struct SoundInput {
  /// The next program index to take.
  private(set) var index: Int64
  /// Frames that two items may sound together.
  let crossfade: Int64
  private let channels: Int
  private let gain: (Program.Segment) -> Float
  private var gains: [(generation: Generation, gain: Float)] = []
  private var silence: SilenceSearch?
  /// The item before goes on beside the one being taken.
  private var overlap: Overlap?
  /// What was left out before the next frames.
  private var jump: Passage.Jump?

  private struct Overlap {
    /// The program index at which the later item begins, and how long both sound.
    var start: Int64
    var length: Int64
    /// The gain of the item before, which may be forgotten meanwhile.
    var gain: Float
  }

  /// What taking frames brought.
  enum Taken: Equatable {
    /// So many frames, and what was left out before them.
    case frames(Int, Passage.Jump?)
    /// Nothing more can be taken before more is decoded.
    case nothing
    /// The program is finished and taken to its end.
    case end
  }

  /// Begins at a program index; `gain` tells an item's linear gain. From index `skipFrom` on long silences are left out.
  init(
    at index: Int64, in program: Program, crossfade: Int64, skipFrom: Int64?,
    gain: @escaping (Program.Segment) -> Float
  ) {
    self.index = index
    self.crossfade = crossfade
    self.gain = gain
    channels = program.ring.channels
    silence = skipFrom.map { SilenceSearch(from: $0, in: program) }
    let segment = program.segment(at: index)
    if index < segment.start + segment.overlap {
      let earlier = program.segments.last { $0.start < segment.start } ?? segment
      overlap = Overlap(start: segment.start, length: segment.overlap, gain: gain(earlier))
    }
  }

  /// Takes up to `count` frames into `buffer`.
  mutating func take(_ count: Int, from program: inout Program, into buffer: UnsafeMutablePointer<Float>) -> Taken {
    if overlap == nil {
      if let next = silence?.next(after: index, in: program) { leaveOut(upTo: next) }
      guard beginOverlap(&program) else { return .nothing }
    }
    if let overlap, index < overlap.start + overlap.length {
      return takeBoth(min(count, Int(overlap.start + overlap.length - index)), overlap, program, buffer)
    }
    overlap = nil
    return takePlain(count, program, buffer)
  }

  /// Where the end of an item begins to sound together with the next one, goes over to that; answers `false` when too
  /// little of it is there.
  private mutating func beginOverlap(_ program: inout Program) -> Bool {
    guard crossfade > 0, let next = program.segments.first(where: { $0.start > index }) else { return true }
    let length = overlapLength(next, program)
    guard length > 0, index >= next.start - length else { return true }
    // The later item has to be there for as long as both sound.
    guard program.end >= next.start + length || lengthIsKnown(next, program) else { return false }
    let overlap = next.start - index
    self.overlap = Overlap(start: next.start, length: overlap, gain: gain(of: program.segment(at: index)))
    program.overlap(at: next.start, overlap)
    leaveOut(upTo: next.start)
    return true
  }

  private mutating func leaveOut(upTo next: Int64) {
    if jump == nil { jump = Passage.Jump(at: index, by: 0) }
    jump?.by += next - index
    index = next
  }

  /// How far frames may be taken one after another: not where the item may sound together with one to come.
  private func limit(_ program: Program) -> Int64 {
    let heard = silence?.limit(in: program) ?? .max
    if let next = program.segments.first(where: { $0.start > index }) {
      return min(heard, program.end, next.start - (index < next.start ? overlapLength(next, program) : 0))
    }
    guard crossfade > 0, !program.isFinished else { return min(heard, program.end) }
    // A second's margin for durations that are not quite true.
    let expected = (program.segment(at: index).expectedEnd ?? 0) - crossfade - Int64(program.sampleRate)
    return min(heard, program.end, max(program.end - crossfade, expected))
  }

  /// How long the item before `next` and `next` shall sound together: never longer than half of either.
  private func overlapLength(_ next: Program.Segment, _ program: Program) -> Int64 {
    guard crossfade > 0, !next.continuesAlbum else { return 0 }
    let before = next.start - (program.segments.last { $0.start < next.start }?.start ?? 0)
    let end = program.segments.first { $0.start > next.start }?.start ?? (program.isFinished ? program.end : nil)
    let after = end.map { $0 - next.start } ?? .max
    return max(0, min(crossfade, before / 2, after / 2))
  }

  private func lengthIsKnown(_ segment: Program.Segment, _ program: Program) -> Bool {
    program.isFinished || program.segments.contains { $0.start > segment.start }
  }

  private mutating func takePlain(
    _ wanted: Int, _ program: Program, _ buffer: UnsafeMutablePointer<Float>
  ) -> Taken {
    let count = Int(min(Int64(wanted), limit(program) - index))
    guard count > 0 else { return program.isFinished && index >= program.end ? .end : .nothing }
    program.ring.read(into: buffer, from: index, count: count)
    scale(buffer, count * channels, by: gain(of: program.segment(at: index)))
    return taken(count)
  }

  private mutating func takeBoth(
    _ wanted: Int, _ overlap: Overlap, _ program: Program, _ buffer: UnsafeMutablePointer<Float>
  ) -> Taken {
    let count = min(wanted, Int(program.end - index))
    guard count > 0 else { return .nothing }
    let (fall, rise) = (overlap.gain, gain(of: program.segment(at: overlap.start)))
    withUnsafeTemporaryAllocation(of: Float.self, capacity: count * channels) { tail in
      guard let tail = tail.baseAddress else { return }
      program.ring.read(into: tail, from: index - overlap.length, count: count)
      program.ring.read(into: buffer, from: index, count: count)
      for frame in 0..<count {
        // Equal power: two different pieces add up to an even loudness.
        let angle = Float(index - overlap.start + Int64(frame)) / Float(overlap.length) * (.pi / 2)
        let (up, down) = (sinf(angle) * rise, cosf(angle) * fall)
        for sample in (frame * channels)..<((frame + 1) * channels) {
          buffer[sample] = buffer[sample] * up + tail[sample] * down
        }
      }
    }
    return taken(count)
  }

  private mutating func taken(_ count: Int) -> Taken {
    defer { jump = nil }
    index += Int64(count)
    return .frames(count, jump)
  }

  private mutating func gain(of segment: Program.Segment) -> Float {
    if let known = gains.last(where: { $0.generation == segment.generation }) { return known.gain }
    let gain = gain(segment)
    gains = gains.suffix(3) + [(segment.generation, gain)]
    return gain
  }

  private func scale(_ samples: UnsafeMutablePointer<Float>, _ count: Int, by gain: Float) {
    guard gain != 1 else { return }
    for index in 0..<count { samples[index] *= gain }
  }
}

/// Looks for long silences in a program, ahead of what is taken.
private struct SilenceSearch {
  private var detector: SilenceDetector
  /// One past the last frame looked at.
  private var seen: Int64
  private var ranges: [Range<Int64>] = []

  init(from index: Int64, in program: Program) {
    detector = SilenceDetector(sampleRate: program.sampleRate, channels: program.ring.channels, frame: index)
    seen = index
  }

  /// Where taking goes on when frames from `index` on are to be left out; `nil` when they are not.
  mutating func next(after index: Int64, in program: Program) -> Int64? {
    look(ahead: program, of: index)
    var next = index
    while let range = ranges.first, range.lowerBound <= next {
      next = max(next, range.upperBound)
      ranges.removeFirst()
    }
    return next > index ? next : nil
  }

  /// How far frames may be taken.
  func limit(in program: Program) -> Int64 {
    ranges.first?.lowerBound ?? (program.isFinished && seen >= program.end ? program.end : detector.certain)
  }

  private mutating func look(ahead program: Program, of index: Int64) {
    // A second is more than the shortest silence that counts.
    let end = min(program.end, index + Int64(program.sampleRate))
    let channels = program.ring.channels
    seen = max(seen, program.floor)
    withUnsafeTemporaryAllocation(of: Float.self, capacity: 512 * channels) { samples in
      guard let base = samples.baseAddress else { return }
      while seen < end {
        let count = Int(min(512, end - seen))
        program.ring.read(into: base, from: seen, count: count)
        ranges += detector.process(UnsafeBufferPointer(rebasing: samples[..<(count * channels)]))
        seen += Int64(count)
      }
    }
  }
}

extension Program.Segment {
  /// The linear gain that its loudness tags amount to.
  func gain(_ sound: SoundSettings) -> Float {
    Float(sound.loudnessGain(loudness, isAlbumContext: sound.loudness != .track))
  }
}
