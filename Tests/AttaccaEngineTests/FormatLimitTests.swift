import AttaccaCore
import Foundation
import TestSupport
import Testing

@testable import AttaccaEngine

/// What a file may claim and ask for has bounds.
@Suite struct FormatLimitTests {
  private func bytes(_ name: String) throws -> [UInt8] { try TestMedia.bytes(name) }

  /// The code of the refusal; `nil` when it opens.
  private func code(_ source: any ByteSource) throws -> MediaError.Code? {
    do {
      _ = try decodeAll(try OpenMedia(source, name: "limits"), limit: 1 << 20)
      return nil
    } catch let error as MediaError { return error.code }
  }

  /// Rates and channel counts out of bounds are refused, or put right by the demuxer.
  @Test(arguments: [0, 1, 99, 22_579_201, 0x7FFF_FFFF, 0xFFFF_FFFF]) func ratesHaveBounds(_ rate: Int) throws {
    var wav = try bytes("short/whole.wav")
    for index in 0..<4 { wav[24 + index] = UInt8(truncatingIfNeeded: rate >> (8 * index)) }
    #expect(try code(MemoryByteSource(wav)) != nil)
  }

  @Test(arguments: [0, 65, 255, 65_535]) func channelsHaveBounds(_ channels: Int) throws {
    var wav = try bytes("short/whole.wav")
    (wav[22], wav[23]) = (UInt8(channels & 255), UInt8(channels >> 8))
    #expect(try code(MemoryByteSource(wav)) != nil)
  }

  /// An MP4 of 2,000 tracks is refused without looking at them all.
  @Test func streamsHaveBounds() throws {
    let file = try bytes("alac/a.m4a")
    func box(_ at: Int) -> (size: Int, type: String) {
      (file[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }, String(decoding: file[at + 4..<at + 8], as: UTF8.self))
    }
    var at = 0
    while box(at).type != "moov" { at += box(at).size }
    var (child, end) = (at + 8, at + box(at).size)
    while box(child).type != "trak" { child += box(child).size }
    let track = Array(file[child..<child + box(child).size])
    var movie = Array(file[at + 8..<end])
    for _ in 0..<2000 { movie += track }
    func header(_ size: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) } }
    let many = Array(file[..<at]) + header(movie.count + 8) + Array("moov".utf8) + movie
    end = many.count
    let started = ContinuousClock.now
    #expect(try code(MemoryByteSource(many)) != nil)
    #expect(ContinuousClock.now - started < .seconds(2))
  }

  /// A tag that claims a picture of 250 MB, of which there is nothing, costs nothing and the music plays.
  @Test func coversHaveBounds() throws {
    let music = try bytes("mp3/a.mp3")
    let claim = 250 << 20
    let size = [21, 14, 7, 0].map { UInt8(truncatingIfNeeded: (claim + 10) >> $0 & 0x7F) }
    let body = (0..<4).map { UInt8(truncatingIfNeeded: claim >> (24 - 8 * $0)) }
    let head =
      Array("ID3".utf8) + [3, 0, 0] + size + Array("APIC".utf8) + body + [0, 0] + Array("\0image/png\0\u{3}\0".utf8)
    let before = peakMemory()
    _ = try code(MemoryByteSource(head + music))
    #expect(peakMemory() - before < 300 << 20)
    // A true one of 24 MB is passed over, and the music plays on.
    let media = try TrimMedia()
    let picture = 24 << 20
    let frame = Array("APIC".utf8) + (0..<4).map { UInt8(truncatingIfNeeded: picture >> (24 - 8 * $0)) } + [0, 0]
    let whole = [21, 14, 7, 0].map { UInt8(truncatingIfNeeded: (picture + 10) >> $0 & 0x7F) }
    var file = Array("ID3".utf8) + [3, 0, 0] + whole + frame + Array("\0image/png\0\u{3}\0".utf8)
    file += [UInt8](repeating: 7, count: picture + 20 - file.count)
    let path = try media.write(file + music, "cover.mp3")
    let opened = try openMedia(path)
    #expect(try decodeAll(opened).count / 2 == 61_234)
  }

  /// The most memory this process ever had, in bytes.
  private func peakMemory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { $0.split(separator: " ").dropFirst().first.flatMap { Int($0) } }.map { $0 << 10 } ?? 0
  }

  /// More channels than an output has, and layouts that nobody named, still sound for as long as they last.
  @Test(arguments: [3, 5, 7, 16]) func oddLayoutsKeepTime(_ channels: Int) throws {
    let media = try TrimMedia()
    let path = try media.wav([Int16](repeating: 1000, count: 4410 * channels), name: "odd.wav")
    var file = try media.bytes("odd.wav")
    file[22] = UInt8(channels)
    file[32] = UInt8(2 * channels)
    try Data(file).write(to: URL(fileURLWithPath: path))
    let rig = makeRig()
    let heard = try rig.render([MediaItem(.file(path))])
    #expect(heard.count / rig.output.format.channels == 4410)
  }
}

