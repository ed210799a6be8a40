import AttaccaCore

/// Reads the trim of an audio track of an MP4 file (M4A, M4B, MOV).
///
/// The decoder's frames are counted from the track's first sample, so an edit's media time is where to start. Where to
/// end, a file tells twice: exactly by the sum of its samples' durations, in whose last one encoders leave the padding
/// out, and coarsely by the edit's duration in ticks of the movie, often milliseconds. So an edit cuts the end only
/// where it stays short of the sum by more than such a tick.
package enum MP4Trim {
  /// Reads the trim in frames at `sampleRate`; fragmented files, whose durations lie all over the file, have none.
  ///
  /// - Parameter track: which of the audio tracks, from 0.
  package static func read(_ source: any ByteSource, sampleRate: Int, track number: Int = 0) -> TrimRange {
    var reader = MP4BoxReader(source)
    var movie: MP4Box?
    reader.forEachBox(from: 0, to: source.length ?? .max) { _, box in
      if box.type == fourCC("moof") { return false }
      if box.type == fourCC("moov") { movie = box }
      return movie == nil
    }
    guard let movie, reader.first("mvex", in: movie) == nil, let track = MP4AudioTrack(number, in: movie, &reader)
    else {
      return .none
    }
    let rate = sampleRate > 0 ? Int64(sampleRate) : track.timescale
    func frames(_ media: Int64) -> Int64? { media.scaled(by: rate, over: track.timescale) }

    if let comment = iTunSMPB(in: movie, &reader) {
      // With SBR some encoders count at the core's rate, which then is the track's: their sum tells which it was.
      let isMediaTime = comment.delay + comment.padding + comment.total == track.duration
      func scaled(_ value: Int64) -> Int64? { isMediaTime ? frames(value) : value }
      if let start = scaled(comment.delay), let end = scaled(comment.delay + comment.total) {
        return TrimRange(start: start, end: end, source: .iTunSMPB)
      }
    }
    let end = min(track.duration, track.editEnd ?? .max)
    guard let last = frames(end), track.duration > 0 else { return .none }
    let start = frames(track.editStart) ?? 0
    let isEdited = track.editStart > 0 || end < track.duration
    return TrimRange(start: start, end: last, source: isEdited ? .editList : .sampleTable)
  }

  /// The gapless comment in the movie's item list: a `----` item of mean com.apple.iTunes and name iTunSMPB.
  static func iTunSMPB(in movie: MP4Box, _ reader: inout MP4BoxReader) -> ITunSMPB? {
    guard let user = reader.first("udta", in: movie), var meta = reader.first("meta", in: user) else { return nil }
    // In MP4 it starts with version and flags, in QuickTime with its first box.
    if reader.bytes.code(at: meta.start + 4) != fourCC("hdlr") { meta.start = min(meta.start + 4, meta.end) }
    guard let list = reader.first("ilst", in: meta) else { return nil }
    var found: ITunSMPB?
    reader.forEachBox(from: list.start, to: list.end) { reader, item in
      guard item.type == fourCC("----"), let name = reader.first("name", in: item), name.end - name.start == 12,
        reader.bytes.has("iTunSMPB", at: name.start + 4), let mean = reader.first("mean", in: item),
        mean.end - mean.start == 20, reader.bytes.has("com.apple.iTunes", at: mean.start + 4),
        let data = reader.first("data", in: item)
      else { return true }
      let count = Int(max(0, min(512, data.end - data.start - 8)))
      found = reader.bytes.bytes(at: data.start + 8, count: count).flatMap { ITunSMPB($0) }
      return found == nil
    }
    return found
  }
}

/// The times of one of an MP4 file's audio tracks, in its own time scale.
struct MP4AudioTrack {
  /// Units per second.
  var timescale: Int64
  /// The sum of the samples' durations.
  var duration: Int64 = 0
  /// Where the first edit that is not empty begins.
  var editStart: Int64 = 0
  /// Where the edits end, where that cuts the media for certain.
  var editEnd: Int64?

