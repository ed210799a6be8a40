import Glibc

/// Writes all of `bytes` to a file descriptor, however often the system takes only a part.
///
/// Answers whether everything was written; on `false`, `errno` says why. Blocks as the descriptor does.
@discardableResult
public func writeAll(_ bytes: some Collection<UInt8>, to descriptor: Int32) -> Bool {
  func writeAll(_ buffer: UnsafeRawBufferPointer) -> Bool {
    var rest = buffer[...]
    while !rest.isEmpty {
      let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        // Somebody made the terminal non-blocking: wait until it takes more.
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if poll(&waiting, 1, -1) < 0, errno != EINTR { return false }
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }
  return bytes.withContiguousStorageIfAvailable { writeAll(UnsafeRawBufferPointer($0)) }
    ?? Array(bytes).withUnsafeBytes(writeAll)
}
