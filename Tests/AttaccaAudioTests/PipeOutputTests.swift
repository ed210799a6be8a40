import AttaccaCore
import Foundation
import POSIXKit
import Testing

@testable import AttaccaAudio

/// Frames whose samples tell their place: left is the frame's number, right its negative, in 1/32768.
private final class CountingSource: RenderSource {
  struct State {
    var end: Int64
    var events: [OutputEvent] = []
    var heard: Int64 = 0
  }
  let state: Monitor<State>
  init(frames: Int64) { state = Monitor(State(end: frames)) }

  static func sample(_ frame: Int64, _ channel: Int) -> Int16 {
    let value = Int16(truncatingIfNeeded: frame % 30_000)
    return channel == 0 ? value : -value
  }

  func render(into buffer: UnsafeMutableBufferPointer<Float>, from start: Int64, count: Int) -> Int {
    let count = Int(max(0, min(Int64(count), state.withLock { $0.end } - start)))
    for index in 0..<count {
      for channel in 0..<2 {
        buffer[index * 2 + channel] = Float(Self.sample(start + Int64(index), channel)) / 32_768
      }
    }
    return count
  }

  func didHear(upTo frame: Int64) { state.signal { $0.heard = max($0.heard, frame) } }

  func wait<Found>(_ find: (inout State) -> Found?) -> Found? {
    state.wait(until: Clocks.host + .seconds(10), for: find)
  }

  static func bytes(_ frames: Range<Int64>) -> [UInt8] {
    frames.flatMap { frame in
      (0..<2).flatMap { channel -> [UInt8] in
        let value = UInt16(bitPattern: sample(frame, channel))
        return [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)]
      }
    }
  }
}

extension OutputEvent {
  fileprivate var lostAt: Int64? { if case .lost(let frame) = self { frame } else { nil } }
  fileprivate var isRestored: Bool { if case .restored = self { true } else { false } }
  fileprivate var error: MediaError? { if case .failed(let error) = self { error } else { nil } }
}

@Suite struct PipeOutputTests {
  private func path() -> String { NSTemporaryDirectory() + "attacca-\(UUID().uuidString).pipe" }

  /// The bytes are these frames. A failure tells the first byte that differs, not all of them.
  private func expectFrames(
    _ bytes: [UInt8]?, _ frames: Range<Int64>, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let expected = CountingSource.bytes(frames)
    let different = zip(bytes ?? [], expected).enumerated().first { $1.0 != $1.1 }?.offset
    #expect(different == nil && bytes?.count == expected.count, sourceLocation: sourceLocation)
  }

  private func open(
    _ path: String, _ source: some CountingSource, _ format: PipeFormat = PipeFormat()
  ) -> PipeOutput {
    let output = PipeOutput(path: Array(path.utf8), format: format)
    output.open(format.stream, source: source) { event in source.state.signal { $0.events.append(event) } }
    return output
  }

  private func close(_ output: PipeOutput) {
    let done = Monitor(false)
    output.close { done.signal { $0 = true } }
    #expect(done.wait(until: Clocks.host + .seconds(10)) { $0 ? true : nil } == true)
  }

  private func finish(_ output: PipeOutput, _ source: CountingSource) {
    output.setMarker(source.state.withLock { $0.end })
    _ = source.wait { $0.events.contains { if case .reached = $0 { true } else { false } } ? true : nil }
    close(output)
  }

  @Test(arguments: PCMEncoding.allCases) func writesTheFramesAndNothingElse(_ encoding: PCMEncoding) throws {
    let path = path()
    let reader = PipeReader(path)
    // Not a whole number of writes.
    let source = CountingSource(frames: 50_001)
    let output = open(path, source, PipeFormat(encoding: encoding, sampleRate: 48_000))
    output.edit { _ in .running }
    finish(output, source)
    let bytes = try #require(reader.all())
    #expect(bytes.count == 50_001 * 2 * encoding.bytesPerSample)
    for frame in stride(from: Int64(0), to: 50_001, by: 97) {
      for channel in 0..<2 {
        let value = CountingSource.sample(frame, channel)
        let at = (Int(frame) * 2 + channel) * encoding.bytesPerSample
        let stored: [UInt8] =
          switch encoding {
          case .s16: withUnsafeBytes(of: value.littleEndian, Array.init)
          case .s24: [0] + withUnsafeBytes(of: value.littleEndian, Array.init)
          case .f32: withUnsafeBytes(of: (Float(value) / 32_768).bitPattern.littleEndian, Array.init)
          }
        guard Array(bytes[at..<(at + encoding.bytesPerSample)]) == stored else {
          Issue.record("frame \(frame), channel \(channel)")
          return
        }
      }
    }
    // It was there before, so it stays.
    #expect(FileManager.default.fileExists(atPath: path))
    try FileManager.default.removeItem(atPath: path)
  }

  @Test(arguments: PCMEncoding.allCases) func clipsIntegersAndSilencesWhatIsNoNumber(_ encoding: PCMEncoding) {
    let samples: [Float] = [2, -2, .nan, .infinity, 0.5]
    var bytes: [UInt8] = [9]
    samples.withUnsafeBufferPointer { encoding.append($0, to: &bytes) }
    let expected: [UInt8] =
      switch encoding {
      case .s16: [0xFF, 0x7F, 0, 0x80, 0, 0, 0xFF, 0x7F, 0, 0x40]
      case .s24: [0xFF, 0xFF, 0x7F, 0, 0, 0x80, 0, 0, 0, 0xFF, 0xFF, 0x7F, 0, 0, 0x40]
      case .f32: [0, 0, 0, 0x40, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0, 0x80, 0x7F, 0, 0, 0, 0x3F]
      }
    #expect(bytes == [9] + expected)
  }

