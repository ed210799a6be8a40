import AttaccaCore

/// Standard output and standard error, or what a test puts in their place.
@MainActor protocol TextStreams: AnyObject {
  /// Writes to standard output at once.
  func out(_ text: String)
  /// Writes to standard error at once.
  func err(_ text: String)
  /// Whether nobody reads standard output any more.
  var isClosed: Bool { get }
}

/// A way to show what goes on. One of them is at work, on the main actor: writing to a terminal may block.
@MainActor protocol Face: AnyObject {
  /// Whether ``show(_:)-(PlayerSnapshot)`` is wanted; without it a player at work wakes nobody.
  var wantsSnapshots: Bool { get }
  /// Something happened.
  func show(_ event: PlayerEvent)
  /// This is how things stand now.
  func show(_ snapshot: PlayerSnapshot)
  /// A line for standard error.
  func report(_ problem: String)
  /// A word to the user about a key, gone after a moment.
  func hint(_ text: String)
  /// Shows or hides the help.
  func toggleHelp()
  /// Draws everything anew.
  func redraw()
  /// The process is about to stop, or to end: the terminal is given back.
  func suspend()
  /// The process goes on: the terminal is taken again, if it is ours.
  func resume()
  /// Nothing more will come.
  func finish()
  /// The host time at which ``tick()`` is wanted; `nil` for never.
  var deadline: Duration? { get }
  /// The deadline has come.
  func tick()
}

extension Face {
  var wantsSnapshots: Bool { false }
  func show(_ snapshot: PlayerSnapshot) {}
  func hint(_ text: String) {}
  func toggleHelp() {}
  func redraw() {}
  func suspend() {}
  func resume() {}
  func finish() {}
  var deadline: Duration? { nil }
  func tick() {}
}
