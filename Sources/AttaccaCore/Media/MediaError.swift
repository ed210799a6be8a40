/// An error with a stable code, what it is about, what happened, and what can be done.
public struct MediaError: Error, Sendable, Hashable {
  /// A stable, documented code: `family.case`. Scripts may rely on its raw value.
  public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
    /// There is no such file.
    case sourceNotFound = "source.notFound"
    /// The file may not be read by this user.
    case sourceUnreadable = "source.unreadable"
    /// A folder, pipe, socket or device where a media file was expected.
    case sourceNotAFile = "source.notAFile"
    /// The file has no bytes.
    case sourceEmpty = "source.empty"
    /// The bytes are of no media format that is played.
    case sourceUnsupported = "source.unsupported"
    /// The media has no audio that can be played.
    case sourceNoAudio = "source.noAudio"
    /// The media is of a known format but nothing in it can be decoded.
    case sourceDamaged = "source.damaged"
    /// Reading the bytes failed underway.
    case sourceReadFailed = "source.readFailed"
    /// The locator cannot be played from where the item came.
    case sourceNotAllowed = "source.notAllowed"
    /// No output could be opened.
    case playerOutputUnavailable = "player.outputUnavailable"
    /// Writing the output failed.
    case playerOutputFailed = "player.outputFailed"
    /// Too many items in a row could not be played.
    case playerNothingPlayable = "player.nothingPlayable"
  }

  /// The stable code.
  public var code: Code
  /// What the error is about: a file's or item's name, fit for display.
  public var subject: String
  /// What happened, as a short clause without a full stop.
  public var reason: String

  /// Makes an error; `subject` and `reason` are sanitised here, once.
  public init(_ code: Code, subject: String, reason: String) {
    self.code = code
    self.subject = sanitized(subject)
    self.reason = sanitized(reason)
  }

  /// Whether the item, not the device or the network, is at fault: such an item is skipped.
  public var isItemFault: Bool { code.rawValue.hasPrefix("source.") }
}

extension MediaError: CustomStringConvertible {
  /// `subject: reason (code)`, the form of the command line's messages.
  public var description: String { "\(subject): \(reason) (\(code.rawValue))" }
}
