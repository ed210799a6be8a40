import AttaccaCore
import POSIXKit

/// What the output plays and where it stands: program, plan and gain behind one lock, held only to copy or to count.
///
/// The engine's thread writes decoded frames and asks for edits; the output's thread renders, carries edits out and
/// reports what was heard. All events about what is heard come from here.
final class Renderer: RenderSource {
  /// Why an edit's first new frame is waited for.
  enum Landing: Equatable {
    case loaded
    case seek(SeekID)
    case resumed
  }

  /// Something to be told when its frame is heard.
  struct Waiting {
    var frame: Int64
    var landing: Landing
    var generation: Generation
    var position: Duration
  }

  struct State {
    var program: Program?
    /// What will be heard once the output has carried out its edit; the decoder already adds to it.
    var next: (program: Program, number: UInt64)?
    var lastInstall: UInt64 = 0
    /// The output frame from which on the plan is about `program`; what is before is of another one, and only leaves.
    var since: Int64 = 0
    var plan = RenderPlan()
    /// What makes the program's frames into the stream's; `nil` while they are the same.
    var chain: SoundChain?
    /// What the last chain learnt of the voice.
    var leveler: Leveler?
    /// What the chain made and was not heard yet.
    var made: FrameRing?
    /// The first output frame that may still be asked for.
    var unheard: Int64 = 0
    var rate: Rate
    var sound: SoundSettings
    var gain: GainRamp
    /// What the player wants.
    var isRunning = false
    /// The program index at which sound stands; `nil` while it runs.
    var held: Int64? = 0
    /// A newer load is on its way: this program will not be resumed.
    var isSuperseded = false
    /// The load now heard.
    var heard: Generation?
    var landings: [Waiting] = []
    /// The output frame from which on a held stream is silent: the end of the fade.
    var silentFrom: Int64 = 0
    /// The marker last asked for, and how often one was.
    var marker: Int64?
    var markerNumber: UInt64 = 0
    /// The output asked for more than was ready.
    var isShort = false
    /// The output frame at which sound ran dry, until it goes on: a stall.
    var dryAt: Int64?
    var hasEnded = false
    /// The program index up to which frames were given to the output.
    var rendered: Int64 = 0
    var lostAt: Int64?

    /// What of the program is heard at an output frame; `nil` before it began. Where the output ran dry the program stands
    /// still, though frames go by.
    func place(at frame: Int64) -> RenderPlan.Place? {
      guard frame >= since, var place = plan.place(at: frame) else { return nil }
      if place.advances { place.index = min(place.index, rendered) }
      return place
    }
  }

  /// What became of taking back what follows a load.
  enum Truncation: Sendable {
    /// It is being heard already.
    case late
    /// Nothing of it was in the program.
    case nothing
    /// It began at this program index, the resampler's run being `carry` (2⁻³² frames) beyond.
    case taken(from: Int64, carry: Int64)
  }

  /// What the decoder needs to know.
  struct Demand {
    /// Decoded frames that can still be made into sound, in output frames.
    var ahead: Int
    /// Frames that fit into the ring now.
    var room: Int
    /// The output waits for frames, sounding its last or (when dry) silent already.
    var isShort: Bool
    var isDry: Bool
  }

  let format: StreamFormat
  let output: any AudioOutput
  let state: Monitor<State>
  let emit: @Sendable (EngineEvent) -> Void
  let wakeDecoder: @Sendable () -> Void
  /// Frames of a fade: 10 ms, short enough to act at once, long enough not to click.
  let fade: Int
  /// Below this many decoded frames ahead, the decoder is woken.
  let lowWater: Int

  init(
    format: StreamFormat, output: any AudioOutput, gain: Float, rate: Double, sound: SoundSettings, lowWater: Int,
    emit: @escaping @Sendable (EngineEvent) -> Void, wakeDecoder: @escaping @Sendable () -> Void
  ) {
    self.format = format
    self.output = output
    self.emit = emit
    self.wakeDecoder = wakeDecoder
    self.lowWater = lowWater
    fade = max(1, format.sampleRate / 100)
    state = Monitor(State(rate: Rate(rate), sound: sound, gain: GainRamp(gain)))
  }

