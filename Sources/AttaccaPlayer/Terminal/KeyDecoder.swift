/// Turns the bytes a terminal sends into keys: UTF-8, the escape sequences of cursor keys, bracketed paste.
///
/// Sequences may arrive in pieces: what is incomplete waits for the next bytes, or for ``flush()`` when none came for
/// a while. Unknown sequences and pasted text are swallowed: neither is a command to a player.
struct KeyDecoder {
  private enum State: Equatable {
    case ground
    case escape
    /// After `ESC [`: the parameter bytes so far.
    case csi([UInt8])
    /// After `ESC O`.
    case ss3
    /// A multi-byte character and how many bytes it still wants.
    case utf8([UInt8], wanted: Int)
    /// Inside a bracketed paste: the last bytes, to find its end.
    case paste([UInt8])
  }

  private var state = State.ground

  /// Whether bytes wait for more; after about 50 ms without any, call ``flush()``. A paste always waits for its end.
  var isPending: Bool {
    switch state {
    case .ground, .paste: false
    case .escape, .csi, .ss3, .utf8: true
    }
  }

  /// Decodes bytes as they came.
  mutating func decode(_ bytes: some Sequence<UInt8>) -> [Key] {
    var keys: [Key] = []
    for byte in bytes { step(byte, &keys) }
    return keys
  }

  /// No more bytes came: a lone ESC was the key itself, anything else incomplete is dropped.
  mutating func flush() -> [Key] {
    defer { if isPending { state = .ground } }
    return state == .escape ? [.escape] : []
  }

  private mutating func step(_ byte: UInt8, _ keys: inout [Key]) {
    switch state {
    case .ground: ground(byte, &keys)
    case .escape:
      switch byte {
      case UInt8(ascii: "["): state = .csi([])
      case UInt8(ascii: "O"): state = .ss3
      case 0x1B: keys.append(.escape)
      // ESC before anything else is the Alt key held down; no binding has it.
      default: state = .ground
      }
    case .csi(let parameters): csi(byte, parameters, &keys)
    case .ss3:
      state = .ground
      if byte == 0x1B { state = .escape } else if let key = cursorKey(byte) { keys.append(key) }
    case .utf8(let start, let wanted): utf8(byte, start, wanted, &keys)
    case .paste(let tail):
      let end: [UInt8] = Array("\u{1B}[201~".utf8)
      let tail = (tail + [byte]).suffix(end.count)
      state = Array(tail) == end ? .ground : .paste(Array(tail))
    }
  }

  private mutating func ground(_ byte: UInt8, _ keys: inout [Key]) {
    switch byte {
    case 0x1B: state = .escape
    case 0x0D, 0x0A: keys.append(.enter)
    case 0x7F, 0x08: keys.append(.backspace)
    case 0x01...0x1A: keys.append(.control(Character(Unicode.Scalar(byte + 0x60))))
    case 0x20...0x7E: keys.append(.character(Character(Unicode.Scalar(byte))))
    case 0xC2...0xDF: state = .utf8([byte], wanted: 1)
    case 0xE0...0xEF: state = .utf8([byte], wanted: 2)
    case 0xF0...0xF4: state = .utf8([byte], wanted: 3)
    default: break
    }
  }

  private mutating func utf8(_ byte: UInt8, _ start: [UInt8], _ wanted: Int, _ keys: inout [Key]) {
    guard byte & 0xC0 == 0x80 else {
      // Broken off; this byte begins something new.
      state = .ground
      return ground(byte, &keys)
    }
    guard wanted == 1 else {
      state = .utf8(start + [byte], wanted: wanted - 1)
      return
    }
    state = .ground
    let text = String(decoding: start + [byte], as: UTF8.self)
    if text.count == 1, let character = text.first, character != "\u{FFFD}" { keys.append(.character(character)) }
  }

  /// ECMA-48 §5.4: parameter and intermediate bytes are 0x20–0x3F, the final byte is 0x40–0x7E.
  private mutating func csi(_ byte: UInt8, _ parameters: [UInt8], _ keys: inout [Key]) {
    switch byte {
    case 0x20...0x3F:
      // No sequence we know is long; the rest of an endless one is swallowed without being kept.
      state = .csi(parameters.count < 16 ? parameters + [byte] : parameters)
    case 0x40...0x7E:
      state = .ground
      if byte == UInt8(ascii: "~"), parameters == Array("200".utf8) {
        state = .paste([])
      } else if let key = cursorKey(byte), parameters.isEmpty || parameters == Array("1".utf8) {
        // With modifiers (`1;5C`) it is another key, which has no binding.
        keys.append(key)
      }
    case 0x1B: state = .escape
    default:
      state = .ground
    }
  }

  private func cursorKey(_ byte: UInt8) -> Key? {
    switch byte {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "C"): .right
    case UInt8(ascii: "D"): .left
    default: nil
    }
  }
}
