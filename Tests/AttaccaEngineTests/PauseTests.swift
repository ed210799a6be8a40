import AttaccaCore
import TestSupport
import Testing

@testable import AttaccaEngine

private let fade = 441

/// Pausing loses nothing: what was faded out is heard again.
@Suite struct PauseTests {
  /// Plays an item with a pause after each number of frames; answers what was heard and where each pause began and ended
  /// (output frames).
  private func play(
    _ name: String, pauses: [Int], margin: Int
  ) throws -> (rig: EngineRig, heard: [Float], pauses: [(from: Int, to: Int, index: Int)]) {
    let rig = makeRig(margin: margin)
    rig.follow(with: [])
    rig.load(TestMedia.item(name))
    rig.send(.setRunning(true))
    try rig.waitFor("sound") { if case .anchored(_, let anchor) = $0 { anchor.rate == 1 } else { false } }
    var places: [(from: Int, to: Int, index: Int)] = []
    var index = 0
    for frames in pauses {
      let before = Int(rig.output.heardFrames)
      rig.output.play(frames)
      try rig.waitForHeard(Int64(before + frames))
      // A device that has less than its margin cannot keep it.
      #expect(rig.output.wait { _, queued, _ in queued >= margin })
      let count = rig.events.count
      rig.send(.setRunning(false))
      let anchor = try rig.wait("the hold") { events -> PositionAnchor? in
        for case .anchored(_, let anchor) in events.dropFirst(count) where anchor.rate == 0 { return anchor }
        return nil
      }
      // Silence comes no later than margin and fade after the command.
      rig.output.advance(margin + fade + 50_000)
      #expect(rig.output.wait { _, _, isRunning in !isRunning })
      #expect(rig.output.heardFrames == Int64(before + frames + margin + fade))
      index += frames + margin
      #expect(anchor.position == time(index))
      #expect((anchor.hostTime - .seconds(1000)).frames(at: 44_100) == Int64(before + frames + margin))
      places.append((before + frames + margin, before + frames + margin + fade, index))
      let later = rig.events.count
      rig.send(.setRunning(true))
      let resumed = try rig.wait("the way on") { events -> PositionAnchor? in
        for case .anchored(_, let anchor) in events.dropFirst(later) where anchor.rate == 1 { return anchor }
        return nil
      }
      #expect(resumed.position == time(index))
    }
    rig.output.play()
    try rig.waitForEnd()
    return (rig, rig.output.captured, places)
  }

  @Test(arguments: [0, 1, 300, 2000]) func nothingIsLost(_ margin: Int) throws {
    let wanted = Array(try WAVFileContent("whole.wav").samples[..<(61_234 * 2)])
    let (_, heard, pauses) = try play("flac/a.flac", pauses: [5000, 700, 10_000, 3, 20_000], margin: margin)
    // What was heard, without the fades out: the item, with a fade in after each pause.
    var content: [Float] = []
    var from = 0
    for pause in pauses {
      content += heard[(from * 2)..<(pause.from * 2)]
      // The fade is the music, and sinks to silence along a straight line.
      for frame in 0..<fade {
        let level = 1 - Float(frame + 1) / Float(fade)
        for side in 0..<2 {
          var sample = wanted[(pause.index + frame) * 2 + side]
          // A fade of a fade: the resume before may not be over.
          if let before = pauses.last(where: { $0.index < pause.index }), pause.index + frame - before.index < fade {
            sample *= Float(pause.index + frame - before.index + 1) / Float(fade + 1)
          }
          #expect(abs(heard[(pause.from + frame) * 2 + side] - sample * level) < 1e-5)
        }
      }
      from = pause.to
    }
    content += heard[(from * 2)...]
    #expect(content.count == wanted.count)
    for frame in 0..<wanted.count / 2 {
      let since = pauses.map { frame - $0.index }.filter { $0 >= 0 && $0 < fade }.min()
      let level = since.map { Float($0 + 1) / Float(fade + 1) } ?? 1
      for side in 0..<2 where abs(content[frame * 2 + side] - wanted[frame * 2 + side] * level) > 1e-5 {
        Issue.record("frame \(frame): \(content[frame * 2 + side]), not \(wanted[frame * 2 + side]) × \(level)")
        return
      }
    }
  }

  @Test func pauseBeforeAnythingWasHeard() throws {
    let rig = makeRig()
    rig.follow(with: [])
    rig.load(TestMedia.item("flac/a.flac"))
    rig.send(.setRunning(true))
    rig.send(.setRunning(false))
    try rig.waitFor("the hold") { if case .anchored(_, let anchor) = $0 { anchor.rate == 0 } else { false } }
    rig.output.advance(2000)
    #expect(rig.output.wait { _, _, isRunning in !isRunning })
    let start = rig.output.captured.count
    rig.send(.setRunning(true))
    rig.output.play()
    #expect(try rig.waitForEnd() == time(61_234))
    let heard = rig.output.captured[start...]
    #expect(try difference(heard, WAVFileContent("whole.wav").samples[..<(61_234 * 2)]) == nil)
  }

