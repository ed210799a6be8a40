import AttaccaCore
import Synchronization
import TestSupport
import Testing

@testable import AttaccaEngine

/// What is heard when settings are on from the beginning.
private func render(
  _ names: [String], rate: Double = 1, _ sound: SoundSettings = SoundSettings(), ahead: Int = 88_200
) throws -> (samples: [Float], events: [EngineEvent]) {
  let rig = makeRig(ahead: ahead)
  rig.send(.setRate(rate))
  rig.send(.setSound(sound))
  let samples = try rig.render(names.map(TestMedia.item))
  return (samples, rig.events)
}

@Suite struct RateTests {
  /// Exactly as long as it should be, and not a frame differs from the uncut original at the same rate.
  @Test(arguments: [0.25, 0.5, 0.9, 1.1, 1.5, 2, 3, 4])
  func theJointIsNotHeardAtAnyRate(_ rate: Double) throws {
    let (cut, events) = try render(["flac/a.flac", "flac/b.flac"], rate: rate)
    let whole = try render(["whole.wav"], rate: rate).samples
    let frames = Int((132_300 / rate).rounded(.up))
    #expect(cut.count / 2 == frames)
    #expect(difference(cut, whole) == nil)
    // The joint is told when it is heard: at the first output frame whose media time is at or behind it.
    let joint = events.compactMap { if case .advanced(_, _, let anchor) = $0 { anchor } else { nil } }
    #expect(joint.count == 1)
    let heard = try #require(joint.first)
    #expect(heard.position == .zero && heard.rate == Rate(rate).value)
    #expect((heard.hostTime - .seconds(1000)).frames(at: 44_100) == Rate(rate).output(61_234))
  }

  @Test(arguments: [0, 700]) func aChangeActsAtOnceAndLosesNoTime(_ margin: Int) throws {
    var random = SeededRandom.announced("rate changes")
    let rig = makeRig(margin: margin)
    rig.follow(with: [TestMedia.item("flac/b.flac")])
    rig.load(TestMedia.item("flac/a.flac"))
    rig.send(.setRunning(true))
    try rig.waitFor("sound") { if case .anchored(_, let anchor) = $0 { anchor.rate == 1 } else { false } }
    #expect(rig.output.wait { _, queued, _ in queued > 80_000 })
    // Where the media stands by our own account.
    var index = 0
    var speed = 1.0
    var last = 0
    for _ in 0..<12 {
      let frames = Int.random(in: 500...2500, using: &random)
      let before = Int(rig.output.heardFrames)
      rig.output.play(frames)
      try rig.waitForHeard(Int64(before + frames))
      #expect(rig.output.wait { _, queued, _ in queued >= margin })
      let rates = [0.25, 0.5, 1, 1.3, 2, 4]
      let rate = rates[Int.random(in: 0..<rates.count, using: &random)]
      let count = rig.events.count
      rig.send(.setRate(rate))
      // Nothing is told before the change is heard.
      rig.output.play(margin + 1)
      let anchor = try rig.wait("the change") { events -> PositionAnchor? in
        for case .anchored(_, let anchor) in events.dropFirst(count) where anchor.rate == Rate(rate).value {
          return anchor
        }
        return nil
      }
      let changed = before + frames + margin
      #expect((anchor.hostTime - .seconds(1000)).frames(at: 44_100) == Int64(changed))
      // Each change forgets less than a frame.
      index += Int((Double(changed - last) * speed + 1e-6).rounded(.down))
      #expect(anchor.position == time(index < 61_234 ? index : index - 61_234))
      (speed, last) = (rate, changed)
      try rig.waitForHeard(Int64(changed + 1))
    }
    rig.output.play()
    try rig.waitForEnd()
    let total = last + Int((Double(132_300 - index) / speed - 1e-6).rounded(.up))
    #expect(rig.output.captured.count / 2 == total)
    // No click: the sweep's own steps are small beside that of a splice.
    #expect(largestStep(rig.output.captured) < 1)
  }

  @Test(arguments: [0.5, 2]) func pausesAndSeeksKeepTime(_ rate: Double) throws {
    let rig = makeRig()
    rig.send(.setRate(rate))
    rig.follow(with: [])
    let generation = rig.load(TestMedia.item("whole.wav"))
    rig.send(.setRunning(true))
    try rig.waitFor("sound") { if case .anchored(_, let anchor) = $0 { anchor.rate == rate } else { false } }
    rig.output.play(10_000)
    try rig.waitForHeard(10_000)
    let count = rig.events.count
    rig.send(.setRunning(false))
    let hold = try rig.wait("the hold") { events -> PositionAnchor? in
      for case .anchored(_, let anchor) in events.dropFirst(count) where anchor.rate == 0 { return anchor }
      return nil
    }
    #expect(hold.position == time(Int(10_000 * rate)))
    rig.output.advance(50_000)
    #expect(rig.output.wait { _, _, isRunning in !isRunning })
    rig.send(.setRunning(true))
    rig.output.play(2000)
    let seek = rig.seek(generation, to: .seconds(2))
    let landed = try rig.waitForLanding(seek)
    #expect(landed.position == .seconds(2) && landed.rate == rate)
    rig.output.play()
    try rig.waitForEnd()
    let start = Int((landed.hostTime - .seconds(1000)).frames(at: 44_100))
    #expect(rig.output.captured.count / 2 == start + Int((Double(132_300 - 88_200) / rate).rounded(.up)))
  }

