import AttaccaCore
import TestSupport
import Testing

@testable import AttaccaEngine

@Suite struct TrimOggTests {
  private static func opus(_ frames: Range<Int>, serial: Int = 1, _ media: TrimMedia) throws
    -> [UInt8]
  {
    _ = try media.wav(frames)
    try media.run("opusenc", "--quiet", "--serial", "\(serial)", "a.wav", "a.opus")
    return try media.bytes("a.opus")
  }

  private static func vorbis(serial: Int = 1, _ media: TrimMedia) throws -> [UInt8] {
    _ = try media.wav()
    try media.run("oggenc", "-Q", "-q4", "-s", "\(serial)", "a.wav", "-o", "a.ogg")
    return try media.bytes("a.ogg")
  }

  @Test(arguments: ["opusenc", "ffmpeg"])
  func opusIsExact(_ encoder: String) throws {
    let media = try TrimMedia()
    _ = try Self.opus(0..<TrimMedia.cut, media)
    if encoder == "ffmpeg" { try media.ffmpeg("-i", "a.wav", "-c:a", "libopus", "a.opus") }
    let trim = readTrim(of: try media.source("a.opus"), container: "ogg", codec: "opus", sampleRate: 48_000)
    #expect(trim.start == 312)
    #expect(trim.source == .opusHeader)
    // 61,234 frames at 44.1 kHz are 66,649.2 at 48.
    #expect(trim.count == .some(66_650) || encoder == "ffmpeg" && trim.count == .some(66_649))
    let raw = try media.raw("a.opus")
    #expect(Int64(raw.count / 2) >= trim.end ?? .max)
  }

  @Test func opusStartsWithTheMusicsFirstFrame() throws {
    let media = try TrimMedia()
    _ = try media.wav()
    try media.ffmpeg("-i", "a.wav", "-ar", "48000", "b.wav")
    try media.ffmpeg("-i", "b.wav", "-f", "s16le", "b.raw")
    try media.run("opusenc", "--quiet", "b.wav", "b.opus")
    let original = try media.bytes("b.raw").withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    let trim = readTrim(of: try media.source("b.opus"), container: "ogg", codec: "opus", sampleRate: 48_000)
    #expect(trim.count == .some(Int64(original.count / 2)))
    let music = Array(try media.raw("b.opus")[Int(trim.start) * 2..<Int(trim.end ?? 0) * 2])
    #expect(TrimMedia.lag(music, original) == 0)
  }

  @Test func vorbisIsExact() throws {
    let media = try TrimMedia()
    _ = try Self.vorbis(media)
    let trim = readTrim(of: try media.source("a.ogg"), container: "ogg", codec: "vorbis", sampleRate: 44_100)
    #expect(trim == TrimRange(start: 0, end: Int64(TrimMedia.cut), source: .vorbisGranule))
    let raw = try media.raw("a.ogg")
    #expect(raw.count / 2 >= TrimMedia.cut)
    #expect(TrimMedia.lag(Array(raw.prefix(TrimMedia.cut * 2)), Array(TrimMedia.chirp.prefix(TrimMedia.cut * 2))) == 0)
  }

  @Test func flacInOggNeedsNone() throws {
    let media = try TrimMedia()
    _ = try media.wav()
    try media.run("flac", "--silent", "--ogg", "a.wav", "-o", "a.oga")
    #expect(readTrim(of: try media.source("a.oga"), container: "ogg", codec: "flac", sampleRate: 44_100) == .none)
  }

  @Test func chainsAreNotCut() throws {
    let media = try TrimMedia()
    let (first, second) = (
      try Self.opus(0..<TrimMedia.cut, serial: 1, media), try Self.opus(0..<TrimMedia.cut, serial: 2, media)
    )
    let short = try Self.opus(0..<5000, serial: 1, media)
    for chain in [first + second, first + first, second + first + second, first + short, first + second + first] {
      let info = try #require(OggTrim.read(MemoryByteSource(chain), codec: "opus"))
      #expect(info.isChained)
      #expect(info.trim == TrimRange(start: 312, end: nil, source: .opusHeader))
    }
    let vorbis = try Self.vorbis(media)
    let joined = try #require(OggTrim.read(MemoryByteSource(vorbis + vorbis), codec: "vorbis"))
    #expect(joined.isChained && joined.trim == .none)
  }