  /// Play, pause and play again within a fade: no step louder than the music and the ramps make.
  @Test func quickPausesDoNotClick() throws {
    let rig = makeRig()
    rig.follow(with: [])
    rig.load(TestMedia.item("flac/a.flac"))
    rig.send(.setRunning(true))
    rig.output.play(4000)
    try rig.waitForHeard(4000)
    var random = SeededRandom.announced("quick pauses")
    for round in 0..<60 {
      rig.send(.setRunning(round % 2 == 1))
      if round % 5 == 0 { rig.send(.setGain(Double.random(in: 0.2...1, using: &random))) }
      rig.output.advance(Int.random(in: 1...300, using: &random))
    }
    rig.send(.setGain(1))
    rig.send(.setRunning(true))
    let end = rig.output.heardFrames
    rig.output.advance(2000)
    try rig.waitForHeard(end + 1500)
    let steps = largestStep(rig.output.captured)
    let own = try largestStep(Array(WAVFileContent("whole.wav").samples[..<20_000]))
    #expect(steps < own + 4 / Float(fade))
  }

  @Test func gainGoesAlongARamp() throws {
    let rig = makeRig()
    rig.follow(with: [])
    rig.load(TestMedia.item("flac/a.flac"))
    rig.send(.setRunning(true))
    rig.output.play(10_000)
    try rig.waitForHeard(10_000)
    rig.send(.setGain(0.25))
    rig.output.play(10_000)
    try rig.waitForHeard(20_000)
    // In the middle of a ramp, another one.
    rig.send(.setGain(0.75))
    rig.output.play(100)
    try rig.waitForHeard(20_100)
    rig.send(.setGain(0))
    rig.output.play()
    try rig.waitForEnd()
    let wanted = try WAVFileContent("whole.wav").samples
    let heard = rig.output.captured
    #expect(difference(heard[..<20_000], wanted[..<20_000]) == nil)
    for frame in 10_000..<61_234 {
      let level: Float =
        switch frame {
        case ..<10_441: 1 - 0.75 * Float(frame - 10_000) / 441
        case ..<20_000: 0.25
        case ..<20_100: 0.25 + 0.5 * Float(frame - 20_000) / 441
        case ..<20_541: (0.25 + 0.5 * 100 / 441) * (1 - Float(frame - 20_100) / 441)
        default: 0
        }
      guard abs(heard[frame * 2] - wanted[frame * 2] * level) < 1e-5 else {
        Issue.record("frame \(frame): \(heard[frame * 2]), not \(wanted[frame * 2]) × \(level)")
        return
      }
    }
  }

  /// A change of gain right after a seek or pause goes through the fade.
  @Test func gainWithinAFadeDoesNotClick() throws {
    let rig = makeRig()
    rig.follow(with: [])
    let generation = rig.load(TestMedia.item("flac/a.flac"))
    rig.send(.setRunning(true))
    rig.output.play(10_000)
    try rig.waitForHeard(10_000)
    try rig.waitForLanding(rig.seek(generation, to: time(30_000)))
    rig.output.advance(50)
    rig.send(.setGain(0.1))
    let place = rig.output.heardFrames
    rig.output.advance(3000)
    try rig.waitForHeard(place + 3000)
    #expect(
      try largestStep(Array(rig.output.captured.suffix(3500 * 2))) < largestStep(
        Array(WAVFileContent("whole.wav").samples[18_000..<72_000])) + 3 / Float(fade))
  }

  @Test func thePositionNeverGoesBack() throws {
    let rig = makeRig(step: 100)
    rig.follow(with: [TestMedia.item("flac/b.flac")])
    rig.load(TestMedia.item("flac/a.flac"))
    rig.send(.setRunning(true))
    try rig.waitFor("sound") { if case .anchored(_, let anchor) = $0 { anchor.rate == 1 } else { false } }
    for _ in 0..<100 {
      rig.output.play(1300)
      rig.output.measure()
    }
    rig.output.play()
    try rig.waitForEnd(of: Generation(2))
    var last: (generation: Generation, anchor: PositionAnchor)?
    var count = 0
    for event in rig.events {
      let now: (Generation, PositionAnchor)
      switch event {
      case .anchored(let generation, let anchor): now = (generation, anchor)
      case .advanced(_, let generation, let anchor): now = (generation, anchor)
      default: continue
      }
      count += 1
      if let last, last.generation == now.0 {
        // Not even by a frame: measured positions are exactly the extrapolated ones.
        #expect(now.1.position(at: now.1.hostTime) == now.1.position)
        let extrapolated = last.anchor.position(at: now.1.hostTime)
        #expect((extrapolated - now.1.position).frames(at: 44_100_0) <= 1)
        #expect(now.1.hostTime >= last.anchor.hostTime)
      }
      last = now
    }
    #expect(count > 50)
  }
}

func largestStep(_ samples: [Float]) -> Float {
  var largest: Float = 0
  for index in 2..<samples.count { largest = max(largest, abs(samples[index] - samples[index - 2])) }
  return largest
}
