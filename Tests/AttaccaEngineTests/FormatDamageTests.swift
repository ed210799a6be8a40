import AttaccaCore
import Foundation
import TestSupport
import Testing

@testable import AttaccaEngine

/// What a damaged or cut off file of any format does: it plays what there is, in bounded time, and is never longer than
/// it was.
@Suite struct FormatDamageTests {
  /// More than one frame of any codec here.
  private static let largestFrame = 8192

  @Test(arguments: FormatCase.all) func truncationIsHarmless(_ format: FormatCase) throws {
    var random = SeededRandom.announced("truncate \(format.kind)")
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: format.path("a"))))
    let whole = try frames(bytes, nil).get()
    for _ in 0..<(isLong ? 20 : 6) {
      let length = Int.random(in: 1..<bytes.count, using: &random)
      try check(Array(bytes[..<length]), whole, "\(length) of \(bytes.count) bytes", &random)
    }
  }

  @Test(arguments: FormatCase.all) func damageIsHarmless(_ format: FormatCase) throws {
    var random = SeededRandom.announced("damage \(format.kind)")
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: format.path("a"))))
    let whole = try frames(bytes, nil).get()
    for turn in 0..<(isLong ? 20 : 8) {
      var damaged = bytes
      // A few bytes, as from a bad disk; or a hole; anywhere, headers too.
      let start = Int.random(in: 0..<bytes.count, using: &random)
      let count = min(turn % 2 == 0 ? Int.random(in: 1...8, using: &random) : 600, bytes.count - start)
      for index in start..<start + count {
        damaged[index] = turn % 4 == 3 ? 0 : UInt8.random(in: 0...255, using: &random)
      }
      try check(damaged, whole, "\(count) bytes at \(start) of \(bytes.count)", &random)
    }
  }

  /// Kinds that cannot be held to a frame, and why.
  private static let untimed: [String: String] = [
    "mp3-wav": "the header tells no frame size, and frames before the damage are not walked",
    "he-aac": "600 bytes hold several frames of sizes that vary", "he-aac-mono": "as he-aac",
    "he-aac-m4a": "as he-aac", "aac-latm": "frames of sizes that vary",
    "caf-opus": "a damaged packet may claim to be longer than it was",
    "speex": "all of it stands on one page, which is dropped as a whole",
    "musepack": "packets of SV8 have no mark to be found again by",
    "wav-adpcm-ms": "a block that spans the damage is heard and made up for", "wav-adpcm-ima": "as wav-adpcm-ms",
    "avi-pcm": "chunks tell no time", "avi-mp3": "chunks tell no time", "avi-ac3": "chunks tell no time",
    "mkv-wavpack": "half a second to a block, which may be the last",
    "mkv-vorbis": "damage to the first cluster's head leaves nothing to count from", "webm-vorbis": "as mkv-vorbis",
    "ts-aac": "tables that are hit stop the stream", "ts-mp2": "as ts-aac", "ts-ac3": "as ts-aac",
    "ps-mp2": "packs that are hit stop the stream", "ps-ac3": "as ps-mp2",
  ]

  /// 600 bytes amid the music: the whole is as long as it was, to a frame of the decoder.
  @Test(arguments: FormatCase.all.filter { untimed[$0.kind] == nil }) func timeIsKept(_ format: FormatCase) throws {
    var random = SeededRandom.announced("time of \(format.kind)")
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: format.path("whole"))))
    let whole = try ReadThrough(MemoryByteSource(bytes))
    let frame = try largestChunk(bytes)
    #expect(whole.concealed == 0)
    for _ in 0..<(isLong ? 20 : 3) {
      var damaged = bytes
      let start = Int.random(in: bytes.count / 4..<max(bytes.count / 4 + 1, bytes.count * 3 / 4 - 600), using: &random)
      for index in start..<min(start + 600, bytes.count) { damaged[index] = .random(in: 0...255, using: &random) }
      let read = try ReadThrough(MemoryByteSource(damaged))
      #expect(abs(read.frames - whole.frames) <= frame, "seed \(random.seed), damage at \(start) of \(bytes.count)")
    }
  }

  /// The most frames that come out of the decoder at a time.
  private func largestChunk(_ bytes: [UInt8]) throws -> Int64 {
    let media = try OpenMedia(MemoryByteSource(bytes), name: "whole")
    var largest = 0
    while case .frames(_, _, let count) = try media.read() { largest = max(largest, count) }
    return Int64(largest)
  }

  /// Through the engine: it comes to an end or fails, and positions never go back.
  @Test(arguments: FormatCase.all) func engineSurvives(_ format: FormatCase) throws {
    var random = SeededRandom.announced("damage to \(format.kind) in the engine")
    let media = try TrimMedia()
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: format.path("a"))))
    for _ in 0..<3 {
      let start = Int.random(in: 0..<bytes.count, using: &random)
      for index in start..<min(bytes.count, start + 100) { bytes[index] = .random(in: 0...255, using: &random) }
    }
    bytes.removeLast(Int.random(in: 0..<bytes.count / 4, using: &random))
    let rig = makeRig(step: 2048)
    rig.follow(with: [])
    rig.load(MediaItem(.file(try media.write(bytes, "damaged"))))
    rig.send(.setRunning(true))
    rig.output.play()
    try rig.waitFor("the end") { event in
      switch event {
      case .ended, .failed: true
      default: false
      }
    }
    let positions = rig.events.compactMap { if case .anchored(_, let anchor) = $0 { anchor.position } else { nil } }
    #expect(zip(positions, positions.dropFirst()).allSatisfy { $0 <= $1 })
    try rig.shutdown()
  }

  private func check(_ bytes: [UInt8], _ whole: Int, _ what: String, _ random: inout SeededRandom) throws {
    switch frames(bytes, Int64.random(in: 0..<Int64(whole), using: &random)) {
    case .success(let count): #expect(count <= whole + Self.largestFrame, "\(what): \(count) frames of \(whole)")
    case .failure(let error): #expect((error as? MediaError)?.code.rawValue.hasPrefix("source.") ?? false, "\(what)")
    }
  }

  /// Frames read to the end, after a seek there and back if wished; it fails when that takes more steps than the bytes
  /// could hold packets.
  private func frames(_ bytes: [UInt8], _ seek: Int64?) -> Result<Int, any Error> {
    Result {
      let media = try OpenMedia(MemoryByteSource(bytes), name: "damaged")
      if let seek {
        try media.seek(to: seek)
        _ = try media.read()
        try media.seek(to: 0)
      }
      var (count, steps) = (0, 0)
      while true {
        steps += 1
        #expect(steps < 100_000)
        guard steps < 100_000 else { return count }
        switch try media.read() {
        case .frames(_, _, let frames), .concealment(let frames): count += frames
        case .end: return count
        }
      }
    }
  }
}
