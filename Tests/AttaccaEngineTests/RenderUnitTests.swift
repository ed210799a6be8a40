import AttaccaCore
import Synchronization
import TestSupport
import Testing

@testable import AttaccaEngine

@Suite struct GainRampTests {
  @Test func goesFromValueToValue() {
    var gain = GainRamp(1)
    #expect(gain.value(at: -5) == 1 && gain.value(at: 1 << 40) == 1)
    gain.go(to: 0, at: 100, over: 10)
    for frame in Int64(95)...115 {
      #expect(abs(gain.value(at: frame) - max(0, min(1, 1 - Float(frame - 100) / 10))) < 1e-6)
    }
    gain.go(to: 1, at: 105, over: 10)
    #expect(abs(gain.value(at: 105) - 0.5) < 1e-6 && gain.value(at: 115) == 1)
  }

  /// Applying in any pieces gives what `value(at:)` says.
  @Test func piecesAreTheWhole() {
    var random = SeededRandom.announced("gain")
    for _ in 0..<50 {
      var gain = GainRamp(.random(in: 0...1, using: &random))
      gain.go(
        to: .random(in: 0...1, using: &random), at: .random(in: 0...100, using: &random),
        over: .random(in: 0...60, using: &random))
      var samples = [Float](repeating: 1, count: 400)
      samples.withUnsafeMutableBufferPointer { buffer in
        var at = 0
        while at < 200 {
          let part = min(200 - at, Int.random(in: 1...70, using: &random))
          gain.apply(to: buffer.baseAddress! + at * 2, frame: Int64(at), count: part, channels: 2)
          at += part
        }
      }
      for frame in 0..<200 { #expect(abs(samples[frame * 2 + 1] - gain.value(at: Int64(frame))) < 1e-6) }
    }
  }
}

@Suite struct ProgramTests {
  private func program(_ capacity: Int = 1000) throws -> Program {
    let ring = try #require(FrameRing(capacity: capacity, channels: 2))
    return Program(
      ring: ring, sampleRate: 44_100,
      first: .init(generation: Generation(1), start: 0, media: MediaTime(frames: 44_100, rate: 44_100)))
  }

  @Test func positionsFollowSegments() throws {
    var program = try program()
    program.publish(300)
    program.begin(.init(generation: Generation(2), start: 200, media: MediaTime(frames: 0, rate: 48_000)))
    #expect(program.position(at: 0) == .seconds(1))
    #expect(program.position(at: 199) == time(44_100 + 199))
    #expect(program.position(at: 200) == .zero)
    #expect(program.segment(at: 200).generation == Generation(2))
    #expect(program.room == 700)
    program.raiseFloor(to: 250)
    #expect(program.floor == 250 && program.room == 950)
    program.raiseFloor(to: 100)
    #expect(program.floor == 250)
    program.raiseFloor(to: 5000)
    #expect(program.floor == 300)
    // Until the joint was told its segments stay.
    #expect(program.segments.count == 2)
    program.forget(before: Generation(2))
    #expect(program.segments.map(\.generation) == [Generation(2)])
  }

  @Test func truncationTakesBackAllThatFollows() throws {
    var program = try program()
    program.publish(500)
    program.begin(.init(generation: Generation(2), start: 200, media: MediaTime(frames: 0, rate: 44_100), carry: 7))
    program.begin(.init(generation: Generation(3), start: 400, media: MediaTime(frames: 0, rate: 44_100)))
    program.isFinished = true
    let (unknown, last) = (program.truncate(after: Generation(9)), program.truncate(after: Generation(3)))
    #expect(unknown == nil && last == nil)
    let first = program.truncate(after: Generation(1))
    let taken = try #require(first)
    #expect(taken.start == 200 && taken.carry == 7)
    #expect(program.end == 200 && !program.isFinished && program.segments.count == 1)
  }

