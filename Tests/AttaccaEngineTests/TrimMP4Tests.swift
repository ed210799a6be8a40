import AttaccaCore
import TestSupport
import Testing

@testable import AttaccaEngine

@Suite struct TrimMP4Tests {
  private static let container = "mov,mp4,m4a,3gp,3g2,mj2"

  @Test(arguments: [
    ("aac.m4a", ["-c:a", "aac"], TrimSource.editList, 1024),
    ("fast.m4a", ["-c:a", "aac", "-movflags", "+faststart"], .editList, 1024),
    ("alac.m4a", ["-c:a", "alac"], .sampleTable, 0),
    ("flac.mp4", ["-c:a", "flac", "-strict", "-2"], .sampleTable, 0),
  ])
  func ffmpegFilesAreExact(_ name: String, _ options: [String], _ source: TrimSource, _ start: Int64) throws {
    let media = try TrimMedia()
    _ = try media.wav()
    try media.run(["ffmpeg", "-v", "error", "-y", "-i", "a.wav"] + options + [name])
    let trim = readTrim(of: try media.source(name), container: Self.container, codec: "aac", sampleRate: 44_100)
    #expect(trim == TrimRange(start: start, end: start + Int64(TrimMedia.cut), source: source))
    let raw = try media.raw(name)
    let end = try #require(trim.end)
    #expect(Int64(raw.count / 2) >= end)
    let music = Array(raw[Int(trim.start) * 2..<Int(end) * 2])
    #expect(TrimMedia.lag(music, Array(TrimMedia.chirp.prefix(TrimMedia.cut * 2))) == 0)
    if source == .sampleTable { #expect(music == Array(TrimMedia.chirp.prefix(TrimMedia.cut * 2))) }
  }

  @Test func fragmentedFilesAreLeftAlone() throws {
    let media = try TrimMedia()
    _ = try media.wav()
    try media.ffmpeg("-i", "a.wav", "-c:a", "aac", "-movflags", "+frag_keyframe+empty_moov", "f.m4a")
    #expect(
      readTrim(of: try media.source("f.m4a"), container: Self.container, codec: "aac", sampleRate: 44_100) == .none)
  }

  @Test func audioOfAFileWithVideo() throws {
    let media = try TrimMedia()
    _ = try media.wav()
    try media.ffmpeg(
      "-f", "lavfi", "-i", "color=s=16x16:d=2", "-i", "a.wav", "-c:v", "mpeg4", "-c:a", "aac", "v.mp4")
    let trim = readTrim(of: try media.source("v.mp4"), container: Self.container, codec: "aac", sampleRate: 44_100)
    #expect(trim == TrimRange(start: 1024, end: 1024 + 61_234, source: .editList))
  }

  // MARK: Hand-made files

