import AttaccaCore

/// Where a threaded output's frames end up.
protocol FrameSink: AnyObject, SendableMetatype {
  /// Whether frames are taken as fast as they come instead of at the sample rate.
  static var isOffline: Bool { get }
  /// Opens the sink.
  func open(_ format: StreamFormat) throws(MediaError) -> OutputInfo
  /// Takes frames that are now heard.
  func write(_ frames: UnsafeBufferPointer<Float>) throws(MediaError)
  /// Ends the stream.
  func finish() throws(MediaError)
}
