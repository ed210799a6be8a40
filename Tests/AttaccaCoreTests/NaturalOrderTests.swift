import AttaccaCore
import TestSupport
import Testing

@Suite struct NaturalOrderTests {
  private func before(_ a: String, _ b: String) -> Bool { naturalOrder(Array(a.utf8), Array(b.utf8)) }

  /// Each comes before all that follow.
  static let ascending = [
    "", " a", "(a", "0", "00", "001", "01", "1", "1a", "1b", "2", "10", "10.flac", "A", "a", "A1", "a01", "a1", "a1b",
    "A1c",
    "a2", "a2b", "a2b1", "a10", "a10b2", "a10b10", "a18446744073709551615", "a18446744073709551616",
    "a340282366920938463463374607431768211456", "ab", "B", "b", "c", "é",
  ]

  @Test func asPeopleOrderFiles() {
    for (i, a) in Self.ascending.enumerated() {
      for (j, b) in Self.ascending.enumerated() { #expect(before(a, b) == (i < j), "\(a) and \(b)") }
    }
  }

  @Test func bytesThatAreNoText() {
    let names: [[UInt8]] = [
      [0x61], [0x61, 0x00], [0x61, 0x7F], [0x61, 0xC3], [0x61, 0xC3, 0x28], [0x61, 0xFF], [0xFF, 0xFE],
    ]
    for (i, a) in names.enumerated() {
      for (j, b) in names.enumerated() { #expect(naturalOrder(a, b) == (i < j)) }
    }
  }

  @Test func aVeryLongNumber() {
    let nines = [UInt8](repeating: UInt8(ascii: "9"), count: 100_000)
    let more = [UInt8(ascii: "1")] + [UInt8](repeating: UInt8(ascii: "0"), count: 100_000)
    let padded = [UInt8](repeating: UInt8(ascii: "0"), count: 200_000) + nines
    #expect(naturalOrder(nines, more) && !naturalOrder(more, nines))
    #expect(naturalOrder(padded, more) && naturalOrder(padded, nines))
  }

  @Test func isAStrictTotalOrder() {
    var random = SeededRandom.announced("natural order")
    let alphabet = Array("0019aAbB_./ \u{E9}".utf8) + [0x00, 0xFF]
    func name(_ random: inout SeededRandom) -> [UInt8] {
      (0..<random.below(6)).map { _ in alphabet[random.below(alphabet.count)] }
    }
    for _ in 0..<50_000 {
      let (a, b, c) = (name(&random), name(&random), name(&random))
      let isRight =
        !naturalOrder(a, a) && (a == b || naturalOrder(a, b) != naturalOrder(b, a))
        && !(naturalOrder(a, b) && naturalOrder(b, c) && !naturalOrder(a, c))
      guard isRight else {
        Issue.record("\(a) \(b) \(c), seed \(random.seed)")
        return
      }
    }
  }
}
