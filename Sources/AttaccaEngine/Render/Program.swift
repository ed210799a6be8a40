import AttaccaCore

/// Decoded sound in the order it is to be heard: one ring over which consecutive items pass without a seam, and where
/// each of them begins in it. A seek or a jump makes a new program.
struct Program {
  /// A stretch of one item within the program.
  struct Segment {
    /// Which load it is of.
    var generation: Generation
    /// The program index of its first frame.
    var start: Int64
    /// The media position of that frame.
    var media: MediaTime
    /// The fraction of a frame, in 2⁻³² frames, by which the resampler's run stood beyond `start`.
    var carry: Int64 = 0
    /// What the media's tags say about its loudness.
    var loudness = LoudnessTags()
    /// The program index at which it should end, as far as its duration is known.
    var expectedEnd: Int64?
    /// It goes on with the album of the item before: the two never sound together.
    var continuesAlbum = false
    /// How many of its first frames sound together with the last ones of the item before.
    var overlap: Int64 = 0
    /// What ended it early, if something did.
    var failure: MediaError?
  }

  /// Other tags that hold from a program index on.
  struct Note {
    var index: Int64
    var generation: Generation
    var metadata: [MetadataItem]
  }

  private(set) var ring: FrameRing
  let sampleRate: Int
  private(set) var segments: [Segment]
  /// Tags not yet told, in order.
  private(set) var notes: [Note] = []
  /// One past the last decoded frame.
  private(set) var end: Int64 = 0
  /// The first frame that may still be read.
  private(set) var floor: Int64 = 0
  /// Nothing will follow `end`.
  var isFinished = false

  init(ring: FrameRing, sampleRate: Int, first: Segment) {
    self.ring = ring
    self.sampleRate = sampleRate
    segments = [first]
  }

  /// Frames that can be written now.
  var room: Int { ring.capacity - Int(end - floor) }

  /// Makes `count` frames just written to the ring readable.
  mutating func publish(_ count: Int) { end += Int64(count) }

  /// Begins another item at `index` (which is `end`, or a little beyond it while a resampler still holds frames).
  mutating func begin(_ segment: Segment) { segments.append(segment) }

  /// Notes that the first `overlap` frames of the segment that begins at `start` sound with the end of the one before.
  mutating func overlap(at start: Int64, _ overlap: Int64) {
    if let index = segments.lastIndex(where: { $0.start == start }) { segments[index].overlap = overlap }
  }

  /// Goes on in another ring that holds the same frames.
  mutating func move(to ring: FrameRing) { self.ring = ring }

  /// Notes that other tags hold from program index `index` on.
  mutating func note(_ metadata: [MetadataItem], of generation: Generation, at index: Int64) {
    notes.append(Note(index: index, generation: generation, metadata: metadata))
  }

  /// The notes that hold at program index `index`; they are forgotten.
  mutating func takeNotes(upTo index: Int64) -> [Note] {
    let due = notes.filter { $0.index <= index }
    notes.removeAll { $0.index <= index }
    return due
  }

  /// Notes that an item ended early.
  mutating func fail(_ generation: Generation, _ error: MediaError) {
    if let index = segments.lastIndex(where: { $0.generation == generation }) { segments[index].failure = error }
  }

  /// Takes back everything from the segment after `generation` on; answers that segment.
  mutating func truncate(after generation: Generation) -> Segment? {
    guard let index = segments.lastIndex(where: { $0.generation == generation }), index + 1 < segments.count else {
      return nil
    }
    let first = segments[index + 1]
    segments.removeSubrange((index + 1)...)
    end = min(end, first.start)
    notes.removeAll { $0.index >= first.start }
    isFinished = false
    return first
  }

  /// The first frame still needed while `index` is heard: with an overlap, of the item before.
  func firstNeeded(at index: Int64) -> Int64 {
    let segment = segment(at: index)
    return index < segment.start + segment.overlap ? index - segment.overlap : index
  }

  /// Frames below `index` will not be read again.
  mutating func raiseFloor(to index: Int64) { floor = max(floor, min(index, end)) }

  /// Segments before `generation`'s are forgotten: it is heard, and so are the joints up to it told.
  mutating func forget(before generation: Generation) {
    if let index = segments.lastIndex(where: { $0.generation == generation }) { segments.removeFirst(index) }
  }

  /// The segment a program index belongs to: a boundary belongs to the later one.
  func segment(at index: Int64) -> Segment { segments.last { $0.start <= index } ?? segments[0] }

  /// The media position of a program index.
  func position(at index: Int64) -> Duration { position(at: index, in: segment(at: index)) }

  /// The position of a program index counted on from one segment, which differs at its end from the next one's beginning.
  func position(at index: Int64, in segment: Segment) -> Duration {
    segment.media.duration + MediaTime(frames: max(0, index - segment.start), rate: sampleRate).duration
  }
}