  @Test func streamCutOutOfALongerOneStartsAtItsOwnGranule() throws {
    let media = try TrimMedia()
    let bytes = try Self.opus(0..<TrimMedia.cut, media)
    let shifted = OggPages.shifting(bytes, by: 4_800_000)
    let info = try #require(OggTrim.read(MemoryByteSource(shifted), codec: "opus"))
    #expect(info.firstGranule == 4_800_000)
    #expect(info.trim == OggTrim.read(MemoryByteSource(bytes), codec: "opus")?.trim)
    // Of Vorbis it cannot be told where it starts, so nothing is cut.
    let vorbis = OggPages.shifting(try Self.vorbis(media), by: 4_800_000)
    #expect(OggTrim.read(MemoryByteSource(vorbis), codec: "vorbis")?.trim == TrimRange.none)
  }

  @Test func bytesBehindTheLastPageDoNotHideIt() throws {
    let media = try TrimMedia()
    let bytes = try Self.opus(0..<TrimMedia.cut, media)
    let whole = try #require(OggTrim.read(MemoryByteSource(bytes), codec: "opus"))
    for junk in [1, 128, 70_000, 300_000] {
      let tail = (0..<junk).map { UInt8(truncatingIfNeeded: $0 &* 31) } + Array("OggS\0\0".utf8)
      #expect(OggTrim.read(MemoryByteSource(bytes + tail), codec: "opus") == whole)
    }
  }

  @Test func cutFileEndsWithItsLastWholePage() throws {
    let media = try TrimMedia()
    let bytes = try Self.opus(0..<TrimMedia.whole, media)
    let info = try #require(OggTrim.read(MemoryByteSource(Array(bytes.dropLast(100))), codec: "opus"))
    let granule = try #require(info.lastGranule)
    let whole = try #require(OggTrim.read(MemoryByteSource(bytes), codec: "opus")?.lastGranule)
    #expect(granule < whole && granule > 0 && granule % 960 == 0)
  }

  @Test func largePictureInTheTags() throws {
    let media = try TrimMedia()
    _ = try media.wav()
    try media.ffmpeg("-f", "lavfi", "-i", "nullsrc=s=900x900,geq=random(1)*255:128:128", "-frames:v", "1", "p.png")
    try media.run("opusenc", "--quiet", "--picture", "p.png", "a.wav", "a.opus")
    let source = try media.source("a.opus")
    #expect(source.bytes.count > 500_000)
    #expect(OggTrim.read(source, codec: "opus")?.trim.count == .some(66_650))
  }

  @Test func opusPacketDurations() {
    // RFC 6716 §3.1: configuration, stereo flag, code; for code 3 the count of frames follows.
    let cases: [([UInt8], Int64)] = [
      ([0 << 3], 480), ([3 << 3], 2880), ([12 << 3], 480), ([13 << 3 | 1], 1920), ([16 << 3], 120),
      ([31 << 3 | 2], 1920), ([31 << 3 | 3, 3], 2880), ([31 << 3 | 3], 0),
    ]
    for (bytes, frames) in cases {
      var reader = ByteReader(MemoryByteSource(bytes), budget: 1000)
      #expect(OggStream.opusFrames(at: 0, &reader) == frames)
    }
  }

  @Test func fileFullOfPageHeadersEnds() throws {
    let media = try TrimMedia()
    let bytes = try Self.opus(0..<TrimMedia.cut, media)
    let header = Array("OggS\0\0".utf8) + [UInt8](repeating: 1, count: 20) + [255]
    let hostile = bytes + (0..<40_000).flatMap { _ in header } + [UInt8](repeating: 255, count: 66_000)
    let source = MemoryByteSource(hostile)
    #expect(OggTrim.read(source, codec: "opus")?.trim.start == 312)
    #expect(source.bytesRead < 40 << 20)
  }
}
