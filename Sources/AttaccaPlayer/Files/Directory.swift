import Glibc

/// What the file system says about a name.
struct FileStatus {
  enum Kind { case regular, directory, other }
  /// Which file it is, whatever it is called.
  struct Identity: Hashable {
    var device: UInt
    var inode: UInt
  }
  var kind: Kind
  var identity: Identity

  init(_ status: stat) {
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .regular
    case S_IFDIR: kind = .directory
    default: kind = .other
    }
    identity = Identity(device: UInt(status.st_dev), inode: UInt(status.st_ino))
  }
}

/// The system's errno of a call that failed.
struct SystemError: Error, Equatable {
  var code: Int32
  /// The system's words for it.
  var message: String { String(cString: strerror(code)) }
}

/// An open folder. Names are bytes; everything is found relative to the folder, so a folder renamed meanwhile does no
/// harm.
struct Directory: ~Copyable {
  private let descriptor: Int32

  /// Opens a folder at `path`, relative to another one or to the working folder.
  init(_ path: [UInt8], in parent: borrowing Directory) throws(SystemError) {
    self.descriptor = try Self.open(path, parent.descriptor)
  }

  init(_ path: [UInt8]) throws(SystemError) {
    self.descriptor = try Self.open(path, AT_FDCWD)
  }

  deinit { close(descriptor) }

  private static func open(_ path: [UInt8], _ parent: Int32) throws(SystemError) -> Int32 {
    let descriptor = withCString(path) { openat(parent, $0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    if descriptor < 0 { throw SystemError(code: errno) }
    return descriptor
  }

  /// Every name but `.`, `..` and the hidden ones, in no order.
  func names() throws(SystemError) -> [[UInt8]] {
    // The stream takes its descriptor over, so it gets one of its own.
    let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard own >= 0 else { throw SystemError(code: errno) }
    guard let stream = fdopendir(own) else {
      close(own)
      throw SystemError(code: errno)
    }
    defer { closedir(stream) }
    var names: [[UInt8]] = []
    let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
    while true {
      errno = 0
      guard let entry = readdir(stream) else { break }
      // Not through `d_name` as a tuple: a record is only as long as its name.
      let name = UnsafeRawPointer(entry) + offset
      let bytes = Array(UnsafeRawBufferPointer(start: name, count: strlen(name.assumingMemoryBound(to: CChar.self))))
      if bytes.first != UInt8(ascii: ".") { names.append(bytes) }
    }
    if errno != 0 { throw SystemError(code: errno) }
    return names
  }

  /// What a name in this folder stands for; symbolic links are followed. `isLink` says whether the name is one.
  func status(of name: [UInt8]) throws(SystemError) -> (status: FileStatus, isLink: Bool) {
    var status = stat()
    guard withCString(name, { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else {
      throw SystemError(code: errno)
    }
    guard status.st_mode & S_IFMT == S_IFLNK else { return (FileStatus(status), false) }
    guard withCString(name, { fstatat(descriptor, $0, &status, 0) }) == 0 else { throw SystemError(code: errno) }
    return (FileStatus(status), true)
  }
}

/// What a path stands for; symbolic links are followed.
func fileStatus(_ path: [UInt8]) throws(SystemError) -> FileStatus {
  var status = stat()
  guard withCString(path, { fstatat(AT_FDCWD, $0, &status, 0) }) == 0 else { throw SystemError(code: errno) }
  return FileStatus(status)
}

/// The path without symbolic links, `.` and `..`; `nil` if it leads nowhere.
func canonicalPath(_ path: [UInt8]) -> [UInt8]? {
  guard let resolved = withCString(path, { realpath($0, nil) }) else { return nil }
  defer { free(resolved) }
  return Array(UnsafeRawBufferPointer(start: resolved, count: strlen(resolved)))
}

/// The path from the root: a relative one is put behind the working folder.
func absolutePath(_ path: [UInt8]) -> [UInt8] {
  guard path.first != UInt8(ascii: "/"), let folder = getcwd(nil, 0) else { return path }
  defer { free(folder) }
  let bytes = Array(UnsafeRawBufferPointer(start: folder, count: strlen(folder)))
  return joinedPath(bytes, path)
}

/// A name inside a folder.
func joinedPath(_ folder: [UInt8], _ name: [UInt8]) -> [UInt8] {
  folder.last == UInt8(ascii: "/") ? folder + name : folder + [UInt8(ascii: "/")] + name
}

private func withCString<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
  (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { buffer in
    // Not empty: it has the NUL.
    buffer.baseAddress.map(body) ?? body("")
  }
}
