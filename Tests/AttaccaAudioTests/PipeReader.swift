import AttaccaCore
import Foundation
import POSIXKit

@testable import AttaccaAudio

/// Reads a FIFO on a thread of its own, as the program at its other end would.
final class PipeReader: Sendable {
  struct State {
    var bytes: [UInt8] = []
    /// Bytes it takes before it stops to read; they are all it takes when it leaves.
    var limit = Int.max
    var isEnded = false
    var mustLeave = false
  }
  let state: Monitor<State>

  /// Opens `path`, making the FIFO if need be, and reads up to `limit` bytes; then it leaves, or waits for more of them.
  init(_ path: String, limit: Int = .max, leaves: Bool = false) {
    state = Monitor(State(limit: limit))
    mkfifo(path, 0o600)
    let state = state
    let worker = Worker(name: "reader") {
      let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
      var buffer = [UInt8](repeating: 0, count: 8192)
      while true {
        let room = state.wait { state -> Int? in
          if state.mustLeave { return 0 }
          let room = state.limit - state.bytes.count
          return room > 0 ? room : leaves ? 0 : nil
        }
        guard let room, room > 0 else { break }
        let count = read(file, &buffer, min(room, buffer.count))
        guard count > 0 else { break }
        state.signal { $0.bytes += buffer[..<count] }
      }
      Glibc.close(file)
      state.signal { $0.isEnded = true }
    }
    worker?.detach()
  }

  /// Lets it take more.
  func allow(_ limit: Int) { state.signal { $0.limit = limit } }

  func leave() { state.signal { $0.mustLeave = true } }

  func wait<Found>(_ find: (inout State) -> Found?) -> Found? {
    state.wait(until: Clocks.host + .seconds(10), for: find)
  }

  /// Everything up to the writer's end; `nil` when it does not come.
  func all() -> [UInt8]? { wait { $0.isEnded ? $0.bytes : nil } }
}

/// A pipe output with its reader.
final class ReadPipe: ForwardingOutput {
  let destination: any AudioOutput
  private let reader: PipeReader
  init(destination: any AudioOutput, reader: PipeReader) {
    self.destination = destination
    self.reader = reader
  }
}
