import Glibc

/// A descriptor that becomes readable when another thread says so: ends a `poll`.
public final class WakePipe: Sendable {
  /// The end to poll for `POLLIN`.
  public let descriptor: Int32
  private let end: Int32

  /// Answers `nil` when the system has no descriptor left.
  public init?() {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (descriptor, end) = (ends[0], ends[1])
  }

  deinit {
    close(descriptor)
    close(end)
  }

  /// Makes the descriptor readable until ``clear()``. A full pipe is readable already.
  public func wake() {
    var byte: UInt8 = 1
    while write(end, &byte, 1) < 0, errno == EINTR {}
  }

  /// Makes the descriptor unreadable again.
  public func clear() {
    var bytes: [UInt8] = Array(repeating: 0, count: 64)
    while read(descriptor, &bytes, bytes.count) == bytes.count {}
  }
}
