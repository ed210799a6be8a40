import AttaccaCore
import TestSupport
import Testing

@testable import AttaccaEngine

/// Items that follow each other sound as one: nothing lost, nothing added.
@Suite struct GaplessTests {
  @Test(arguments: TestMedia.formats) func halvesAreTheWhole(_ format: TestMedia.Format) throws {
    let heard = try render([format.a, format.b])
    #expect(heard.count / 2 == format.total)
    if format.isLossless {
      let difference = try difference(heard, WAVFileContent(format.whole).samples)
      #expect(difference == nil)
    }
  }

  /// Lossy halves differ from the whole, but not by a shift.
  @Test(arguments: TestMedia.formats.filter { !$0.isLossless }) func lossyHalvesHaveNoLag(_ format: TestMedia.Format)
    throws
  {
    let heard = try render([format.a, format.b])
    let whole = try WAVFileContent(format.whole).samples
    #expect(lag(of: heard, against: whole, at: format.cut - 4096) == 0)
    #expect(lag(of: heard, against: whole, at: format.cut + 2048) == 0)
    #expect(lag(of: heard, against: whole, at: format.total - 3000) == 0)
  }

  /// A lossy pair sounds like each of its items alone: the joint changes nothing.
  @Test(arguments: TestMedia.formats) func jointChangesNothing(_ format: TestMedia.Format) throws {
    let together = try render([format.a, format.b])
    let apart = try render([format.a]) + render([format.b])
    #expect(difference(together, apart) == nil)
  }

  @Test(arguments: ["flac", "mp3", "ogg", "m4a", "opus"]) func twentyPieces(_ kind: String) throws {
    let names = (1...20).map { "pieces/\(kind)/\($0 < 10 ? "0" : "")\($0).\(kind)" }
    let heard = try render(names)
    let whole = try WAVFileContent(kind == "opus" ? "pieces/whole48.wav" : "pieces/whole.wav")
    #expect(heard.count / 2 == whole.frames)
    if kind == "flac" { #expect(difference(heard, whole.samples) == nil) }
  }

  @Test func hundredShortItems() throws {
    let rig = makeRig()
    let names = (0..<100).map { "short/flac/\($0 < 10 ? "00" : $0 < 100 ? "0" : "")\($0).flac" }
    let heard = try rig.render(names.map(TestMedia.item))
    #expect(try difference(heard, WAVFileContent("short/whole.wav").samples) == nil)
    // Each joint is told once, in order, at the beginning of the item that follows.
    let joints = rig.events.compactMap { event -> [UInt64]? in
      guard case .advanced(let from, let to, let anchor) = event, anchor.position == .zero else { return nil }
      return [from.rawValue, to.rawValue]
    }
    #expect(joints == (1..<100).map { [$0, $0 + 1] })
    #expect(rig.events.count { if case .ended = $0 { true } else { false } } == 1)
  }

  /// A first item shorter than what an output reports at a time is still heard and left.
  @Test(arguments: [1, 97, 441, 5000]) func shortFirstItemIsTold(_ step: Int) throws {
    let rig = makeRig(step: step)
    _ = try rig.render(["short/flac/000.flac", "short/flac/001.flac", "flac/a.flac"].map(TestMedia.item))
    var hasStalled = false
    let told = rig.events.compactMap { event -> String? in
      switch event {
      case .stalled:
        hasStalled = true
        return nil
      case .anchored(let generation, _):
        // Where the output ran dry, the clock starts afresh when sound goes on.
        defer { hasStalled = false }
        return hasStalled ? nil : "heard \(generation)"
      case .advanced(let from, let to, _): return "\(from) to \(to)"
      case .ended(let generation, _): return "ended \(generation)"
      default: return nil
      }
    }
    #expect(told == ["heard 1", "1 to 2", "2 to 3", "ended 3"])
  }

  @Test(arguments: [
    ("flac/a.flac", "48/flac/b.flac"), ("48/flac/a.flac", "flac/b.flac"), ("opus/a.opus", "flac/b.flac"),
  ])
  func neighboursOfTwoRates(_ a: String, _ b: String) throws {
    let rig = makeRig()
    let heard = try rig.render([a, b].map(TestMedia.item))
    let rate = Double(rig.output.format.sampleRate)
    let exact =
      a.hasPrefix("flac") ? 61_234 + (144_000 - 66_649) * rate / 48_000 : 66_649 + (132_300 - 61_234) * rate / 44_100
    #expect(abs(Double(heard.count / 2) - exact) <= 1)
  }

  @Test func manyAlternationsAreNeverMoreThanAFrameOff() throws {
    let rig = makeRig()
    // 441 frames of 44.1 kHz are 480 of 48 kHz; the halves are odd lengths.
    let pattern = ["flac/a.flac", "48/flac/a.flac", "8k/flac/a.flac"]
    let items = (0..<30).map { TestMedia.item(pattern[$0 % 3]) }
    let heard = try rig.render(items)
    let lengths: [Double] = [61_234, 66_649 * 44_100 / 48_000, 11_107 * 44_100 / 8_000]
    let exact = 10 * lengths.reduce(0, +)
    #expect(abs(Double(heard.count / 2) - exact) <= 1)
    // And in the middle: each joint is where it should be.
    var place = 0.0
    var at = 0
    for event in rig.events {
      guard case .advanced(_, _, let anchor) = event else { continue }
      place += lengths[at % 3]
      at += 1
      let frame = Double((anchor.hostTime - .seconds(1000)).frames(at: 44_100))
      #expect(abs(frame - place) <= 1, "joint \(at)")
    }
    #expect(at == 29)
  }

  @Test func resampledPairHasNoLag() throws {
    // The stream is 44.1 kHz because of the first item; the halves after it are resampled.
    let first = try WAVFileContent("short/whole.wav").frames / 100
    let heard = try render(["short/flac/000.flac", "48/flac/a.flac", "48/flac/b.flac"])
    let whole = try render(["short/flac/000.flac", "whole48.wav"])
    #expect(heard.count == whole.count)
    let joint = first + 66_649 * 441 / 480
    for place in [first + 100, joint - 3000, joint - 1000, joint + 100, joint + 2000, whole.count / 2 - 2100] {
      #expect(lag(of: heard, against: whole, at: place) == 0, "at \(place)")
    }
    // One resampler goes on over the joint: it is not even audible.
    #expect(difference(heard, whole, tolerance: 1e-6) == nil)
  }

  @Test func resampledOpusPairHasNoLag() throws {
    let heard = try render(["short/flac/000.flac", "opus/a.opus", "opus/b.opus"])
    let whole = try render(["short/flac/000.flac", "whole48.wav"])
    #expect(heard.count == whole.count)
    let joint = 441 + 66_649 * 441 / 480
    #expect(lag(of: heard, against: whole, at: joint - 2500) == 0)
    #expect(lag(of: heard, against: whole, at: joint + 1500) == 0)
  }

  @Test func monoBesideStereo() throws {
    let mono = try WAVFileContent("wholemono.wav").samples
    let stereo = try WAVFileContent("whole.wav").samples
    let heard = try render(["mono/flac/a.flac", "flac/b.flac", "mono/flac/b.flac"])
    #expect(heard.count / 2 == 61_234 + 71_066 + 71_066)
    let first = channel(0, of: heard, count: 61_234)
    #expect(difference(first, mono[..<61_234], channels: 1, tolerance: 1e-6) == nil)
    #expect(difference(channel(1, of: heard, count: 61_234), first, channels: 1) == nil)
    #expect(difference(heard[(61_234 * 2)..<(132_300 * 2)], stereo[(61_234 * 2)...]) == nil)
    #expect(
      difference(
        channel(0, of: heard, from: 132_300, count: 71_066), mono[61_234...], channels: 1, tolerance: 1e-6) == nil)
  }

