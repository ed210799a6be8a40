/// Where an ID3v2 tag lies and how it is written (ID3v2.2, 2.3, 2.4 §3.1).
package struct ID3v2Tag: Sendable, Hashable {
  /// Offset of the tag's first byte.
  package var offset: Int64
  /// The tag's major version: 2, 3 or 4.
  package var version: UInt8
  /// The flags of its header.
  package var flags: UInt8
  /// Bytes after the header, without a footer.
  package var bodySize: Int64
  /// Offset of the first byte behind the tag and its footer.
  package var end: Int64

  /// Reads the header at `offset`; `nil` when no tag starts there.
  package init?(at offset: Int64, _ reader: inout ByteReader) {
    guard let header = reader.bytes(at: offset, count: 10), header.starts(with: Array("ID3".utf8)),
      header[3] != 0xFF, header[4] != 0xFF, header[6...].allSatisfy({ $0 < 0x80 })
    else { return nil }
    self.offset = offset
    version = header[3]
    flags = header[5]
    bodySize = header[6...].reduce(0) { $0 << 7 | Int64($1) }
    end = offset + 10 + bodySize + (version >= 4 && flags & 0x10 != 0 ? 10 : 0)
  }

  /// The tags at `offset`, one after the other; at most 64.
  package static func all(from offset: Int64, _ reader: inout ByteReader) -> [ID3v2Tag] {
    var tags: [ID3v2Tag] = []
    var position = offset
    while tags.count < 64, let tag = ID3v2Tag(at: position, &reader) {
      tags.append(tag)
      position = tag.end
    }
    return tags
  }

  /// The gapless comment in this tag's COMM or TXXX frames (COM, TXX in ID3v2.2).
  package func iTunSMPB(_ reader: inout ByteReader) -> ITunSMPB? {
    // ID3v2.2 uses this flag for a compression that was never defined.
    if version == 2, flags & 0x40 != 0 { return nil }
    guard (2...4).contains(version) else { return nil }
    var body = UnsyncedBytes(from: offset + 10, to: offset + 10 + bodySize, restoring: version < 4 && flags & 0x80 != 0)
    if version > 2, flags & 0x40 != 0 {
      // The extended header: in 2.3 its size leaves itself out, in 2.4 it is counted in and of 7-bit bytes.
      guard let size = body.number(4, bits: version == 4 ? 7 : 8, &reader),
        body.skip(version == 4 ? max(0, size - 4) : size, &reader)
      else { return nil }
    }
    // A tag of 256 MB holds at most some million frames; nobody writes more than a few hundred.
    for _ in 0..<4096 {
      guard let frame = nextFrame(&body, &reader) else { return nil }
      guard frame.isGaplessCandidate, frame.size <= 4096, let content = body.take(Int(frame.size), &reader) else {
        guard body.skip(frame.size, &reader) else { return nil }
        continue
      }
      if let found = frame.iTunSMPB(content, tagIsUnsynced: version == 4 && flags & 0x80 != 0) { return found }
    }
    return nil
  }

  private func nextFrame(_ body: inout UnsyncedBytes, _ reader: inout ByteReader) -> ID3v2Frame? {
    let width = version == 2 ? 3 : 4
    guard let id = body.take(width, &reader),
      id.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) })
    else { return nil }
    let sizeBytes = body.position
    guard var size = body.number(width, bits: version == 4 ? 7 : 8, &reader) else { return nil }
    var flags: [UInt8] = [0, 0]
    if version > 2 {
      guard let read = body.take(2, &reader) else { return nil }
      flags = read
    }
    // Old iTunes wrote plain sizes into 2.4 tags. Believe a plain size when only that one leads to another frame.
    if version == 4, let plain = reader.big(at: sizeBytes, bytes: 4), Int64(plain) != size,
      !leadsOn(body.position + size, &reader), leadsOn(body.position + Int64(plain), &reader)
    {
      size = Int64(plain)
    }
    return ID3v2Frame(version: version, id: id, flags: flags[1], size: size)
  }

  private func leadsOn(_ position: Int64, _ reader: inout ByteReader) -> Bool {
    let limit = offset + 10 + bodySize
    if position == limit { return true }
    guard position < limit - 10, let id = reader.bytes(at: position, count: 4) else { return false }
    return id == [0, 0, 0, 0] || id.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
  }
}

/// One frame's header in an ID3v2 tag.
struct ID3v2Frame {
  var version: UInt8
  var id: [UInt8]
  /// The second byte of the flags, which tells how the content is stored; 0 in ID3v2.2.
  var flags: UInt8
  var size: Int64

