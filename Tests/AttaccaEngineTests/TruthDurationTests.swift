import AttaccaCore
import TestSupport
import Testing

@testable import AttaccaEngine

/// What is told of a duration is true, or becomes so.
@Suite struct TruthDurationTests {
  private func exact(_ frames: Int64, _ rate: Int = 44_100) -> MediaDuration {
    MediaDuration(MediaTime(frames: frames, rate: rate).duration, .exact)
  }

  /// The claim in the tag's field at `offset` of the frame behind the tags is changed by `scale`.
  private func lying(_ name: String, frames: Double = 1, bytes: Double = 1) throws -> [UInt8] {
    var data = try TestMedia.bytes(name)
    let info = try #require(MP3StreamInfo(of: MemoryByteSource(data)))
    let at = Int(info.firstFrameOffset) + 4 + 32 + 8
    for (offset, scale) in [(at, frames), (at + 4, bytes)] {
      let value = data[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
      let changed = Int(Double(value) * scale)
      for index in 0..<4 { data[offset + index] = UInt8(truncatingIfNeeded: changed >> (24 - 8 * index)) }
    }
    return data
  }

  @Test(arguments: ["sine-first", "noise-first"]) func variableRateWithoutTag(_ name: String) throws {
    let read = try ReadThrough(MemoryByteSource(try TestMedia.bytes("duration/\(name)-noxing.mp3")))
    let estimate = try #require(read.durations[0])
    #expect(estimate.confidence == .estimated)
    #expect(read.durations.count == 2 && read.durations[1] == exact(read.frames))
    #expect(abs(read.frames - 120 * 44_100) < 3 * 1152)
  }

  /// An idle engine finds out by itself, in steps, and tells; seeks are exact before and after.
  @Test func idleEngineFindsTheDuration() throws {
    let name = "duration/noise-first-noxing.mp3"
    let frames = try ReadThrough(MemoryByteSource(try TestMedia.bytes(name))).frames
    let rig = makeRig()
    rig.follow(with: [])
    let generation = rig.load(TestMedia.item(name))
    let told = try rig.wait("the duration") { events in
      for case .durationChanged(generation, let duration) in events { return duration }
      return nil as MediaDuration?
    }
    #expect(told == exact(frames))
    let opened = rig.events.firstIndex { if case .opened = $0 { true } else { false } }
    #expect(opened != nil)
    #expect(rig.output.heardFrames == 0)
    try rig.shutdown()
  }

  @Test func scanIsDoneInSmallSteps() throws {
    let media = try OpenMedia(
      FileByteSource(path: Array(TestMedia.path("seek/20min-vbr-noxing.mp3").utf8)), name: "long")
    var steps = 0
    var longest = Duration.zero
    let clock = ContinuousClock()
    while true {
      var more = false
      longest = max(longest, clock.measure { more = media.scan() })
      steps += 1
      if !more { break }
    }
    print("scan of 20 min: \(steps) steps, the longest \(longest)")
    #expect(steps > 20)
    #expect(media.takeDuration()?.confidence == .exact)
    #expect(!media.scan())
  }

  /// A source that may have to wait for its bytes is not looked through.
  @Test func remoteSourceIsNotScanned() throws {
    let source = MemoryByteSource(try TestMedia.bytes("duration/sine-first-noxing.mp3"))
    let media = try OpenMedia(source, name: "remote")
    let before = source.bytesRead
    #expect(!media.scan())
    #expect(source.bytesRead == before)
  }

  @Test(arguments: ["seek/30s-vbr.mp3", "seek/30s-cbr.mp3"])
  func tagThatClaimsMoreOrLess(_ name: String) throws {
    let whole = try ReadThrough(MemoryByteSource(try TestMedia.bytes(name)), keeping: true)
    for (frames, bytes) in [(2.0, 1.0), (2, 2), (0.5, 1), (0.5, 0.5), (10, 1), (0.1, 1), (1.02, 1), (0.98, 1)] {
      let read = try ReadThrough(MemoryByteSource(try lying(name, frames: frames, bytes: bytes)), keeping: true)
      // All that is there is heard; only how much padding ends it cannot be told any more.
      let comment = Comment("\(frames) × frames, \(bytes) × bytes")
      #expect(read.frames >= whole.frames && read.frames - whole.frames < 4 * 1152, comment)
      let same = zip(read.samples, whole.samples).enumerated().first { $0.element.0 != $0.element.1 }?.offset
      #expect(same == nil, comment)
      #expect(read.concealed == 0)
      #expect(read.durations.last == .some(exact(read.frames)), comment)
    }
  }

  @Test func halfOfAFileWithATag() throws {
    let read = try ReadThrough(MemoryByteSource(try TestMedia.bytes("duration/half-xing.mp3")))
    #expect(read.durations[0]?.confidence == .estimated)
    #expect(read.durations.last == .some(exact(read.frames)))
    #expect(read.frames < 110 * 44_100)
  }

  /// A recorder's sizes: 0, everything, too much, odd.
  @Test(arguments: ["wav", "aiff"], [0, 0xFFFF_FFFF, 0x7FFF_FFFF, 4_000_001, 244_937])
  func wrongSizes(_ kind: String, _ size: Int) throws {
    var bytes = try TestMedia.bytes("\(kind)/a.\(kind)")
    let sound = try ReadThrough(MemoryByteSource(bytes), keeping: true)
    let tag = Array((kind == "wav" ? "data" : "SSND").utf8)
    let at = try #require((0..<bytes.count - 8).first { Array(bytes[$0..<$0 + 4]) == tag }) + 4
    for index in 0..<4 {
      bytes[at + index] = UInt8(truncatingIfNeeded: size >> (kind == "wav" ? 8 * index : 24 - 8 * index))
    }
    do {
      let read = try ReadThrough(MemoryByteSource(bytes), keeping: true)
      // Without a size of its own an AIFF's sound goes on into the tags behind it.
      #expect(abs(read.frames - sound.frames) <= (kind == "aiff" ? 40 : 2))
      let same = zip(read.samples.dropLast(kind == "aiff" ? 2 : 0), sound.samples).enumerated().first {
        $0.element.0 != $0.element.1
      }?.offset
      #expect(same == nil)
      #expect(read.durations.last == .some(exact(read.frames)))
      if kind == "wav" { #expect(read.durations.count == 1, "it was known at once") }
    } catch {
      // An AIFF without a size has no sound that could be found.
      #expect(kind == "aiff" && size == 0, "\(error)")
    }
  }

  /// FLAC whose header does not know, or claims too much.
  @Test(arguments: [0, 1_000_000_000]) func flacTotals(_ total: UInt64) throws {
    var bytes = try TestMedia.bytes("flac/a.flac")
    // STREAMINFO's 36-bit count of samples.
    bytes[21] = bytes[21] & 0xF0 | UInt8(total >> 32)
    for index in 0..<4 { bytes[22 + index] = UInt8(truncatingIfNeeded: total >> (24 - 8 * index)) }
    let read = try ReadThrough(MemoryByteSource(bytes))
    #expect(read.frames == 61_234 && read.concealed == 0)
    #expect(read.durations.last == .some(exact(61_234)))
  }

  /// A stream that was cut out of a longer one: its pages' granules begin anywhere.
  @Test func vorbisThatBeginsMidWay() throws {
    let bytes = try TestMedia.bytes("ogg/a.ogg")
    let sound = try ReadThrough(MemoryByteSource(bytes), keeping: true)
    let shifted = OggPages.shifting(bytes, by: 4_800_000)
    let read = try ReadThrough(MemoryByteSource(shifted), keeping: true)
    #expect(read.frames == 61_234)
    #expect(read.durations.count == 1 && read.durations[0] == exact(61_234))
    #expect(read.samples.isEqual(to: sound.samples, upTo: 61_234))
    let seek = try ReadThrough(MemoryByteSource(shifted), keeping: true, from: 30_001)
    #expect(seek.samples == Array(sound.samples[30_001...]))
  }

  /// Vorbis whose first granules say that the first frames are not to be heard.
  @Test(arguments: [1, 500, 1000]) func vorbisThatDropsItsFirstFrames(_ count: Int) throws {
    let bytes = try TestMedia.bytes("ogg/a.ogg")
    let sound = try ReadThrough(MemoryByteSource(bytes), keeping: true)
    let read = try ReadThrough(MemoryByteSource(OggPages.shifting(bytes, by: Int64(-count))), keeping: true)
    #expect(read.frames == 61_234 - Int64(count))
    #expect(read.samples == Array(sound.samples[count...]))
    #expect(read.durations == [exact(61_234 - Int64(count))])
  }

  /// The end lies some packets before the last one.
  @Test(arguments: ["opus", "ogg"]) func endBeforeTheLastPacket(_ kind: String) throws {
    let bytes = try TestMedia.bytes("\(kind)/a.\(kind)")
    let sound = try ReadThrough(MemoryByteSource(bytes), keeping: true)
    let earlier = OggPages.shifting(bytes, by: -3000, lastOnly: true)
    let read = try ReadThrough(MemoryByteSource(earlier), keeping: true)
    #expect(read.frames == sound.frames - 3000)
    #expect(read.samples.isEqual(to: sound.samples, upTo: Int(read.frames)))
  }

  /// A page that is gone is silence of its length.
  @Test(arguments: ["t.opus", "t.ogg", "t.oga"]) func lostPages(_ name: String) throws {
    var random = SeededRandom.announced("lost pages of \(name)")
    let file = try #require(TruthFile.all.first { $0.name == name })
    let bytes = try file.bytes()
    let sound = try ReadThrough(MemoryByteSource(bytes), keeping: true)
    let pages = OggPages.all(bytes)
    let audio = try #require(pages.firstIndex { $0.granule > 0 })
    for _ in 0..<6 {
      // Without its first page of audio a stream begins where the second does, like one cut out of a longer one.
      let first = Int.random(in: audio + 1..<pages.count - 3, using: &random)
      let count = Int.random(in: 1...2, using: &random)
      let hole = Int(pages[first].offset)..<Int(pages[first + count].offset)
      let read = try ReadThrough(MemoryByteSource(Array(bytes[..<hole.lowerBound] + bytes[hole.upperBound...])))
      #expect(read.frames == sound.frames, "pages \(first) + \(count), seed \(random.seed)")
      #expect(read.concealed > 0)
    }
  }

  @Test func mp4CutShort() throws {
    let file = try #require(TruthFile.all.first { $0.name == "t.m4a" })
    let bytes = try file.bytes()
    let read = try ReadThrough(MemoryByteSource(Array(bytes[..<(bytes.count / 2)])))
    #expect(read.durations[0] == exact(file.frames))
    #expect(read.frames > 100_000 && read.frames < 240_000 && read.concealed <= 1024)
    #expect(read.durations.last == .some(exact(read.frames)))
  }
}
