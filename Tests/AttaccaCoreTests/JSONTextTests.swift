import AttaccaCore
import Foundation
import TestSupport
import Testing

@Suite struct JSONTextTests {
  private func parsed(_ value: JSONValue) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(value.text().utf8), options: .fragmentsAllowed)
  }

  @Test func texts() {
    #expect(JSONValue.null.text() == "null")
    #expect(
      JSONValue.array([.bool(true), .bool(false), .int(-5), .int(Int64.min)]).text()
        == "[true,false,-5,-9223372036854775808]")
    #expect(JSONValue.array([]).text() == "[]")
    #expect(JSONValue.object([]).text() == "{}")
    let members = JSONValue.object([("z", .int(1)), ("a", .object([("b", .array([.null]))])), ("m", .string("x"))])
    #expect(members.text() == #"{"z":1,"a":{"b":[null]},"m":"x"}"#)
    #expect(JSONValue.optional(nil).text() == "null")
    #expect(JSONValue.microseconds(.milliseconds(1_500)).text() == "1500000")
    #expect(JSONValue.microseconds(nil).text() == "null")
  }

  @Test(
    arguments: [
      (85, 2, "0.85"), (100, 2, "1.00"), (-5, 1, "-0.5"), (0, 3, "0.000"), (12_345, 0, "12345"), (7, -3, "7"),
      (Int64.min, 18, "-9.223372036854775808"), (1, 99, "0.000000000000000001"),
    ] as [(Int64, Int, String)])
  func decimals(value: Int64, places: Int, text: String) throws {
    #expect(JSONValue.decimal(value, places: places).text() == text)
    _ = try parsed(.decimal(value, places: places))
  }

  @Test func escapes() {
    #expect(JSONValue.string("\"\\/\n\r\t\u{8}\u{C}\0\u{1F}").text() == #""\"\\/\n\r\t\u0008\u000c\u0000\u001f""#)
    #expect(JSONValue.string("\u{7F}\u{9B}\u{202E}\u{2028}").text() == #""\u007f\u009b\u202e\u2028""#)
    #expect(JSONValue.string("\u{E0041}").text() == #""\udb40\udc41""#)
    #expect(JSONValue.string("é日👩‍👧").text() == "\"é日👩‍👧\"")
    #expect(JSONValue.object([("a\"\n", .null)]).text() == #"{"a\"\n":null}"#)
    // A combining mark after a quotation mark makes one character of both.
    #expect(Array(JSONValue.string("\"\u{301}").text().utf8) == Array("\"\\\"\u{301}\"".utf8))
  }

  @Test func stringsComeBack() throws {
    var random = SeededRandom.announced("JSON strings")
    for _ in 0..<2_000 {
      var text = String.UnicodeScalarView()
      for _ in 0..<random.below(12) {
        let bound = [0x80, 0x2100, 0x110000][random.below(3)]
        if let scalar = Unicode.Scalar(UInt32(random.below(bound))) { text.append(scalar) }
      }
      let json = JSONValue.object([("k", .string(String(text)))])
      let back = try #require(try parsed(json) as? [String: String])
      #expect(back["k"].map { Array($0.unicodeScalars) } == Array(text), "seed \(random.seed)")
      #expect(json.text().utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
    }
  }
}
