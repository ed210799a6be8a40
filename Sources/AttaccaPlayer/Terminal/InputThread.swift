import Glibc
import POSIXKit

/// What reaches the player process from outside.
enum SystemInput: Sendable, Hashable {
  case key(Key)
  case signal(Int32)
}

/// A thread that sleeps until a key is pressed or a signal comes. Nothing else wakes it.
struct InputThread: Sendable {
  /// What came, in order; ends after ``end()``.
  let inputs: AsyncStream<SystemInput>
  private let control: Int32

  private enum Order: UInt8 { case readKeys, ignoreKeys, end }

  /// Starts the thread. `signals` is a pipe's reading end with a signal's number in each byte; `keys` is the terminal,
  /// which is read only between ``readKeys()`` and ``ignoreKeys()``. Answers `nil` when the system has no thread left.
  init?(signals: Int32, keys: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    control = ends[1]
    let orders = ends[0]
    let (stream, continuation) = AsyncStream.makeStream(of: SystemInput.self)
    inputs = stream
    let worker = Worker(name: "attacca-input") {
      Self.run(signals: signals, keys: keys, orders: orders, continuation)
      continuation.finish()
      close(orders)
    }
    guard let worker else {
      for end in ends { close(end) }
      return nil
    }
    worker.detach()
  }

  /// Keys are wanted from now on.
  func readKeys() { order(.readKeys) }
  /// The terminal is not ours: its input is left alone.
  func ignoreKeys() { order(.ignoreKeys) }
  /// Ends the thread. To be called last, once.
  func end() {
    order(.end)
    close(control)
  }

  private func order(_ order: Order) { writeAll(CollectionOfOne(order.rawValue), to: control) }

  private static func run(
    signals: Int32, keys: Int32, orders: Int32, _ continuation: AsyncStream<SystemInput>.Continuation
  ) {
    var decoder = KeyDecoder()
    var readsKeys = false
    while true {
      // poll skips negative descriptors.
      var waiting = [orders, signals, readsKeys ? keys : -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      // A lone ESC is a key once nothing follows; sequences arrive together, but for slow lines.
      let count = poll(&waiting, nfds_t(waiting.count), decoder.isPending ? 50 : -1)
      if count < 0 {
        if errno == EINTR { continue }
        return
      }
      if count == 0 { for key in decoder.flush() { continuation.yield(.key(key)) } }
      if waiting[0].revents != 0 {
        for byte in bytes(from: orders) ?? [Order.end.rawValue] {
          switch Order(rawValue: byte) {
          case .readKeys: readsKeys = true
          case .ignoreKeys: readsKeys = false
          case .end, nil: return
          }
        }
        // What is ready on the terminal may not be ours any more.
        continue
      }
      if waiting[1].revents != 0 {
        for byte in bytes(from: signals) ?? [] { continuation.yield(.signal(Int32(byte))) }
      }
      if waiting[2].revents != 0 {
        if let bytes = bytes(from: keys) {
          for key in decoder.decode(bytes) { continuation.yield(.key(key)) }
        } else {
          // Hung up, or taken by another process group: polling on would spin.
          readsKeys = false
        }
      }
    }
  }

  /// What can be read now; `nil` at the end and on errors.
  private static func bytes(from descriptor: Int32) -> [UInt8]? {
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: 256) { buffer, size in
      count = read(descriptor, buffer.baseAddress, buffer.count)
      size = max(0, count)
    }
    if count < 0, errno == EINTR || errno == EAGAIN { return [] }
    return count > 0 ? bytes : nil
  }
}
