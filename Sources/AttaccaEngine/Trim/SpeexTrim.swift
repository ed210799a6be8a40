import AttaccaCore

/// Reads the trim of an Ogg Speex file: the encoder's look-ahead at the start, and the last page's granule (the Speex
/// manual, "Ogg file format").
///
/// A page's granule is the end of its last packet less the look-ahead, so the first page tells it. Where that page is
/// also the last, its granule tells the end, and the look-ahead is the usual one of the mode. A decoder answers late by
/// another one of its own, which granules leave out: a sub-frame at the lowest band's rate.
enum SpeexTrim {
  static func read(_ source: any ByteSource) -> TrimRange {
    var reader = ByteReader(source, window: 8192, budget: 4 << 20)
    guard let head = OggPage(at: 0, &reader), head.isFirst, reader.has("Speex   ", at: head.bodyOffset),
      let mode = reader.little(at: head.bodyOffset + 40, bytes: 4),
      let size = reader.little(at: head.bodyOffset + 56, bytes: 4),
      let perPacket = reader.little(at: head.bodyOffset + 64, bytes: 4),
      let extra = reader.little(at: head.bodyOffset + 68, bytes: 4),
      mode < 3, (1...4096).contains(size), perPacket <= 64, extra < 64
    else { return .none }
    let packetSize = Int64(size) * Int64(max(1, perPacket))
    var headers = 1 + Int64(extra)
    var position = head.end
    var (packets, start): (Int64, Int64?) = (0, nil)
    for _ in 0..<4096 where start == nil {
      guard let page = OggPage(at: position, &reader) else { return .none }
      position = page.end
      guard page.serial == head.serial else { continue }
      var ended = Int64(page.segments.count { $0 < 255 })
      let headersHere = min(headers, ended)
      headers -= headersHere
      ended -= headersHere
      packets += ended
      guard ended > 0, page.granule >= 0 else { continue }
      let usual: [Int64] = [40, 143, 349]
      let told = packets * packetSize - page.granule
      start = page.isLast || !(0..<packetSize).contains(told) ? usual[Int(mode)] : told
      start? += 40 << Int64(mode)
    }
    guard let start else { return .none }
    var end = OggEnd(source, serial: head.serial, serials: [head.serial], start: head.end)
    let last = end.lastGranule()
    return TrimRange(
      start: start, end: end.isChained ? nil : last.map { start.addingClamped($0) }, source: .speexGranule)
  }
}
