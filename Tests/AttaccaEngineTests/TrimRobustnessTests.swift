import AttaccaCore
import TestSupport
import Testing

@testable import AttaccaEngine

/// Every parser over damaged files: it always answers, and never with nonsense.
@Suite struct TrimRobustnessTests {
  private static let containers = [
    ("mp3", "mp3"), ("mov,mp4,m4a,3gp,3g2,mj2", "aac"), ("ogg", "opus"), ("ogg", "vorbis"), ("flac", "flac"),
    ("wav", "pcm_s16le"), ("aiff", "pcm_s16be"), ("wv", "wavpack"),
  ]

  private static func samples() throws -> [[UInt8]] {
    let media = try TrimMedia()
    _ = try media.wav(0..<20_000)
    try media.run("lame", "--quiet", "--add-id3v2", "--tt", "t", "-V4", "a.wav", "a.mp3")
    try media.ffmpeg("-i", "a.wav", "-c:a", "aac", "a.m4a")
    try media.run("opusenc", "--quiet", "a.wav", "a.opus")
    try media.run("oggenc", "-Q", "-q4", "a.wav", "-o", "a.ogg")
    return try ["a.mp3", "a.m4a", "a.opus", "a.ogg"].map { try media.bytes($0) }
      + TrimID3Tests.tags.prefix(14).map {
        $0.bytes + TrimID3Tests.frames
      }
  }

  private static func check(_ source: MemoryByteSource) {
    for (container, codec) in containers {
      let trim = readTrim(of: source, container: container, codec: codec, sampleRate: 44_100)
      #expect(trim.start >= 0 && trim.end ?? .max >= trim.start)
    }
    if let info = MP3StreamInfo(of: source) {
      #expect(info.firstAudioFrameOffset >= info.firstFrameOffset)
      var index = MP3FrameIndex(info)
      let found = index.offset(ofFrame: 5, in: source)
      #expect((found?.frame ?? 0) <= 5 && found?.offset ?? 0 < Int64(source.bytes.count))
      #expect(index.countFrames(in: source) <= Int64(source.bytes.count / 24) + 1)
    }
  }

  @Test func truncations() throws {
    var generator = SeededRandom.announced("TrimRobustnessTests.truncations")
    for sample in try Self.samples() {
      for count in [0, 1, 2, 3, 4, 9, 10, 11, 26, 27, 28] where count <= sample.count {
        Self.check(MemoryByteSource(Array(sample.prefix(count))))
      }
      for _ in 0..<20 {
        Self.check(MemoryByteSource(Array(sample.prefix(Int.random(in: 0...sample.count, using: &generator)))))
        Self.check(MemoryByteSource(Array(sample.dropFirst(Int.random(in: 0...sample.count, using: &generator)))))
      }
    }
  }

  @Test func flippedBytes() throws {
    var generator = SeededRandom.announced("TrimRobustnessTests.flippedBytes")
    for sample in try Self.samples() {
      for _ in 0..<20 {
        var bytes = sample
        for _ in 0..<Int.random(in: 1...30, using: &generator) {
          let near = Bool.random(using: &generator) ? min(200, bytes.count) : bytes.count
          bytes[Int.random(in: 0..<near, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        Self.check(MemoryByteSource(bytes))
      }
    }
  }

  @Test func faultySources() throws {
    for sample in try Self.samples().prefix(5) {
      for failing in [0, 1, 20, 100, 3000, Int64(sample.count - 1)] {
        var faults = MemoryByteSource.Faults()
        faults.failsFrom = failing
        faults.largestRead = 7
        Self.check(MemoryByteSource(sample, faults: faults))
      }
      var faults = MemoryByteSource.Faults()
      faults.hidesLength = true
      Self.check(MemoryByteSource(sample, faults: faults))
      faults.largestRead = 7
      Self.check(MemoryByteSource(sample, faults: faults))
      faults.pendingReads = 1
      Self.check(MemoryByteSource(sample, faults: faults))
    }
  }

  @Test func oneByteReadsChangeNothing() throws {
    for (sample, container) in zip(try Self.samples(), Self.containers.prefix(4)) {
      var faults = MemoryByteSource.Faults()
      faults.largestRead = 1
      let slow = readTrim(
        of: MemoryByteSource(sample, faults: faults), container: container.0, codec: container.1, sampleRate: 44_100)
      let fast = readTrim(
        of: MemoryByteSource(sample), container: container.0, codec: container.1, sampleRate: 44_100)
      #expect(slow == fast)
      #expect(fast != .none)
    }
  }

  @Test func otherContainersAreLeftAlone() {
    let source = MemoryByteSource(TrimID3Tests.tags[0].bytes + TrimID3Tests.frames)
    for container in ["flac", "wav", "aiff", "wv", "", "matroska,webm"] {
      #expect(readTrim(of: source, container: container, codec: "flac", sampleRate: 44_100) == .none)
    }
    #expect(source.bytesRead == 0)
  }
}
