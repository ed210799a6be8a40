import AttaccaCore
import Glibc
import POSIXKit
import Synchronization

/// A source whose reads do not wait for anything slower than a disk: it may be looked through as a whole.
public protocol LocalByteSource: ByteSource {}

/// The bytes of a regular file, read by position.
///
/// The file stays readable when it is deleted or renamed, and may grow or shrink; reads behind its end answer `end`.
public final class FileByteSource: LocalByteSource {
  /// The file's length now.
  public var length: Int64? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : nil
  }
  public let isSeekable = true
  private let descriptor: Int32
  private let name: String
  private let cancelled = Atomic(false)

  /// Opens the file at `path` (any bytes but NUL).
  ///
  /// Opening never waits: a pipe or device is recognised before it could block, and refused.
  ///
  /// - Throws: `source.notFound`, `source.unreadable`, `source.notAFile`, `source.empty` or `source.readFailed`.
  public init(path: [UInt8]) throws(MediaError) {
    let name = Locator.file(path).displayName
    self.name = name
    guard !path.isEmpty, !path.contains(0) else {
      throw MediaError(.sourceNotFound, subject: name, reason: "not a usable file name")
    }
    let opened = (path + [0]).withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { text in
        text.baseAddress.map { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) } ?? -1
      }
    }
    guard opened >= 0 else { throw Self.error(errno, name: name) }
    var status = stat()
    guard fstat(opened, &status) == 0 else {
      let code = errno
      close(opened)
      throw Self.error(code, name: name)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      close(opened)
      let kind =
        switch status.st_mode & S_IFMT {
        case S_IFDIR: "a folder"
        case S_IFIFO: "a pipe"
        case S_IFCHR, S_IFBLK: "a device"
        default: "a socket"
        }
      throw MediaError(.sourceNotAFile, subject: name, reason: "is \(kind), not a file")
    }
    guard status.st_size > 0 else {
      close(opened)
      throw MediaError(.sourceEmpty, subject: name, reason: "the file is empty")
    }
    descriptor = opened
  }

  deinit { close(descriptor) }

  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> ByteRead {
    guard let base = buffer.baseAddress, offset >= 0 else { return .end }
    while !cancelled.load(ordering: .relaxed) {
      let count = pread(descriptor, base, buffer.count, off_t(offset))
      if count > 0 { return .bytes(count) }
      if count == 0 { return .end }
      if errno != EINTR { return .failed(MediaError(.sourceReadFailed, subject: name, reason: systemMessage(errno))) }
    }
    return .failed(MediaError(.sourceReadFailed, subject: name, reason: "reading was cancelled"))
  }

  public func waitForBytes(at offset: Int64) {}

  public func cancel() { cancelled.store(true, ordering: .relaxed) }

  private static func error(_ code: Int32, name: String) -> MediaError {
    switch code {
    case ENOENT, ENOTDIR, ENAMETOOLONG: MediaError(.sourceNotFound, subject: name, reason: "no such file")
    case EACCES, EPERM: MediaError(.sourceUnreadable, subject: name, reason: "permission denied")
    case ENXIO, ENODEV: MediaError(.sourceNotAFile, subject: name, reason: "is a device or socket, not a file")
    case ELOOP: MediaError(.sourceNotFound, subject: name, reason: "too many symbolic links")
    default: MediaError(.sourceReadFailed, subject: name, reason: systemMessage(code))
    }
  }
}

/// Opens items that are files on this machine; refuses what an item's origin does not allow.
public struct FileSourceProvider: ByteSourceProvider {
  /// Makes a provider.
  public init() {}

  public func open(_ item: MediaItem) throws(MediaError) -> any ByteSource {
    let name = item.locator.displayName
    guard item.origin.allows(item.locator) else {
      throw MediaError(.sourceNotAllowed, subject: name, reason: "an item from there may not open this")
    }
    switch item.locator {
    case .file(let path): return try FileByteSource(path: path)
    case .url: throw MediaError(.sourceNotAllowed, subject: name, reason: "network addresses cannot be played yet")
    }
  }
}
