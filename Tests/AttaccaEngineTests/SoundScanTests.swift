import AttaccaCore
import Glibc
import TestSupport
import Testing

@testable import AttaccaEngine

@Suite struct SoundScanTests {
  private struct Provider: ByteSourceProvider {
    let bytes: [UInt8]
    func open(_ item: MediaItem) throws(MediaError) -> any ByteSource { MemoryByteSource(bytes) }
  }

  /// A WAV of float samples.
  private func wav(_ samples: [Float], channels: Int, rate: Int = 48_000) -> [UInt8] {
    func little(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    let size = samples.count * 4
    var bytes = Array("RIFF".utf8) + little(36 + size, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
    bytes += little(3, 2) + little(channels, 2) + little(rate, 4) + little(rate * channels * 4, 4)
    bytes += little(channels * 4, 2) + little(32, 2) + Array("data".utf8) + little(size, 4)
    for sample in samples { bytes += little(Int(sample.bitPattern), 4) }
    return bytes
  }

  private func scan(_ samples: [Float], channels: Int = 2) async throws -> LoudnessScan {
    try await scanLoudness(
      of: MediaItem(.file("/tone.wav")), sources: Provider(bytes: wav(samples, channels: channels)))
  }

  private func tone(_ level: Double, seconds: Int = 4, channels: Int = 2) -> [Float] {
    Signal.tone(
      1_000, frames: 48_000 * seconds, sampleRate: 48_000, channels: channels, amplitude: pow(10, level / 20))
  }

  @Test(arguments: [-23.0, -33])
  func readsWhatTheStandardSays(level: Double) async throws {
    // EBU Tech 3341, cases 1 and 2: a stereo sine of this peak level reads the same in LUFS.
    let found = try await scan(tone(level))
    #expect(abs(try #require(found.integrated) - level) < 0.1)
    #expect(abs(decibels(found.samplePeak) - level) < 0.05 && abs(decibels(found.truePeak) - level) < 0.3)
    #expect(found.range < 0.2)
    #expect(abs(try #require(found.tags.trackGain) - (-18 - level)) < 0.1)
  }

  @Test func channelsCountAsTheyAreHeard() async throws {
    // One channel is heard from both sides.
    #expect(abs(try #require(try await scan(tone(-23, channels: 1), channels: 1).integrated) + 23) < 0.1)
    #expect(try await scan([Float](repeating: 0, count: 96_000)).integrated == nil)
  }

  @Test func albumsAreMeasuredTogether() async throws {
    let scans = [
      try await scan(tone(-20)), try await scan(tone(-26)), try await scan([Float](repeating: 0, count: 96_000)),
    ]
    let tags = LoudnessScan.album(scans)
    let mean = 10 * log10((pow(10, -2.0) + pow(10, -2.6)) / 2)
    for each in tags { #expect(abs(try #require(each.albumGain) - (-18 - mean)) < 0.15) }
    #expect(abs(try #require(tags[1].trackGain) - 8) < 0.1 && tags[2].trackGain == nil)
    #expect(tags[2].albumPeak == scans[0].samplePeak)
  }

  @Test func opusHeaderGainIsAppliedByTheDecoder() async throws {
    // RFC 7845 §5.1: R128 tags are meant on top of it, so it may be neither left out nor applied twice.
    var bytes = try TestMedia.bytes("opus/a.opus")
    let before = try await scanLoudness(of: MediaItem(.file("/a.opus")), sources: Provider(bytes: bytes))
    let head = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("OpusHead".utf8)) })
    (bytes[head + 16], bytes[head + 17]) = (0, UInt8(bitPattern: -6))
    // The page's checksum (RFC 3533), with its field as 0.
    let length = 27 + Int(bytes[26]) + bytes[27..<(27 + Int(bytes[26]))].reduce(0) { $0 + Int($1) }
    for index in 22..<26 { bytes[index] = 0 }
    var sum: UInt32 = 0
    for byte in bytes[..<length] {
      sum ^= UInt32(byte) << 24
      for _ in 0..<8 { sum = sum & 0x8000_0000 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
    }
    for index in 0..<4 { bytes[22 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
    let after = try await scanLoudness(of: MediaItem(.file("/a.opus")), sources: Provider(bytes: bytes))
    #expect(abs(try #require(after.integrated) - #require(before.integrated) + 6) < 0.05)
  }

  @Test func badMediaIsAnError() async {
    await #expect(throws: MediaError.self) {
      try await scanLoudness(of: MediaItem(.file("/x")), sources: Provider(bytes: [1, 2, 3]))
    }
  }

  @Test func cancellingEndsIt() async {
    let bytes = wav(tone(-23), channels: 2)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await scanLoudness(of: MediaItem(.file("/tone.wav")), sources: Provider(bytes: bytes))
    }
    await #expect(throws: MediaError.self) { try await task.value }
  }
}
