import AttaccaCore
import Foundation
import TestSupport
import Testing

@testable import AttaccaEngine

/// Files that become longer, shorter or unreadable while they are played.
@Suite struct TruthGrowthTests {
  private func open(_ path: String) throws -> OpenMedia {
    try OpenMedia(try FileByteSource(path: Array(path.utf8)), name: "growing")
  }

  private func append(_ bytes: ArraySlice<UInt8>, to path: String) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data(bytes))
    try file.close()
  }

  /// Reads at least `frames`; `false` at the end.
  private func read(_ media: OpenMedia, _ frames: Int64, into samples: inout [Float]) throws -> Bool {
    while Int64(samples.count) < frames {
      switch try media.read() {
      case .frames(let frame, let offset, let count): samples += ReadThrough.left(frame, offset, count)
      case .concealment(let count): samples += [Float](repeating: 0, count: count)
      case .end: return false
      }
    }
    return true
  }

  /// A recording under way: played on into what was appended, as if it had been there from the beginning.
  @Test(arguments: ["t-vbr.mp3", "t.wav", "t.ogg", "t.opus", "t.flac", "t.oga", "t.wv"])
  func growsWhilePlaying(_ name: String) throws {
    let file = try #require(TruthFile.all.first { $0.name == name })
    var bytes = try file.bytes()
    if name == "t.wav" { for index in 0..<4 { bytes[40 + index] = 0xFF } }
    if name == "t-vbr.mp3" {
      // A recorder writes no tag.
      let info = try #require(MP3StreamInfo(of: MemoryByteSource(bytes)))
      bytes.removeSubrange(..<Int(info.firstAudioFrameOffset))
    }
    let whole = try ReadThrough(MemoryByteSource(bytes), keeping: true)
    let media = try TrimMedia()
    let (first, second) = (bytes.count / 3, bytes.count * 2 / 3)
    let path = try media.write(Array(bytes[..<first]), name)
    let opened = try open(path)
    var samples: [Float] = []
    var durations: [MediaDuration] = []
    #expect(try read(opened, 40_000, into: &samples))
    // The rest comes in two parts: one while it plays, one when all of that has been read.
    try append(bytes[first..<second], to: path)
    #expect(try read(opened, whole.frames / 2, into: &samples))
    try append(bytes[second...], to: path)
    _ = try read(opened, .max, into: &samples)
    if let duration = opened.takeDuration() { durations.append(duration) }
    #expect(abs(Int64(samples.count) - whole.frames) <= file.frame)
    let worst = zip(samples, whole.samples).reduce(Float(0)) { max($0, abs($1.0 - $1.1)) }
    #expect(worst <= (name == "t.opus" ? 1e-4 : 0))
    let rate = opened.sampleRate
    #expect(
      durations.last ?? opened.info.duration
        == MediaDuration(MediaTime(frames: Int64(samples.count), rate: rate).duration, .exact))
    // Nothing more came, or nothing of use: it ends, and goes on ending.
    let count = samples.count
    for _ in 0..<3 {
      try append([1, 2, 3], to: path)
      #expect(try !read(opened, .max, into: &samples))
    }
    #expect(samples.count - count < 3)
  }

  @Test func deletedFilePlaysOn() throws {
    let media = try TrimMedia()
    let path = try media.write(try TestMedia.bytes("flac/a.flac"), "a.flac")
    let rig = makeRig()
    rig.follow(with: [])
    rig.load(MediaItem(.file(path)))
    try rig.waitFor("the opening") { if case .opened = $0 { true } else { false } }
    try FileManager.default.removeItem(atPath: path)
    rig.send(.setRunning(true))
    rig.output.play()
    try rig.waitForEnd()
    #expect(rig.output.captured.count / 2 == 61_234)
  }

  /// Cut under the player: an early end, told, and nothing beyond it; never a signal, never a loop.
  @Test(arguments: ["t.mp3", "t.wav", "t.oga", "t.opus", "t.flac", "t.m4a", "t.wv", "t-alac.m4a"])
  func truncatedWhilePlaying(_ name: String) throws {
    let file = try #require(TruthFile.all.first { $0.name == name })
    let bytes = try file.bytes()
    let whole = try ReadThrough(MemoryByteSource(bytes))
    let media = try TrimMedia()
    let path = try media.write(bytes, name)
    let opened = try open(path)
    var samples: [Float] = []
    #expect(try read(opened, 40_000, into: &samples))
    truncate(path, bytes.count / 2)
    #expect(try !read(opened, .max, into: &samples))
    #expect(Int64(samples.count) < whole.frames * 3 / 4 && samples.count > 60_000)
    #expect(
      opened.takeDuration()
        == MediaDuration(MediaTime(frames: Int64(samples.count), rate: opened.sampleRate).duration, .exact))
    // Shorter than where it stands: seeking into what is gone ends at once or is refused.
    do {
      try opened.seek(to: whole.frames - 1000)
      while true { if case .end = try opened.read() { break } }
    } catch {
      #expect(error.code.rawValue.hasPrefix("source."))
    }
    try opened.seek(to: 1000)
    if case .end = try opened.read() { Issue.record("the beginning is still there") }
  }

  @Test(arguments: TruthFile.all) func readErrorIsTyped(_ file: TruthFile) throws {
    let bytes = try file.bytes()
    var faults = MemoryByteSource.Faults()
    faults.failsFrom = Int64(bytes.count * 2 / 3)
    faults.hidesLength = true
    do {
      let read = try ReadThrough(MemoryByteSource(bytes, faults: faults))
      #expect(read.error?.code == .sourceReadFailed)
      #expect(read.frames > 40_000)
    } catch let error as MediaError {
      #expect(error.code == .sourceReadFailed)
    }
  }
}
