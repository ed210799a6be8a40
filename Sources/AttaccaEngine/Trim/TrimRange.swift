import AttaccaCore

/// Where a ``TrimRange`` was learnt.
package enum TrimSource: String, Sendable, Hashable, CaseIterable {
  /// Encoder delay and padding in the LAME part of an MP3's Xing or Info frame.
  case lame
  /// An `iTunSMPB` comment in an ID3v2 tag or an MP4 item list.
  case iTunSMPB
  /// An MP4 edit list (ISO/IEC 14496-12 §8.6.6).
  case editList
  /// The sum of an MP4 track's sample durations (ISO/IEC 14496-12 §8.6.1.2).
  case sampleTable
  /// Pre-skip and the last page's granule of an Ogg Opus stream (RFC 7845 §4).
  case opusHeader
  /// The last page's granule of an Ogg Vorbis stream (Vorbis I §A.2).
  case vorbisGranule
  /// Look-ahead and the last page's granule of an Ogg Speex stream.
  case speexGranule
  /// CodecDelay of a Matroska track (RFC 9559 §5.1.4.1.25) and DiscardPadding of its last block.
  case codecDelay
  /// Priming and remainder in the packet table of a Core Audio file.
  case cafPacketTable
  /// The count of samples in a Musepack file's header.
  case musepackHeader
  /// The count of samples in a DSF file's header; its last block is padded.
  case dsfHeader
  /// The file says nothing, or nothing needs to be cut.
  case none
}

/// The part of a media file's decoded frames that is music: what was put into the encoder.
///
/// Counted in raw decoded frames, at the media's own sample rate, from the first packet that the demuxer delivers, with
/// all skipping by the decoder switched off. Decoding may end before `end`: then the media ends there.
package struct TrimRange: Sendable, Hashable {
  /// The first frame to play; never negative.
  package var start: Int64
  /// The frame after the last one to play, at or after `start`; `nil` = as far as decoding goes.
  package var end: Int64?
  /// Where it was learnt.
  package var source: TrimSource

  /// Makes a range. A negative start becomes 0; an end before the start is nonsense and is left out.
  package init(start: Int64, end: Int64?, source: TrimSource) {
    self.start = max(0, start)
    self.end = end.flatMap { $0 >= max(0, start) ? $0 : nil }
    self.source = source
  }

  /// Everything, as decoded.
  package static let none = TrimRange(start: 0, end: nil, source: .none)

  /// Frames to play; `nil` when the end is unknown.
  package var count: Int64? { end.map { $0 - start } }
}