  @Test(arguments: ["flac", "wav", "wv"]) func twentyFourBits(_ kind: String) throws {
    let heard = try render(["24/\(kind)/a.\(kind)", "24/\(kind)/b.\(kind)"])
    #expect(try difference(heard, WAVFileContent("whole24.wav").samples) == nil)
  }

  @Test func deadItemBetweenTwoLeavesNoGap() throws {
    let rig = makeRig()
    rig.follow(with: nil)
    let a = rig.makeLoad(TestMedia.item("flac/a.flac"))
    let dead = rig.makeLoad(TestMedia.item("no such file.flac"))
    let b = rig.makeLoad(TestMedia.item("flac/b.flac"))
    rig.send(.load(a))
    rig.send(.setRunning(true))
    try rig.waitFor("the wish") { $0 == .wantsNext(after: a.generation) }
    rig.send(.setUpcoming(after: a.generation, loads: [dead]))
    let failed = try rig.waitFor("the failure") { if case .failed(dead.generation, _) = $0 { true } else { false } }
    guard case .failed(_, let error) = failed else { return }
    #expect(error.code == .sourceNotFound)
    rig.send(.setUpcoming(after: a.generation, loads: [b]))
    try rig.waitFor("the wish") { $0 == .wantsNext(after: b.generation) }
    rig.send(.setUpcoming(after: b.generation, loads: []))
    rig.output.play()
    try rig.waitForEnd(of: b.generation)
    #expect(try difference(rig.output.captured, WAVFileContent("whole.wav").samples) == nil)
  }
}
