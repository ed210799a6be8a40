import AttaccaCore
import Glibc

/// Turns what was typed into items: files as they are, folders into the audio files below them.
struct FileExpansion {
  /// What there is to play, in order.
  private(set) var items: [MediaItem] = []
  /// What cannot be, by name.
  private(set) var problems: [MediaError] = []

  /// Folders within folders, at most; deeper ones are reported and passed over.
  static let maximumDepth = 64

  /// Goes through the operands in their order.
  init(_ operands: [[UInt8]]) {
    for operand in operands { add(operand) }
  }

  private mutating func add(_ operand: [UInt8]) {
    if let address = Self.address(operand) {
      let reason =
        address.isNetwork ? "network streams cannot be played yet" : "addresses of this kind cannot be played"
      problems.append(MediaError(.sourceNotAllowed, subject: address.text, reason: reason))
      return
    }
    let path = absolutePath(operand)
    do {
      let status = try fileStatus(path)
      guard status.kind == .directory else {
        // Pipes and devices too: the engine says why it does not play them.
        items.append(Self.item(path: path, canonical: canonicalPath(path) ?? path))
        return
      }
      let before = (items.count, problems.count)
      var visited: Set<FileStatus.Identity> = [status.identity]
      let root = try Directory(path)
      addFolder(root, path: path, canonical: canonicalPath(path) ?? path, depth: 0, &visited)
      if before == (items.count, problems.count) {
        report(operand, .sourceNoAudio, "the folder has no audio files")
      }
    } catch {
      report(operand, error)
    }
  }

  /// Adds what is in a folder, in natural order; sub-folders stand where their names do.
  ///
  /// Each folder is entered once, so links that lead round in circles, or many ways to the same place, end.
  private mutating func addFolder(
    _ folder: borrowing Directory, path: [UInt8], canonical: [UInt8], depth: Int,
    _ visited: inout Set<FileStatus.Identity>
  ) {
    let names: [[UInt8]]
    do { names = try folder.names().sorted(by: naturalOrder) } catch {
      report(path, error)
      return
    }
    for name in names {
      let namePath = joinedPath(path, name)
      // A link to nowhere, or a file gone since: nothing that was asked for by name.
      guard let (status, isLink) = try? folder.status(of: name) else { continue }
      let nameCanonical = isLink ? canonicalPath(namePath) ?? namePath : joinedPath(canonical, name)
      switch status.kind {
      case .regular:
        if hasAudioExtension(name) { items.append(Self.item(path: namePath, canonical: nameCanonical)) }
      case .directory:
        guard visited.insert(status.identity).inserted else { continue }
        guard depth < Self.maximumDepth else {
          report(namePath, .sourceNotAllowed, "more than \(Self.maximumDepth) folders deep")
          continue
        }
        do {
          let child = try Directory(name, in: folder)
          addFolder(child, path: namePath, canonical: nameCanonical, depth: depth + 1, &visited)
        } catch {
          report(namePath, error)
        }
      case .other: continue
      }
    }
  }

  /// The identity is the canonical path, so that a song has one history however it was reached.
  private static func item(path: [UInt8], canonical: [UInt8]) -> MediaItem {
    MediaItem(.file(path), id: MediaID(Locator.file(canonical).uri), kind: .unknown, origin: .user)
  }

  private mutating func report(_ path: [UInt8], _ error: SystemError) {
    switch error.code {
    case ENOENT, ENOTDIR: report(path, .sourceNotFound, "there is no such file")
    case EACCES, EPERM: report(path, .sourceUnreadable, "no permission to read it")
    default: report(path, .sourceReadFailed, error.message)
    }
  }

  private mutating func report(_ path: [UInt8], _ code: MediaError.Code, _ reason: String) {
    problems.append(MediaError(code, subject: String(decoding: path, as: UTF8.self), reason: reason))
  }

  /// The operand as an address, if it is `scheme://…` (RFC 3986 §3.1). A file of such a name is `./scheme://…`.
  static func address(_ operand: [UInt8]) -> (text: String, isNetwork: Bool)? {
    let text = String(decoding: operand, as: UTF8.self)
    let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
    guard text.utf8.dropFirst(scheme.count).starts(with: "://".utf8),
      let first = scheme.first, isLetter(first),
      scheme.allSatisfy({ isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) })
    else { return nil }
    return (text, ["http", "https"].contains(String(decoding: scheme, as: UTF8.self).lowercased()))
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}
