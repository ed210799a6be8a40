import AttaccaCore

/// Where the links of a media begin, in its file and on its time line; of most media there is one.
struct LinkTable {
  private struct Entry {
    var byte: Int64
    var end: Int64?
    /// Frames at the time line's rate.
    var frames: Int64?
  }

  private var entries: [Entry]
  private let rate: Int

  /// Opens a media's first stream and finds out what follows it.
  static func open(
    _ source: any ByteSource, name: String, track: Int?
  ) throws(MediaError) -> (stream: MediaStream, links: LinkTable) {
    var reader = ByteReader(source, window: 64, budget: 64)
    guard reader.has("OggS", at: 0) else {
      let stream = try MediaStream(source, name: name, ogg: nil, track: track)
      return (stream, LinkTable(rate: stream.sampleRate))
    }
    let info = OggTrim.read(source)
    guard let info, info.isChained else {
      let stream = try MediaStream(OggLinkSource(source, start: 0, end: nil), name: name, ogg: info)
      return (stream, LinkTable(rate: stream.sampleRate))
    }
    let links = OggChain.links(of: source)
    let first = OggLinkSource(source, start: 0, end: links.first?.end)
    let stream = try MediaStream(first, name: name, ogg: OggTrim.read(first))
    var table = LinkTable(rate: stream.sampleRate)
    table.entries = links.map { table.entry($0) }
    table.learned(0, frames: stream.frameCount, rate: stream.sampleRate)
    return (stream, table)
  }

  private init(rate: Int) {
    self.rate = rate
    entries = [Entry(byte: 0)]
  }

  private func entry(_ link: OggChain.Link) -> Entry {
    Entry(byte: link.start, end: link.end, frames: link.frames.flatMap { scaled($0, link.sampleRate) })
  }

  private func scaled(_ frames: Int64, _ from: Int) -> Int64? {
    from == rate ? frames : frames.scaled(by: Int64(rate), over: Int64(max(1, from)))
  }

  var count: Int { entries.count }
  var isChain: Bool { entries.count > 1 }

  /// Frames of all links; `nil` while those of one are not known.
  var total: Int64? {
    entries.reduce(Int64?(0)) { sum, entry in sum.flatMap { sum in entry.frames.map { sum.addingClamped($0) } } }
  }

  var duration: MediaDuration? {
    total.map { MediaDuration(MediaTime(frames: $0, rate: rate).duration, .exact) }
  }

  /// The link that `frame` is in, and its first frame. Behind a link of unknown length nothing can be told.
  func place(of frame: Int64) -> (link: Int, start: Int64) {
    var start: Int64 = 0
    for (index, entry) in entries.enumerated() {
      guard index + 1 < entries.count, let frames = entry.frames, start.addingClamped(frames) <= frame else {
        return (index, start)
      }
      start += frames
    }
    return (0, 0)
  }

  func start(of link: Int) -> (byte: Int64, frame: Int64) {
    (entries[link].byte, entries[..<link].reduce(0) { $0.addingClamped($1.frames ?? 0) })
  }

  /// The link was played to its end: that is how long it is.
  mutating func settle(_ link: Int, end: Int64) {
    guard isChain else { return }
    entries[link].frames = max(0, end - start(of: link).frame)
  }

  mutating func learned(_ link: Int, frames: Int64?, rate: Int) {
    guard isChain, let frames else { return }
    entries[link].frames = scaled(frames, rate) ?? entries[link].frames
  }

  /// Further links were found behind `link`.
  mutating func add(_ links: [OggChain.Link], after link: Int) {
    guard let first = links.first else { return }
    entries[link].end = first.start
    entries.removeSubrange((link + 1)...)
    entries += links.map(entry)
  }

  mutating func replaceLast(with links: [OggChain.Link]) {
    entries.removeLast()
    entries += links.map(entry)
  }

  /// A link's bytes, and what its pages tell.
  func source(of link: Int, in source: any ByteSource) -> (any ByteSource, OggStreamInfo?) {
    let entry = entries[link]
    let part = OggLinkSource(source, start: entry.byte, end: entry.end)
    return (part, OggTrim.read(part))
  }
}