/// Trim parsers of the containers that say themselves what to leave out.
@Suite struct FormatTrimTests {
  private func big(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
  }

  private func caf(valid: Int, priming: Int, remainder: Int) -> [UInt8] {
    Array("caff".utf8) + big(1, 2) + big(0, 2) + Array("desc".utf8) + big(32, 8) + [UInt8](repeating: 0, count: 32)
      + Array("pakt".utf8) + big(24, 8) + big(10, 8) + big(valid, 8) + big(priming, 4) + big(remainder, 4)
  }

  @Test func packetTable() {
    let trim = CAFTrim.read(MemoryByteSource(caf(valid: 44_100, priming: 2112, remainder: 868)))
    #expect(trim == TrimRange(start: 2112, end: 46_212, source: .cafPacketTable))
    // A count of whole packets says nothing.
    #expect(CAFTrim.read(MemoryByteSource(caf(valid: 4096, priming: 0, remainder: 0))) == .none)
    #expect(CAFTrim.read(MemoryByteSource(caf(valid: 44_100, priming: -1, remainder: 868))) == .none)
    #expect(CAFTrim.read(MemoryByteSource(caf(valid: -1, priming: 2112, remainder: 868))) == .none)
  }

  /// A Core Audio file of AAC frames made by hand: what the table calls priming is not played.
  @Test func primingIsNotPlayed() throws {
    let alac = try TestMedia.bytes("formats/caf-alac/a.caf")
    let place = try #require(
      (0..<alac.count - 4).first { alac[$0..<$0 + 4].elementsEqual("pakt".utf8) && alac[$0 + 4] == 0 })
    var file = alac
    let plain = try decodeAll(OpenMedia(MemoryByteSource(alac), name: "plain"))
    let (priming, valid) = (1000, 20_000)
    file.replaceSubrange(place + 20..<place + 36, with: big(valid, 8) + big(priming, 4) + big(1, 4))
    let media = try OpenMedia(MemoryByteSource(file), name: "primed")
    #expect(media.info.duration == MediaDuration(time(valid), .exact))
    let played = try decodeAll(media)
    #expect(difference(played, plain[(priming * 2)..<((priming + valid) * 2)]) == nil)
    try media.seek(to: 5000)
    #expect(difference(try decodeAll(media), played[10_000...]) == nil)
  }

  @Test func musepackSeven() {
    func header(frames: Int, last: Int) -> [UInt8] {
      func little(_ value: Int) -> [UInt8] { big(value, 4).reversed() }
      return Array("MP+".utf8) + [7] + little(frames) + [UInt8](repeating: 0, count: 12)
        + little(last < 0 ? 0 : 1 << 31 | last << 20) + [UInt8](repeating: 0, count: 8)
    }
    #expect(
      MusepackTrim.read7(MemoryByteSource(header(frames: 10, last: 500)))
        == TrimRange(start: 481, end: 481 + 9 * 1152 + 500, source: .musepackHeader))
    #expect(
      MusepackTrim.read7(MemoryByteSource(header(frames: 10, last: -1)))
        == TrimRange(start: 481, end: 481 + 10 * 1152, source: .musepackHeader))
    #expect(MusepackTrim.read7(MemoryByteSource(header(frames: 0, last: 5))) == .none)
  }

  /// Whatever stands in the files, parsers answer a range that makes sense.
  @Test(arguments: ["caf-alac/a.caf", "musepack/a.mpc", "dsf/a.dsf", "speex/a.spx"])
  func anyBytesAreSurvived(_ name: String) throws {
    var random = SeededRandom.announced("trim of \(name)")
    let bytes = Array(try TestMedia.bytes("formats/" + name).prefix(8192))
    for _ in 0..<2000 {
      var damaged = bytes
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        damaged[Int.random(in: 0..<min(200, bytes.count), using: &random)] = .random(in: 0...255, using: &random)
      }
      let source = MemoryByteSource(Array(damaged.prefix(Int.random(in: 0...damaged.count, using: &random))))
      let trims = [
        CAFTrim.read(source), MusepackTrim.read7(source), MusepackTrim.read8(source), SpeexTrim.read(source),
        DSDTrim.read(source, sampleRate: 352_800),
      ]
      #expect(trims.allSatisfy { $0.start >= 0 && $0.end ?? .max >= $0.start })
    }
  }
}
