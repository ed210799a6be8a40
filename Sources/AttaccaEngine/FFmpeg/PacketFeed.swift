import AttaccaCore
import CFFmpeg

/// The demuxer's packets, with times that hold where bytes of the file are damaged or missing.
///
/// A demuxer passes over what it cannot make sense of, and most then go on counting as if nothing had been there. Each
/// container has its own evidence of how much that was: MPEG audio the bytes between two frames, Ogg the granule of the
/// page after the hole; FLAC, WavPack and MP4 packets carry the right time anyway. Lives on one thread.
final class PacketFeed {
  enum Next {
    case packet
    case end
    case failed(MediaError)
  }

  /// What is to be done with a packet that a clock has looked at.
  enum Placing {
    case take
    case drop
    /// The next frame stands elsewhere, at this byte.
    case goTo(Int64)
  }

  /// How much the packets' timestamps can be trusted to tell what was lost.
  enum Times {
    /// Each packet's time is right, whatever was before it.
    case exact
    /// Times are counted by the demuxer; only those that were set here (``mended``) tell of a loss.
    case counted
  }

  let demuxer: Demuxer
  private(set) var times: Times
  /// The times of packets that were worked out afresh after a hole; whoever believes one takes the range away.
  var mended: Range<Int64>?
  /// Decoded frames that the bytes behind the last packet would have been.
  private var lostAtEnd: Int64 = 0
  /// Where the first packet of all stands in the file.
  private(set) var firstPosition: Int64?
  /// Where the packet that was read last ends.
  private var lastEnd: Int64 = 0
  private(set) var mp3: MP3Clock?
  /// Counts a bare stream's frames, once the first was decoded.
  private(set) var frames: FrameClock?
  private var ogg: OggClock?
  private let isWavPack: Bool
  private let length: Int64?
  private var waiting: [UnsafeMutablePointer<AVPacket>] = []

  /// Makes a feed; `mp3` is what an MPEG audio file tells, `source` what the demuxer reads from.
  init(_ demuxer: Demuxer, codec: String, mp3: MP3StreamInfo?, ogg info: OggStreamInfo?, source: any ByteSource) {
    self.demuxer = demuxer
    length = source.length
    isWavPack = demuxer.container == "wv"
    let base = demuxer.stream.pointee.time_base
    let rate = demuxer.stream.pointee.codecpar.pointee.sample_rate
    switch demuxer.container {
    case "mp3":
      self.mp3 = mp3.map { MP3Clock($0, source) }
      times = mp3 == nil ? .counted : .exact
    case "ogg":
      if ["vorbis", "opus", "flac", "speex"].contains(codec) { ogg = OggClock(source, info) }
      times = .counted
    case "flac", "wv", "mov,mp4,m4a,3gp,3g2,mj2", "caf", "tta":
      times = base.num == 1 && base.den == rate ? .exact : .counted
    default: times = .counted
    }
  }

  deinit { forgetWaiting() }

  /// Reads the next packet into `packet`.
  func read(into packet: UnsafeMutablePointer<AVPacket>) -> Next {
    if !waiting.isEmpty {
      let next = waiting.removeFirst()
      av_packet_unref(packet)
      av_packet_move_ref(packet, next)
      var empty: UnsafeMutablePointer<AVPacket>? = next
      av_packet_free(&empty)
      return place(packet)
    }
    while true {
      switch demuxer.read(into: packet) {
      case .packet:
        if firstPosition == nil, packet.pointee.pos >= 0 { firstPosition = packet.pointee.pos }
        lastEnd = max(lastEnd, packet.pointee.pos.addingClamped(Int64(max(0, packet.pointee.size))))
        if mp3 != nil {
          switch mp3?.place(packet) ?? .take {
          case .take: return .packet
          case .drop: break
          case .goTo(let offset): _ = demuxer.seek(toByte: offset)
          }
          continue
        }
        switch frames?.place(packet) {
        case nil: return place(packet)
        case .take?: return .packet
        case .drop?: continue
        case .goTo(let offset)?: _ = demuxer.seek(toByte: offset)
        }
      case .end:
        if isWavPack, goToNextWavPackBlock() { continue }
        // In a file that was cut meanwhile nothing is lost, but gone.
        if demuxer.io.source.length == length {
          if let mp3 { lostAtEnd = mp3.framesLostAtEnd }
          if let frames { lostAtEnd = frames.framesLostAtEnd }
          if let ogg { lostAtEnd = ogg.hasSeenLastPage ? 0 : .max }
        }
        return .end
      case .failed(let error): return .failed(error)
      }
    }
  }

