import AttaccaCore

/// What a file is, for people: its name, then a line for each thing that is known. Fit for a terminal.
func probeText(_ locator: Locator, _ info: MediaInfo) -> String {
  let lines =
    [("format", format(info)), ("duration", duration(info.duration))] + tracks(info)
    + trim(info.trim) + info.metadata.compactMap { item in item.text.map { (sanitized(item.id), shortened($0)) } }
    + gains(info.loudness) + chapters(info) + cover(info.artwork)
    + info.warnings.map { ("warning", "\($0.text) (\($0.code.rawValue))") }
  // Names of tags may be long; they do not push everything else to the right.
  let width = lines.map(\.0.count).filter { $0 <= 14 }.max() ?? 0
  return locator.displayName + "\n"
    + lines.map { name, text in
      "  " + name + String(repeating: " ", count: max(0, width - name.count)) + "  " + text + "\n"
    }.joined()
}

private func format(_ info: MediaInfo) -> String {
  let bits = info.bitsPerSample.map { ", \($0) bits" } ?? ""
  let channels = [1: "mono", 2: "stereo"][info.channels] ?? "\(info.channels) channels"
  return "\(sanitized(info.codec)) in \(sanitized(info.container)), \(info.sampleRate) Hz, \(channels)\(bits)"
}

private func duration(_ duration: MediaDuration?) -> String {
  guard let duration else { return "unknown" }
  return "\(time(duration.value)) (\(duration.confidence.rawValue))"
}

private func tracks(_ info: MediaInfo) -> [(String, String)] {
  guard info.audioTracks.count > 1 else { return [] }
  return info.audioTracks.map { track in
    let parts = [
      track.codec, track.language, track.title, track.index == info.audioTrack ? "played" : nil,
      track.isPlayable ? nil : "not played here",
    ]
    return ("track \(track.index + 1)", sanitized(parts.compactMap(\.self).joined(separator: ", ")))
  }
}

private func trim(_ trim: TrimInfo?) -> [(String, String)] {
  guard let trim, trim.source != TrimInfo.noSource else { return [] }
  return [("plays", "frames \(trim.start) to \(trim.end.map(String.init) ?? "the end") (\(trim.source))")]
}

private func gains(_ loudness: LoudnessTags) -> [(String, String)] {
  let parts = [("track", loudness.trackGain), ("album", loudness.albumGain)].compactMap { name, gain in
    gain.flatMap { Int64(exactly: ($0 * 100).rounded()) }.map {
      "\(name) \(JSONValue.decimal($0, places: 2).text()) dB"
    }
  }
  return parts.isEmpty
    ? [] : [("gain", parts.joined(separator: ", ") + (loudness.source.map { " (\($0.rawValue))" } ?? ""))]
}

private func chapters(_ info: MediaInfo) -> [(String, String)] {
  info.chapters.normalizedChapters(duration: info.duration?.value).enumerated().map { index, chapter in
    let span = time(chapter.start) + (chapter.end.map { " to \(time($0))" } ?? "")
    return ("chapter \(index + 1)", span + (chapter.title.map { "  " + shortened($0) } ?? ""))
  }
}

private func cover(_ artwork: Artwork?) -> [(String, String)] {
  artwork.map { [("cover", "\($0.mime), \($0.width) × \($0.height), \($0.byteCount) bytes")] } ?? []
}

/// A tag may be a whole booklet.
private func shortened(_ text: String) -> String {
  let text = sanitized(text)
  return text.count > 300 ? text.prefix(300) + "…" : text
}

/// To the millisecond.
private func time(_ duration: Duration) -> String {
  let milliseconds = String(duration.microseconds / 1000 % 1000)
  return formatTime(duration) + "." + String(repeating: "0", count: 3 - milliseconds.count) + milliseconds
}
