import AttaccaCore
import TestSupport
import Testing

@testable import AttaccaEngine

@Suite struct TrimMP3Tests {
  private static let encoders: [(name: String, command: [String], isConstant: Bool)] = [
    ("cbr", ["lame", "--quiet", "a.wav", "cbr.mp3"], true),
    ("crc", ["lame", "--quiet", "-p", "-b", "192", "a.wav", "crc.mp3"], true),
    ("vbr", ["lame", "--quiet", "-V2", "a.wav", "vbr.mp3"], false),
    ("abr", ["lame", "--quiet", "--abr", "150", "a.wav", "abr.mp3"], false),
    ("lavf", ["ffmpeg", "-v", "error", "-y", "-i", "a.wav", "-c:a", "libmp3lame", "-q:a", "2", "lavf.mp3"], false),
    ("apple", ["lame", "--quiet", "--add-id3v2", "--tt", "title", "-b", "128", "a.wav", "apple.mp3"], true),
  ]

  @Test(arguments: 0..<encoders.count)
  func lameTagGivesExactlyTheMusic(_ index: Int) throws {
    let (name, command, isConstant) = Self.encoders[index]
    let media = try TrimMedia()
    _ = try media.wav()
    try media.run(command)
    let source = try media.source(name + ".mp3")
    let info = try #require(MP3StreamInfo(of: source))
    #expect(info.trim.source == .lame)
    #expect(info.trim.count == Int64(TrimMedia.cut))
    #expect(info.isConstantBitRate == isConstant)
    #expect(info.duration == MediaDuration(MediaTime(frames: Int64(TrimMedia.cut), rate: 44_100).duration, .exact))

    let raw = try media.raw(name + ".mp3")
    let end = try #require(info.trim.end)
    #expect(Int64(raw.count / 2) >= end)
    let music = Array(raw[Int(info.trim.start) * 2..<Int(end) * 2])
    #expect(TrimMedia.lag(music, Array(TrimMedia.chirp.prefix(TrimMedia.cut * 2))) == 0)

    // The demuxer's frames are the index's frames.
    var frames = MP3FrameIndex(info)
    #expect(frames.countFrames(in: source) == Int64(raw.count / 2 / 1152))
  }

  @Test func iTunSMPBOfATXXXFrameIsReadWhereThereIsNoLAMETag() throws {
    let media = try TrimMedia()
    _ = try media.wav()
    let comment = "iTunSMPB= 00000000 00000240 0000033C 000000000000EF32 00000000 00000000"
    try media.ffmpeg("-i", "a.wav", "-c:a", "libmp3lame", "-write_xing", "0", "-metadata", comment, "t.mp3")
    let info = try #require(MP3StreamInfo(of: try media.source("t.mp3")))
    #expect(info.trim == TrimRange(start: 576 + 529, end: 576 + 529 + 61_234, source: .iTunSMPB))
    let raw = try media.raw("t.mp3")
    let music = Array(raw[Int(info.trim.start) * 2..<Int(info.trim.end!) * 2])
    #expect(TrimMedia.lag(music, Array(TrimMedia.chirp.prefix(TrimMedia.cut * 2))) == 0)
  }

  @Test func lameTagWinsOverITunSMPB() throws {
    let media = try TrimMedia()
    _ = try media.wav()
    let comment = "iTunSMPB= 00000000 00000111 00000111 0000000000001111"
    try media.ffmpeg("-i", "a.wav", "-c:a", "libmp3lame", "-metadata", comment, "t.mp3")
    #expect(MP3StreamInfo(of: try media.source("t.mp3"))?.trim.source == .lame)
  }

  @Test func withoutATagNothingIsCutAndTheDurationIsEstimated() throws {
    let media = try TrimMedia()
    _ = try media.wav()
    try media.run("lame", "--quiet", "-t", "-b", "128", "a.wav", "c.mp3")
    try media.run("lame", "--quiet", "-t", "-V2", "a.wav", "v.mp3")
    let constant = try #require(MP3StreamInfo(of: try media.source("c.mp3")))
    #expect(constant.trim == .none)
    #expect(constant.isConstantBitRate)
    let frames = Int64(try media.raw("c.mp3").count / 2)
    #expect(constant.duration == MediaDuration(MediaTime(frames: frames, rate: 44_100).duration, .estimated))

    let variable = try #require(MP3StreamInfo(of: try media.source("v.mp3")))
    #expect(!variable.isConstantBitRate)
    let estimate = try #require(variable.duration)
    #expect(estimate.confidence == .estimated)
    #expect(estimate.value > .seconds(1.1) && estimate.value < .seconds(1.7))
  }

