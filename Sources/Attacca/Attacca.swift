import AttaccaAudio
@_exported import AttaccaCore
import AttaccaEngine

@_exported import enum AttaccaAudio.PCMEncoding
@_exported import struct AttaccaAudio.PipeFormat

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
  /// Bare PCM to the FIFO (made if nothing is there) or file at this path, or to standard output (`-`), at the reader's
  /// pace.
  case pipe(path: [UInt8], format: PipeFormat)
}

/// What a player is made of.
public struct PlayerConfiguration: Sendable {
  /// Where sound goes.
  public var output = OutputChoice.automatic
  /// Volume, modes, rate and sound to begin with.
  public var setup = PlayerReducer.Setup()
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
      case .pipe(let path, let format): PipeOutput(path: path, format: format)
      }
    }
    self.init(
      engine: engine, clock: SystemClock(), journal: configuration.journal, setup: configuration.setup)
  }
}

/// What a media is, read without playing it: format, tags, duration with its confidence, chapters, cover, warnings.
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

/// The cover of a media, encoded as the file has it; `nil` when there is none, or none that can be shown: see
/// ``MediaInfo/warnings``.
///
/// - Throws: ``MediaError`` with a `source.*` code.
public func artwork(of item: MediaItem) async throws(MediaError) -> ArtworkPicture? {
  try await FFmpegMetadataReader(sources: FileSourceProvider()).artwork(of: item)
}
