import AttaccaCore

/// Where each audio frame of an MP3 starts: what makes seeking exact.
///
/// Frames are counted from 0, the first one behind the tag frame. The index grows by walking from header to header as
/// far as it is asked, and remembers every 32nd frame. With a constant bit rate a frame is computed and confirmed
/// without walking. Bytes that are no frames count as the frames that were destroyed there, so that time is kept.
package struct MP3FrameIndex: Sendable {
  private static let stride: Int64 = 32
  /// Bytes fetched at a time while walking: large against a system call, small against a processor's cache.
  private static let window = 128 << 10

  private let info: MP3StreamInfo
  private var walker: MP3FrameWalker
  /// Where to look for frames 0, 32, 64, … (or the next one that is left).
  private var marks: [MP3FrameWalker.Place]
  private var isComplete = false
  /// Whether frames stand where their bit rate says, once that was looked at.
  private var isNominal: Bool?

  /// Makes an empty index.
  package init(_ info: MP3StreamInfo) {
    self.info = info
    walker = MP3FrameWalker(info, frame: 0, offset: info.firstAudioFrameOffset)
    marks = [walker.place]
  }

  /// How many frames were walked over so far.
  package var knownFrames: Int64 { walker.frame }

  /// The count of frames, once the walk has reached the end.
  package var totalFrames: Int64? { isComplete ? walker.frame : nil }

  /// The frame boundary at `wanted` (clamped to the frames there are), and which frame it is.
  ///
  /// The frame is the wanted one unless the file is too short, or reading failed: then it is the last one before.
  /// - Returns: `nil` when there are no frames.
  package mutating func offset(ofFrame wanted: Int64, in source: any ByteSource) -> (frame: Int64, offset: Int64)? {
    var wanted = max(0, wanted)
    var reader = ByteReader(source, window: Self.window, budget: .max)
    if wanted >= walker.frame, !isComplete, keepsNominalSize(&reader),
      let offset = computedOffset(ofFrame: wanted, in: source)
    {
      return (wanted, offset)
    }
    // One more than the wanted frame, so that it is known to be whole.
    extend(beyond: wanted, &reader)
    wanted = min(wanted, walker.frame - 1)
    guard wanted >= 0 else { return nil }
    var mark = Int(wanted / Self.stride)
    while mark > 0, marks[mark].frame > wanted { mark -= 1 }
    var from = walker.moved(to: marks[mark])
    guard from.walk(to: wanted, &reader), from.settle(&reader) else { return nil }
    // Destroyed frames are not there to go to; the one before them is.
    if from.frame > wanted { return from.beforeGap }
    return (from.frame, from.offset)
  }

  /// Walks to the end of the file and answers the exact count of frames.
  package mutating func countFrames(in source: any ByteSource) -> Int64 {
    var reader = ByteReader(source, window: Self.window, budget: .max)
    extend(beyond: .max, &reader)
    return walker.frame
  }

  /// Walks on over at most `bytes` of the file; answers the count of frames once the end is reached.
  package mutating func extend(bytes: Int64, in source: any ByteSource) -> Int64? {
    let limit = walker.offset.addingClamped(bytes)
    var reader = ByteReader(source, window: Self.window, budget: .max)
    while !isComplete, !reader.isInterrupted, walker.offset < limit { step(&reader) }
    return totalFrames
  }

  private mutating func extend(beyond wanted: Int64, _ reader: inout ByteReader) {
    while !isComplete, !reader.isInterrupted, walker.frame <= wanted { step(&reader) }
  }

  /// Walks to the next mark.
  private mutating func step(_ reader: inout ByteReader) {
    let goal = (walker.frame / Self.stride + 1) * Self.stride
    if walker.walk(to: goal, &reader) {
      while Int64(marks.count) * Self.stride <= walker.frame { marks.append(walker.place) }
    } else {
      isComplete = !reader.isInterrupted
    }
  }

  /// Whether frames of one bit rate stand where the bit rate says. Some encoders never pad: theirs fall behind by a part of
  /// a byte each, until hundreds of frames later another one stands where a wanted one should. The first frames tell,
  /// enough of them for the smallest part there is (1/49 byte) to be seen.
  private mutating func keepsNominalSize(_ reader: inout ByteReader) -> Bool {
    guard info.isConstantBitRate else { return false }
    if let isNominal { return isNominal }
    var scout = MP3FrameWalker(info, frame: 0, offset: info.firstAudioFrameOffset)
    _ = scout.walk(to: 256, &reader)
    let result = abs(scout.offset - nominalOffset(ofFrame: scout.frame)) <= 2
    if !reader.isInterrupted { isNominal = result }
    return result
  }

  private func nominalOffset(ofFrame frame: Int64) -> Int64 {
    let (numerator, denominator) = info.nominalFrameSize
    return info.firstAudioFrameOffset + frame * numerator / denominator
  }

  /// The offset of a frame when all frames have the same bit rate: an encoder that pads strays from the nominal offset by
  /// no more than a byte or two. Where no frame stands so near, other bytes lie between, and walking must tell.
  private func computedOffset(ofFrame wanted: Int64, in source: any ByteSource) -> Int64? {
    let (numerator, denominator) = info.nominalFrameSize
    guard info.isConstantBitRate, info.header.layer != 1, wanted < 1 << 40 else { return nil }
    let nominal = nominalOffset(ofFrame: wanted)
    let largest = numerator / denominator + 2
    guard nominal + largest <= info.audioEnd ?? .max else { return nil }
    var reader = ByteReader(source, window: 4096, budget: 64 << 10)
    for stray in [0, 1, -1, 2, -2] as [Int64] {
      let offset = nominal + stray
      guard offset >= info.firstAudioFrameOffset, let found = header(at: offset, &reader) else { continue }
      // Two more frames behind it, as far as there are any: these bytes can stand in music as well.
      var next = offset + Int64(found.size)
      var isConfirmed = true
      for _ in 0..<2 where isConfirmed && next + largest <= info.audioEnd ?? .max {
        let following = header(at: next, &reader)
        isConfirmed = following != nil
        next += Int64(following?.size ?? 0)
      }
      if isConfirmed { return offset }
    }
    return nil
  }

  /// A frame's header of the very bit rate that all have.
  private func header(at offset: Int64, _ reader: inout ByteReader) -> MP3FrameHeader? {
    MP3FrameFinder.header(at: offset, &reader).flatMap {
      $0.isSameStream(as: info.header) && $0.bitRate == info.header.bitRate ? $0 : nil
    }
  }
}