  /// Appending when everything has been decoded, stretched and even given to the output joins without a seam in time.
  @Test func whatIsAppendedLateFollows() throws {
    let rig = makeRig()
    rig.send(.setRate(2))
    rig.follow(with: [])
    let first = rig.load(TestMedia.item("flac/a.flac"))
    rig.send(.setRunning(true))
    try rig.waitFor("sound") { if case .anchored(_, let anchor) = $0 { anchor.rate == 2 } else { false } }
    rig.output.play(5000)
    try rig.waitForHeard(5000)
    #expect(rig.output.wait { _, queued, _ in queued == 61_234 / 2 - 5000 })
    rig.send(.setUpcoming(after: first, loads: [rig.makeLoad(TestMedia.item("flac/b.flac"))]))
    try rig.waitFor("the second") { if case .opened(let generation, _) = $0 { generation != first } else { false } }
    #expect(rig.output.wait { _, queued, _ in queued > 61_234 / 2 - 5000 })
    rig.output.play()
    try rig.waitForEnd()
    #expect(rig.output.captured.count / 2 == 132_300 / 2)
  }

  private func largestStep(_ samples: [Float]) -> Float {
    zip(samples, samples.dropFirst(2)).reduce(0) { max($0, abs($1.0 - $1.1)) }
  }
}

@Suite struct SoundSettingsTests {
  @Test func nothingWishedChangesNothing() throws {
    let plain = try render(["flac/a.flac", "flac/b.flac"]).samples
    var sound = SoundSettings()
    sound.equalizer = .flat
    // Items without tags, and no gain for them.
    sound.loudness = .album
    #expect(difference(try render(["flac/a.flac", "flac/b.flac"], sound).samples, plain) == nil)
    sound.isBitPerfect = true
    sound.equalizer = EqualizerSettings([6, 6])
    #expect(difference(try render(["flac/a.flac", "flac/b.flac"], sound).samples, plain) == nil)
  }

  /// Every stage goes on over a joint: what is cut sounds like what is whole.
  @Test(arguments: [
    SoundSettings(untaggedGain: -3), SoundSettings(equalizer: EqualizerSettings([6, 3, -2, 0, 4, -6, 2, 1, -3, 5])),
    SoundSettings(balance: 0.4), SoundSettings(isMono: true), SoundSettings(levelsSpeech: true),
    SoundSettings(untaggedGain: 9, equalizer: EqualizerSettings([12, 12, 12])),
  ])
  func stagesGoOnOverJoints(_ sound: SoundSettings) throws {
    var sound = sound
    if sound.untaggedGain != 0 { sound.loudness = .track }
    let whole = try render(["whole.wav"], sound).samples
    for format in ["flac", "wav"] {
      let cut = try render(["\(format)/a.\(format)", "\(format)/b.\(format)"], sound).samples
      #expect(difference(cut, whole) == nil)
    }
    let plain = try WAVFileContent("whole.wav").samples
    #expect(whole.count == plain.count && difference(whole, plain) != nil)
    #expect(whole.allSatisfy { abs($0) <= 1 })
  }

  /// What an output asks for in one piece or in many is the same.
  @Test func piecesAreTheWhole() throws {
    let sound = SoundSettings(equalizer: EqualizerSettings([6, 3, -2, 0, 4, -6, 2, 1, -3, 5]))
    let whole = try render(["whole.wav"], rate: 1.3, sound).samples
    for ahead in [100, 3000, 30_000] {
      #expect(difference(try render(["whole.wav"], rate: 1.3, sound, ahead: ahead).samples, whole) == nil)
    }
  }

  /// Settings changed while playing act from the very next frame, without a click, and the position does not move.
  @Test func changesActAtOnce() throws {
    let rig = makeRig()
    rig.follow(with: [])
    rig.load(TestMedia.item("whole.wav"))
    rig.send(.setRunning(true))
    try rig.waitFor("sound") { if case .anchored(_, let anchor) = $0 { anchor.rate == 1 } else { false } }
    rig.output.play(20_000)
    try rig.waitForHeard(20_000)
    let edits = rig.output.editCount
    rig.send(.setSound(SoundSettings(loudness: .track, untaggedGain: -6)))
    #expect(rig.output.waitForEdit(after: edits))
    rig.output.play()
    try rig.waitForEnd()
    let plain = try WAVFileContent("whole.wav").samples
    let heard = rig.output.captured
    #expect(heard.count == plain.count)
    #expect(difference(heard[..<40_000], plain[..<40_000]) == nil)
    let gain = Float(0.501187)
    for index in 42_000..<heard.count where abs(heard[index] - plain[index] * gain) > 1e-5 {
      Issue.record("sample \(index): \(heard[index]) instead of \(plain[index] * gain)")
      break
    }
  }
}

