import AttaccaCore

/// Prints one line for each item, and nothing else: for a pipe, a file, a terminal without cursor.
@MainActor final class PlainFace: Face {
  private let streams: any TextStreams
  private var tracker = ItemTracker()

  init(_ streams: any TextStreams) { self.streams = streams }

  func show(_ event: PlayerEvent) {
    for case .opened(let line) in tracker.handle(event) { streams.out("Playing: \(line)\n") }
  }

  func report(_ problem: String) { streams.err(problem + "\n") }
}

/// Prints each event as a line of JSON, for programs.
@MainActor final class JSONFace: Face {
  private let streams: any TextStreams
  private let wall: @MainActor () -> Duration

  /// `wall` tells the time since 1970-01-01 00:00 UTC.
  init(_ streams: any TextStreams, wall: @escaping @MainActor () -> Duration) {
    self.streams = streams
    self.wall = wall
  }

  func show(_ event: PlayerEvent) { streams.out(eventJSON(event, at: wall()).text() + "\n") }

  func report(_ problem: String) { streams.err(problem + "\n") }
}

/// Prints errors and nothing else: for rendering to a file.
@MainActor final class QuietFace: Face {
  private let streams: any TextStreams

  init(_ streams: any TextStreams) { self.streams = streams }

  func show(_ event: PlayerEvent) {}

  func report(_ problem: String) { streams.err(problem + "\n") }
}
