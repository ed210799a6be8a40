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
  if has("RIFF") || has("RF64") || has("riff") {
    return has("AVI ", at: 8) ? "AVI" : has("WAVE", at: 8) || has("riff") ? "WAV" : nil
  }
  if has("FORM") { return has("AIF", at: 8) ? "AIFF" : nil }
  if has("ftyp", at: 4) { return "MP4" }
  return signatures.first { bytes.starts(with: $0.bytes) }?.name
}

/// First bytes and whose they are.
private let signatures: [(bytes: [UInt8], name: String)] = [
  (Array("fLaC".utf8), "FLAC"), (Array("OggS".utf8), "Ogg"), (Array("wvpk".utf8), "WavPack"),
  (Array("ID3".utf8), "MP3"), (Array("caff".utf8), "Core Audio"), (Array(".snd".utf8), "AU"),
  (Array("MAC ".utf8), "Monkey's Audio"), (Array("MPCK".utf8), "Musepack"), (Array("MP+".utf8), "Musepack"),
  (Array("TTA1".utf8), "True Audio"), (Array("tBaK".utf8), "TAK"), (Array("DSD ".utf8), "DSF"),
  (Array("FRM8".utf8), "DSDIFF"), (Array("FLV".utf8), "Flash Video"), (Array("#!AMR".utf8), "AMR"),
  ([0x1A, 0x45, 0xDF, 0xA3], "Matroska"), ([0x30, 0x26, 0xB2, 0x75], "Windows Media"),
]
