import AttaccaCore
import Foundation
import POSIXKit
import TestSupport
import Testing

@testable import AttaccaAudio

/// A source of ready-made samples.
private final class ArraySource: RenderSource {
  let samples: [Float]
  let channels: Int
  let events = Monitor<[OutputEvent]>([])
  init(_ samples: [Float], channels: Int) {
    self.samples = samples
    self.channels = channels
  }
  func render(into buffer: UnsafeMutableBufferPointer<Float>, from start: Int64, count: Int) -> Int {
    let count = max(0, min(count, samples.count / channels - Int(start)))
    for index in 0..<count * channels { buffer[index] = samples[Int(start) * channels + index] }
    return count
  }
  func didHear(upTo frame: Int64) {}
}

@Suite struct WAVOutputTests {
  private func path() -> String { NSTemporaryDirectory() + "attacca-\(UUID().uuidString).wav" }

  /// Writes samples and answers what happened.
  private func write(_ samples: [Float], _ format: StreamFormat, to path: String) -> [OutputEvent] {
    let source = ArraySource(samples, channels: format.channels)
    let output = WAVOutput(path: Array(path.utf8))
    output.open(format, source: source) { event in source.events.signal { $0.append(event) } }
    output.setMarker(Int64(samples.count / format.channels))
    output.edit { _ in .running }
    let _: Bool? = source.events.wait(until: Clocks.host + .seconds(10)) { events in
      events.contains {
        switch $0 {
        case .reached, .failed: true
        default: false
        }
      } ? true : nil
    }
    let done = Monitor(false)
    output.close { done.signal { $0 = true } }
    #expect(done.wait(until: Clocks.host + .seconds(10)) { $0 ? true : nil } == true)
    return source.events.withLock { $0 }
  }

  @Test(arguments: [(2, 16, 1), (1, 16, 1), (2, 24, 0xFFFE), (1, 24, 0xFFFE), (6, 16, 0xFFFE), (3, 24, 0xFFFE)])
  func headerAndSamples(_ channels: Int, _ bits: Int, _ tag: Int) throws {
    let path = path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let scale: Float = bits == 16 ? 32_768 : 8_388_608
    // An odd number of frames, so that 24-bit mono needs padding.
    let samples = (0..<(10_001 * channels)).map {
      Float(($0 * 7919) % 60_000 - 30_000) * (bits == 24 ? 200 : 1) / scale
    }
    let events = write(samples, StreamFormat(sampleRate: 48_000, channels: channels, significantBits: bits), to: path)
    #expect(!events.contains { if case .failed = $0 { true } else { false } })
    let file = try WAVFileContent(path: path)
    #expect(file.rate == 48_000 && file.channels == channels && file.bits == bits && file.tag == tag)
    #expect(file.samples == samples)
    let size = try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    #expect(file.declared.data == samples.count * bits / 8)
    #expect(file.declared.riff == size - 8)
    #expect(size % 2 == 0)
  }

  @Test func whatIsNoSampleIsClipped() throws {
    let path = path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let samples: [Float] = [.nan, .infinity, -.infinity, 2, -2, .signalingNaN, 1, -1, .greatestFiniteMagnitude, 0]
    _ = write(samples, StreamFormat(sampleRate: 44_100, channels: 2), to: path)
    let top: Float = 32_767 / 32_768
    #expect(try WAVFileContent(path: path).samples == [0, top, -1, top, -1, 0, top, -1, top, 0])
  }

  @Test(arguments: ["/nowhere/at all/x.wav", "/", "", "/tmp/nul\0byte.wav"]) func unwritablePath(_ path: String) {
    let events = write([0, 0], StreamFormat(sampleRate: 44_100, channels: 2), to: path)
    let codes = events.compactMap { if case .failed(let error) = $0 { error.code } else { nil } }
    #expect(codes == [.playerOutputUnavailable])
  }

  @Test func fullDisk() {
    let samples = [Float](repeating: 0.5, count: 2_000_000)
    let events = write(samples, StreamFormat(sampleRate: 44_100, channels: 2), to: "/dev/full")
    let codes = events.compactMap { if case .failed(let error) = $0 { error.code } else { nil } }
    #expect(codes == [.playerOutputFailed])
  }

  @Test func existingFileIsReplaced() throws {
    let path = path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(repeating: 1, count: 1_000_000).write(to: URL(fileURLWithPath: path))
    _ = write([0.5, 0.5], StreamFormat(sampleRate: 44_100, channels: 2), to: path)
    #expect(try WAVFileContent(path: path).frames == 1)
    #expect(try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) == 48)
  }
}
