import AttaccaCore

/// An output that is another one under a name of its own: everything asked of it is asked of ``destination``.
public protocol ForwardingOutput: AudioOutput {
  /// The output that does the work.
  var destination: any AudioOutput { get }
}

extension ForwardingOutput {
  public var isOffline: Bool { destination.isOffline }
  public var fixedFormat: StreamFormat? { destination.fixedFormat }
  public func prepare() { destination.prepare() }
  public func open(
    _ format: StreamFormat, source: any RenderSource, receive: @escaping @Sendable (OutputEvent) -> Void
  ) { destination.open(format, source: source, receive: receive) }
  public func edit(_ change: @escaping @Sendable (EditPoint) -> OutputTransport) { destination.edit(change) }
  public func sourceHasMore() { destination.sourceHasMore() }
  public func setMarker(_ frame: Int64?) { destination.setMarker(frame) }
  public func close(_ completion: @escaping @Sendable () -> Void) { destination.close(completion) }
}
