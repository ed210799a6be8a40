import AttaccaCore
import CFFmpeg

/// An opened media on one time line: a stream, or the links of a chain one after another, giving exactly the frames that
/// are to be played.
///
/// What becomes known underway (a better duration, other tags) waits in ``takeDuration()`` and ``takeTags()``. Lives on
/// one thread.
final class OpenMedia {
  /// What was known when it was opened.
  let info: MediaInfo
  /// Frames per second of the time line: the first link's.
  let sampleRate: Int
  /// Where its bytes come from.
  let source: any ByteSource

  private let name: String
  /// Which of several sound tracks was asked for, counted from 0.
  private let track: Int?
  private let isLocal: Bool
  private var stream: MediaStream
  private var links: LinkTable
  private var current = 0
  private var adapter: RateAdapter?
  /// The frame of the time line that is read next, and whether it was reached by decoding.
  private var position: Int64 = 0
  private var isPositionKnown = true
  private var needsStart = false
  private var length: Int64?
  /// Something was read since the file was last found to have grown: at the edge of a recording it ends, or it would be
  /// opened again and again for a few bytes.
  private var hasProgressed = true

  private var duration: MediaDuration?
  private var toldDuration: MediaDuration?
  private var toldTags: [MetadataItem]
  private var tags: [(frame: Int64, metadata: [MetadataItem])] = []
  private var isScanned = false

  /// Opens an item's bytes, recognises them and decodes the first frame.
  ///
  /// - Throws: ``MediaError`` with a `source.*` code; also when nothing at all can be decoded.
  init(_ source: any ByteSource, name: String, track: Int? = nil) throws(MediaError) {
    isLocal = source is any LocalByteSource
    let source = PatientByteSource(source)
    self.source = source
    self.name = name
    self.track = track
    length = source.length
    let opening = try LinkTable.open(source, name: name, track: track)
    (stream, links) = (opening.stream, opening.links)
    sampleRate = stream.sampleRate
    var info = stream.info
    if links.isChain { info.duration = links.duration }
    info.describe(stream.demuxer, trim: stream.trim, length: source.length)
    self.info = info
    (duration, toldDuration, toldTags) = (info.duration, info.duration, info.metadata)
  }

  /// The number of frames to be played, when it is known.
  var frameCount: Int64? {
    if links.isChain { return links.total }
    if let duration, duration != info.duration {
      return duration.confidence == .exact ? duration.value.frames(at: sampleRate) : nil
    }
    return stream.frameCount
  }

  /// Which part of the present stream's decoded frames is played, and where that was learnt.
  var trim: TrimRange { stream.trim }

  /// The next stretch to be played.
  ///
  /// - Throws: `source.readFailed` when the bytes cannot be read any more.
  func read() throws(MediaError) -> DecodedChunk {
    while true {
      if needsStart { try startStream() }
      let chunk = try stream.read()
      guard let converted = adapter.map({ $0.convert(chunk) }) ?? chunk else {
        if case .end = chunk, try !goOn() { return .end }
        continue
      }
      switch converted {
      case .frames(_, _, let count), .concealment(let count): position += Int64(count)
      case .end:
        if try goOn() { continue }
        return .end
      }
      (isPositionKnown, hasProgressed) = (true, true)
      return converted
    }
  }

  /// Goes to a media frame: the next ``read()`` begins exactly there. A target at or past the end leaves nothing to read.
  ///
  /// - Throws: `source.readFailed` when the position cannot be reached.
  func seek(to mediaFrame: Int64) throws(MediaError) {
    let target = max(0, mediaFrame)
    let (link, start) = links.place(of: target)
    if link != current || needsStart { try open(link) }
    adapter = stream.sampleRate == sampleRate ? nil : RateAdapter(from: stream.sampleRate, to: sampleRate)
    let frame = target.subtractingClamped(start)
    try stream.seek(
      to: adapter == nil ? frame : frame.scaled(by: Int64(stream.sampleRate), over: Int64(sampleRate)) ?? .max)
    position = target
    isPositionKnown = false
    announce(at: target)
  }

