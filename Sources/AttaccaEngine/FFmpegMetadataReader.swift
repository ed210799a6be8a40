import AttaccaCore
import POSIXKit

/// Reads tags, format and duration with the engine's own demuxer and trim, without playing.
public struct FFmpegMetadataReader: MetadataReader {
  private let sources: any ByteSourceProvider

  /// Makes a reader over `sources`.
  public init(sources: any ByteSourceProvider) { self.sources = sources }

  public func read(_ item: MediaItem) async throws(MediaError) -> MediaInfo {
    let sources = sources
    // Reading blocks, so it has a thread of its own.
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<MediaInfo, MediaError>, Never>) in
      let worker = Worker(name: "attacca-tags") {
        continuation.resume(
          returning: Result { () throws(MediaError) in
            try OpenMedia(try sources.open(item), name: item.locator.displayName).info
          })
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
