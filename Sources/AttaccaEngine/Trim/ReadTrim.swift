import AttaccaCore

/// Reads which part of a file's decoded frames is music.
///
/// - Parameters:
///   - source: the file; it should not answer `pending`, which is taken for the end.
///   - container: the container as FFmpeg's demuxer names it.
///   - codec: the audio codec as FFmpeg names it.
///   - sampleRate: decoded frames per second; the range is counted in them.
///   - track: which of the container's sound tracks, from 0.
/// - Returns: ``TrimRange/none`` when the format needs no trim or the file says nothing of use.
package func readTrim(
  of source: any ByteSource, container: String, codec: String, sampleRate: Int, track: Int = 0
) -> TrimRange {
  switch container {
  case "mp3": MP3StreamInfo(of: source)?.trim ?? .none
  case "mov,mp4,m4a,3gp,3g2,mj2": MP4Trim.read(source, sampleRate: sampleRate, track: track)
  case "ogg" where codec == "speex": SpeexTrim.read(source)
  case "ogg": OggTrim.read(source, codec: codec)?.trim ?? .none
  case "caf": CAFTrim.read(source)
  case "mpc8": MusepackTrim.read8(source)
  case "mpc": MusepackTrim.read7(source)
  case "dsf": DSDTrim.read(source, sampleRate: sampleRate)
  default: .none
  }
}

/// Reads the trim of an opened media: from the file's bytes, or from what only the demuxer knows.
func readTrim(of source: any ByteSource, _ demuxer: Demuxer, codec: String, sampleRate: Int) -> TrimRange {
  guard demuxer.isMatroska else {
    return readTrim(
      of: source, container: demuxer.container, codec: codec, sampleRate: sampleRate, track: demuxer.track)
  }
  // CodecDelay (RFC 9559 §5.1.4.1.25); the end is told by DiscardPadding in the last block, where the decoder cuts it.
  let delay = Int64(demuxer.stream.pointee.codecpar?.pointee.initial_padding ?? 0)
  return delay > 0 ? TrimRange(start: delay, end: nil, source: .codecDelay) : .none
}
