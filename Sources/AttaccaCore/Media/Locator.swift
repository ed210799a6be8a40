/// Where an item's bytes are. Never Foundation's `URL`: file names are bytes, and need not be UTF-8.
public enum Locator: Sendable, Hashable {
  /// A path as the system gives it: any bytes but NUL.
  case file([UInt8])
  /// An absolute URL as text.
  case url(String)

  /// A file locator for a UTF-8 path.
  public static func file(_ path: String) -> Locator { .file(Array(path.utf8)) }

  /// The last path component, percent-decoded in a URL (its host when it has no path), repaired to UTF-8 and sanitised
  /// for display.
  public var displayName: String {
    switch self {
    case .file(let bytes):
      let trimmed = bytes.reversed().drop { $0 == UInt8(ascii: "/") }
      let name = Array(trimmed.prefix { $0 != UInt8(ascii: "/") }.reversed())
      return sanitized(String(decoding: name.isEmpty ? bytes : name, as: UTF8.self))
    case .url(let text):
      // Byte by byte: a combining mark after a delimiter must not hide it.
      let parts = URLParts(text)
      let names = parts.path.split(separator: UInt8(ascii: "/"))
      return sanitized(String(decoding: names.last.map { percentDecoded(Array($0)) } ?? parts.host, as: UTF8.self))
    }
  }

  /// The locator as a URI: `file://` with every byte outside RFC 3986's unreserved set percent-encoded, or the URL.
  public var uri: String {
    switch self {
    case .file(let bytes): "file://" + percentEncoded(bytes)
    case .url(let text): text
    }
  }
}

/// The parts of a URL (RFC 3986 §3) that names and identities are made of, as bytes. Text without `://` is all path.
struct URLParts {
  /// The scheme and `://`.
  var scheme: [UInt8] = []
  /// Host and port, without user information.
  var host: [UInt8] = []
  var path: [UInt8] = []
  /// The query with its `?`.
  var query: [UInt8] = []

  init(_ text: String) {
    let bytes = Array(text.utf8.prefix { $0 != UInt8(ascii: "#") })
    let pathEnd = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
    var start = 0
    if let colon = bytes[..<pathEnd].firstIndex(of: UInt8(ascii: ":")),
      bytes[colon..<pathEnd].starts(with: "://".utf8)
    {
      scheme = Array(bytes[..<(colon + 3)])
      start = bytes[(colon + 3)..<pathEnd].firstIndex(of: UInt8(ascii: "/")) ?? pathEnd
      let authority = bytes[(colon + 3)..<start]
      host = Array(authority[(authority.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? authority.startIndex)...])
    }
    path = Array(bytes[start..<pathEnd])
    query = Array(bytes[pathEnd...])
  }
}

/// Percent-encodes a path: unreserved characters of RFC 3986 §2.3 and `/` stay, every other byte becomes `%XX`.
func percentEncoded(_ bytes: [UInt8]) -> String {
  let digits = Array("0123456789ABCDEF".utf8)
  var result: [UInt8] = []
  result.reserveCapacity(bytes.count)
  for byte in bytes {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"), UInt8(ascii: "/"):
      result.append(byte)
    default:
      result.append(UInt8(ascii: "%"))
      result.append(digits[Int(byte >> 4)])
      result.append(digits[Int(byte & 15)])
    }
  }
  return String(decoding: result, as: UTF8.self)
}

/// Decodes `%XX`; an incomplete escape stays as it is.
func percentDecoded(_ bytes: [UInt8]) -> [UInt8] {
  func value(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }
  var result: [UInt8] = []
  var index = 0
  while index < bytes.count {
    if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
      let high = value(bytes[index + 1]), let low = value(bytes[index + 2])
    {
      result.append(high << 4 | low)
      index += 3
    } else {
      result.append(bytes[index])
      index += 1
    }
  }
  return result
}