  @Test func ringWrapsAround() throws {
    let ring = try #require(FrameRing(capacity: 100, channels: 2))
    for start in stride(from: Int64(0), to: 1000, by: 70) {
      let samples = (0..<140).map { Float(start * 2 + $0) }
      samples.withUnsafeBufferPointer { ring.write($0, at: start) }
      var read = [Float](repeating: -1, count: 140)
      read.withUnsafeMutableBufferPointer { ring.read(into: $0.baseAddress!, from: start, count: 70) }
      #expect(read == samples)
    }
  }
}

@Suite struct RenderPlanTests {
  @Test func placesOfSpans() {
    var plan = RenderPlan()
    #expect(plan.place(at: 0) == nil)
    plan.replace(
      from: 10,
      with: [
        .block([Float](repeating: 0, count: 20), .moves(Passage(origin: 10, from: 500))),
        .silence(position: 510, count: 5),
        .program(Passage(origin: 25, from: 510)),
      ], channels: 2)
    #expect(plan.place(at: 9) == nil)
    #expect(plan.place(at: 12) == .init(index: 502, speed: 1))
    #expect(plan.place(at: 22) == .init(index: 510, speed: 0))
    #expect(plan.place(at: 25) == .init(index: 510, speed: 1))
    #expect(plan.frame(ofProgram: 600) == 115)
    // A joint within the fade.
    #expect(plan.frame(ofProgram: 505) == 20)
    plan.forget(before: 24)
    #expect(plan.spans.count == 2 && plan.place(at: 24)?.index == 510)
    plan.replace(from: 30, with: [.silence(position: 515)], channels: 2)
    #expect(plan.frame(ofProgram: 600) == nil)
    #expect(plan.place(at: 29)?.index == 514 && plan.place(at: 1_000_000)?.index == 515)
  }
}

/// A renderer alone, on the captured output: random pauses, plays, seeks, gains and late frames.
@Suite struct RendererPropertyTests {
  /// A program of `count` frames whose samples say their index.
  private func program(_ count: Int64, from media: Int64, channels: Int = 2) throws -> Program {
    let ring = try #require(FrameRing(capacity: Int(count) + 1, channels: channels))
    var program = Program(
      ring: ring, sampleRate: 44_100,
      first: .init(generation: Generation(1), start: 0, media: MediaTime(frames: media, rate: 44_100)))
    let samples = (0..<count).flatMap { [Float(media + $0), Float(media + $0)] }
    samples.withUnsafeBufferPointer { ring.write($0, at: 0) }
    program.publish(Int(count))
    program.isFinished = true
    return program
  }

  @Test func contentHeardIsMediaAdvanced() throws {
    var random = SeededRandom.announced("renderer")
    for _ in 0..<12 {
      let margin = Int.random(in: 0...700, using: &random)
      let output = CaptureOutput(ahead: 3000, margin: margin, step: Int.random(in: 1...500, using: &random))
      let anchors = Mutex<[(PositionAnchor, isSeek: Bool)]>([])
      let renderer = Renderer(
        format: StreamFormat(sampleRate: 44_100, channels: 2), output: output, gain: 1, rate: 1, sound: SoundSettings(),
        lowWater: 100,
        emit: { event in
          switch event {
          case .anchored(_, let anchor): anchors.withLock { $0.append((anchor, false)) }
          case .seekLanded(_, _, let anchor): anchors.withLock { $0.append((anchor, true)) }
          default: break
          }
        }, wakeDecoder: {})
      output.open(renderer.format, source: renderer) { [weak renderer] in renderer?.receive($0) }
      renderer.install(try program(40_000, from: 0), as: .loaded)
      for _ in 0..<40 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0...2: renderer.setRunning(true)
        case 3, 4: renderer.setRunning(false)
        case 5: renderer.setGain(1)
        case 6:
          renderer.install(try program(40_000, from: .random(in: 0...1_000_000, using: &random)), as: .seek(SeekID(1)))
          // A landing that another seek overtakes is never told.
          output.advance(margin + 500)
        default: output.advance(.random(in: 0...2000, using: &random))
        }
      }
      output.advance(2000)
      renderer.setRunning(true)
      output.advance(3000)
      // Between two anchors of one program, frames heard while moving are exactly the media's frames moved.
      let all = anchors.withLock { $0 }
      #expect(!all.isEmpty)
      for (before, after) in zip(all, all.dropFirst()) where !after.isSeek {
        let moved = (after.0.position - before.0.position).frames(at: 44_100)
        let heard = (after.0.hostTime - before.0.hostTime).frames(at: 44_100)
        // A play that was held again before its first frame was heard is told by the second hold alone.
        let isRight =
          before.0.rate == 1 ? moved == heard : after.0.rate == 1 ? moved == 0 : moved >= 0 && moved <= heard
        #expect(isRight, "\(before.0) to \(after.0)")
      }
      // And outside fades every sample is what its moment's anchor says.
      let captured = output.captured
      for (index, entry) in all.enumerated() where entry.0.rate == 1 {
        let from = Int((entry.0.hostTime - .seconds(1000)).frames(at: 44_100))
        let next =
          index + 1 < all.count
          ? Int((all[index + 1].0.hostTime - .seconds(1000)).frames(at: 44_100)) : captured.count / 2
        let position = entry.0.position.frames(at: 44_100)
        guard next > from + 441 else { continue }
        for frame in (from + 441)..<min(next, captured.count / 2)
        where captured[frame * 2] != Float(position + Int64(frame - from)) {
          Issue.record("frame \(frame) is \(captured[frame * 2]), not \(position + Int64(frame - from))")
          break
        }
      }
    }
  }
}

