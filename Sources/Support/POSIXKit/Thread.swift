import Glibc

/// A thread of our own, for work that blocks or must not wait behind Swift's cooperative pool.
public struct Worker: Sendable {
  private let handle: pthread_t

  private final class Body {
    let name: String
    let run: @Sendable () -> Void
    init(name: String, run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }

  /// Starts a thread called `name` (15 bytes of it show in `ps -L`) with a stack of `stackSize` bytes.
  ///
  /// Answers `nil` when the system refuses another thread.
  public init?(name: String, stackSize: Int = 512 * 1024, _ run: @escaping @Sendable () -> Void) {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return nil }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, stackSize)
    let body = Unmanaged.passRetained(Body(name: String(name.prefix(15)), run: run))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, &attributes,
      { argument in
        guard let argument else { return nil }
        let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
        // Signals belong to the main thread.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        nameThisThread(body.name)
        body.run()
        return nil
      }, body.toOpaque())
    guard status == 0 else {
      body.release()
      return nil
    }
    handle = thread
  }

  /// Waits for the thread to end. Call either this or ``detach()``, once.
  public func join() { pthread_join(handle, nil) }

  /// Lets the thread clean up after itself.
  public func detach() { pthread_detach(handle) }
}

/// `pthread_setname_np` is hidden behind `_GNU_SOURCE`, which Swift's Glibc module does not define.
private func nameThisThread(_ name: String) {
  let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
  guard file >= 0 else { return }
  var name = name
  _ = name.withUTF8 { write(file, $0.baseAddress, $0.count) }
  close(file)
}
