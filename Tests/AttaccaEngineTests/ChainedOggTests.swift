import AttaccaCore
import TestSupport
import Testing

@testable import AttaccaEngine

/// Joined Ogg files: one time line, each link trimmed, its tags told where it begins.
@Suite struct ChainedOggTests {
  /// Two encoded halves and their lengths.
  struct Pair {
    var a: [UInt8]
    var b: [UInt8]
    var frames: (a: Int64, b: Int64)
  }

  static func pair(_ kind: String, serials: (Int, Int) = (1, 2)) throws -> Pair {
    if kind == "oga" {
      let media = try TrimMedia()
      for (name, range, serial) in [
        ("a", 0..<TrimMedia.cut, serials.0), ("b", TrimMedia.cut..<TrimMedia.whole, serials.1),
      ] {
        let source = try media.wav(range, name: name + ".wav")
        try media.run(
          "flac", "--silent", "--ogg", "--serial-number=\(serial)", "-T", "TITLE=\(name)", "-o", name + ".oga", source)
      }
      return Pair(a: try media.bytes("a.oga"), b: try media.bytes("b.oga"), frames: (61_234, 71_066))
    }
    let format = try #require(TestMedia.formats.first { $0.folder == kind })
    return Pair(
      a: try TestMedia.bytes(format.a), b: try TestMedia.bytes(format.b),
      frames: (Int64(format.cut), Int64(format.total - format.cut)))
  }

  @Test(arguments: ["ogg", "opus", "oga"]) func linksAreTheirSum(_ kind: String) throws {
    let pair = try Self.pair(kind)
    let (a, b) = (
      try ReadThrough(MemoryByteSource(pair.a), keeping: true), try ReadThrough(MemoryByteSource(pair.b), keeping: true)
    )
    #expect(a.frames == pair.frames.a && b.frames == pair.frames.b)
    for (chain, parts) in [
      (pair.a + pair.b, [a, b]), (pair.a + pair.a, [a, a]), (pair.b + pair.a + pair.b + pair.a, [b, a, b, a]),
    ] {
      let media = try OpenMedia(MemoryByteSource(chain), name: "chain")
      let total = parts.reduce(0) { $0 + $1.frames }
      let rate = media.sampleRate
      #expect(media.frameCount == total)
      #expect(media.info.duration == MediaDuration(MediaTime(frames: total, rate: rate).duration, .exact))
      let read = try ReadThrough(media, keeping: true)
      #expect(read.frames == total && read.concealed == 0 && read.durations.count == 1)
      #expect(read.samples.isEqual(to: parts.flatMap(\.samples), upTo: Int(total)))
    }
  }

  /// Copies of one serial number, of which the first is too short for a look here and there to find it.
  @Test(arguments: ["ogg", "opus"]) func linksThatAreMetWhileReading(_ kind: String) throws {
    let media = try TrimMedia()
    for (name, frames) in [("a", 0..<2000), ("b", 0..<TrimMedia.whole)] {
      let source = try media.wav(frames, name: name + ".wav")
      if kind == "ogg" {
        try media.run("oggenc", "-Q", "-q4", "-s", "7", "-o", name, source)
      } else {
        try media.run("opusenc", "--quiet", "--serial", "7", source, name)
      }
    }
    let (a, b) = (try media.bytes("a"), try media.bytes("b"))
    let parts = [
      try ReadThrough(MemoryByteSource(a), keeping: true), try ReadThrough(MemoryByteSource(b), keeping: true),
    ]
    let total = parts.reduce(0) { $0 + $1.frames }
    let read = try ReadThrough(MemoryByteSource(a + b), keeping: true)
    #expect(read.frames == total)
    #expect(read.samples.isEqual(to: parts.flatMap(\.samples), upTo: Int(total)))
    #expect(read.durations.last??.value == MediaTime(frames: total, rate: kind == "ogg" ? 44_100 : 48_000).duration)
  }

