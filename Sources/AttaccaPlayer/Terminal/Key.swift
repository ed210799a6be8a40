/// A key as the terminal reports it.
enum Key: Sendable, Hashable {
  /// A printing key.
  case character(Character)
  /// Control with a letter, lower case.
  case control(Character)
  case up, down, left, right
  case escape, enter, backspace
}