@Suite struct LoadChainTests {
  private func load(_ number: UInt64) -> EngineLoad {
    EngineLoad(entry: EntryID(number), generation: Generation(number), item: MediaItem(.file("/\(number)")))
  }

  @Test func asksOncePerEnd() {
    var chain = LoadChain()
    #expect(chain.wantNext() == nil)
    chain.replace(with: load(1))
    #expect(chain.wantNext() == Generation(1))
    #expect(chain.wantNext() == nil)
    chain.setUpcoming(after: Generation(1), loads: [load(2)])
    #expect(chain.wantNext() == nil)
    chain.moveToNext(heard: Generation(1))
    #expect(chain.wantNext() == Generation(2))
    chain.setUpcoming(after: Generation(2), loads: [])
    #expect(chain.isClosed && chain.wantNext() == nil)
    chain.setUpcoming(after: Generation(2), loads: [load(3)])
    chain.dropNext()
    // It was answered, in vain: the player knows and will say more.
    #expect(!chain.isClosed && chain.wantNext() == nil)
  }

  @Test func whatWasHeardIsForgotten() {
    var chain = LoadChain()
    chain.replace(with: load(1))
    chain.setUpcoming(after: Generation(1), loads: (2...5).map(load))
    for number in 1...4 { chain.moveToNext(heard: Generation(UInt64(number))) }
    #expect(!chain.contains(Generation(3)) && chain.contains(Generation(4)))
    #expect(chain.head?.load.generation == Generation(5))
    #expect(chain.hasBegun(after: Generation(4)) && !chain.hasBegun(after: Generation(5)))
    chain.beginAgain(at: Generation(4))
    #expect(chain.head?.load.generation == Generation(4) && chain.next?.needsRewind == true)
    chain.setUpcoming(after: Generation(4), loads: [load(5), load(6)])
    #expect(chain.next?.load == load(5))
    chain.setUpcoming(after: Generation(99), loads: [])
    #expect(!chain.isClosed)
  }
}

@Suite struct StreamConverterTests {
  /// Random runs of random rates: in total never more than a frame off, whatever the steps.
  @Test func totalsAreExact() {
    var random = SeededRandom.announced("converter")
    for _ in 0..<20 {
      let rate = [44_100, 48_000, 96_000].randomElement(using: &random) ?? 44_100
      let converter = StreamConverter(to: StreamFormat(sampleRate: rate, channels: 2))
      var (out, exact) = (0, 0.0)
      let count: (UnsafeBufferPointer<Float>) -> Void = { out += $0.count / 2 }
      for _ in 0..<30 {
        let from = [8_000, 22_050, 44_100, 48_000, 88_200].randomElement(using: &random) ?? 48_000
        let frames = Int.random(in: 1...5000, using: &random)
        var left = frames
        while left > 0 {
          let part = min(left, converter.step(Int.random(in: 1...3000, using: &random), rate: from))
          converter.conceal(part, rate: from, write: count)
          left -= part
        }
        exact += Double(frames) * Double(rate) / Double(from)
        // Where the run will end is known before it is drained.
        #expect(abs(Double(out) + Double(converter.joint.frames) - exact) <= 1)
      }
      converter.drain(write: count)
      #expect(abs(Double(out) - exact) <= 1)
    }
  }
}