  @Test(arguments: ["ogg", "opus", "oga"]) func seeksAcrossLinksAreExact(_ kind: String) throws {
    var random = SeededRandom.announced("seek in a chain of \(kind)")
    let pair = try Self.pair(kind)
    let chain = pair.a + pair.b + pair.a
    let whole = try ReadThrough(MemoryByteSource(chain), keeping: true).samples
    let media = try OpenMedia(MemoryByteSource(chain), name: "chain")
    let joint = Int(pair.frames.a)
    let targets =
      (0..<12).map { _ in Int.random(in: 0..<whole.count, using: &random) } + [
        0, joint - 1, joint, joint + 1, whole.count - 1, 3,
      ]
    for target in targets {
      let read = try ReadThrough(media, keeping: true, from: max(1, Int64(target)))
      let wanted = whole[max(1, target)...]
      #expect(read.frames == Int64(wanted.count), "target \(target), seed \(random.seed)")
      let worst = zip(read.samples, wanted).reduce(Float(0)) { max($0, abs($1.0 - $1.1)) }
      #expect(worst <= SeekTests.tolerance(kind), "target \(target), seed \(random.seed)")
    }
  }

  @Test func tagsAreToldAtEachLink() throws {
    let pair = try Self.pair("oga")
    let media = try OpenMedia(MemoryByteSource(pair.a + pair.b + pair.b), name: "chain")
    #expect(media.info.metadata.text("title") == "a")
    let read = try ReadThrough(media)
    #expect(read.tags.map(\.frame) == [61_234])
    #expect(read.tags.first?.metadata.text("title") == "b")
    // Back in the first link its tags hold again.
    try media.seek(to: 100)
    let again = media.takeTags()
    #expect(again.map(\.frame) == [100] && again[0].metadata.text("title") == "a")
  }

  /// A link of another rate takes its own time on the first one's time line.
  @Test(arguments: [("oga", 22_050), ("ogg", 48_000), ("ogg", 32_000)])
  func linkOfAnotherRate(_ kind: String, _ rate: Int) throws {
    let media = try TrimMedia()
    let source = try media.wav(0..<TrimMedia.whole, name: "a.wav")
    try media.run("sox", "-D", source, "-r", "\(rate)", "-c", "1", "b.wav", "trim", "0", "50001s")
    for name in ["a", "b"] {
      kind == "ogg"
        ? try media.run("oggenc", "-Q", "-o", name, name + ".wav")
        : try media.run("flac", "--silent", "--ogg", "-o", name, name + ".wav")
    }
    let (a, b) = (try media.bytes("a"), try media.bytes("b"))
    let own = try ReadThrough(MemoryByteSource(b)).frames
    let read = try ReadThrough(MemoryByteSource(a + b + a), keeping: true)
    let middle = try #require(own.scaled(by: 44_100, over: Int64(rate)))
    #expect(read.frames == 2 * 132_300 + middle)
    #expect(read.concealed == 0 && read.durations.count == 1)
    let first = try ReadThrough(MemoryByteSource(a), keeping: true).samples
    #expect(read.samples.isEqual(to: first, upTo: first.count))
    #expect(Array(read.samples[(first.count + Int(middle))...]).isEqual(to: first, upTo: first.count))
  }

  /// Through the engine: no seam, and the tags in an event.
  @Test(arguments: ["ogg", "opus"]) func chainSoundsLikeItsLinks(_ kind: String) throws {
    let rig = makeRig()
    let heard = try rig.render([TestMedia.item("duration/chained.\(kind)")])
    let links = try render(["\(kind)/a.\(kind)", "\(kind)/b.\(kind)"])
    #expect(difference(heard, links) == nil)
    let titles = rig.events.compactMap { event in
      if case .metadataChanged(_, let tags) = event { tags.text("title") } else { nil }
    }
    #expect(titles.count == 1)
  }
}
