import AttaccaCore

/// Finds the last page of a stream from the end of an Ogg file, and whether the file is a chain of several links.
struct OggEnd {
  /// Whether pages of another link were seen.
  private(set) var isChained = false

  /// Other streams' pages, or bytes that are none, that may stand behind the last page.
  private static let farthest: Int64 = 4 << 20
  private static let window = 128 << 10
  /// The most frames that a few pages hold.
  private static let longestPages: Int64 = 30 * 48_000

  private let serial: UInt32
  private let serials: Set<UInt32>
  private let start: Int64
  private let length: Int64?
  private var reader: ByteReader
  private var probe: ByteReader
  /// Bytes whose checksum may still be computed: a file full of page headers must not cost more.
  private var checksums = 8 << 20

  /// Makes a finder for `serial`, in a file whose links' first one has the streams `serials`; pages but first ones stand
  /// from `start` on.
  init(_ source: any ByteSource, serial: UInt32, serials: Set<UInt32>, start: Int64) {
    self.serial = serial
    self.serials = serials
    self.start = start
    length = source.length
    reader = ByteReader(source, window: Self.window, budget: 16 << 20)
    probe = ByteReader(source, window: 8192, budget: 1 << 20)
  }

  /// The granule of the stream's last page, and with it ``isChained``; `nil` when none is found, or the length is not
  /// known.
  mutating func lastGranule() -> Int64? {
    guard let length, let last = lastPage(length), !isChained else { return nil }
    probeOrder(to: last)
    return last.granule
  }

  /// Looks backwards, window by window; each reaches far enough to hold the pages that begin in its first part.
  private mutating func lastPage(_ length: Int64) -> OggPage? {
    var upper = length
    var damaged: OggPage?
    let lowest = max(start, length - Self.farthest)
    while upper > lowest {
      let lower = max(lowest, upper - Int64(Self.window - OggPage.largest))
      let available = reader.fill(at: lower, atLeast: Self.window)
      let candidates: [Int] = reader.withWindow(from: lower) { bytes in
        let count = min(Int(upper - lower), available - 26, bytes.count - 26)
        return stride(from: count - 1, through: 0, by: -1).filter {
          bytes[$0] == 0x4F && bytes[$0 + 1] == 0x67 && bytes[$0 + 2] == 0x67 && bytes[$0 + 3] == 0x53
        }
      }
      for candidate in candidates {
        guard let page = OggPage(at: lower + Int64(candidate), &reader), page.end <= length else { continue }
        checksums -= page.size
        guard checksums > 0 else { return nil }
        guard page.isIntact(&reader) else {
          // Damaged, but it stands where the last page has to stand.
          if page.end == length, page.serial == serial, page.granule >= 0, !page.isFirst { damaged = page }
          continue
        }
        if page.isFirst || !serials.contains(page.serial) {
          isChained = true
          return nil
        }
        if page.serial == serial, page.granule >= 0 {
          // What a damaged page says is believed if it fits the one before.
          if let damaged, (1...4).contains(damaged.sequence &- page.sequence),
            (0...Self.longestPages).contains(damaged.granule.subtractingClamped(page.granule))
          {
            return damaged
          }
          return page
        }
      }
      upper = lower
    }
    return nil
  }

  /// Looks at some pages on the way: in one link, numbers only rise. It finds links in the middle, and links of one and
  /// the same serial number (copies of a file that were joined).
  private mutating func probeOrder(to last: OggPage) {
    var (sequence, granule): (UInt32, Int64) = (0, 0)
    for part in [1, 3, 10, 25, 45, 65, 85, 95] as [Int64] {
      guard let page = page(from: start + (last.offset - start) / 100 * part, before: last.offset) else { continue }
      let isOurs = page.serial == serial && !page.isFirst
      let fits =
        isOurs && (sequence...max(sequence, last.sequence)).contains(page.sequence)
        && (page.granule < 0 || (granule...max(granule, last.granule)).contains(page.granule))
      if !fits, page.isFirst || !serials.contains(page.serial) || page.serial == serial {
        // A damaged header may say anything.
        checksums -= page.size
        guard checksums > 0, page.isIntact(&reader) else { continue }
        isChained = true
      }
      guard page.serial == serial else { continue }
      sequence = page.sequence
      granule = max(granule, page.granule)
    }
    isChained = isChained || last.sequence < sequence || last.granule < granule
  }

  private mutating func page(from offset: Int64, before limit: Int64) -> OggPage? {
    var position = offset
    while position < min(limit, offset + Int64(OggPage.largest)) {
      let available = probe.fill(at: position, atLeast: 8192)
      guard available >= 27 else { return nil }
      let found: Int? = probe.withWindow(from: position) { bytes in
        (0..<bytes.count - 4).first {
          bytes[$0] == 0x4F && bytes[$0 + 1] == 0x67 && bytes[$0 + 2] == 0x67 && bytes[$0 + 3] == 0x53
            && bytes[$0 + 4] == 0
        }
      }
      guard let found else {
        position += Int64(available - 4)
        continue
      }
      let start = position + Int64(found)
      if let page = OggPage(at: start, &probe), start < limit { return page }
      position = start + 1
    }
    return nil
  }
}
