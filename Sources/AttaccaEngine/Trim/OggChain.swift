import AttaccaCore

/// The links of a chained Ogg file (RFC 3533 §4): streams that follow one another, each with a beginning of its own.
enum OggChain {
  /// More links than any honest file has.
  static let most = 10_000

  /// A link: its bytes, and what its headers and last page tell.
  struct Link {
    var start: Int64
    var end: Int64
    /// Frames to be played, at its own rate; `nil` until it is opened, if its pages do not tell.
    var frames: Int64?
    var sampleRate: Int
  }

  /// Finds the links from `offset` (a link's beginning) on, by a walk over all page headers. `end` closes the last.
  static func links(of source: any ByteSource, from offset: Int64 = 0) -> [Link] {
    var reader = ByteReader(source, window: 512, budget: .max)
    var starts = [offset]
    var position = offset
    var hasBody = false
    while starts.count < most {
      guard let page = OggPage(at: position, &reader) else {
        guard let next = nextPage(in: source, from: position + 1) else { break }
        position = next
        continue
      }
      if page.isFirst {
        if hasBody, isIntact(page, source) {
          starts.append(page.offset)
          hasBody = false
        }
      } else {
        hasBody = true
      }
      position = page.end
    }
    let length = source.length ?? max(position, offset)
    return starts.indices.map { index in
      link(source, starts[index]..<(index + 1 < starts.count ? starts[index + 1] : max(length, starts[index])))
    }
  }

  private static func link(_ source: any ByteSource, _ bytes: Range<Int64>) -> Link {
    let part = OggLinkSource(source, start: bytes.lowerBound, end: bytes.upperBound)
    var reader = ByteReader(part, window: 512, budget: 1 << 20)
    let stream = OggStream.all(&reader).first { !$0.codec.isEmpty }
    var frames: Int64?
    if let stream, stream.sampleRate > 0, let info = OggTrim.read(part) {
      frames = info.trim.count ?? (info.codec == "flac" ? info.lastGranule : nil)
    }
    return Link(
      start: bytes.lowerBound, end: bytes.upperBound, frames: frames.map { max(0, $0) },
      sampleRate: stream?.sampleRate ?? 0)
  }

  /// The next place where an intact page begins.
  static func nextPage(in source: any ByteSource, from offset: Int64) -> Int64? {
    var reader = ByteReader(source, window: 128 << 10, budget: .max)
    var position = offset
    while true {
      let available = reader.fill(at: position, atLeast: 4096)
      guard available >= 27 else { return nil }
      let found: [Int] = reader.withWindow(from: position) { bytes in
        (0..<bytes.count - 4).filter {
          bytes[$0] == 0x4F && bytes[$0 + 1] == 0x67 && bytes[$0 + 2] == 0x67 && bytes[$0 + 3] == 0x53
            && bytes[$0 + 4] == 0
        }
      }
      for index in found {
        if let page = OggPage(at: position + Int64(index), &reader), isIntact(page, source) { return page.offset }
      }
      position += Int64(max(1, available - 4))
    }
  }

  static func isIntact(_ page: OggPage, _ source: any ByteSource) -> Bool {
    var reader = ByteReader(source, window: OggPage.largest, budget: 1 << 20)
    return page.isIntact(&reader)
  }
}