  static func number(_ value: Int, _ count: Int = 4) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
  }
  static func box(_ type: String, _ content: [UInt8]...) -> [UInt8] {
    let body = content.flatMap { $0 }
    return number(8 + body.count) + Array(type.utf8) + body
  }
  static func largeBox(_ type: String, _ body: [UInt8]) -> [UInt8] {
    number(1) + Array(type.utf8) + number(16 + body.count, 8) + body
  }
  /// A movie or media header of either version.
  static func header(_ type: String, timescale: Int, version: UInt8 = 0) -> [UInt8] {
    let width = version == 1 ? 8 : 4
    return box(type, [version, 0, 0, 0], number(0, 2 * width), number(timescale), number(0, width + 80))
  }
  static func edits(_ list: [(segment: Int, time: Int)], version: UInt8 = 0) -> [UInt8] {
    let width = version == 1 ? 8 : 4
    return box(
      "edts",
      box(
        "elst", [version, 0, 0, 0], number(list.count),
        list.flatMap { number($0.segment, width) + number($0.time, width) + number(0x10000) }))
  }
  static func track(
    handler: String = "soun", timescale: Int = 44_100, version: UInt8 = 0, edits: [UInt8] = [],
    times: [(count: Int, delta: Int)]
  ) -> [UInt8] {
    let table = box("stts", number(0), number(times.count), times.flatMap { number($0.count) + number($0.delta) })
    return box(
      "trak", edits,
      box(
        "mdia", header("mdhd", timescale: timescale, version: version),
        box("hdlr", number(0, 8), Array(handler.utf8), number(0, 13)), box("minf", box("stbl", table))))
  }
  static func item(_ mean: String, _ name: String, _ text: String) -> [UInt8] {
    box(
      "----", box("mean", number(0), Array(mean.utf8)), box("name", number(0), Array(name.utf8)),
      box("data", number(1), number(0), Array(text.utf8)))
  }
  static func userData(_ items: [UInt8], isQuickTime: Bool = false) -> [UInt8] {
    let handler = box("hdlr", number(0, 8), Array("mdir".utf8), number(0, 13))
    return box("udta", box("meta", isQuickTime ? [] : number(0), handler, box("ilst", items)))
  }
  static func file(_ movie: [UInt8]...) -> [UInt8] {
    box("ftyp", Array("M4A ".utf8)) + box("mdat", [UInt8](repeating: 0, count: 100)) + box("moov", movie.flatMap { $0 })
  }
  private static func trim(_ bytes: [UInt8], rate: Int = 44_100) -> TrimRange {
    readTrim(of: MemoryByteSource(bytes), container: container, codec: "aac", sampleRate: rate)
  }
  private static let comment = " 00000000 00000840 000001CA 000000000000EF32"

  @Test(arguments: [UInt8(0), 1])
  func firstEditThatIsNotEmpty(version: UInt8) {
    let edits = Self.edits([(100, -1), (1389, 2112)], version: version)
    let movie = Self.header("mvhd", timescale: 1000, version: version)
    let track = Self.track(version: version, edits: edits, times: [(61, 1024), (1, 882)])
    #expect(Self.trim(Self.file(movie, track)) == TrimRange(start: 2112, end: 63_346, source: .editList))
  }

  @Test func segmentCutsOnlyWhenShorterByMoreThanATick() {
    let exact = Self.header("mvhd", timescale: 44_100)
    let table = [(63, 1024)]
    // Apple's way: the movie counts in frames, and the padding is in the table.
    let apple = Self.track(edits: Self.edits([(61_234, 2112)]), times: table)
    #expect(Self.trim(Self.file(exact, apple)) == TrimRange(start: 2112, end: 63_346, source: .editList))
    let coarse = Self.header("mvhd", timescale: 1000)
    for (segment, end) in [(1416, 64_512), (1415, 64_512), (1414, 64_512), (1413, 2112 + 62_313), (500, 2112 + 22_050)]
    {
      let track = Self.track(edits: Self.edits([(segment, 2112)]), times: table)
      #expect(
        Self.trim(Self.file(coarse, track)) == TrimRange(start: 2112, end: Int64(end), source: .editList), "\(segment)")
    }
    // No duration, or one beyond the media: to its end.
    for segment in [0, 100_000, 0x7FFF_FFFF] {
      let track = Self.track(edits: Self.edits([(segment, 2112)]), times: table)
      #expect(Self.trim(Self.file(coarse, track)).end == .some(64_512))
    }
  }

  @Test func withoutAnEditTheSampleTable() {
    let movie = Self.header("mvhd", timescale: 1000)
    #expect(
      Self.trim(Self.file(movie, Self.track(times: [(59, 1024), (1, 818)])))
        == TrimRange(start: 0, end: 61_234, source: .sampleTable))
    // A track in another time scale, such as the core's rate with SBR.
    #expect(
      Self.trim(Self.file(movie, Self.track(timescale: 22_050, times: [(60, 1024)])))
        == TrimRange(start: 0, end: 122_880, source: .sampleTable))
  }

  @Test func firstAudioTrackAmongSeveral() {
    let movie = Self.header("mvhd", timescale: 1000)
    let text = Self.track(handler: "text", timescale: 1000, times: [(2, 500)])
    let video = Self.track(handler: "vide", timescale: 25, times: [(50, 1)])
    let audio = Self.track(edits: Self.edits([(1000, 1024)]), times: [(44, 1024)])
    let second = Self.track(times: [(7, 1024)])
    #expect(
      Self.trim(Self.file(movie, text, video, audio, second))
        == TrimRange(start: 1024, end: 45_056, source: .editList))
    #expect(Self.trim(Self.file(movie, text, video)) == .none)
  }

  @Test func iTunSMPBWinsOverTheEditList() {
    let movie = Self.header("mvhd", timescale: 44_100)
    let track = Self.track(edits: Self.edits([(60_000, 1000)]), times: [(63, 1024)])
    let list =
      Self.item("org.example", "iTunSMPB", " 0 1 1 1") + Self.item("com.apple.iTunes", "iTunNORM", Self.comment)
      + Self.item("com.apple.iTunes", "iTunSMPB", Self.comment)
    let expected = TrimRange(start: 2112, end: 63_346, source: .iTunSMPB)
    #expect(Self.trim(Self.file(movie, track, Self.userData(list))) == expected)
    #expect(Self.trim(Self.file(movie, track, Self.userData(list, isQuickTime: true))) == expected)
    #expect(Self.trim(Self.file(movie, Self.userData(list), track)) == expected)
    // Numbers that cannot be meant leave the edit list in charge.
    let broken = Self.userData(Self.item("com.apple.iTunes", "iTunSMPB", " 0 0 0 0"))
    #expect(Self.trim(Self.file(movie, track, broken)).source == .editList)
  }

  @Test func iTunSMPBInTheTracksOwnTimeScale() {
    let movie = Self.header("mvhd", timescale: 1000)
    // 0x840 + 0x1CA + 0xEF32 = 63,804 units at 22,050 Hz, decoded at 44,100.
    let track = Self.track(timescale: 22_050, times: [(62, 1024), (1, 316)])
    let list = Self.userData(Self.item("com.apple.iTunes", "iTunSMPB", Self.comment))
    #expect(
      Self.trim(Self.file(movie, track, list)) == TrimRange(start: 4224, end: 4224 + 122_468, source: .iTunSMPB))
  }

  @Test func largeBoxesAndABoxToTheEnd() {
    let movie = Self.header("mvhd", timescale: 1000) + Self.track(times: [(10, 1024)])
    let head = Self.box("ftyp", Array("M4A ".utf8)) + Self.largeBox("mdat", [UInt8](repeating: 9, count: 5000))
    let expected = TrimRange(start: 0, end: 10_240, source: .sampleTable)
    #expect(Self.trim(head + Self.largeBox("moov", movie)) == expected)
    #expect(Self.trim(head + Self.number(0) + Array("moov".utf8) + movie) == expected)
  }

  @Test func hostileSizesEnd() {
    let huge = Self.number(1) + Array("free".utf8) + [UInt8](repeating: 0xFF, count: 8)
    #expect(Self.trim(huge + Self.file([])) == .none)
    // A million boxes without content.
    let tiny = (0..<1_000_000).flatMap { _ in [0, 0, 0, 8, 0x66, 0x72, 0x65, 0x65] as [UInt8] }
    #expect(Self.trim(tiny) == .none)
    // A table that claims four milliard entries, an edit list too.
    var table = Self.file(Self.header("mvhd", timescale: 1000), Self.track(times: [(3, 1024)]))
    let position = table.indices.first { Array(table[$0..<min($0 + 4, table.count)]) == Array("stts".utf8) } ?? 0
    table.replaceSubrange(position + 8..<position + 12, with: [0xFF, 0xFF, 0xFF, 0xFF])
    #expect(Self.trim(table) == TrimRange(start: 0, end: 3072, source: .sampleTable))
    // Durations that overflow.
    let sum = Self.track(times: Array(repeating: (0xFFFF_FFFF, 0x7FFF_FFFF), count: 9))
    #expect(Self.trim(Self.file(Self.header("mvhd", timescale: 1000), sum)) == .none)
    #expect(Self.trim(Self.file(Self.header("mvhd", timescale: 0), Self.track(timescale: 0, times: [(1, 1)]))) == .none)
  }
}
