/// Which of the decoded frames are played: encoder delay and padding are not.
public struct TrimInfo: Sendable, Hashable {
  /// The first frame to play, counted from the decoder's first one at the media's own rate.
  public var start: Int64
  /// The frame after the last one to play; `nil` = as far as decoding goes.
  public var end: Int64?
  /// Where it was learnt (`lame`, `iTunSMPB`, `editList`, `opusHeader`, …); ``noSource`` when nothing is cut.
  public var source: String

  /// The ``source`` of a media that says nothing, or of which nothing is cut.
  public static let noSource = "none"

  /// Makes a trim.
  public init(start: Int64, end: Int64?, source: String) {
    self.start = start
    self.end = end
    self.source = source
  }
}
