/// Whether the name `a` comes before `b` as people order files: `a2` before `a10`, `B` between `a` and `c`.
///
/// Names are bytes and need not be UTF-8. A run of ASCII digits counts by its value, whatever its length; ASCII letters
/// first compare without case; names that are equal so far (`01` and `1`, `A` and `a`) compare by their bytes. A strict
/// weak order in which only equal names are equivalent, the same on every machine and in every locale. O(length),
/// without allocation.
public func naturalOrder(_ a: [UInt8], _ b: [UInt8]) -> Bool {
  var (i, j) = (0, 0)
  while i < a.count, j < b.count {
    let (x, y) = (foldedASCII(a[i]), foldedASCII(b[j]))
    if isASCIIDigit(x), isASCIIDigit(y) {
      let (first, second) = (digitRun(a, from: i), digitRun(b, from: j))
      if first.count != second.count { return first.count < second.count }
      for (m, n) in zip(first, second) where a[m] != b[n] { return a[m] < b[n] }
      (i, j) = (first.upperBound, second.upperBound)
    } else {
      if x != y { return x < y }
      (i, j) = (i + 1, j + 1)
    }
  }
  if i < a.count || j < b.count { return i == a.count }
  return a.lexicographicallyPrecedes(b)
}

/// The digits that begin at `start`, without leading zeros; empty for zero.
private func digitRun(_ bytes: [UInt8], from start: Int) -> Range<Int> {
  var (start, end) = (start, start)
  while end < bytes.count, isASCIIDigit(bytes[end]) { end += 1 }
  while start < end, bytes[start] == UInt8(ascii: "0") { start += 1 }
  return start..<end
}

private func isASCIIDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

private func foldedASCII(_ byte: UInt8) -> UInt8 {
  (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
}
