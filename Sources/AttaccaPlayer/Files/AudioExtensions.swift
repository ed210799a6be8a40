/// Whether a file found in a folder is taken for audio: by its extension, in any case. A file named explicitly is
/// always tried, whatever it is called.
func hasAudioExtension(_ name: [UInt8]) -> Bool {
  guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return false }
  let end = name[(dot + 1)...]
  guard end.count <= 5 else { return false }
  return audioExtensions.contains(String(decoding: end, as: UTF8.self).lowercased())
}

/// Extensions of files that hold sound and nothing else worth showing. Whether a format can be decoded is for the
/// engine to say: a folder's file is rather reported as unsupported than passed over in silence.
let audioExtensions: Set<String> = [
  "aac", "ac3", "aif", "aifc", "aiff", "amr", "ape", "au", "caf", "dff", "dsf", "dts", "eac3", "flac", "latm",
  "loas", "m4a", "m4b", "mka", "mp1", "mp2", "mp3", "mpc", "oga", "ogg", "opus", "rf64", "snd", "spx", "tak", "tta",
  "w64",
  "wav", "wave", "wma", "wv",
]
