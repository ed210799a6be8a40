import Glibc

/// The player's executable: where it may be, and becoming it.
struct PlayerProgram {
  /// Paths to try in turn, each without a NUL.
  let candidates: [[UInt8]]

  /// `$ATTACCA_PLAYER` alone if it is set; else beside this executable, then in the libexec folder of its prefix.
  static func find() -> PlayerProgram {
    if let chosen = getenv("ATTACCA_PLAYER"), chosen.pointee != 0 {
      return PlayerProgram(candidates: [bytes(chosen)])
    }
    guard let folder = ownFolder() else { return PlayerProgram(candidates: []) }
    return PlayerProgram(candidates: [
      folder + Array("/attacca-player".utf8), folder + Array("/../libexec/attacca/attacca-player".utf8),
    ])
  }

  /// Becomes the player, giving it `arguments` (C strings, handed on byte for byte) after its own path. Returns only on
  /// failure: the path that failed and `errno`.
  func run(_ arguments: [UnsafeMutablePointer<CChar>]) -> (path: [UInt8], error: Int32) {
    var failure: (path: [UInt8], error: Int32) = (candidates.first ?? Array("attacca-player".utf8), ENOENT)
    for candidate in candidates {
      let path = UnsafeMutablePointer<CChar>.allocate(capacity: candidate.count + 1)
      defer { path.deallocate() }
      for (index, byte) in (candidate + [0]).enumerated() { path[index] = CChar(bitPattern: byte) }
      var vector: [UnsafeMutablePointer<CChar>?] = [path] + arguments + [nil]
      execv(path, &vector)
      // A player that is there but cannot be run is the one to talk about.
      if errno != ENOENT && errno != ENOTDIR { return (candidate, errno) }
      failure.error = errno
    }
    return failure
  }

  private static func bytes(_ string: UnsafePointer<CChar>) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: string, count: strlen(string)))
  }

  /// The folder of this very executable, with symbolic links resolved by the kernel.
  private static func ownFolder() -> [UInt8]? {
    let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(PATH_MAX))
    defer { buffer.deallocate() }
    let count = readlink("/proc/self/exe", buffer, Int(PATH_MAX))
    guard count > 0 else { return nil }
    let path = UnsafeRawBufferPointer(start: buffer, count: count)
    return path.lastIndex(of: UInt8(ascii: "/")).map { Array(path[..<$0]) }
  }
}
