import AttaccaCore

/// What a file's first bytes claim it to be; used only to say what is wrong with it, never to choose how it is read.
func claimedFormat(of source: any ByteSource) -> String? {
  var bytes = [UInt8](repeating: 0, count: 12)
  guard case .bytes(let count) = bytes.withUnsafeMutableBytes({ source.read(into: $0, at: 0) }), count >= 4 else {
    return nil
  }
  func has(_ text: StaticString, at offset: Int = 0) -> Bool {
    text.withUTF8Buffer { text in bytes[offset...].starts(with: text) }
  }
  if has("fLaC") { return "FLAC" }
  if has("OggS") { return "Ogg" }
  if has("RIFF"), has("WAVE", at: 8) { return "WAV" }
  if has("FORM"), has("AIF", at: 8) { return "AIFF" }
  if has("wvpk") { return "WavPack" }
  if has("ftyp", at: 4) { return "MP4" }
  if has("ID3") { return "MP3" }
  return nil
}