  /// Frames a program's ring should hold, and how many should be in it before it is begun.
  var ringNeeds: (capacity: Int, start: Int) {
    state.withLock { state in
      let rate = max(1, state.playingRate.value)
      let overlap = state.crossfade(format.sampleRate)
      let seconds = Int(8 * Double(format.sampleRate) * rate)
      var latency = state.needsChain ? Int(Double(format.sampleRate / 5) * rate) : 0
      // Whether a silence is a long one is known after 0.6 s.
      if state.sound.skipsSilence { latency += format.sampleRate }
      return (seconds + 2 * Int(overlap), 4096 + latency)
    }
  }

  /// Frames needed and room for them in the program being decoded.
  func demand() -> Demand? {
    state.withLock { state in
      if let next = state.next?.program {
        return Demand(ahead: state.ahead(next, rendered: 0, format), room: next.room, isShort: false, isDry: false)
      }
      return state.program.map {
        Demand(
          ahead: state.ahead($0, rendered: state.rendered, format), room: $0.room, isShort: state.isShort,
          isDry: state.dryAt != nil)
      }
    }
  }

  /// The load now heard.
  var heardGeneration: Generation? { state.withLock { $0.heard } }

  /// Changes the program being decoded (the decoder is its only writer).
  @discardableResult
  func withProgram<Result>(_ body: (inout Program) -> Result) -> Result? {
    let (result, moved) = state.withLock { state -> (Result?, Bool) in
      if state.next != nil { return (state.withNext(body), false) }
      guard state.program != nil else { return (nil, false) }
      let finished = state.program?.isFinished
      let count = state.program.map { $0.segments.count + $0.notes.count }
      let result = state.withProgram(body)
      let now = state.program.map { $0.segments.count + $0.notes.count }
      return (result, state.program?.isFinished != finished || now != count)
    }
    if moved { updateMarker() }
    return result
  }

  /// Writes frames at the program's end and makes them readable.
  func append(_ frames: UnsafeBufferPointer<Float>, to ring: FrameRing, at end: Int64) {
    // Outside the lock: nobody reads at or beyond `end`.
    ring.write(frames, at: end)
    state.withLock { state in
      if state.next != nil {
        state.next?.program.publish(frames.count / ring.channels)
      } else {
        state.program?.publish(frames.count / ring.channels)
      }
    }
  }

  /// A newer load is on its way.
  func supersede() { state.withLock { $0.isSuperseded = true } }
}

extension Renderer.State {
  /// Whether something lies between program and stream.
  var needsChain: Bool { playingRate != .one || sound.needsChain }

  /// How fast the program passes: a bit-perfect one only as it is.
  var playingRate: Rate { sound.isBitPerfect ? .one : rate }

  /// The present chain's time is over; what it learnt stays.
  mutating func dropChain() {
    if let chain { leveler = chain.leveler }
    chain = nil
  }

  /// Frames that two items may sound together.
  func crossfade(_ sampleRate: Int) -> Int64 { sound.isBitPerfect ? 0 : sound.crossfade.frames(at: sampleRate) }

  /// How many output frames the decoded frames behind `rendered` will make.
  func ahead(_ program: Program, rendered: Int64, _ format: StreamFormat) -> Int {
    let frames = program.end - max(rendered, program.floor)
    let search = sound.skipsSilence ? Int64(format.sampleRate) : 0
    let held = program.isFinished ? 0 : crossfade(format.sampleRate) + search
    let count = Double(max(0, frames - held)) / playingRate.value
    return Int(count)
  }

  mutating func withProgram<Result>(_ body: (inout Program) -> Result) -> Result? {
    guard var program else { return nil }
    // Moved out and back, so that the program is changed in place.
    self.program = nil
    let result = body(&program)
    self.program = program
    return result
  }

  mutating func withNext<Result>(_ body: (inout Program) -> Result) -> Result? {
    guard var next else { return nil }
    self.next = nil
    let result = body(&next.program)
    self.next = next
    return result
  }
}
