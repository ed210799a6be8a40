import AttaccaCore
import TestSupport
import Testing

@testable import AttaccaEngine

@Suite struct TrimMP3IndexTests {
  /// The plain way: every header from the first on, for a file without other bytes between its frames.
  private static func offsets(_ bytes: [UInt8], from first: Int) -> [Int64] {
    var offsets: [Int64] = []
    var position = first
    while position + 4 <= bytes.count,
      let header = MP3FrameHeader(bytes[position..<position + 4].reduce(0) { $0 << 8 | UInt32($1) }),
      position + header.size <= bytes.count
    {
      offsets.append(Int64(position))
      position += header.size
    }
    return offsets
  }

  private static func encoded(_ options: [String]) throws -> [UInt8] {
    let media = try TrimMedia()
    _ = try media.wav(0..<TrimMedia.whole)
    try media.run(["lame", "--quiet"] + options + ["a.wav", "a.mp3"])
    return try media.bytes("a.mp3")
  }

  @Test(arguments: [
    ["-V2"], ["-V9"], ["-b", "128"], ["-b", "320"], ["-t", "-b", "160"], ["-t", "-V4"], ["--abr", "140"],
  ])
  func everyFrameIsFound(_ options: [String]) throws {
    let bytes = try Self.encoded(options)
    let source = MemoryByteSource(bytes)
    let info = try #require(MP3StreamInfo(of: source))
    let truth = Self.offsets(bytes, from: Int(info.firstAudioFrameOffset))
    #expect(truth.count > 100)

    var up = MP3FrameIndex(info)
    for (frame, offset) in truth.enumerated() {
      let found = up.offset(ofFrame: Int64(frame), in: source)
      #expect(found?.frame == Int64(frame) && found?.offset == offset)
    }
    var down = MP3FrameIndex(info)
    for frame in stride(from: truth.count - 1, through: 0, by: -7) {
      let found = down.offset(ofFrame: Int64(frame), in: source)
      #expect(found?.frame == Int64(frame) && found?.offset == truth[frame])
    }
    // Behind the end: the last frame.
    let beyond = down.offset(ofFrame: .max, in: source)
    #expect(beyond?.frame == Int64(truth.count - 1) && beyond?.offset == truth.last)
    #expect(down.totalFrames == Int64(truth.count))
    var counting = MP3FrameIndex(info)
    #expect(counting.countFrames(in: source) == Int64(truth.count))
  }

  @Test func constantBitRateIsComputedWithoutWalking() throws {
    let bytes = try Self.encoded(["-b", "128"])
    let source = MemoryByteSource(bytes)
    let info = try #require(MP3StreamInfo(of: source))
    let truth = Self.offsets(bytes, from: Int(info.firstAudioFrameOffset))
    var index = MP3FrameIndex(info)
    let found = index.offset(ofFrame: 100, in: source)
    #expect(found?.frame == 100 && found?.offset == truth[100])
    #expect(index.knownFrames == 0)
  }

  @Test(arguments: [["-t", "-b", "128"], ["-t", "-V3"]])
  func otherBytesBetweenFramesCountAsFramesThatWere(_ options: [String]) throws {
    let bytes = try Self.encoded(options)
    let plain = try #require(MP3StreamInfo(of: MemoryByteSource(bytes)))
    let truth = Self.offsets(bytes, from: Int(plain.firstAudioFrameOffset))
    // With a constant bit rate as many bytes as whole frames have would pass for frames.
    for junkSize in [1, 3, 100, 208, 5000] + (plain.isConstantBitRate ? [] : [417, 836]) {
      let cut = Int(truth[40])
      // Among these bytes are sync words, but nothing that leads on to a frame.
      let junk = (0..<junkSize).map { [0x12, 0xFF, 0xFB, 0x00, 0xE0][$0 % 5] as UInt8 }
      let source = MemoryByteSource(Array(bytes[..<cut]) + junk + Array(bytes[cut...]))
      let info = try #require(MP3StreamInfo(of: source))
      var index = MP3FrameIndex(info)
      let near = Int(truth[41] - truth[39]) / 2
      var reader = ByteReader(source, budget: 1 << 20)
      let lost = info.framesLost(from: Int64(cut), to: Int64(cut + junkSize), near: near, &reader)
      #expect(junkSize > 208 ? lost > 0 : lost < 2)
      let found = index.offset(ofFrame: 90 + lost, in: source)
      #expect(found?.frame == 90 + lost && found?.offset == truth[90] + Int64(junkSize), "\(junkSize) bytes")
      if lost > 0, !info.isConstantBitRate {
        let before = index.offset(ofFrame: 40 + lost - 1, in: source)
        #expect(before?.frame == 39 && before?.offset == truth[39])
      }
      let last = index.offset(ofFrame: 39, in: source)
      #expect(last?.offset == truth[39])
      #expect(index.countFrames(in: source) == Int64(truth.count) + lost, "\(junkSize) bytes")
    }
  }

