import AttaccaCore
import Synchronization

/// One link's bytes of an Ogg file, as if they were a file of their own.
///
/// Where it is not known that the file is a chain, it watches the pages that are read one after another: a stream that
/// begins behind others ends this link there, and the demuxer never sees it.
///
/// `@unchecked Sendable`: what changes while reading is used on the engine's thread only; `cancel` goes straight to the
/// source, and the end is atomic.
final class OggLinkSource: ByteSource, @unchecked Sendable {
  /// Where the link begins in the file.
  let start: Int64
  /// Where it ends in the file; `Int64.max`: not known yet.
  private let end: Atomic<Int64>
  private let source: any ByteSource
  private let watches: Bool
  /// Where the next page should begin.
  private var nextPage: Int64
  private var hasBody = false
  private var readEnd: Int64 = -1

  /// Makes a part of `source`; with `end` nil it reaches as far as a new stream, or the source.
  init(_ source: any ByteSource, start: Int64, end: Int64?) {
    self.source = source
    self.start = start
    self.end = Atomic(end ?? .max)
    watches = end == nil
    nextPage = start
  }

  /// Where the next link begins in the file, once that is known.
  var nextLink: Int64? {
    let end = end.load(ordering: .relaxed)
    return watches && end < .max ? end : nil
  }

  var length: Int64? {
    let end = end.load(ordering: .relaxed)
    guard let whole = source.length else { return end < .max ? end - start : nil }
    return max(0, min(whole, end) - start)
  }
  var isSeekable: Bool { source.isSeekable }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> ByteRead {
    let position = start.addingClamped(max(0, offset))
    let limit = end.load(ordering: .relaxed)
    guard position < limit else { return .end }
    let room = Int(min(Int64(buffer.count), limit - position))
    let result = source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<room]), at: position)
    guard watches, case .bytes(let count) = result else { return result }
    watch(position..<position + Int64(count))
    let kept = end.load(ordering: .relaxed) - position
    return kept <= 0 ? .end : .bytes(min(count, Int(min(kept, Int64(count)))))
  }

  func waitForBytes(at offset: Int64) { source.waitForBytes(at: start.addingClamped(offset)) }

  func cancel() { source.cancel() }

  /// Looks at the headers of the pages that begin in these bytes, as long as they are read in order.
  private func watch(_ bytes: Range<Int64>) {
    let goesOn = bytes.lowerBound == readEnd
    readEnd = bytes.upperBound
    if !bytes.contains(nextPage) {
      // After a seek, once it is clear that reading goes on from there: no stream begins here that was not seen.
      guard goesOn, nextPage < bytes.lowerBound || nextPage > bytes.upperBound + Int64(OggPage.largest),
        let next = OggChain.nextPage(in: source, from: bytes.lowerBound)
      else { return }
      (nextPage, hasBody) = (next, true)
    }
    var reader = ByteReader(source, window: 512, budget: 1 << 20)
    while nextPage < bytes.upperBound {
      guard let page = OggPage(at: nextPage, &reader) else {
        // Damaged: the next one that is whole, if it begins in these bytes or soon after.
        guard let next = OggChain.nextPage(in: source, from: nextPage + 1) else { return nextPage = .max }
        nextPage = next
        continue
      }
      if page.isFirst, hasBody, OggChain.isIntact(page, source) { return end.store(page.offset, ordering: .relaxed) }
      hasBody = hasBody || !page.isFirst
      nextPage = page.end
    }
  }
}