  /// The first packet of a bare stream was decoded: from it on frames are counted.
  func count(_ syntax: FrameSyntax, after packet: UnsafeMutablePointer<AVPacket>, samples: Int64) {
    frames = FrameClock(syntax, demuxer.io.source, after: packet, samples: samples)
    times = .exact
  }

  /// The frames lost behind the last packet, told once.
  func takeLostAtEnd() -> Int64 {
    defer { lostAtEnd = 0 }
    return lostAtEnd
  }

  /// How many bytes stand behind the last packet for each one before it, where the demuxer went on to the end without
  /// finding another: the rest of a Matroska cluster, say. 0 where little is left, or the file was cut meanwhile.
  var shareBehind: Double {
    guard ["matroska,webm", "asf", "mpc8", "mpegts"].contains(demuxer.container), let length, let firstPosition,
      demuxer.io.source.length == length, lastEnd > firstPosition, length - lastEnd > 256
    else { return 0 }
    return Double(length - lastEnd) / Double(lastEnd - firstPosition)
  }

  /// After a seek. `place` is the raw frame and the byte at which MPEG audio or another bare stream goes on.
  func restart(at place: (raw: Int64, offset: Int64)? = nil) {
    forgetWaiting()
    mended = nil
    lostAtEnd = 0
    mp3?.restart(at: place)
    frames?.restart(at: place)
    ogg?.restart()
  }

  private func place(_ packet: UnsafeMutablePointer<AVPacket>) -> Next {
    guard ogg?.passes(packet) == false else { return .packet }
    // Pages are missing before this packet's. Its page's granule tells where the last packet on it ends, so all of them
    // are needed to know where the first begins.
    var sum = packet.pointee.duration
    var usual = sum
    var isKnown = sum > 0
    let position = packet.pointee.pos
    while waiting.count < 300 {
      guard let next = av_packet_alloc() else { break }
      guard case .packet = demuxer.read(into: next) else {
        var empty: UnsafeMutablePointer<AVPacket>? = next
        av_packet_free(&empty)
        break
      }
      waiting.append(next)
      guard next.pointee.pos == position else { break }
      isKnown = isKnown && next.pointee.duration > 0
      // The demuxer makes the last packet of a Vorbis stream as long as all that is missing.
      if next.pointee.duration > max(8192, 2 * usual) { next.pointee.duration = usual }
      usual = next.pointee.duration
      sum += max(0, next.pointee.duration)
    }
    if isKnown, let start = ogg?.time(ofPageEndingAfter: sum) {
      mended = start..<start.addingClamped(sum)
      var time = start
      for one in [packet] + waiting where one.pointee.pos == position {
        one.pointee.pts = time
        time = time.addingClamped(one.pointee.duration)
      }
    }
    return .packet
  }

  private func forgetWaiting() {
    for packet in waiting {
      var packet: UnsafeMutablePointer<AVPacket>? = packet
      av_packet_free(&packet)
    }
    waiting = []
  }

  /// The demuxer gives up where a block's header is damaged; the next one is found by its first four letters.
  private func goToNextWavPackBlock() -> Bool {
    guard let io = demuxer.format.pointee.pb, demuxer.io.failure == nil else { return false }
    var reader = ByteReader(demuxer.io.source, window: 64 << 10, budget: 64 << 20)
    var position = max(0, avio_seek(io, 0, SEEK_CUR) - 31)
    while true {
      let available = reader.fill(at: position, atLeast: 32)
      guard available >= 32 else { return false }
      let found: Int? = reader.withWindow(from: position) { bytes in
        // A header: its letters, and a version 4.02…4.16 behind the size.
        (0..<bytes.count - 31).first { index in
          guard bytes[index] == 0x77, bytes[index + 1] == 0x76, bytes[index + 2] == 0x70, bytes[index + 3] == 0x6B
          else { return false }
          return bytes[index + 9] == 4 && bytes[index + 8] >= 2 && bytes[index + 8] <= 16
        }
      }
      if let found { return avio_seek(io, position + Int64(found), SEEK_SET) >= 0 }
      position += Int64(available - 31)
    }
  }
}
