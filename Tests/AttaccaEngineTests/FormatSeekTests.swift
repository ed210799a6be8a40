import AttaccaCore
import TestSupport
import Testing

@testable import AttaccaEngine

/// Seeks in files long enough to have many pages, clusters and index entries, which the short ones have few of.
@Suite struct FormatSeekTests {
  struct Long: Sendable, CustomStringConvertible {
    let description: String
    let suffix: String
    let codec: [String]
    var tolerance: Float = 0
    var is48 = false
  }

  static let all = [
    Long(description: "mp2", suffix: "mp2", codec: ["libtwolame", "-b:a", "192k"]),
    Long(description: "adts", suffix: "aac", codec: ["aac", "-aac_pns", "0", "-b:a", "128k"], tolerance: 1e-4),
    Long(description: "latm", suffix: "latm", codec: ["aac", "-aac_pns", "0", "-b:a", "128k"], tolerance: 1e-4),
    Long(description: "ac3", suffix: "ac3", codec: ["ac3", "-b:a", "192k"], tolerance: 0.02),
    Long(description: "eac3", suffix: "eac3", codec: ["eac3", "-b:a", "192k"], tolerance: 0.02),
    Long(description: "dts", suffix: "dts", codec: ["dca", "-strict", "-2", "-b:a", "768k"], tolerance: 1e-4),
    Long(description: "mkv vorbis", suffix: "mka", codec: ["libvorbis", "-q:a", "5"]),
    Long(description: "mkv opus", suffix: "webm", codec: ["libopus", "-b:a", "96k"], tolerance: 1e-4, is48: true),
    Long(description: "mkv flac", suffix: "mka", codec: ["flac"]),
    Long(description: "mkv aac", suffix: "mka", codec: ["aac", "-aac_pns", "0", "-b:a", "128k"], tolerance: 1e-4),
    Long(description: "mkv pcm", suffix: "mka", codec: ["pcm_s16le"]),
    Long(description: "ts aac", suffix: "ts", codec: ["aac", "-aac_pns", "0", "-b:a", "128k"], tolerance: 1e-4),
    Long(description: "ts mp2", suffix: "ts", codec: ["libtwolame", "-b:a", "192k"]),
    Long(description: "ps mp2", suffix: "vob", codec: ["libtwolame", "-b:a", "192k"]),
    Long(description: "ps ac3", suffix: "vob", codec: ["ac3", "-b:a", "192k"], tolerance: 0.02),
    Long(description: "flv aac", suffix: "flv", codec: ["aac", "-aac_pns", "0", "-b:a", "128k"], tolerance: 1e-4),
    Long(description: "flv mp3", suffix: "flv", codec: ["libmp3lame", "-b:a", "128k"]),
    Long(description: "avi mp3", suffix: "avi", codec: ["libmp3lame", "-b:a", "128k"]),
    Long(description: "wma2", suffix: "wma", codec: ["wmav2", "-b:a", "128k"], tolerance: 1e-4),
    Long(description: "tta", suffix: "tta", codec: ["tta"]),
    Long(description: "wavpack", suffix: "wv", codec: ["wavpack"]),
    Long(description: "adpcm ms", suffix: "wav", codec: ["adpcm_ms"]),
    Long(description: "adpcm ima", suffix: "wav", codec: ["adpcm_ima_wav"]),
    Long(description: "caf alac", suffix: "caf", codec: ["alac"]),
    Long(description: "ogg flac", suffix: "oga", codec: ["flac"]),
  ]

  @Test(arguments: all) func longFilesAreExact(_ long: Long) throws {
    var random = SeededRandom.announced("seek in a long \(long.description)")
    let media = try TrimMedia()
    let target = media.path("long." + long.suffix)
    try media.run(
      [
        "ffmpeg", "-v", "error", "-i", TestMedia.path(long.is48 ? "pieces/whole48.wav" : "pieces/whole.wav"), "-c:a",
      ] + long.codec + [target])
    let opened = try openMedia(target)
    let all = try decodeAll(opened)
    let frames = all.count / 2
    #expect(frames >= 20 * opened.sampleRate)
    for target in (0..<12).map({ _ in Int.random(in: 0..<frames, using: &random) }) + [frames - 2000, frames - 1] {
      try opened.seek(to: Int64(target))
      let length = min(4000, frames - target)
      let heard = try decodeAll(opened, limit: length * 2).prefix(length * 2)
      let difference = seekDifference(
        heard, all[(target * 2)..<((target + length) * 2)], channels: 2, tolerance: long.tolerance)
      #expect(difference == nil, "target \(target) of \(frames)")
    }
  }

  /// An encoder that never pads: after 667 frames of 626 bytes instead of 626.94 another frame stands where this one
  /// should.
  @Test func framesWithoutPaddingAreCounted() throws {
    let media = try TrimMedia()
    let target = media.path("unpadded.mp2")
    try media.run([
      "ffmpeg", "-v", "error", "-i", TestMedia.path("pieces/whole.wav"), "-c:a", "libtwolame", "-b:a", "192k", target,
    ])
    let source = try FileByteSource(path: Array(target.utf8))
    let info = try #require(MP3StreamInfo(of: source))
    #expect(info.isConstantBitRate)
    for frame in Int64(660)...670 {
      // A new one each time: nothing has been walked before.
      var index = MP3FrameIndex(info)
      let place = index.offset(ofFrame: frame, in: source)
      #expect(place?.frame == frame && place?.offset == frame * 626)
    }
  }

  /// Bytes that are no frames are stepped over, and a file of hardly anything else is given up.
  @Test func searchesHaveBounds() throws {
    let frame: [UInt8] = [0xFF, 0xF1, 0x50, 0x80, 0x02, 0x1F, 0xFC] + [UInt8](repeating: 1, count: 9)
    let syntax = try #require(FrameSyntax(container: "aac", samples: 1024))
    #expect(frame.withUnsafeBytes { syntax.frame($0) } == FrameSyntax.Frame(size: 16, samples: 1024))
    var index = FrameIndex(syntax, start: 0)
    let few = frame + frame + [UInt8](repeating: 0xFF, count: 5000) + frame + frame
    let place = index.place(ofRaw: 2500, in: MemoryByteSource(few))
    #expect(place?.raw == 2048 && place?.offset == 5032)
    // A frame in each half MiB of noise: 48 MiB are not searched to their end.
    var random = SeededRandom.announced("noise between frames")
    let noise = (0..<1 << 19).map { _ in UInt8.random(in: 0...254, using: &random) }
    let hostile = (0..<96).flatMap { _ in frame + frame + noise }
    var lost = FrameIndex(syntax, start: 0)
    let source = MemoryByteSource(hostile)
    let found = lost.place(ofRaw: 1 << 40, in: source)
    #expect(found?.raw ?? 0 > 1024 && source.bytesRead < 44 << 20)
  }
}
