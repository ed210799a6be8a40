import Testing

@testable import AttaccaPlayer

@Suite struct KeyDecoderTests {
  static let table: [(String, [Key])] = [
    (" ", [.character(" ")]), ("q", [.character("q")]), ("nN", [.character("n"), .character("N")]),
    ("\u{1B}[A", [.up]), ("\u{1B}[B", [.down]), ("\u{1B}[C", [.right]), ("\u{1B}[D", [.left]),
    ("\u{1B}OA", [.up]), ("\u{1B}OD", [.left]), ("\u{1B}[1C", [.right]),
    ("\u{1B}[C\u{1B}[C", [.right, .right]),
    // With Shift it is another key; unknown sequences are whole and say nothing.
    ("\u{1B}[1;2C", []), ("\u{1B}[15~x", [.character("x")]), ("\u{1B}[?1;2cx", [.character("x")]),
    ("\u{1B}OPx", [.character("x")]), ("\u{1B}qx", [.character("x")]),
    ("\r", [.enter]), ("\n", [.enter]), ("\u{7F}", [.backspace]), ("\u{08}", [.backspace]),
    ("\u{0C}", [.control("l")]), ("ä", [.character("ä")]), ("日x", [.character("日"), .character("x")]),
    ("🎵", [.character("🎵")]),
    ("\u{1B}[200~qqn\u{1B}[A\u{1B}[201~m", [.character("m")]),
    ("\u{1B}\u{1B}[A", [.escape, .up]), ("\u{1B}[\u{1B}[A", [.up]), ("\u{1B}O\u{1B}[A", [.up]),
  ]

  @Test(arguments: table) func decodes(_ text: String, _ keys: [Key]) {
    var decoder = KeyDecoder()
    #expect(decoder.decode(text.utf8) == keys)
    #expect(!decoder.isPending)
  }

  @Test(arguments: table) func decodesTheSameInPieces(_ text: String, _ keys: [Key]) {
    let bytes = Array(text.utf8)
    for cut in 0...bytes.count {
      var decoder = KeyDecoder()
      #expect(decoder.decode(bytes[..<cut]) + decoder.decode(bytes[cut...]) == keys, "cut at \(cut)")
    }
  }

  @Test func aLoneEscapeIsAKeyOnceNothingFollows() {
    var decoder = KeyDecoder()
    #expect(decoder.decode([0x1B]) == [])
    #expect(decoder.isPending)
    #expect(decoder.flush() == [.escape])
    #expect(!decoder.isPending)
    #expect(decoder.flush() == [])
  }

  @Test func halfASequenceIsDroppedOnceNothingFollows() {
    for half in ["\u{1B}[", "\u{1B}[1;", "\u{1B}O"] {
      var decoder = KeyDecoder()
      #expect(decoder.decode(half.utf8) == [])
      #expect(decoder.isPending)
      #expect(decoder.flush() == [])
      #expect(decoder.decode("q".utf8) == [.character("q")])
    }
  }

  @Test func aPasteIsNotFlushed() {
    var decoder = KeyDecoder()
    _ = decoder.decode("\u{1B}[200~q".utf8)
    #expect(!decoder.isPending)
    #expect(decoder.flush() == [])
    #expect(decoder.decode("q\u{1B}[201~".utf8) == [])
    #expect(decoder.decode("q".utf8) == [.character("q")])
  }

  @Test func badUTF8IsPassedOver() {
    var decoder = KeyDecoder()
    // Broken off, overlong, a surrogate, a stray continuation, an impossible byte.
    #expect(decoder.decode([0xE6, 0x97, 0x71]) == [.character("q")])
    #expect(decoder.decode([0xE0, 0x80, 0x80, 0x71]) == [.character("q")])
    #expect(decoder.decode([0xED, 0xA0, 0x80, 0x71]) == [.character("q")])
    #expect(decoder.decode([0x80, 0xFF, 0xC0, 0x71]) == [.character("q")])
  }

  @Test func nothingTrapsOnAnyBytes() {
    let seed = UInt64.random(in: .min ... .max)
    print("KeyDecoderTests seed \(seed)")
    var state = seed
    var decoder = KeyDecoder()
    for _ in 0..<200_000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let byte = UInt8(truncatingIfNeeded: state >> 33)
      // Often enough what begins a sequence.
      _ = decoder.decode([byte % 5 == 0 ? 0x1B : byte % 7 == 0 ? 0x5B : byte])
      if byte == 1 { _ = decoder.flush() }
    }
    _ = decoder.decode("\u{1B}[201~".utf8)
    _ = decoder.flush()
    #expect(decoder.decode("q".utf8) == [.character("q")])
  }

  @Test(arguments: [
    (Key.character(" "), KeyAction.togglePause), (.left, .skip(.seconds(-5))), (.right, .skip(.seconds(5))),
    (.up, .skip(.seconds(60))), (.down, .skip(.seconds(-60))), (.character("n"), .next), (.character(">"), .next),
    (.character("p"), .previous), (.character("<"), .previous), (.character("+"), .volume(5)),
    (.character("0"), .volume(5)), (.character("-"), .volume(-5)), (.character("9"), .volume(-5)),
    (.character("["), .rate(-10)),
    (.character("]"), .rate(10)), (.backspace, .normalRate), (.character("m"), .mute), (.character("r"), .cycleRepeat),
    (.character("?"), .help), (.character("q"), .quit),
  ])
  func bindings(_ key: Key, _ action: KeyAction) { #expect(KeyBinding.action(for: key) == action) }

  @Test func otherKeysDoNothing() {
    for key in [Key.escape, .enter, .character("x"), .character("{"), .control("c")] {
      #expect(KeyBinding.action(for: key) == nil)
    }
  }
}
