import AttaccaAudio
@_exported import AttaccaCore
import AttaccaEngine

/// Where sound goes.
public enum OutputChoice: Sendable, Hashable {
  /// The sound server; without one, silence in real time, and the player says so.
  case automatic
  /// The sound server, or failure.
  case pulse
  /// Nowhere, in real time.
  case silent
  /// A WAV file at this path, as fast as it can be rendered.
  case wav(path: [UInt8])
}

/// What a player is made of.
public struct PlayerConfiguration: Sendable {
  /// Where sound goes.
  public var output = OutputChoice.automatic
  /// Loudness 0…1 to begin with.
  public var volume = 1.0
  /// The repeat mode to begin with.
  public var repeatMode = RepeatMode.off
  /// Gets what is worth remembering.
  public var journal: (any PlaybackJournal)?

  /// Makes the default configuration.
  public init() {}
}

extension Player {
  /// Makes a player for the files of this machine.
  public init(configuration: PlayerConfiguration = .init()) {
    let output = configuration.output
    let engine = FFmpegEngine(sources: FileSourceProvider()) {
      switch output {
      case .automatic: FallbackOutput(PulseOutput()) { SilentOutput(fallbackReason: $0) }
      case .pulse: PulseOutput()
      case .silent: SilentOutput()
      case .wav(let path): WAVOutput(path: path)
      }
    }
    self.init(
      engine: engine, clock: SystemClock(), journal: configuration.journal, volume: configuration.volume,
      repeatMode: configuration.repeatMode)
  }
}

/// What a media is, read without playing it: format, tags, and duration with its confidence.
///
/// - Throws: ``MediaError`` with a `source.*` code.
public func mediaInfo(of item: MediaItem) async throws(MediaError) -> MediaInfo {
  try await FFmpegMetadataReader(sources: FileSourceProvider()).read(item)
}

/// The duration of a media, read without playing it; `nil` when it cannot be known.
///
/// - Throws: ``MediaError`` with a `source.*` code.
public func duration(of item: MediaItem) async throws(MediaError) -> MediaDuration? {
  try await mediaInfo(of: item).duration
}
