import AttaccaCore
import Glibc

/// Takes frames out of a program for the sound chain: each item at its gain, the end of one over the beginning of the next
/// where they sound together.
struct SoundInput {
  /// The next program index to take.
  private(set) var index: Int64
  /// Frames that two items may sound together.
  let crossfade: Int64
  private let channels: Int
  private let gain: (Program.Segment) -> Float
  private var gains: [(generation: Generation, gain: Float)] = []
  /// The item before goes on beside the one being taken.
  private var overlap: Overlap?

  private struct Overlap {
    /// The program index at which the later item begins, and how long both sound.
    var start: Int64
    var length: Int64
    /// The gain of the item before, which may be forgotten meanwhile.
    var gain: Float
  }

  /// What taking frames brought.
  enum Taken: Equatable {
    /// So many frames; before them, `jump` frames were left out.
    case frames(Int, jump: Int64)
    /// Nothing more can be taken before more is decoded.
    case nothing
    /// The program is finished and taken to its end.
    case end
  }

  /// Begins at a program index; `gain` tells an item's linear gain.
  init(at index: Int64, in program: Program, crossfade: Int64, gain: @escaping (Program.Segment) -> Float) {
    self.index = index
    self.crossfade = crossfade
    self.gain = gain
    channels = program.ring.channels
    let segment = program.segment(at: index)
    if index < segment.start + segment.overlap {
      let earlier = program.segments.last { $0.start < segment.start } ?? segment
      overlap = Overlap(start: segment.start, length: segment.overlap, gain: gain(earlier))
    }
  }

  /// Takes up to `count` frames into `buffer`.
  mutating func take(_ count: Int, from program: inout Program, into buffer: UnsafeMutablePointer<Float>) -> Taken {
    var jump: Int64 = 0
    if overlap == nil {
      guard let next = program.segments.first(where: { $0.start > index }) else {
        return takePlain(min(count, Int(plainLimit(program) - index)), program, buffer, at: 0)
      }
      let length = overlapLength(next, program)
      guard index >= next.start - length else {
        return takePlain(min(count, Int(min(next.start - length, program.end) - index)), program, buffer, at: 0)
      }
      if length > 0 {
        // The later item has to be there for as long as both sound.
        guard program.end >= next.start + length || lengthIsKnown(next, program) else { return .nothing }
        jump = next.start - index
        overlap = Overlap(start: next.start, length: jump, gain: self.gain(of: program.segment(at: index)))
        program.overlap(at: next.start, jump)
        index = next.start
      }
    }
    if let overlap, index < overlap.start + overlap.length {
      return takeBoth(min(count, Int(overlap.start + overlap.length - index)), overlap, program, buffer, jump)
    }
    overlap = nil
    return takePlain(min(count, Int(plainLimit(program) - index)), program, buffer, at: jump)
  }

  /// How far frames may be taken while no later item is known: not where it may sound together with one to come.
  private func plainLimit(_ program: Program) -> Int64 {
    guard crossfade > 0, !program.isFinished, !program.segments.contains(where: { $0.start > index }) else {
      return program.end
    }
    // A second's margin for durations that are not quite true.
    let expected = (program.segment(at: index).expectedEnd ?? 0) - crossfade - Int64(program.sampleRate)
    return min(program.end, max(program.end - crossfade, expected))
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
    _ wanted: Int, _ program: Program, _ buffer: UnsafeMutablePointer<Float>, at jump: Int64
  ) -> Taken {
    let segment = program.segment(at: index)
    var count = wanted
    if let next = program.segments.first(where: { $0.start > index }) { count = min(count, Int(next.start - index)) }
    guard count > 0 else { return program.isFinished && index >= program.end ? .end : .nothing }
    program.ring.read(into: buffer, from: index, count: count)
    scale(buffer, count * channels, by: gain(of: segment))
    index += Int64(count)
    return .frames(count, jump: jump)
  }

  private mutating func takeBoth(
    _ wanted: Int, _ overlap: Overlap, _ program: Program, _ buffer: UnsafeMutablePointer<Float>, _ jump: Int64
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
    index += Int64(count)
    return .frames(count, jump: jump)
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
