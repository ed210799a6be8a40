/// One of the sound tracks of a media.
public struct AudioTrack: Sendable, Hashable {
  /// Its place among the media's sound tracks, from 0: what one asks for to have it played.
  public var index: Int
  /// The codec, as FFmpeg names it (`flac`, `ac3`, …).
  public var codec: String
  /// Channels, where the container tells; else 0.
  public var channels: Int
  /// The language as the container writes it (mostly ISO 639-2, `deu`).
  public var language: String?
  /// A title ("Director's commentary").
  public var title: String?
  /// Whether the container marks it as the one to be played.
  public var isDefault: Bool
  /// Whether its codec is known and may be used.
  public var isPlayable: Bool

  /// Makes a track.
  public init(
    index: Int, codec: String, channels: Int, language: String? = nil, title: String? = nil, isDefault: Bool = false,
    isPlayable: Bool = true
  ) {
    self.index = index
    self.codec = codec
    self.channels = channels
    self.language = language
    self.title = title
    self.isDefault = isDefault
    self.isPlayable = isPlayable
  }
}
