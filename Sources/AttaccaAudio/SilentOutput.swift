import AttaccaCore

/// Plays in real time to nobody: for machines without sound, and for measuring.
public final class SilentOutput: ForwardingOutput {
  public let destination: any AudioOutput

  /// Makes a silent output.
  ///
  /// - Parameter fallbackReason: why sound is not heard although it was wanted.
  public init(fallbackReason: String? = nil) {
    destination = ThreadedOutput { Nowhere(fallbackReason) }
  }

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
