/// How far a duration can be trusted.
public enum DurationConfidence: String, Sendable, Hashable, Codable, Comparable {
  /// What the app, a playlist or a header says.
  case declared
  /// Computed from size and bit rate.
  case estimated
  /// Known to the frame.
  case exact

  public static func < (a: DurationConfidence, b: DurationConfidence) -> Bool { a.rank < b.rank }
  private var rank: Int {
    switch self {
    case .declared: 0;
    case .estimated: 1;
    case .exact: 2
    }
  }
}

/// A duration and how far it can be trusted.
public struct MediaDuration: Sendable, Hashable {
  /// The duration.
  public var value: Duration
  /// How far it can be trusted.
  public var confidence: DurationConfidence

  /// Makes a duration.
  public init(_ value: Duration, _ confidence: DurationConfidence) {
    self.value = value
    self.confidence = confidence
  }
}

/// What an engine learns by opening an item.
public struct MediaInfo: Sendable, Hashable {
  /// The container, as FFmpeg names it (`mp3`, `flac`, `mov,mp4,m4a,3gp,3g2,mj2`, …).
  public var container: String
  /// The audio codec (`mp3`, `flac`, `aac`, `opus`, …).
  public var codec: String
  /// Frames per second of the decoded media.
  public var sampleRate: Int
  /// Channels of the decoded media.
  public var channels: Int
  /// Bits per sample of a lossless source; `nil` for lossy ones.
  public var bitsPerSample: Int?
  /// The duration; `nil` when unknown.
  public var duration: MediaDuration?
  /// Whether positions can be chosen.
  public var isSeekable: Bool
  /// Tags of the file, keys as in ``MetadataItem/id``.
  public var metadata: [MetadataItem]
  /// Whether the file carries a cover.
  public var hasArtwork: Bool
  /// The cover, as far as its header tells; `nil` for none or one that cannot be shown (see ``warnings``).
  public var artwork: Artwork?
  /// The chapters as the file tells them; see ``Swift/Sequence/normalizedChapters(duration:)``.
  public var chapters: [Chapter] = []
  /// Which of the decoded frames are played.
  public var trim: TrimInfo?
  /// The sound tracks, and which of them is played (its place among them).
  public var audioTracks: [AudioTrack] = []
  /// The place of the sound track that this info is about.
  public var audioTrack = 0
  /// What is not as it should be.
  public var warnings: [MediaWarning] = []

  /// Makes an info.
  public init(
    container: String, codec: String, sampleRate: Int, channels: Int, bitsPerSample: Int? = nil,
    duration: MediaDuration?, isSeekable: Bool = true, metadata: [MetadataItem] = [], hasArtwork: Bool = false
  ) {
    self.container = container
    self.codec = codec
    self.sampleRate = sampleRate
    self.channels = channels
    self.bitsPerSample = bitsPerSample
    self.duration = duration
    self.isSeekable = isSeekable
    self.metadata = metadata
    self.hasArtwork = hasArtwork
  }
}
