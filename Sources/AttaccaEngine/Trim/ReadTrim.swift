import AttaccaCore

/// Reads which part of a file's decoded frames is music.
///
/// - Parameters:
///   - source: the file; it should not answer `pending`, which is taken for the end.
///   - container: the container as FFmpeg's demuxer names it.
///   - codec: the audio codec as FFmpeg names it.
///   - sampleRate: decoded frames per second; the range is counted in them.
/// - Returns: ``TrimRange/none`` when the format needs no trim or the file says nothing of use.
package func readTrim(of source: any ByteSource, container: String, codec: String, sampleRate: Int) -> TrimRange {
  switch container {
  case "mp3": MP3StreamInfo(of: source)?.trim ?? .none
  case "mov,mp4,m4a,3gp,3g2,mj2": MP4Trim.read(source, sampleRate: sampleRate)
  case "ogg": OggTrim.read(source, codec: codec)?.trim ?? .none
  default: .none
  }
}