  @Test func variableBitRateThatStartsConstantIsNotTakenForConstant() throws {
    let media = try TrimMedia()
    var generator = SeededRandom(seed: 7)
    let noise = (0..<441_000).map { _ in Int16.random(in: -9000...9000, using: &generator) }
    _ = try media.wav([Int16](repeating: 0, count: 441_000) + noise, name: "s.wav")
    try media.run("lame", "--quiet", "-t", "-V2", "s.wav", "v.mp3")
    let info = try #require(MP3StreamInfo(of: try media.source("v.mp3")))
    #expect(!info.isConstantBitRate)
    // 10 s: half silence, half noise, where the first frames' bit rate alone says five times that.
    let estimate = try #require(info.duration)
    #expect(estimate.value > .seconds(7) && estimate.value < .seconds(14))
  }

  @Test func tagThatCountsNothingIsAFrameToTheDemuxer() throws {
    let media = try TrimMedia()
    _ = try media.wav()
    try media.run("lame", "--quiet", "a.wav", "a.mp3")
    var bytes = try media.bytes("a.mp3")
    // Flags, frames and bytes of the Info tag behind 4 + 32 bytes.
    bytes.replaceSubrange(44..<52, with: [UInt8](repeating: 0, count: 8))
    _ = try media.write(bytes, "zero.mp3")
    let info = try #require(MP3StreamInfo(of: MemoryByteSource(bytes)))
    #expect(info.isTagFrameDelivered)
    #expect(try media.raw("zero.mp3").count / 2 == 56 * 1152)
    #expect(info.trim == TrimRange(start: 1152 + 576 + 529, end: nil, source: .lame))

    // The same with other bytes before the tag frame.
    let junk = [UInt8](repeating: 0, count: 100) + (try media.bytes("a.mp3"))
    _ = try media.write(junk, "junk.mp3")
    let behind = try #require(MP3StreamInfo(of: MemoryByteSource(junk)))
    #expect(behind.firstFrameOffset == 100)
    #expect(try media.raw("junk.mp3").count / 2 == 56 * 1152)
    #expect(behind.trim.start == 1152 + 576 + 529)
    #expect(behind.trim.count == Int64(TrimMedia.cut))
  }

  @Test func claimOfMoreFramesThanThereAreLeavesTheEndToTheDecoder() throws {
    let media = try TrimMedia()
    _ = try media.wav()
    try media.run("lame", "--quiet", "a.wav", "a.mp3")
    let bytes = try media.bytes("a.mp3")
    let half = try #require(MP3StreamInfo(of: MemoryByteSource(Array(bytes.prefix(bytes.count / 2)))))
    #expect(half.trim == TrimRange(start: 576 + 529, end: 576 + 529 + 61_234, source: .lame))
    let duration = try #require(half.duration)
    #expect(duration.confidence == .estimated)
    #expect(duration.value > .seconds(0.6) && duration.value < .seconds(0.8))
  }

  @Test func joinedFilesAreNotCutAtTheFirstOnesEnd() throws {
    let media = try TrimMedia()
    _ = try media.wav()
    try media.run("lame", "--quiet", "a.wav", "a.mp3")
    let bytes = try media.bytes("a.mp3")
    let tagged = TrimID3Tests.tag(3, TrimID3Tests.frame("TIT2", [0, 65], version: 3)) + bytes
    // Also when the second is short beside the first.
    _ = try media.wav(0..<20_000)
    try media.run("lame", "--quiet", "a.wav", "short.mp3")
    for second in [bytes, tagged, try media.bytes("short.mp3")] {
      let joined = try #require(MP3StreamInfo(of: MemoryByteSource(bytes + second)))
      #expect(joined.trim == TrimRange(start: 576 + 529, end: nil, source: .lame))
      #expect(joined.duration?.confidence == .estimated)
    }
    // Bytes that are no frames do not open the end.
    let padded = try #require(MP3StreamInfo(of: MemoryByteSource(bytes + [UInt8](repeating: 0, count: 40_000))))
    #expect(padded.trim.count == Int64(TrimMedia.cut))
  }