  @Test func aSlowReaderSetsThePace() throws {
    let path = path()
    let reader = PipeReader(path, limit: 4000)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let source = CountingSource(frames: 100_000)
    let output = open(path, source)
    output.edit { _ in .running }
    // What it took and a pipe full: that much was written and no more, and for now the stream stands.
    let lost = try #require(source.wait { $0.events.lazy.compactMap(\.lostAt).first { $0 > 0 } })
    #expect(lost >= 1000 && lost <= (4000 + 65_536 + 8192) / 4)
    #expect(source.state.withLock { $0.heard } == lost)
    reader.allow(.max)
    _ = source.wait { $0.heard > lost ? true : nil }
    finish(output, source)
    expectFrames(reader.all(), 0..<100_000)
  }

  @Test func goesOnWithTheNextReaderWhereTheLastOneLeft() throws {
    let path = path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    // It leaves in the middle of a frame.
    let first = PipeReader(path, limit: 20_002, leaves: true)
    let source = CountingSource(frames: 60_000)
    let output = open(path, source)
    output.edit { _ in .running }
    let taken = try #require(first.all())
    // The first loss may be of the time before the first reader.
    let lost = try #require(source.wait { $0.events.lazy.compactMap(\.lostAt).first { $0 > 0 } })
    #expect(lost >= 5000)
    let losses = source.state.withLock { $0.events.compactMap(\.lostAt).count }
    let second = PipeReader(path)
    finish(output, source)
    #expect(source.state.withLock { $0.events.count(where: \.isRestored) } == losses)
    let rest = try #require(second.all())
    expectFrames(Array(taken.dropLast(2)), 0..<5000)
    #expect(taken.count == 20_002)
    expectFrames(rest, 5001..<60_000)
  }

  @Test func waitsForAReaderAndTakesItsFIFOAway() throws {
    let path = path()
    let source = CountingSource(frames: 10_000)
    let output = open(path, source)
    output.edit { _ in .running }
    #expect(source.wait { $0.events.lazy.compactMap(\.lostAt).first } == 0)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode == S_IFIFO | 0o600)
    let reader = PipeReader(path)
    finish(output, source)
    expectFrames(reader.all(), 0..<10_000)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func closesAtOnceWhileNobodyReads() throws {
    let path = path()
    let source = CountingSource(frames: .max)
    let output = open(path, source)
    output.edit { _ in .running }
    #expect(source.wait { $0.events.lazy.compactMap(\.lostAt).first } == 0)
    let start = Clocks.host
    close(output)
    #expect(Clocks.host - start < .seconds(1))
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func closesAtOnceWhileAReaderTakesNothing() throws {
    let path = path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let reader = PipeReader(path, limit: 4000)
    let source = CountingSource(frames: .max)
    let output = open(path, source)
    output.edit { _ in .running }
    _ = source.wait { $0.heard > 10_000 ? true : nil }
    close(output)
    reader.allow(.max)
    let bytes = try #require(reader.all())
    #expect(bytes.count.isMultiple(of: 4))
    expectFrames(bytes, 0..<Int64(bytes.count / 4))
  }

  @Test func editsWhileTheReaderIsSlowReplaceWhatWasNotWritten() throws {
    let path = path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let reader = PipeReader(path, limit: 0)
    let source = CountingSource(frames: .max)
    let output = open(path, source)
    output.edit { _ in .running }
    _ = source.wait { $0.events.contains { $0.lostAt != nil } ? true : nil }
    let point = Monitor<EditPoint?>(nil)
    output.edit { now in
      point.signal { $0 = now }
      source.state.withLock { $0.end = now.earliest + 100 }
      return .held(after: now.earliest + 100)
    }
    let earliest = try #require(point.wait(until: Clocks.host + .seconds(10)) { $0 }).earliest
    reader.allow(.max)
    _ = source.wait { $0.heard >= earliest + 100 ? true : nil }
    close(output)
    expectFrames(reader.all(), 0..<(earliest + 100))
  }

  @Test func aFileIsReplaced() throws {
    let path = path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(repeating: 7, count: 100_000).write(to: URL(fileURLWithPath: path))
    let source = CountingSource(frames: 1001)
    let output = open(path, source)
    output.edit { _ in .running }
    finish(output, source)
    expectFrames(try Array(Data(contentsOf: URL(fileURLWithPath: path))), 0..<1001)
  }

  @Test(arguments: ["/dev/full", "/nowhere/at all/x.pipe", "/", "", "/dev/\0x"])
  func whatCannotBeWrittenFails(_ path: String) throws {
    let source = CountingSource(frames: .max)
    let output = open(path, source)
    output.edit { _ in .running }
    let error = try #require(source.wait { $0.events.lazy.compactMap(\.error).first })
    #expect(error.code == (path == "/dev/full" ? .playerOutputFailed : .playerOutputUnavailable))
    // Failed once, it is not told again.
    output.edit { _ in .running }
    close(output)
    #expect(source.state.withLock { $0.events.compactMap(\.error).count } == 1)
  }

  @Test func anotherRateIsRefused() throws {
    let source = CountingSource(frames: 1)
    let output = PipeOutput(path: Array(path().utf8))
    #expect(output.fixedFormat == StreamFormat(sampleRate: 44_100, channels: 2))
    output.open(StreamFormat(sampleRate: 48_000, channels: 2), source: source) { event in
      source.state.signal { $0.events.append(event) }
    }
    #expect(source.wait { $0.events.lazy.compactMap(\.error).first }?.code == .playerOutputUnavailable)
    close(output)
  }
}
