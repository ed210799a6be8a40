import AttaccaCore

/// Whether two media are tracks of one album, so that one goes on where the other ends.
///
/// "Greatest Hits" of two artists are two albums; a compilation without an album artist is known by its track numbers.
func isSameAlbum(_ first: MediaInfo, _ second: MediaInfo) -> Bool {
  guard let album = first.metadata.text("album"), album == second.metadata.text("album") else { return false }
  let artists = [first, second].map { $0.metadata.text("album_artist") ?? $0.metadata.text("artist") }
  if artists[0] == artists[1] { return true }
  let tracks = [first, second].map { $0.metadata.text("track").flatMap { Int($0.prefix { $0 != "/" }) } }
  guard let before = tracks[0], let after = tracks[1] else { return false }
  return after == before + 1
}
