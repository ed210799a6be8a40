import AttaccaCore

/// A source that waits for bytes that are not there yet, because neither demuxers nor tag parsers know how to come back.
/// Cancelling the source ends the wait.
final class PatientByteSource: ByteSource {
  private let source: any ByteSource
  var length: Int64? { source.length }
  var isSeekable: Bool { source.isSeekable }

  init(_ source: any ByteSource) { self.source = source }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> ByteRead {
    while true {
      let result = source.read(into: buffer, at: offset)
      guard case .pending = result else { return result }
      source.waitForBytes(at: offset)
    }
  }

  func waitForBytes(at offset: Int64) { source.waitForBytes(at: offset) }

  func cancel() { source.cancel() }
}
