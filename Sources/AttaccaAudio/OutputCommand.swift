import AttaccaCore

/// What an output's thread is asked for, in order.
enum OutputCommand {
  case open(StreamFormat, any RenderSource, @Sendable (OutputEvent) -> Void)
  case edit(@Sendable (EditPoint) -> OutputTransport)
  case more
  case marker(Int64?)
  case close(@Sendable () -> Void)
}

extension Sequence<OutputCommand> {
  /// What is to be called once the output has closed.
  var completions: [@Sendable () -> Void] {
    compactMap { if case .close(let completion) = $0 { completion } else { nil } }
  }
}
