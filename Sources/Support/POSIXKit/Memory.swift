import CMalloc
import Glibc

/// Keeping a long-running process small.
public enum Memory {
  /// One heap for all threads, which is smaller than one for each; our threads hardly ever allocate at the same time.
  /// To be called before other threads are started.
  public static func limitArenas() { mallopt(M_ARENA_MAX, 1) }

  /// Gives back what only starting needed: free heap, and the pages of executables and libraries that were touched once.
  ///
  /// Those pages are clean copies of files (mapped private, readable and executable, never writable), so the kernel
  /// brings back from its page cache whichever are used again; nothing can be lost.
  public static func dropStartUpPages() {
    malloc_trim(0)
    for mapping in executableMappings() { madvise(mapping.baseAddress, mapping.count, MADV_DONTNEED) }
  }

  private static func executableMappings() -> [UnsafeMutableRawBufferPointer] {
    let file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var text: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(file, &part, part.count)
      guard count > 0 else { break }
      text += part[..<count]
    }
    // A line: `start-end perms offset device inode path`.
    return text.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
      guard fields.count == 6, fields[1].elementsEqual("r-xp".utf8), !fields[4].elementsEqual("0".utf8) else {
        return nil
      }
      let range = fields[0].split(separator: UInt8(ascii: "-")).map {
        UInt(String(decoding: $0, as: UTF8.self), radix: 16)
      }
      guard range.count == 2, let start = range[0], let end = range[1], end > start else { return nil }
      return UnsafeMutableRawBufferPointer(
        start: UnsafeMutableRawPointer(bitPattern: start), count: Int(end - start))
    }
  }
}
