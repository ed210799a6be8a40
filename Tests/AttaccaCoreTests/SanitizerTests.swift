import AttaccaCore
import TestSupport
import Testing

@Suite struct SanitizerTests {
  @Test func everyControlIsTakenOutOrASpace() {
    for value: UInt32 in Array(0...0x1F) + Array(0x7F...0x9F) {
      let text = sanitized("a\(Character(Unicode.Scalar(value)!))b")
      #expect(text == ([0x09, 0x0A, 0x0D, 0x85].contains(value) ? "a b" : "ab"), "U+\(String(value, radix: 16))")
    }
  }

  @Test(
    arguments: [
      0x061C, 0x200E, 0x200F, 0x202A, 0x202E, 0x2060, 0x2064, 0x2066, 0x2069, 0x206A, 0x206F, 0xFDD0, 0xFDEF, 0xFEFF,
      0xFFF9, 0xFFFB, 0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF, 0xE0001, 0xE0041, 0xE007F,
    ] as [UInt32])
  func hidersAndDeceiversAreTakenOut(value: UInt32) {
    #expect(sanitized("a\(Character(Unicode.Scalar(value)!))b") == "ab")
  }

  @Test(arguments: [
    "", "plain", "Ünïcödé", "日本語", "עברית", "\u{645}\u{6CC}\u{200C}\u{62E}\u{648}", "👩‍👩‍👧‍👦", "❤️", "👍🏽", "🇨🇭", "葛\u{E0100}",
    "\u{FFFD}", "~",
    "\u{A0}x",
  ])
  func whatPeopleWriteStays(text: String) {
    #expect(Array(sanitized(text).unicodeScalars) == Array(text.unicodeScalars))
  }

  @Test(arguments: [
    ("\u{1B}]0;owned\u{7}x", "]0;ownedx"), ("\u{1B}[2J", "[2J"), ("\u{9B}31mred", "31mred"), ("a\u{8}\u{8}b", "ab"),
    ("a\u{B}\u{C}b", "ab"), ("a\r\nb", "a b"), ("a\n\rb", "a  b"), ("a\n\nb", "a  b"), ("a\u{2028}b\u{2029}c", "a b c"),
    ("photo\u{202E}gpj.exe", "photogpj.exe"), ("\0", ""),
  ])
  func escapesAndBreaks(text: String, expected: String) {
    #expect(sanitized(text) == expected)
  }

  @Test func twiceIsAsOnce() {
    var random = SeededRandom.announced("sanitizer")
    for _ in 0..<5_000 {
      var text = String.UnicodeScalarView()
      for _ in 0..<random.below(8) {
        let bound = [0x100, 0x2100, 0x110000][random.below(3)]
        if let scalar = Unicode.Scalar(UInt32(random.below(bound))) { text.append(scalar) }
      }
      let once = sanitized(String(text))
      #expect(sanitized(once) == once)
      #expect(once.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
    }
  }
}
