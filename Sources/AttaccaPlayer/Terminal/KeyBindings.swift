import AttaccaCore

/// What a key does.
enum KeyAction: Equatable {
  case togglePause
  case skip(Duration)
  case next, previous
  /// Changes the volume by so many per cent.
  case volume(Int)
  /// Changes the rate by so many hundredths.
  case rate(Int)
  case normalRate, mute, cycleRepeat, help, redraw, quit
}

/// A line of the table of keys, as help and manual show it.
struct KeyBinding {
  var keys: String
  var explanation: String

  /// Every binding: close to mpv's.
  static let table = [
    KeyBinding(keys: "space", explanation: "pause, go on"),
    KeyBinding(keys: "← →", explanation: "back, forward 5 seconds"),
    KeyBinding(keys: "↓ ↑", explanation: "back, forward 60 seconds"),
    KeyBinding(keys: "n >", explanation: "next item"),
    KeyBinding(keys: "p <", explanation: "previous item, or the beginning of this one"),
    KeyBinding(keys: "- 9, + 0", explanation: "softer, louder"),
    KeyBinding(keys: "[ ]", explanation: "slower, faster"),
    KeyBinding(keys: "backspace", explanation: "as fast as recorded"),
    KeyBinding(keys: "m", explanation: "mute"),
    KeyBinding(keys: "r", explanation: "repeat: off, all, one"),
    KeyBinding(keys: "?", explanation: "show or hide the keys"),
    KeyBinding(keys: "q", explanation: "quit"),
  ]

  /// The table in one line, for the terminal.
  static func line(unicode: Bool) -> String {
    let (arrows, upDown) = unicode ? ("←→", "↓↑") : ("left/right", "down/up")
    return "space pause  \(arrows) 5 s  \(upDown) 60 s  n/p  -/+ vol  [ ] rate  m mute  r loop  q quit"
  }

  /// What a key does; `nil` when it does nothing.
  static func action(for key: Key) -> KeyAction? {
    switch key {
    case .character(" "): .togglePause
    case .left: .skip(.seconds(-5))
    case .right: .skip(.seconds(5))
    case .down: .skip(.seconds(-60))
    case .up: .skip(.seconds(60))
    case .character("n"), .character(">"): .next
    case .character("p"), .character("<"): .previous
    case .character("-"), .character("9"): .volume(-5)
    case .character("+"), .character("="), .character("0"): .volume(5)
    case .character("["): .rate(-10)
    case .character("]"): .rate(10)
    case .backspace: .normalRate
    case .character("m"): .mute
    case .character("r"): .cycleRepeat
    case .character("?"): .help
    case .character("q"), .character("Q"): .quit
    case .control("l"): .redraw
    default: nil
    }
  }
}
