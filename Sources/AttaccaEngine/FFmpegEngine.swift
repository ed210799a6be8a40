import AttaccaCore
import POSIXKit

/// The playback engine on FFmpeg: one thread opens, seeks and decodes; an ``AudioOutput`` plays what it decoded.
///
/// The engine may simply be dropped: its thread and its output then end by themselves.
public final class FFmpegEngine: PlaybackEngine {
  public let capabilities = EngineCapabilities.all
  private let pipeline: Pipeline

  /// Makes an engine.
  ///
  /// - Parameters:
  ///   - sources: opens items' bytes.
  ///   - makeOutput: makes an output each time sound is wanted after none was; called on the caller's thread of the first
  ///     load, so that a server is being connected to while the media is opened.
  public init(sources: any ByteSourceProvider, makeOutput: @escaping @Sendable () -> any AudioOutput) {
    pipeline = Pipeline(sources: sources, makeOutput: makeOutput)
  }

  deinit { pipeline.shutdown {} }

  public func start(_ receive: @escaping @Sendable (EngineEvent) -> Void) { pipeline.start(receive) }

  public func send(_ command: EngineCommand) { pipeline.send(command) }

  public func shutdown(_ completion: @escaping @Sendable () -> Void) { pipeline.shutdown(completion) }
}
