/// Something about a media that is not as it should be, though it plays.
public struct MediaWarning: Error, Sendable, Hashable {
  /// A stable, documented code: `family.case`. Scripts may rely on its raw value.
  public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
    /// The duration was computed from size and bit rate.
    case durationEstimated = "duration.estimated"
    /// The header or index tells of more than the file holds.
    case durationOverstated = "duration.overstated"
    /// The extension belongs to another format.
    case nameMisleading = "name.misleading"
    /// Chapters were left out: they lie outside the media, or under others.
    case chaptersDropped = "chapters.dropped"
    /// The cover cannot be read.
    case artworkDamaged = "artwork.damaged"
    /// The cover is beyond the limits and is not read.
    case artworkTooLarge = "artwork.tooLarge"
    /// Some of the sound tracks are in a format that is not played.
    case trackUnsupported = "track.unsupported"
  }

  /// The stable code.
  public var code: Code
  /// What is wrong, as a short clause without a full stop.
  public var text: String

  /// Makes a warning; `text` is sanitised here.
  public init(_ code: Code, _ text: String) {
    self.code = code
    self.text = sanitized(text)
  }
}