  private var isComment: Bool { id.starts(with: Array((version == 2 ? "COM" : "COMM").utf8)) }

  /// Whether the frame can hold the gapless comment and is stored in a way that is read here.
  var isGaplessCandidate: Bool {
    guard isComment || id.starts(with: Array((version == 2 ? "TXX" : "TXXX").utf8)) else { return false }
    // Neither compressed nor encrypted.
    return flags & (version == 3 ? 0xC0 : version == 4 ? 0x0C : 0) == 0
  }

  func iTunSMPB(_ stored: [UInt8], tagIsUnsynced: Bool) -> ITunSMPB? {
    var content = stored[...]
    if version == 3, flags & 0x20 != 0 { content = content.dropFirst() }
    if version == 4 {
      if flags & 0x40 != 0 { content = content.dropFirst() }
      if flags & 0x01 != 0 { content = content.dropFirst(4) }
      if flags & 0x02 != 0 || tagIsUnsynced {
        var previous: UInt8 = 0
        content =
          content.filter { byte in
            defer { previous = byte }
            return !(byte == 0 && previous == 0xFF)
          }[...]
      }
    }
    guard let encoding = content.popFirst() else { return nil }
    if isComment { content = content.dropFirst(3) }
    var isLittleEndian = false
    let name = ID3v2Text.ascii(&content, encoding: encoding, isLittleEndian: &isLittleEndian)
    guard name == Array("iTunSMPB".utf8) else { return nil }
    return ITunSMPB(ID3v2Text.ascii(&content, encoding: encoding, isLittleEndian: &isLittleEndian))
  }
}

/// The ASCII of ID3v2's text encodings.
enum ID3v2Text {
  /// Takes one string, up to and with its terminator, as ASCII; other characters become `?`.
  ///
  /// Encodings are those of ID3v2.4 §4: 0 Latin-1, 1 UTF-16 with a byte order mark, 2 UTF-16BE, 3 UTF-8.
  static func ascii(_ content: inout ArraySlice<UInt8>, encoding: UInt8, isLittleEndian: inout Bool) -> [UInt8] {
    var text: [UInt8] = []
    if encoding == 1 || encoding == 2 {
      while content.count >= 2 {
        let (first, second) = (content.removeFirst(), content.removeFirst())
        if first == 0xFF, second == 0xFE {
          isLittleEndian = true
        } else if first == 0xFE, second == 0xFF {
          isLittleEndian = false
        } else {
          let (high, low) = isLittleEndian ? (second, first) : (first, second)
          if high == 0, low == 0 { break }
          text.append(high == 0 && low < 0x80 ? low : UInt8(ascii: "?"))
        }
      }
    } else {
      while let byte = content.popFirst(), byte != 0 { text.append(byte < 0x80 ? byte : UInt8(ascii: "?")) }
    }
    return text
  }
}

/// The bytes of a tag's body in order, with unsynchronisation (a 0 put after each 0xFF) undone where it was used.
struct UnsyncedBytes {
  private(set) var position: Int64
  private let end: Int64
  private let restoring: Bool
  private var previous: UInt8 = 0

  init(from start: Int64, to end: Int64, restoring: Bool) {
    position = start
    self.end = end
    self.restoring = restoring
  }

  private mutating func next(_ reader: inout ByteReader) -> UInt8? {
    while position < end, let byte = reader.byte(at: position) {
      position += 1
      let isStuffing = restoring && byte == 0 && previous == 0xFF
      previous = byte
      if !isStuffing { return byte }
    }
    return nil
  }

  mutating func take(_ count: Int, _ reader: inout ByteReader) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for _ in 0..<count {
      guard let byte = next(&reader) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  /// A big-endian number of `count` bytes of which `bits` count each.
  mutating func number(_ count: Int, bits: Int64, _ reader: inout ByteReader) -> Int64? {
    take(count, &reader)?.reduce(0) { $0 << bits | Int64($1) & (1 << bits - 1) }
  }

  mutating func skip(_ count: Int64, _ reader: inout ByteReader) -> Bool {
    guard count >= 0, count <= end - position else { return false }
    guard restoring else {
      position += count
      return true
    }
    var left = count
    while left > 0 {
      let limit = min(end - position, Int64(reader.fill(at: position, atLeast: 1)))
      guard limit > 0 else { return false }
      var (taken, last) = (0, previous)
      reader.withWindow(from: position) { bytes in
        while taken < Int(limit), left > 0 {
          let byte = bytes[taken]
          if byte != 0 || last != 0xFF { left -= 1 }
          last = byte
          taken += 1
        }
      }
      position += Int64(taken)
      previous = last
    }
    return true
  }
}