  @Test func tagsBetweenFramesCountNothing() throws {
    let bytes = try Self.encoded(["-t", "-V3"])
    let plain = try #require(MP3StreamInfo(of: MemoryByteSource(bytes)))
    let truth = Self.offsets(bytes, from: Int(plain.firstAudioFrameOffset))
    let cut = Int(truth[40])
    let id3 = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0x27, 0x08] + [UInt8](repeating: 0, count: 5000)
    let id3v1 = Array("TAG".utf8) + [UInt8](repeating: 0x20, count: 125)
    for tags in [id3, id3v1, id3v1 + id3] {
      let source = MemoryByteSource(Array(bytes[..<cut]) + tags + Array(bytes[cut...]))
      var index = MP3FrameIndex(try #require(MP3StreamInfo(of: source)))
      #expect(index.countFrames(in: source) == Int64(truth.count))
    }
  }

  @Test func damagedHeaderKeepsItsFramesTime() throws {
    var bytes = try Self.encoded(["-V2"])
    let info = try #require(MP3StreamInfo(of: MemoryByteSource(bytes)))
    let truth = Self.offsets(bytes, from: Int(info.firstAudioFrameOffset))
    bytes[Int(truth[50])] = 0
    var index = MP3FrameIndex(info)
    let source = MemoryByteSource(bytes)
    #expect(index.offset(ofFrame: 51, in: source)?.offset == truth[51])
    #expect(index.offset(ofFrame: 50, in: source)?.offset == truth[49])
    #expect(index.countFrames(in: source) == Int64(truth.count))
  }

  @Test func cutLastFrameDoesNotCount() throws {
    let bytes = try Self.encoded(["-V2"])
    let whole = try #require(MP3StreamInfo(of: MemoryByteSource(bytes)))
    let truth = Self.offsets(bytes, from: Int(whole.firstAudioFrameOffset))
    var hidden = MemoryByteSource.Faults()
    hidden.hidesLength = true
    for missing in [1, 3, 50, 200] {
      let cut = Array(bytes.dropLast(missing))
      var slow = hidden
      slow.largestRead = 7
      for source in [
        MemoryByteSource(cut), MemoryByteSource(cut, faults: hidden), MemoryByteSource(cut, faults: slow),
      ] {
        var index = MP3FrameIndex(try #require(MP3StreamInfo(of: source)))
        #expect(index.countFrames(in: source) == Int64(truth.count - 1))
        let beyond = index.offset(ofFrame: 1 << 40, in: source)
        #expect(beyond?.offset == truth[truth.count - 2])
      }
    }
  }

  @Test func failingReadIsNotTakenForTheEnd() throws {
    let bytes = try Self.encoded(["-V2"])
    let info = try #require(MP3StreamInfo(of: MemoryByteSource(bytes)))
    let truth = Self.offsets(bytes, from: Int(info.firstAudioFrameOffset))
    var faults = MemoryByteSource.Faults()
    faults.failsFrom = truth[60]
    var index = MP3FrameIndex(info)
    let found = index.offset(ofFrame: 90, in: MemoryByteSource(bytes, faults: faults))
    #expect((found?.frame ?? 99) < 60)
    #expect(index.totalFrames == nil)
    #expect(index.offset(ofFrame: 90, in: MemoryByteSource(bytes))?.offset == truth[90])
  }
}