  /// Whether something is known that was not told.
  var hasNews: Bool { !tags.isEmpty || duration != toldDuration }

  /// A duration better than the one that was told last.
  func takeDuration() -> MediaDuration? {
    guard duration != toldDuration else { return nil }
    toldDuration = duration
    return duration
  }

  /// The tags that hold from a frame of the time line on, for each change since the last call.
  func takeTags() -> [(frame: Int64, metadata: [MetadataItem])] {
    defer { tags = [] }
    return tags
  }

  /// Looks a little further through a file whose duration was only estimated; answers whether there is more to look at.
  ///
  /// Only of sources whose reads do not wait; a step takes a millisecond or so.
  func scan() -> Bool {
    guard isLocal, !isScanned, !links.isChain, duration?.confidence != .exact, stream.mp3 != nil else { return false }
    guard let frames = stream.mp3?.scan(bytes: 256 << 10) else { return true }
    isScanned = true
    set(exact: max(0, min(frames, stream.trim.end ?? .max) - stream.trim.start))
    return false
  }

  private func set(exact frames: Int64) {
    duration = MediaDuration(MediaTime(frames: frames, rate: sampleRate).duration, .exact)
  }

  /// What comes after the stream's end: the next link, or what was appended to the file meanwhile. Answers `false` at
  /// the media's end.
  private func goOn() throws(MediaError) -> Bool {
    if let link = stream.demuxer.io.source as? OggLinkSource, let next = link.nextLink {
      // A chain that was not recognised as one.
      links.add(OggChain.links(of: source, from: next), after: current)
      duration = links.duration
    }
    if isPositionKnown { links.settle(current, end: position) }
    if current + 1 < links.count {
      current += 1
      needsStart = true
      return true
    }
    if hasProgressed, let now = source.length, let before = length, now > before {
      (length, hasProgressed) = (now, false)
      try goOnWithGrownFile()
      return true
    }
    if isPositionKnown { set(exact: position) }
    return false
  }

  /// The file has grown: it is opened afresh and goes on where its old end was.
  private func goOnWithGrownFile() throws(MediaError) {
    isScanned = false
    let old = links.isChain ? links.start(of: current) : nil
    if let old {
      links.replaceLast(with: OggChain.links(of: source, from: old.byte))
      try open(current)
      duration = links.duration
    } else {
      let opening = try LinkTable.open(source, name: name, track: track)
      (stream, links) = (opening.stream, opening.links)
      duration = links.isChain ? links.duration : stream.info.duration
    }
    let isKnown = isPositionKnown
    try seek(to: position)
    isPositionKnown = isKnown
  }

  private func startStream() throws(MediaError) {
    // The stream that ended must not be asked again what follows it: it would tell the same links for ever.
    while true {
      do throws(MediaError) {
        try open(current)
        return announce(at: position)
      } catch {
        // A link that cannot be played is passed over, as one of no length.
        guard error.code == .sourceUnsupported || error.code == .sourceDamaged || error.code == .sourceNoAudio else {
          throw error
        }
        links.settle(current, end: position)
        guard current + 1 < links.count else {
          needsStart = false
          throw error
        }
        current += 1
      }
    }
  }

  private func open(_ link: Int) throws(MediaError) {
    let (part, info) = links.source(of: link, in: source)
    stream = try MediaStream(part, name: name, ogg: info)
    links.learned(link, frames: stream.frameCount, rate: stream.sampleRate)
    adapter = stream.sampleRate == sampleRate ? nil : RateAdapter(from: stream.sampleRate, to: sampleRate)
    current = link
    needsStart = false
  }

  private func announce(at frame: Int64) {
    guard links.isChain, stream.info.metadata != toldTags else { return }
    toldTags = stream.info.metadata
    tags.append((frame, toldTags))
  }
}
