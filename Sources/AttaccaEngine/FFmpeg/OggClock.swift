import AttaccaCore
import CFFmpeg

/// Notices pages that are missing in an Ogg stream, by their numbers, and tells from granules where it goes on.
struct OggClock {
  private var reader: ByteReader
  private var page: OggPage?
  /// The last granule that was passed, and the difference between the demuxer's times and granules.
  private var granule: Int64 = -1
  private var delta: Int64 = 0
  private let length: Int64?
  /// The number of the first page of audio, until one was seen.
  private var firstPage: UInt32?

  init(_ source: any ByteSource, _ info: OggStreamInfo?) {
    // What the demuxer adds to granules to get times.
    delta = -(info?.preSkip ?? 0)
    firstPage = info?.firstAudioPage
    length = source.length
    reader = ByteReader(source, window: 512, budget: .max)
  }

  mutating func restart() {
    page = nil
    firstPage = nil
    granule = -1
  }

  /// Whether the packet follows the one before without a hole.
  mutating func passes(_ packet: UnsafeMutablePointer<AVPacket>) -> Bool {
    let position = packet.pointee.pos
    guard position >= 0, position != page?.offset, let next = OggPage(at: position, &reader) else { return true }
    let last = page
    page = next
    let (before, time) = (granule, packet.pointee.pts)
    if next.granule >= 0 { granule = next.granule }
    // A large packet fills several pages, of which no packet is told but on the last; that is found out by its time.
    if let firstPage, next.sequence > firstPage {
      self.firstPage = nil
      return false
    }
    firstPage = nil
    if let last, last.serial == next.serial, next.sequence != last.sequence &+ 1 { return false }
    if last != nil, before >= 0, time != attacca_nopts { delta = time.subtractingClamped(before) }
    return true
  }

  /// The time at which this page's packets begin that take `duration` in all.
  func time(ofPageEndingAfter duration: Int64) -> Int64? {
    guard let page, page.granule >= 0 else { return nil }
    return page.granule.subtractingClamped(duration).addingClamped(delta)
  }

  /// Whether the last page that was read is the last there is.
  var hasSeenLastPage: Bool {
    guard let page, let length else { return true }
    return page.isLast || page.end >= length
  }
}
