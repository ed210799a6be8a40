import AttaccaCore

/// A window over a ``ByteSource`` for parsers: big-endian and little-endian numbers at any offset, `nil` where there
/// are no bytes.
///
/// What it may fetch from the source is bounded by a budget, so that no file, however hostile, makes a parser read for
/// ever. `pending` and `failed` are answered like the end of the bytes: a parser then says what it knows so far.
package struct ByteReader {
  private let source: any ByteSource
  private var buffer: [UInt8]
  private var windowStart: Int64 = 0
  private var windowCount = 0
  private var budget: Int64

  /// The source's length in bytes, where it is known.
  package let length: Int64?
  /// Whether bytes were not to be had although the end was not reached: what was parsed may not be the whole truth.
  package private(set) var isInterrupted = false

  /// Makes a reader.
  ///
  /// - Parameters:
  ///   - window: bytes fetched at a time, at least 64; no more than the source has are ever held.
  ///   - budget: bytes it may fetch in its whole life; fetched twice counts twice.
  package init(_ source: any ByteSource, window: Int = 4096, budget: Int64) {
    self.source = source
    self.budget = budget
    length = source.length
    let capacity = max(64, min(window, Int(clamping: source.length ?? .max)))
    buffer = Array(unsafeUninitializedCapacity: capacity) { memory, count in
      memory.initialize(repeating: 0)
      count = capacity
    }
  }

  /// Another reader of the same source, with a window of its own and what is left of the budget.
  package func widened(to window: Int) -> ByteReader { ByteReader(source, window: window, budget: budget) }

  /// Makes at least `wanted` bytes (at most the window's size) from `offset` on available.
  ///
  /// - Returns: how many bytes are there, which is more or, at the end, less than `wanted`.
  package mutating func fill(at offset: Int64, atLeast wanted: Int) -> Int {
    if offset >= windowStart, offset <= windowStart + Int64(windowCount) {
      let left = windowCount - Int(offset - windowStart)
      if left >= min(wanted, buffer.count) || windowStart + Int64(windowCount) == length { return left }
    }
    guard offset >= 0, offset < Int64.max - Int64(buffer.count) else { return 0 }
    windowStart = offset
    windowCount = 0
    let goal = min(max(1, wanted), buffer.count)
    while windowCount < goal {
      guard budget > 0 else {
        isInterrupted = true
        break
      }
      let position = offset + Int64(windowCount)
      let read = buffer.withUnsafeMutableBytes { memory in
        source.read(into: UnsafeMutableRawBufferPointer(rebasing: memory[windowCount...]), at: position)
      }
      // Some bytes are charged for every call, so that a source of one-byte reads comes to an end too.
      guard case .bytes(let count) = read, count > 0 else {
        if read != .end { isInterrupted = true }
        break
      }
      windowCount += min(count, buffer.count - windowCount)
      budget -= Int64(max(count, 16))
    }
    return windowCount
  }

  /// Calls `body` with the bytes that ``fill(at:atLeast:)`` made available from `offset` on.
  package func withWindow<Result>(from offset: Int64, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    buffer.withUnsafeBytes { memory in
      guard offset >= windowStart, offset - windowStart <= Int64(windowCount) else {
        return body(UnsafeRawBufferPointer(start: nil, count: 0))
      }
      return body(UnsafeRawBufferPointer(rebasing: memory[Int(offset - windowStart)..<windowCount]))
    }
  }

  /// The `count` bytes (at most the window's size) at `offset`; `nil` unless all of them are there.
  package mutating func bytes(at offset: Int64, count: Int) -> [UInt8]? {
    guard count >= 0, count <= buffer.count, fill(at: offset, atLeast: count) >= count else { return nil }
    let first = Int(offset - windowStart)
    return Array(buffer[first..<first + count])
  }

  /// The byte at `offset`.
  package mutating func byte(at offset: Int64) -> UInt8? {
    guard fill(at: offset, atLeast: 1) >= 1 else { return nil }
    return buffer[Int(offset - windowStart)]
  }

  /// The big-endian number of `count` bytes (1…8) at `offset`.
  package mutating func big(at offset: Int64, bytes count: Int) -> UInt64? {
    guard fill(at: offset, atLeast: count) >= count else { return nil }
    let first = Int(offset - windowStart)
    var value: UInt64 = 0
    for index in first..<first + count { value = value << 8 | UInt64(buffer[index]) }
    return value
  }

  /// The little-endian number of `count` bytes (1…8) at `offset`.
  package mutating func little(at offset: Int64, bytes count: Int) -> UInt64? {
    big(at: offset, bytes: count).map { $0.byteSwapped >> UInt64(64 - 8 * count) }
  }

  /// The big-endian 32-bit number at `offset`: also a four-character code.
  package mutating func code(at offset: Int64) -> UInt32? {
    big(at: offset, bytes: 4).map { UInt32(truncatingIfNeeded: $0) }
  }

  /// Whether the bytes at `offset` are the ASCII characters of `text`.
  package mutating func has(_ text: StaticString, at offset: Int64) -> Bool {
    let count = text.utf8CodeUnitCount
    guard fill(at: offset, atLeast: count) >= count else { return false }
    let first = Int(offset - windowStart)
    return text.withUTF8Buffer { wanted in
      for index in 0..<count where buffer[first + index] != wanted[index] { return false }
      return true
    }
  }
}

/// A four-character code as the number it is in a file.
package func fourCC(_ text: StaticString) -> UInt32 {
  text.withUTF8Buffer { $0.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
}

extension Int64 {
  /// `self × numerator / denominator`, rounded to the nearest, without overflow; `nil` when the result has no room.
  package func scaled(by numerator: Int64, over denominator: Int64) -> Int64? {
    guard denominator > 0, numerator >= 0, self >= 0 else { return nil }
    let (high, low) = magnitude.multipliedFullWidth(by: numerator.magnitude)
    let (sum, carry) = low.addingReportingOverflow(denominator.magnitude / 2)
    let top = high + (carry ? 1 : 0)
    guard top < denominator.magnitude else { return nil }
    return Int64(exactly: denominator.magnitude.dividingFullWidth((top, sum)).quotient)
  }
}
