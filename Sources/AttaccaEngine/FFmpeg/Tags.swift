import AttaccaCore

/// FFmpeg's tag dictionary as the core's metadata: lower-case keys, sanitised text, lists split where the format has
/// lists (ID3v2.4 separates values by NUL, which FFmpeg turns into `;`; repeated Vorbis fields likewise).
func metadata(fromTags tags: [(String, String)]) -> [MetadataItem] {
  var result: [MetadataItem] = []
  for (key, value) in tags {
    let id = canonicalKey(key)
    // A tag of our trim parsers, meaningless to people. (Sound Check's, as meaningless, tells the loudness.)
    guard !value.isEmpty, id != "itunsmpb", !inventions.contains(id) else { continue }
    if id == "language", value == "und" { continue }
    let values =
      ["artist", "album_artist", "genre", "composer"].contains(id)
      ? value.split(separator: ";").map { trimmed($0) }.filter { !$0.isEmpty } : [value]
    // The stream's tags come after the container's and win.
    result.removeAll { $0.id == id }
    result += values.map { MetadataItem(id, text: String($0.prefix(65_536))) }
  }
  return result
}

/// What FFmpeg tells of an MP4 or Matroska file's make as if it were tags.
private let inventions: Set<String> = [
  "major_brand", "minor_version", "compatible_brands", "handler_name", "vendor_id", "duration", "number_of_frames",
  "number_of_bytes",
]

private func trimmed(_ text: Substring) -> String {
  var text = text
  while text.first == " " { text.removeFirst() }
  while text.last == " " { text.removeLast() }
  return String(text)
}

private func canonicalKey(_ key: String) -> String {
  let key = key.lowercased()
  return switch key {
  case "albumartist", "album artist": "album_artist"
  case "tracknumber": "track"
  case "discnumber": "disc"
  case "year": "date"
  default: key
  }
}
