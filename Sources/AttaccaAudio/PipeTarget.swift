import AttaccaCore
import Glibc
import POSIXKit

/// The file behind a PCM pipe. Nothing here waits but ``wait(forRoom:wake:until:)``. Lives on one thread, on which
/// `SIGPIPE` is blocked.
final class PipeTarget {
  /// What became of a write.
  enum Outcome {
    /// This many bytes were taken.
    case took(Int)
    /// There is no room now.
    case full
    /// Nobody reads any more, and another reader may come.
    case gone
    case failed(MediaError)
  }

  /// Pipes take up to this many bytes all or none (POSIX `PIPE_BUF`), and have room for them when `poll` says so.
  static let atom = 4096

  private let path: [UInt8]
  private var file: Int32 = -1
  private var kind: mode_t = 0
  private var isStandardOutput: Bool { path == [UInt8(ascii: "-")] }
  /// The FIFO we made, to be taken away again.
  private var made: (device: dev_t, inode: ino_t)?
  private var written: Int64 = 0

  init(path: [UInt8]) { self.path = path }

  deinit { close() }

  var name: String { isStandardOutput ? "standard output" : Locator.file(path).displayName }

  /// Opens what can be opened without a reader, and makes the FIFO where nothing is.
  func prepare() throws(MediaError) {
    guard !path.isEmpty, !path.contains(0) else {
      throw MediaError(.playerOutputUnavailable, subject: name, reason: "not a usable file name")
    }
    if isStandardOutput { return try takeStandardOutput() }
    var found = stat()
    if withPath({ stat($0, &found) }) != 0 {
      guard errno == ENOENT else { throw failure(.playerOutputUnavailable) }
      let isMade = withPath { mkfifo($0, 0o600) } == 0
      guard isMade || errno == EEXIST, withPath({ stat($0, &found) }) == 0 else {
        throw failure(.playerOutputUnavailable)
      }
      if isMade { made = (found.st_dev, found.st_ino) }
    }
    kind = found.st_mode & S_IFMT
    switch kind {
    case S_IFIFO: break
    case S_IFREG, S_IFCHR:
      file = withPath { Glibc.open($0, O_WRONLY | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
      guard file >= 0 else { throw failure(.playerOutputUnavailable) }
      try refuseTerminal()
    default:
      throw MediaError(.playerOutputUnavailable, subject: name, reason: "neither a FIFO nor a file")
    }
  }

  /// Answers whether bytes can be written now: a FIFO needs a reader.
  func connect() throws(MediaError) -> Bool {
    guard kind == S_IFIFO, !isStandardOutput else { return true }
    var found = stat()
    let exists = withPath { stat($0, &found) } == 0
    if file >= 0 {
      var held = stat()
      // The reader may have put a FIFO of its own in the place of the one it left.
      if exists, fstat(file, &held) == 0, held.st_dev == found.st_dev, held.st_ino == found.st_ino {
        var waiting = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
        return poll(&waiting, 1, 0) >= 0 && waiting.revents & Int16(POLLERR) == 0
      }
      Glibc.close(file)
      file = -1
      written = 0
    }
    if !exists { try prepare() }
    let opened = withPath { Glibc.open($0, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
    if opened < 0 {
      if errno == ENXIO || errno == EINTR { return false }
      throw failure(.playerOutputFailed)
    }
    guard fstat(opened, &found) == 0, found.st_mode & S_IFMT == S_IFIFO else {
      Glibc.close(opened)
      throw MediaError(.playerOutputFailed, subject: name, reason: "it is not a FIFO any more")
    }
    file = opened
    return true
  }

  /// Writes at most an ``atom``.
  func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    let count = min(bytes.count, Self.atom)
    if isStandardOutput {
      // It may be in blocking mode, and shared: ask before.
      var waiting = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
      if poll(&waiting, 1, 0) == 0 { return .full }
    }
    let taken =
      kind == S_IFSOCK
      ? send(file, bytes.baseAddress, count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
      : Glibc.write(file, bytes.baseAddress, count)
    if taken >= 0 {
      written += Int64(taken)
      return .took(taken)
    }
    switch errno {
    case EAGAIN, EINTR: return .full
    case EPIPE where kind == S_IFIFO && !isStandardOutput: return .gone
    default: return .failed(failure(.playerOutputFailed))
    }
  }

  /// Waits until the file takes bytes (when `forRoom`), the wake descriptor is readable, or `deadline` has come.
  func wait(forRoom: Bool, wake: WakePipe, until deadline: Duration?) {
    var waiting = [pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)]
    if forRoom, file >= 0 { waiting.append(pollfd(fd: file, events: Int16(POLLOUT), revents: 0)) }
    let milliseconds = deadline.map { Int32(clamping: max(0, ($0 - Clocks.host + .microseconds(999)).milliseconds)) }
    poll(&waiting, nfds_t(waiting.count), milliseconds ?? -1)
    wake.clear()
  }

  /// The reader left in the middle of a frame: takes the rest of it out, so that the next reader begins with a whole one.
  func realign(bytesPerFrame: Int) {
    var unread: Int32 = 0
    guard kind == S_IFIFO, file >= 0, ioctl(file, UInt(FIONREAD), &unread) == 0 else { return }
    let over = Int((written - Int64(unread)) % Int64(bytesPerFrame))
    guard over > 0, Int(unread) >= bytesPerFrame - over else { return }
    let reading = withPath { Glibc.open($0, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
    guard reading >= 0 else { return }
    var rest = [UInt8](repeating: 0, count: bytesPerFrame - over)
    _ = read(reading, &rest, rest.count)
    Glibc.close(reading)
  }

  /// Takes an unfinished frame's bytes off the end of a file that takes no more.
  func takeBack(_ bytes: Int) {
    guard kind == S_IFREG, bytes > 0, case let end = lseek(file, 0, SEEK_CUR), end >= bytes else { return }
    _ = ftruncate(file, end - bytes)
  }

  /// Closes the file and takes away the FIFO that we made.
  func close() {
    if file >= 0 { Glibc.close(file) }
    file = -1
    var found = stat()
    if let made, withPath({ lstat($0, &found) }) == 0, found.st_dev == made.device, found.st_ino == made.inode {
      _ = withPath { unlink($0) }
    }
    made = nil
  }

  private func takeStandardOutput() throws(MediaError) {
    var found = stat()
    guard fstat(STDOUT_FILENO, &found) == 0 else { throw failure(.playerOutputUnavailable) }
    kind = found.st_mode & S_IFMT
    // Opened anew, so that only this descriptor is non-blocking, and not those of other processes that share it.
    if kind == S_IFIFO { file = Glibc.open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC) }
    // Not always allowed. Asking `poll` before each write has nearly the same effect.
    if file < 0 { file = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) }
    guard file >= 0 else { throw failure(.playerOutputUnavailable) }
    try refuseTerminal()
  }

  private func refuseTerminal() throws(MediaError) {
    guard isatty(file) == 1 else { return }
    throw MediaError(.playerOutputUnavailable, subject: name, reason: "a terminal is no place for PCM")
  }

  private func withPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    // Bytes, not a string: a file name need not be UTF-8.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: path.count + 1) { buffer in
      for (index, byte) in (path + [0]).enumerated() { buffer[index] = CChar(bitPattern: byte) }
      return body(UnsafePointer(buffer.baseAddress.unsafelyUnwrapped))
    }
  }

  private func failure(_ code: MediaError.Code) -> MediaError {
    MediaError(code, subject: name, reason: systemMessage(errno))
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 { microseconds / 1000 }
}
