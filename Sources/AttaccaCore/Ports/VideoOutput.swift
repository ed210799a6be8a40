/// Takes video frames to where they are seen. Reserved: the engine decodes no video yet, but its clock and its packet
/// queues are laid out for it, and this is where frames will leave.
public protocol VideoOutput: AnyObject, Sendable {
  /// Shows `frame` when host time reaches `presentation`; frames come in order of presentation.
  func present(_ frame: any VideoFrame, at presentation: Duration)
  /// Drops frames not yet shown (a seek, another item).
  func flush()
}

/// A picture of a video: opaque to the core.
public protocol VideoFrame: Sendable {
  /// Width in pixels.
  var width: Int { get }
  /// Height in pixels.
  var height: Int { get }
}
