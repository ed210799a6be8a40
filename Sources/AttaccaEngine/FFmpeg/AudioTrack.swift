/// One of the sound tracks of a media.
struct AudioTrack: Sendable, Hashable {
  /// Its place among the media's sound tracks, from 0: what one asks for to have it played.
  var index: Int
  /// The codec, as FFmpeg names it (`flac`, `ac3`, …).
  var codec: String
  /// Channels, where the container tells; else 0.
  var channels: Int
  /// The language as the container writes it (mostly ISO 639-2, `deu`).
  var language: String?
  /// A title ("Director's commentary").
  var title: String?
  /// Whether the container marks it as the one to be played.
  var isDefault: Bool
  /// Whether its codec is known and may be used.
  var isPlayable: Bool
}

extension [AudioTrack] {
  /// The track to be played: the `wanted` one, else the default of those that can be played, else the first of them,
  /// else (so that an error can say why it does not play) the first of all.
  ///
  /// `nil` when there are no tracks, or not the wanted one.
  func choice(wanted: Int?) -> AudioTrack? {
    if let wanted { return first { $0.index == wanted } }
    return first { $0.isPlayable && $0.isDefault } ?? first { $0.isPlayable } ?? first
  }
}