  @Test func tagsAtTheEndAreNotAudio() throws {
    let media = try TrimMedia()
    _ = try media.wav()
    try media.run("lame", "--quiet", "-t", "a.wav", "a.mp3")
    let bytes = try media.bytes("a.mp3")
    let v1 = Array("TAG".utf8) + [UInt8](repeating: 0, count: 125)
    let footer = Array("APETAGEX".utf8) + [0xD0, 7, 0, 0] + [36, 0, 0, 0] + [0, 0, 0, 0] + [0, 0, 0, 0x80]
    let ape = [UInt8](repeating: 7, count: 36) + footer + [UInt8](repeating: 0, count: 8)
    let lyrics = Array("LYRICSBEGININD0000200000021LYRICS200".utf8)
    let appended = [UInt8](repeating: 1, count: 20) + Array("3DI".utf8) + [4, 0, 0, 0, 0, 0, 10]
    for tail in [[], v1, ape + v1, lyrics + v1, ape + lyrics + v1, appended + v1] {
      let info = try #require(MP3StreamInfo(of: MemoryByteSource(bytes + tail)))
      #expect(info.audioEnd == Int64(bytes.count), "tail of \(tail.count) bytes")
    }
  }

  @Test func layersAndLowSampleRates() throws {
    let media = try TrimMedia()
    _ = try media.wav()
    try media.run("lame", "--quiet", "--resample", "22.05", "-b", "64", "-m", "m", "a.wav", "low.mp3")
    try media.run("lame", "--quiet", "--resample", "8", "-b", "8", "-m", "m", "a.wav", "lowest.mp3")
    try media.ffmpeg("-i", "a.wav", "-c:a", "mp2", "-b:a", "192k", "two.mp2")
    let low = try #require(MP3StreamInfo(of: try media.source("low.mp3")))
    #expect(low.header.version == .mpeg2 && low.header.samples == 576 && low.header.channels == 1)
    #expect(abs((low.trim.count ?? 0) - Int64(TrimMedia.cut / 2)) <= 1)
    let lowest = try #require(MP3StreamInfo(of: try media.source("lowest.mp3")))
    #expect(lowest.header.version == .mpeg25 && lowest.header.sampleRate == 8000 && lowest.header.bitRate == 8000)
    let two = try #require(MP3StreamInfo(of: try media.source("two.mp2")))
    #expect(two.header.layer == 2 && two.trim == .none && two.isConstantBitRate)
    var frames = MP3FrameIndex(two)
    #expect(frames.countFrames(in: try media.source("two.mp2")) == 54)
  }

  @Test func unknownLengthStillTrims() throws {
    let media = try TrimMedia()
    _ = try media.wav()
    try media.run("lame", "--quiet", "-V2", "a.wav", "a.mp3")
    var faults = MemoryByteSource.Faults()
    faults.hidesLength = true
    faults.largestRead = 100
    let info = try #require(MP3StreamInfo(of: MemoryByteSource(try media.bytes("a.mp3"), faults: faults)))
    #expect(info.audioEnd == nil)
    #expect(info.trim.count == Int64(TrimMedia.cut))
    #expect(info.duration?.confidence == .declared)
  }

  @Test func fileOfOneFrame() throws {
    let media = try TrimMedia()
    _ = try media.wav()
    try media.run("lame", "--quiet", "-t", "-b", "128", "a.wav", "a.mp3")
    let bytes = Array(try media.bytes("a.mp3").prefix(417))
    let info = try #require(MP3StreamInfo(of: MemoryByteSource(bytes)))
    #expect(info.firstFrameOffset == 0)
    var frames = MP3FrameIndex(info)
    #expect(frames.countFrames(in: MemoryByteSource(bytes)) == 1)
  }
}
