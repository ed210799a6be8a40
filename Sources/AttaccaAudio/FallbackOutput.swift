import AttaccaCore
import POSIXKit

/// An output, or another one when it cannot be opened. Until that is known, what is asked of it waits.
public final class FallbackOutput: AudioOutput {
  private struct State {
    var chosen: (any AudioOutput)?
    var waiting: [@Sendable (any AudioOutput) -> Void] = []
    var isClosed = false
  }

  private let primary: any AudioOutput
  private let makeSecondary: @Sendable (String) -> any AudioOutput
  private let state = Monitor(State())

  /// Makes an output that is `primary`, or what `makeSecondary` makes of the reason why it is not.
  public init(_ primary: any AudioOutput, or makeSecondary: @escaping @Sendable (String) -> any AudioOutput) {
    self.primary = primary
    self.makeSecondary = makeSecondary
  }

  public var isOffline: Bool { state.withLock { $0.chosen }?.isOffline ?? primary.isOffline }

  public var fixedFormat: StreamFormat? { primary.fixedFormat }

  public func prepare() { primary.prepare() }

  public func open(
    _ format: StreamFormat, source: any RenderSource, receive: @escaping @Sendable (OutputEvent) -> Void
  ) {
    primary.open(format, source: source) { [weak self] event in
      guard let self, state.withLock({ $0.chosen == nil && !$0.isClosed }) else { return receive(event) }
      switch event {
      case .opened:
        receive(event)
        choose(primary)
      case .failed(let error):
        let secondary = makeSecondary(error.reason)
        primary.close {}
        secondary.open(format, source: source, receive: receive)
        choose(secondary)
      default: receive(event)
      }
    }
  }

  public func edit(_ change: @escaping @Sendable (EditPoint) -> OutputTransport) { pass { $0.edit(change) } }
  public func sourceHasMore() { pass { $0.sourceHasMore() } }
  public func setMarker(_ frame: Int64?) { pass { $0.setMarker(frame) } }

  public func close(_ completion: @escaping @Sendable () -> Void) {
    let output = state.withLock { state in
      state.isClosed = true
      state.waiting = []
      return state.chosen ?? primary
    }
    output.close(completion)
  }

  private func choose(_ output: any AudioOutput) {
    // In order, also with what is asked meanwhile.
    while true {
      let (waiting, isClosed) = state.withLock { state in
        defer { state.waiting = [] }
        if state.waiting.isEmpty { state.chosen = output }
        return (state.waiting, state.isClosed)
      }
      // Closed while this one was being made: nobody else will close it.
      if isClosed, output !== primary { output.close {} }
      guard !waiting.isEmpty, !isClosed else { return }
      for action in waiting { action(output) }
    }
  }

  private func pass(_ action: @escaping @Sendable (any AudioOutput) -> Void) {
    let output = state.withLock { state -> (any AudioOutput)? in
      if state.chosen == nil, !state.isClosed { state.waiting.append(action) }
      return state.chosen
    }
    if let output { action(output) }
  }
}
