import AttaccaCore

/// Plays in real time to nobody: for machines without sound, and for measuring.
public final class SilentOutput: AudioOutput {
  private let output: ThreadedOutput<Nowhere>

  /// Makes a silent output.
  ///
  /// - Parameter fallbackReason: why sound is not heard although it was wanted.
  public init(fallbackReason: String? = nil) {
    output = ThreadedOutput { Nowhere(fallbackReason) }
  }

  public var isOffline: Bool { output.isOffline }
  public func open(
    _ format: StreamFormat, source: any RenderSource, receive: @escaping @Sendable (OutputEvent) -> Void
  ) { output.open(format, source: source, receive: receive) }
  public func edit(_ change: @escaping @Sendable (EditPoint) -> OutputTransport) { output.edit(change) }
  public func sourceHasMore() { output.sourceHasMore() }
  public func setMarker(_ frame: Int64?) { output.setMarker(frame) }
  public func close(_ completion: @escaping @Sendable () -> Void) { output.close(completion) }

  private final class Nowhere: FrameSink {
    static var isOffline: Bool { false }
    let fallbackReason: String?
    init(_ reason: String?) { fallbackReason = reason }
    func open(_ format: StreamFormat) throws(MediaError) -> OutputInfo {
      OutputInfo(kind: "silent", name: "silence", fallbackReason: fallbackReason)
    }
    func write(_ frames: UnsafeBufferPointer<Float>) throws(MediaError) {}
    func finish() throws(MediaError) {}
  }
}