  /// Reads the track of this number, from 0, among those of the handler `soun`; `nil` when there is none, or without a
  /// time scale.
  init?(_ number: Int = 0, in movie: MP4Box, _ reader: inout MP4BoxReader) {
    var track: MP4Box?
    var media: MP4Box?
    var before = number
    reader.forEachBox(from: movie.start, to: movie.end) { reader, box in
      guard box.type == fourCC("trak"), let found = reader.first("mdia", in: box),
        let handler = reader.first("hdlr", in: found), handler.end - handler.start >= 12,
        reader.bytes.code(at: handler.start + 8) == fourCC("soun")
      else { return true }
      before -= 1
      guard before < 0 else { return true }
      (track, media) = (box, found)
      return false
    }
    guard let track, let media, let timescale = Self.timescale("mdhd", in: media, &reader) else { return nil }
    self.timescale = timescale
    if let times = reader.first(["minf", "stbl", "stts"], in: media) {
      duration = Self.sum(times, &reader)
    }
    if let edits = reader.first(["edts", "elst"], in: track) {
      readEdits(edits, movieTimescale: Self.timescale("mvhd", in: movie, &reader), &reader)
    }
  }

  private static func timescale(_ type: StaticString, in parent: MP4Box, _ reader: inout MP4BoxReader) -> Int64? {
    guard let header = reader.first(type, in: parent), let version = reader.bytes.byte(at: header.start) else {
      return nil
    }
    let offset = header.start + (version == 1 ? 20 : 12)
    guard offset + 4 <= header.end, let scale = reader.bytes.code(at: offset), scale > 0 else { return nil }
    return Int64(scale)
  }

  /// The sum of an `stts` box; 0 when it is not to be believed.
  private static func sum(_ box: MP4Box, _ reader: inout MP4BoxReader) -> Int64 {
    guard let declared = reader.bytes.code(at: box.start + 4) else { return 0 }
    let entries = min(Int64(declared), (box.end - box.start - 8) / 8)
    var sum: Int64 = 0
    for index in 0..<max(0, entries) {
      guard let entry = reader.bytes.big(at: box.start + 8 + index * 8, bytes: 8) else { return 0 }
      let delta = Int64(entry & 0xFFFF_FFFF)
      guard delta < 1 << 31 else { return 0 }
      // Each term has 63 bits at most.
      sum = sum.addingClamped(Int64(entry >> 32) * delta)
    }
    return sum < 1 << 56 ? sum : 0
  }

  private mutating func readEdits(_ box: MP4Box, movieTimescale: Int64?, _ reader: inout MP4BoxReader) {
    guard let version = reader.bytes.byte(at: box.start), let declared = reader.bytes.code(at: box.start + 4) else {
      return
    }
    let width: Int64 = version == 1 ? 8 : 4
    let entries = min(Int64(declared), (box.end - box.start - 8) / (2 * width + 4), 10_000)
    var start: Int64?
    var end: Int64? = 0
    for index in 0..<max(0, entries) {
      let entry = box.start + 8 + index * (2 * width + 4)
      guard let rawSegment = reader.bytes.big(at: entry, bytes: Int(width)),
        let rawTime = reader.bytes.big(at: entry + width, bytes: Int(width))
      else { break }
      let time = width == 8 ? Int64(bitPattern: rawTime) : Int64(Int32(truncatingIfNeeded: Int64(rawTime)))
      // −1: an empty edit, which only shifts the track against others.
      guard time >= 0 else { continue }
      start = start ?? time
      // A segment without a duration goes on to the end.
      let segment = Int64(exactly: rawSegment).flatMap { segment in
        movieTimescale.flatMap { segment > 0 ? segment.scaled(by: timescale, over: $0) : nil }
      }
      end = end.flatMap { end in segment.map { max(end, time.addingClamped($0)) } }
    }
    guard let start, start <= duration else { return }
    editStart = start
    if let end, let movieTimescale, end > start {
      let tick = timescale / movieTimescale + 2
      if end.addingClamped(tick) < duration { editEnd = end }
    }
  }
}
