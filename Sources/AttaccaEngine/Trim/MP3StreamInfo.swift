import AttaccaCore

/// What an MP3 file (or MPEG audio of layer I or II) is, without decoding it.
package struct MP3StreamInfo: Sendable, Hashable {
  /// The ID3v2 tags at the start of the file.
  package var tags: [ID3v2Tag]
  /// Offset of the first frame, be it the tag frame or audio.
  package var firstFrameOffset: Int64
  /// Offset of the first frame that is audio: behind the Xing, Info or VBRI frame.
  package var firstAudioFrameOffset: Int64
  /// The first audio frame's header (the tag frame's, when no audio follows).
  package var header: MP3FrameHeader
  /// The encoder's tag frame.
  package var infoTag: MP3InfoTag?
  /// The gapless comment of the ID3v2 tags.
  package var iTunSMPB: ITunSMPB?
  /// Offset of the first byte behind the audio; `nil` when the source does not know its length.
  package var audioEnd: Int64?
  /// Whether all frames seem to have the same nominal bit rate.
  package var isConstantBitRate: Bool
  /// Whether FFmpeg's demuxer delivers the tag frame as audio: when it says neither how many frames nor how many bytes
  /// there are, or when other bytes stand before it.
  package var isTagFrameDelivered: Bool
  /// Whether more frames follow behind all that the tag counts: files that were joined.
  private var goesOn = false
  /// Mean seconds per byte over samples of the file, for the estimate without a tag.
  private(set) var secondsPerByte: Double?

  /// Reads the start, the end and (without a tag) some points between; `nil` when no frames are found in the first MiB
  /// behind the ID3v2 tags.
  package init?(of source: any ByteSource) {
    var reader = ByteReader(source, window: 16 << 10, budget: 20 << 20)
    self.init(&reader)
  }

  init?(_ reader: inout ByteReader) {
    tags = ID3v2Tag.all(from: 0, &reader)
    let start = tags.last?.end ?? 0
    let length = reader.length
    guard
      let first = MP3FrameFinder.first(from: start, before: start.addingClamped(1 << 20), end: length, &reader)
    else { return nil }
    firstFrameOffset = first.offset
    firstAudioFrameOffset = first.offset
    header = first.header
    isTagFrameDelivered = false
    isConstantBitRate = false

    infoTag = MP3InfoTag(inFrameAt: first.offset, first.header, &reader)
    if let infoTag {
      let next = first.offset + Int64(first.header.size)
      firstAudioFrameOffset = next
      if let audio = MP3FrameFinder.header(at: next, &reader) { header = audio }
      isTagFrameDelivered = first.offset != start || infoTag.frames == nil && infoTag.bytes == nil
    }
    for tag in tags where iTunSMPB == nil { iTunSMPB = tag.iTunSMPB(&reader) }
    audioEnd = length.map { MP3Tail.audioEnd(length: $0, start: firstAudioFrameOffset, &reader) }
    goesOn = findsMoreThanCounted(&reader)
    switch infoTag?.kind {
    case .info: isConstantBitRate = true
    case .xing, .vbri: if claimedFrames == nil { sampleBitRates(&reader) }
    case nil: sampleBitRates(&reader)
    }
  }

  /// Looks for frames behind the bytes that the tag counts, over an ID3v2 tag. Encoders may miscount by a frame or two.
  private func findsMoreThanCounted(_ reader: inout ByteReader) -> Bool {
    guard let counted = infoTag?.bytes, let audioEnd, audioEnd - firstFrameOffset - counted > 4096 else { return false }
    let behind = firstFrameOffset + counted
    let start = ID3v2Tag.all(from: behind, &reader).last?.end ?? behind
    return MP3FrameFinder.first(from: start, before: min(audioEnd, start + 16384), end: audioEnd, &reader) != nil
  }

  /// Looks at the first eight frames and at one in each sixteenth of the file.
  private mutating func sampleBitRates(_ reader: inout ByteReader) {
    isConstantBitRate = true
    var position = firstAudioFrameOffset
    for _ in 0..<8 {
      guard position < audioEnd ?? .max, let next = MP3FrameFinder.header(at: position, &reader) else { break }
      isConstantBitRate = isConstantBitRate && next.bitRate == header.bitRate
      position += Int64(next.size)
    }
    guard let audioEnd else { return }
    var sum = 0.0
    var count = 0
    for part in 0..<16 {
      let from = firstAudioFrameOffset + (audioEnd - firstAudioFrameOffset) / 16 * Int64(part)
      let found = MP3FrameFinder.first(
        from: from, before: min(audioEnd, from + 8192), end: audioEnd, stream: header, &reader)
      guard let found else { continue }
      isConstantBitRate = isConstantBitRate && found.header.bitRate == header.bitRate
      sum += 8 / Double(found.header.bitRate)
      count += 1
    }
    if count > 0 { secondsPerByte = sum / Double(count) }
  }

  /// Bytes from the first audio frame to the end of the audio.
  package var audioBytes: Int64? { audioEnd.map { max(0, $0 - firstAudioFrameOffset) } }

  /// Bytes of an average frame of this bit rate, as a fraction: `numerator / sampleRate`.
  var nominalFrameSize: (numerator: Int64, denominator: Int64) {
    (Int64(header.samples / 8) * Int64(header.bitRate), Int64(header.sampleRate))
  }

  /// The tag's count of frames, unless its bytes cannot be so few or so many frames of this stream.
  var claimedFrames: Int64? {
    guard let tag = infoTag, let frames = tag.frames else { return nil }
    guard let bytes = tag.bytes else { return frames }
    let (numerator, denominator) = nominalFrameSize
    let nominal = Double(numerator) / Double(max(1, denominator))
    let mean = Double(bytes) / Double(frames)
    if tag.kind == .info { return frames < 100 || abs(mean - nominal) < nominal / 16 ? frames : nil }
    // From 8 kbit/s to 448: no mean of frames is beyond.
    let scale = nominal / Double(max(1, header.bitRate))
    return frames < 100 || mean > 7_000 * scale && mean < 450_000 * scale ? frames : nil
  }

  /// How the bytes that are there compare with what the tag counts.
  private enum Fit { case same, fewer, more, unknown }

  private var fit: Fit {
    guard let audioEnd, let tag = infoTag else { return .unknown }
    let present = audioEnd - firstFrameOffset
    guard let counted = tag.bytes else {
      // Without a count of bytes only one lie can be told: more bytes than so many of the largest frames hold.
      return claimedFrames.map { present / 1792 > $0 &+ 1 ? .more : .unknown } ?? .unknown
    }
    // Some encoders leave their own frame out of the count or end with a few odd bytes.
    return present < counted - Int64(2 * header.size) ? .fewer : goesOn ? .more : .same
  }

  /// The part of the decoded frames that is music.
  ///
  /// A decoder's own delay is 529 frames: LAME and iTunes count without it. When the file goes on far behind what its
  /// tag counts (files that were joined), the end is left open.
  package var trim: TrimRange {
    let samples = Int64(header.samples)
    let origin = isTagFrameDelivered ? samples : 0
    let total = fit == .more ? nil : claimedFrames.map { $0 * samples }
    if let delay = infoTag?.delay, let padding = infoTag?.padding {
      let start = origin + delay + 529
      return TrimRange(start: start, end: total.map { origin + $0 - max(0, padding - 529) }, source: .lame)
    }
    if let iTunSMPB {
      let start = origin + iTunSMPB.delay + 529
      return TrimRange(start: start, end: start + iTunSMPB.total, source: .iTunSMPB)
    }
    // Frames that the tag counts are all there is; without proof from the count of bytes nothing is cut.
    guard origin > 0 || fit == .same && total != nil else { return .none }
    return TrimRange(start: origin, end: fit == .same ? total.map { origin + $0 } : nil, source: .none)
  }

  /// The duration of what ``trim`` leaves.
  ///
  /// Exact from an encoder's counts that fit the file, declared from counts that cannot be checked, else estimated from
  /// bytes: without a tag and with a constant bit rate that is right to the frame unless other bytes lie between.
  package var duration: MediaDuration? {
    let (trim, fit) = (trim, fit)
    let declared = trim.count ?? claimedFrames.map { $0 * Int64(header.samples) }
    if let declared, let tag = infoTag, claimedFrames != nil {
      let isTrimmed = trim.source != .none
      switch fit {
      case .same: return duration(declared, .exact)
      case .unknown: return duration(declared, isTrimmed && audioEnd != nil ? .exact : .declared)
      case .fewer, .more:
        guard let bytes = tag.bytes, let audioEnd else { break }
        return declared.scaled(by: audioEnd - firstFrameOffset, over: bytes).map { duration($0, .estimated) }
      }
    }
    if let count = trim.count, trim.source == .iTunSMPB { return duration(count, .exact) }
    guard let audioBytes else { return nil }
    if isConstantBitRate {
      let (numerator, denominator) = nominalFrameSize
      return audioBytes.scaled(by: denominator, over: numerator).map {
        duration($0.multipliedClamped(Int64(header.samples)), .estimated)
      }
    }
    return secondsPerByte.map { MediaDuration(.seconds(Double(audioBytes) * $0), .estimated) }
  }

  private func duration(_ frames: Int64, _ confidence: DurationConfidence) -> MediaDuration {
    MediaDuration(MediaTime(frames: frames, rate: header.sampleRate).duration, confidence)
  }
}

extension Int64 {
  func addingClamped(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  func multipliedClamped(_ other: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) != (other < 0) ? .min : .max) : product
  }
}
