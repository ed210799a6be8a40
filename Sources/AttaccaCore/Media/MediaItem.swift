/// The identity of a piece of media, given by the app, opaque to the player. History and statistics hang on it.
public struct MediaID: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The identity as text.
  public var rawValue: String
  /// Makes an identity from text of the app's choice.
  public init(_ rawValue: String) { self.rawValue = rawValue }
  /// The identity as text.
  public var description: String { rawValue }
}

/// What sort of listening an item is for; policies (resume, rewind, rate) differ by it.
public enum MediaKind: String, Sendable, Hashable, Codable, CaseIterable {
  case music, podcast, audiobook, speech, video, unknown
}

/// Who named an item, which decides what it may open (DESIGN §9).
public enum Origin: String, Sendable, Hashable, Codable {
  /// The user, by hand: an argument, a file chooser, a dropped file.
  case user
  /// The embedding app.
  case app
  /// A playlist on this machine.
  case localPlaylist
  /// A playlist or page from the network: it may name only http and https.
  case remote

  /// Whether an item of this origin may open `locator`.
  public func allows(_ locator: Locator) -> Bool {
    switch locator {
    case .file: self != .remote
    // A scheme is the same in either case (RFC 3986 §3.1).
    case .url(let text):
      ["http://", "https://"].contains(String(decoding: URLParts(text).scheme, as: UTF8.self).lowercased())
    }
  }
}

/// One piece of metadata, in the manner of AVFoundation's external metadata.
public struct MetadataItem: Sendable, Hashable {
  /// The value: text, or bytes with their MIME type (a picture).
  public enum Value: Sendable, Hashable {
    case text(String)
    case data([UInt8], mime: String)
  }
  /// The key, lower case: `title`, `artist`, `album`, `album_artist`, `genre`, `track`, `disc`, `date`, `comment`, …
  public var id: String
  /// The value; text is sanitised.
  public var value: Value
  /// A BCP 47 language tag, where one is known.
  public var language: String?

  /// Makes an item with a text value.
  public init(_ id: String, text: String, language: String? = nil) {
    self.id = id
    self.value = .text(sanitized(text))
    self.language = language
  }

  /// Makes an item with bytes, such as a picture.
  public init(_ id: String, data: [UInt8], mime: String) {
    self.id = id
    self.value = .data(data, mime: sanitized(mime))
    self.language = nil
  }

  /// The text, when the value is text.
  public var text: String? { if case .text(let text) = value { text } else { nil } }
}

extension Sequence<MetadataItem> {
  /// The first text with this key.
  public func text(_ id: String) -> String? { first { $0.id == id && $0.text != nil }?.text }
  /// Every text with this key, in order (several artists).
  public func texts(_ id: String) -> [String] { compactMap { $0.id == id ? $0.text : nil } }
}

/// Something that can be played: a value the app makes and the player never changes.
public struct MediaItem: Sendable, Hashable {
  /// The identity; by default derived from the locator.
  public var id: MediaID
  /// Where the bytes are.
  public var locator: Locator
  /// The sort of listening.
  public var kind: MediaKind
  /// Who named it.
  public var origin: Origin
  /// Which of several sound tracks is played, counted from 0 as in ``MediaInfo/audioTracks``; `nil`: the one the file
  /// says, else the first that can be.
  public var audioTrack: Int?
  /// The duration the app declares, shown until the media tells better; `nil` when unknown.
  public var declaredDuration: Duration?
  /// What the app knows about the item; wins over the file's own tags, key by key.
  public var externalMetadata: [MetadataItem]

  /// Makes an item. Without an `id` it is the locator's URI (a URL without user information and fragment).
  public init(
    _ locator: Locator, id: MediaID? = nil, kind: MediaKind = .unknown, origin: Origin = .app,
    audioTrack: Int? = nil, declaredDuration: Duration? = nil, externalMetadata: [MetadataItem] = []
  ) {
    self.id = id ?? MediaID(Self.identity(of: locator))
    self.locator = locator
    self.kind = kind
    self.origin = origin
    self.audioTrack = audioTrack
    self.declaredDuration = declaredDuration
    self.externalMetadata = externalMetadata
  }

  private static func identity(of locator: Locator) -> String {
    guard case .url(let text) = locator else { return locator.uri }
    let parts = URLParts(text)
    return String(decoding: parts.scheme + parts.host + parts.path + parts.query, as: UTF8.self)
  }

  /// What to call the item before its tags are read: the declared title, else the file's name.
  public var displayTitle: String { externalMetadata.text("title") ?? locator.displayName }
}