@Suite struct CrossfadeTests {
  private static let fade = SoundSettings(crossfade: .milliseconds(500))
  private let overlap = 22_050

  @Test func twoItemsSoundTogether() throws {
    let (heard, events) = try render(["wholemono.wav", "whole.wav"], Self.fade)
    let first = try render(["wholemono.wav"]).samples
    let second = try WAVFileContent("whole.wav").samples
    #expect(heard.count / 2 == 2 * 132_300 - overlap)
    let start = 132_300 - overlap
    #expect(difference(heard[..<(start * 2)], first[..<(start * 2)]) == nil)
    #expect(difference(heard[(132_300 * 2)...], second[(overlap * 2)...]) == nil)
    for frame in stride(from: 0, to: overlap, by: 97) {
      let angle = Float(frame) / Float(overlap) * .pi / 2
      let wanted = first[(start + frame) * 2] * cosine(angle) + second[frame * 2] * cosine(.pi / 2 - angle)
      #expect(abs(heard[(start + frame) * 2] - wanted) < 1e-4)
    }
    // The later item is current from its first frame on.
    let joints = events.compactMap { if case .advanced(_, _, let anchor) = $0 { anchor } else { nil } }
    #expect(joints.map(\.position) == [.zero])
    #expect(joints.map { ($0.hostTime - .seconds(1000)).frames(at: 44_100) } == [Int64(start)])
  }

  @Test func anAlbumIsLeftAlone() throws {
    let whole = try WAVFileContent("whole.wav").samples
    #expect(difference(try render(["flac/a.flac", "flac/b.flac"], Self.fade).samples, whole) == nil)
  }

  @Test func theLaterItemIsTakenBackInTime() throws {
    let rig = makeRig()
    rig.send(.setSound(Self.fade))
    rig.follow(with: [TestMedia.item("whole.wav")])
    let first = rig.load(TestMedia.item("wholemono.wav"))
    rig.send(.setRunning(true))
    rig.output.play(100_000)
    try rig.waitForHeard(100_000)
    // Both sounding together has been given to the output already.
    #expect(rig.output.wait { _, queued, _ in queued > 60_000 })
    let edits = rig.output.editCount
    rig.send(.setUpcoming(after: first, loads: []))
    #expect(rig.output.waitForEdit(after: edits))
    rig.output.play()
    try rig.waitForEnd(of: first)
    let wanted = try render(["wholemono.wav"]).samples
    let heard = rig.output.captured
    #expect(heard.count == wanted.count)
    // Only the few milliseconds of the change are mixed from twice the same.
    #expect(difference(heard, wanted, tolerance: 1e-3) == nil)
  }

  @Test func aPauseWithinGoesOnWithin() throws {
    let rig = makeRig()
    rig.send(.setSound(Self.fade))
    rig.follow(with: [TestMedia.item("whole.wav")])
    rig.load(TestMedia.item("wholemono.wav"))
    rig.send(.setRunning(true))
    let pause = 132_300 - overlap + 5000
    rig.output.play(pause)
    try rig.waitForHeard(Int64(pause))
    rig.send(.setRunning(false))
    rig.output.advance(50_000)
    #expect(rig.output.wait { _, _, isRunning in !isRunning })
    rig.send(.setRunning(true))
    rig.output.play()
    try rig.waitForEnd()
    let wanted = try render(["wholemono.wav", "whole.wav"], Self.fade).samples
    let heard = rig.output.captured
    // The fade out of the pause is heard besides.
    #expect(heard.count == wanted.count + 441 * 2)
    #expect(difference(heard[((pause + 441 * 2) * 2)...], wanted[((pause + 441) * 2)...], tolerance: 1e-5) == nil)
  }

  @Test func shortItemsOverlapByHalf() throws {
    let names = ["short/whole.wav", "wholemono.wav", "short/whole.wav"]
    let lengths = try names.map { try render([$0]).samples.count / 2 }
    let (heard, _) = try render(names, Self.fade)
    let overlaps = [min(overlap, lengths[0] / 2), min(overlap, lengths[2] / 2)]
    #expect(heard.count / 2 == lengths.reduce(0, +) - overlaps.reduce(0, +))
  }

  private func cosine(_ angle: Float) -> Float {
    // The series is enough in 0…π/2.
    let x = angle * angle
    return 1 - x / 2 * (1 - x / 12 * (1 - x / 30 * (1 - x / 56 * (1 - x / 90))))
  }
}
