import AttaccaCore
import POSIXKit

/// Reads tags, format and duration with the engine's own demuxer and trim, without playing.
public struct FFmpegMetadataReader: MetadataReader {
  private let sources: any ByteSourceProvider

  /// Makes a reader over `sources`.
  public init(sources: any ByteSourceProvider) { self.sources = sources }

  public func read(_ item: MediaItem) async throws(MediaError) -> MediaInfo {
    let sources = sources
    return try await onThread(item) { () throws(MediaError) in
      var info = try OpenMedia(try sources.open(item), name: item.locator.displayName, track: item.audioTrack).info
      info.judgeDuration()
      return info
    }
  }

  /// The cover of `item`; `nil` when it has none, or one that cannot be shown (``MediaInfo/warnings`` says why).
  ///
  /// - Throws: ``MediaError`` with a `source.*` code.
  public func artwork(of item: MediaItem) async throws(MediaError) -> ArtworkPicture? {
    let sources = sources
    return try await onThread(item) { () throws(MediaError) in
      try Demuxer(PatientByteSource(try sources.open(item)), name: item.locator.displayName).picture
    }
  }

  /// Reading blocks, so it has a thread of its own.
  private func onThread<Result: Sendable>(
    _ item: MediaItem, _ body: @escaping @Sendable () throws(MediaError) -> Result
  ) async throws(MediaError) -> Result {
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Swift.Result<Result, MediaError>, Never>) in
      let worker = Worker(name: "attacca-tags") {
        continuation.resume(returning: Swift.Result { () throws(MediaError) in try body() })
      }
      guard let worker else {
        return continuation.resume(
          returning: .failure(
            MediaError(.sourceReadFailed, subject: item.locator.displayName, reason: "no thread could be started")))
      }
      worker.detach()
    }
    return try result.get()
  }
}
