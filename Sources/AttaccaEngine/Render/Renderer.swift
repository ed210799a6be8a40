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
  fileprivate struct Waiting {
    var frame: Int64
    var landing: Landing
    var generation: Generation
    var position: Duration
  }

  fileprivate struct State {
    var program: Program?
    /// What will be heard once the output has carried out its edit; the decoder already adds to it.
    var next: (program: Program, number: UInt64)?
    var lastInstall: UInt64 = 0
    var plan = RenderPlan()
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

    /// What is heard at an output frame. Where the output ran dry the program stands still, though frames go by.
    func place(at frame: Int64) -> RenderPlan.Place? {
      guard var place = plan.place(at: frame) else { return nil }
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
    /// Decoded frames not yet given to the output.
    var ahead: Int
    /// Frames that fit into the ring now.
    var room: Int
    /// The output waits for frames, sounding its last or (when dry) silent already.
    var isShort: Bool
    var isDry: Bool
  }

  let format: StreamFormat
  let output: any AudioOutput
  private let state: Monitor<State>
  private let emit: @Sendable (EngineEvent) -> Void
  private let wakeDecoder: @Sendable () -> Void
  /// Frames of a fade: 10 ms, short enough to act at once, long enough not to click.
  private let fade: Int
  /// Below this many decoded frames ahead, the decoder is woken.
  private let lowWater: Int

  init(
    format: StreamFormat, output: any AudioOutput, gain: Float, lowWater: Int,
    emit: @escaping @Sendable (EngineEvent) -> Void, wakeDecoder: @escaping @Sendable () -> Void
  ) {
    self.format = format
    self.output = output
    self.emit = emit
    self.wakeDecoder = wakeDecoder
    self.lowWater = lowWater
    fade = max(1, format.sampleRate / 100)
    state = Monitor(State(gain: GainRamp(gain)))
  }

  // MARK: The decoder's side

  /// Frames needed and room for them in the program being decoded.
  func demand() -> Demand? {
    state.withLock { state in
      if let next = state.next?.program {
        return Demand(ahead: Int(next.end), room: next.room, isShort: false, isDry: false)
      }
      return state.program.map {
        Demand(
          ahead: Int($0.end - max(state.rendered, $0.floor)), room: $0.room, isShort: state.isShort,
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
      let count = state.program?.segments.count
      let result = state.withProgram(body)
      return (result, state.program?.isFinished != finished || state.program?.segments.count != count)
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

  /// Makes `program` what is heard, from its beginning, as soon as the output can. A later program takes its place if it
  /// comes before that.
  func install(_ program: Program, as landing: Landing) {
    let number = state.withLock { state in
      state.lastInstall += 1
      state.next = (program, state.lastInstall)
      if landing == .loaded { state.isSuperseded = false }
      return state.lastInstall
    }
    output.edit { [self] point in
      let (transport, events) = state.withLock { state -> (OutputTransport, [EngineEvent]) in
        guard let next = state.next, next.number == number else { return (transportNow(state, point), []) }
        let old = sounding(&state, from: point.earliest)
        state.program = next.program
        state.next = nil
        state.rendered = 0
        state.hasEnded = false
        state.isShort = false
        state.dryAt = nil
        state.landings = []
        guard state.isRunning else {
          var contents: [RenderPlan.Content] = [.silence(position: 0)]
          if var old {
            if state.held == nil { fadeOut(&old) }
            state.silentFrom = point.earliest + Int64(fade)
            contents.insert(.block(old, position: 0, advances: false), at: 0)
          }
          state.held = 0
          state.plan.replace(from: point.earliest, with: contents, channels: format.channels)
          return (transportNow(state, point), land(landing, &state, point))
        }
        state.held = nil
        begin(&state, at: point.earliest, index: 0, over: old)
        wait(for: landing, &state, at: point.earliest, index: 0)
        return (.running, [])
      }
      events.forEach(emit)
      updateMarker()
      return transport
    }
  }

  /// Fresh frames are there after sound ran dry: it goes on as soon as the output can, after silence that is not content.
  func recoverFromDry() {
    output.edit { [self] point in
      let transport = state.withLock { state -> OutputTransport in
        guard let dry = state.dryAt, state.held == nil, let place = state.place(at: dry) else {
          return transportNow(state, point)
        }
        state.dryAt = nil
        let frame = max(dry, point.earliest)
        state.plan.replace(
          from: dry,
          with: (frame > dry ? [.silence(position: place.index, count: frame - dry)] : [])
            + [.program(from: place.index)],
          channels: format.channels)
        wait(for: .resumed, &state, at: frame, index: place.index)
        return .running
      }
      updateMarker()
      return transport
    }
  }

  /// Takes back what follows `generation`, unless it can no longer be kept from being heard. `completion` (on the output's
  /// thread) gets what became of it.
  func truncate(after generation: Generation, completion: @escaping @Sendable (Truncation) -> Void) {
    output.edit { [self] point in
      let (transport, result) = state.withLock { state -> (OutputTransport, Truncation) in
        guard let program = state.program,
          let index = program.segments.lastIndex(where: { $0.generation == generation })
        else { return (transportNow(state, point), .late) }
        guard index + 1 < program.segments.count else {
          state.program?.isFinished = false
          return (transportNow(state, point), .nothing)
        }
        let start = program.segments[index + 1].start
        let isHeard = state.held.map { $0 > start } ?? (state.place(at: point.earliest).map { $0.index > start } ?? false)
        if isHeard { return (transportNow(state, point), .late) }
        let first = state.program?.truncate(after: generation)
        state.rendered = min(state.rendered, start)
        return (transportNow(state, point), .taken(from: start, carry: first?.carry ?? 0))
      }
      updateMarker()
      completion(result)
      return transport
    }
  }

  // MARK: The player's side

  /// Lets sound run or holds it, with a fade either way.
  func setRunning(_ running: Bool) {
    state.withLock { $0.isRunning = running }
    output.edit { [self] point in
      let (transport, events) = state.withLock { state -> (OutputTransport, [EngineEvent]) in
        // A later command may have changed its mind already.
        state.isRunning ? resume(&state, point) : hold(&state, point)
      }
      events.forEach(emit)
      updateMarker()
      return transport
    }
  }

  /// Changes the gain without a click.
  func setGain(_ gain: Float) {
    output.edit { [self] point in
      state.withLock { state in
        state.gain.go(to: gain, at: point.earliest, over: Int64(fade))
        return transportNow(state, point)
      }
    }
  }

  // MARK: The output's side

  func render(into buffer: UnsafeMutableBufferPointer<Float>, from start: Int64, count: Int) -> Int {
    guard let base = buffer.baseAddress else { return 0 }
    let (done, wake) = state.withLock { state -> (Int, Bool) in
      let done = fill(base, &state, from: start, count: min(count, buffer.count / format.channels), heard: true)
      state.isShort = done < count
      guard let program = state.program, !program.isFinished else { return (done, false) }
      return (done, Int(program.end - max(state.rendered, program.floor)) < lowWater)
    }
    if wake { wakeDecoder() }
    return done
  }

  func didHear(upTo frame: Int64) {
    state.withLock { state in
      guard let place = state.place(at: frame) else { return }
      state.program?.raiseFloor(to: place.index)
      // A marker may be reported later than what was heard after it.
      state.plan.forget(before: min(frame, state.marker ?? .max, state.lostAt ?? .max))
    }
  }

  /// Takes the output's reports.
  func receive(_ event: OutputEvent) {
    switch event {
    case .opened(let info): emit(.outputOpened(info))
    case .failed(let error): emit(.outputFailed(error))
    case .starved(let frame):
      let event = state.withLock { state -> EngineEvent? in
        guard state.held == nil, let program = state.program, let place = state.place(at: frame),
          !program.isFinished || place.index < program.end
        else { return nil }
        state.dryAt = frame
        return state.heard.map {
          .stalled($0, PositionAnchor(position: program.position(at: place.index), hostTime: Clocks.host, rate: 0))
        }
      }
      if let event { emit(event) }
      updateMarker()
      wakeDecoder()
    case .reached(let frame, let hostTime): reached(frame, hostTime: hostTime)
    case .measured(let heard, let hostTime):
      let event = state.withLock { state -> EngineEvent? in
        guard state.held == nil, state.dryAt == nil, let generation = state.heard, state.landings.isEmpty,
          let place = state.place(at: heard), let program = state.program,
          program.segment(at: place.index).generation == generation
        else { return nil }
        return .anchored(generation, anchor(program, place, hostTime: hostTime))
      }
      if let event { emit(event) }
    case .lost(let frame):
      let event = state.withLock { state -> EngineEvent in
        state.lostAt = frame
        guard let program = state.program, let place = state.place(at: frame), let heard = state.heard else {
          return .outputLost(nil, nil)
        }
        return .outputLost(
          heard, PositionAnchor(position: program.position(at: place.index), hostTime: Clocks.host, rate: 0))
      }
      emit(event)
    case .restored:
      state.withLock { state in
        if state.held == nil, let frame = state.lostAt, let place = state.place(at: frame) {
          wait(for: .resumed, &state, at: frame, index: place.index)
        }
        state.lostAt = nil
      }
      emit(.outputRestored)
      updateMarker()
    }
  }

  private func reached(_ frame: Int64, hostTime: Duration) {
    let (events, ended) = state.withLock { state -> ([EngineEvent], Bool) in
      var events: [EngineEvent] = []
      guard let program = state.program, let place = state.place(at: frame) else { return ([], false) }
      let due = state.landings.filter { $0.frame <= frame }
      state.landings.removeAll { $0.frame <= frame }
      for waiting in due {
        let time = hostTime - format.duration(of: frame - waiting.frame)
        events.append(tell(waiting, &state, PositionAnchor(position: waiting.position, hostTime: time, rate: 1)))
      }
      if state.held == nil { events += advance(&state, to: place.index, hostTime: hostTime) }
      let ended = program.isFinished && place.index >= program.end && !state.hasEnded && state.held == nil
      if ended, let last = program.segments.last {
        state.hasEnded = true
        state.held = program.end
        state.silentFrom = frame
        state.plan.replace(
          from: frame, with: [.silence(position: program.end)], channels: format.channels)
        events.append(
          last.failure.map { .failed(last.generation, $0) }
            ?? .ended(last.generation, at: program.position(at: program.end)))
      }
      return (events, ended)
    }
    if ended {
      output.edit { [self] point in state.withLock { transportNow($0, point) } }
    }
    events.forEach(emit)
    updateMarker()
  }

  // MARK: With the lock held

  private func transportNow(_ state: State, _ point: EditPoint) -> OutputTransport {
    state.held == nil && state.program != nil ? .running : .held(after: max(point.earliest, state.silentFrom))
  }

  /// Begins to sound at a program index: at an item's own beginning untouched, elsewhere with a fade; what sounded until
  /// now fades out over it.
  private func begin(_ state: inout State, at frame: Int64, index: Int64, over old: [Float]?) {
    guard let program = state.program else { return }
    // A file is written as it is asked for, from the very frame.
    let isStart = output.isOffline || program.segments.contains { $0.start == index && $0.media.frames == 0 }
    let count = Int(min(Int64(fade), max(0, program.end - index)))
    if count == 0, var old {
      // Nothing is there to fade to (the end): what sounded must not break off.
      fadeOut(&old)
      state.plan.replace(
        from: frame, with: [.block(old, position: index, advances: false), .program(from: index)],
        channels: format.channels)
      return
    }
    guard old != nil || !isStart, count > 0 else {
      state.plan.replace(from: frame, with: [.program(from: index)], channels: format.channels)
      return
    }
    var block = [Float](repeating: 0, count: count * format.channels)
    block.withUnsafeMutableBufferPointer { samples in
      guard let base = samples.baseAddress else { return }
      program.ring.read(into: base, from: index, count: count)
      for sample in samples.indices {
        let place = Float(sample / format.channels + 1) / Float(count + 1)
        if !isStart { samples[sample] *= place }
        if let old, sample < old.count { samples[sample] += old[sample] * (1 - place) }
      }
    }
    state.rendered = max(state.rendered, index + Int64(count))
    state.plan.replace(
      from: frame,
      with: [.block(block, position: index, advances: true), .program(from: index + Int64(count))],
      channels: format.channels)
  }

  private func resume(_ state: inout State, _ point: EditPoint) -> (OutputTransport, [EngineEvent]) {
    // A program on its way will begin by itself.
    guard let index = state.held, let program = state.program, state.next == nil, !state.isSuperseded, !state.hasEnded
    else { return (transportNow(state, point), []) }
    let old = sounding(&state, from: point.earliest)
    state.held = nil
    state.dryAt = nil
    state.rendered = index
    let start = max(index, program.floor)
    begin(&state, at: point.earliest, index: start, over: old)
    wait(for: .resumed, &state, at: point.earliest, index: start)
    return (.running, [])
  }

  private func hold(_ state: inout State, _ point: EditPoint) -> (OutputTransport, [EngineEvent]) {
    guard state.held == nil, let program = state.program, let place = state.place(at: point.earliest) else {
      return (transportNow(state, point), [])
    }
    var block = mix(&state, from: point.earliest, count: fade)
    fadeOut(&block)
    let index = min(place.index, program.end)
    state.held = index
    state.dryAt = nil
    state.silentFrom = point.earliest + Int64(fade)
    state.plan.replace(
      from: point.earliest,
      with: [.block(block, position: index, advances: false), .silence(position: index)], channels: format.channels)
    let due = state.landings
    state.landings = []
    var events = due.map {
      tell($0, &state, PositionAnchor(position: $0.position, hostTime: hostTime(point.earliest, point), rate: 0))
    }
    events += advance(&state, to: index, hostTime: hostTime(point.earliest, point))
    if let heard = state.heard {
      events.append(
        .anchored(
          heard, PositionAnchor(position: program.position(at: index), hostTime: hostTime(point.earliest, point), rate: 0)))
    }
    return (transportNow(state, point), events)
  }

  /// What sounds from `frame` on if nothing is changed: a fade's worth of it, before gain; `nil` when that is silence.
  private func sounding(_ state: inout State, from frame: Int64) -> [Float]? {
    state.program != nil && (state.held == nil || frame < state.silentFrom) ? mix(&state, from: frame, count: fade) : nil
  }

  private func fadeOut(_ block: inout [Float]) {
    let count = block.count / format.channels
    for sample in block.indices { block[sample] *= 1 - Float(sample / format.channels + 1) / Float(count) }
  }

  /// What the plan has at `frame`, as samples before gain; silence where nothing is ready.
  private func mix(_ state: inout State, from frame: Int64, count: Int) -> [Float] {
    var samples = [Float](repeating: 0, count: count * format.channels)
    samples.withUnsafeMutableBufferPointer { buffer in
      if let base = buffer.baseAddress { _ = fill(base, &state, from: frame, count: count, heard: false) }
    }
    return samples
  }

  private func fill(
    _ base: UnsafeMutablePointer<Float>, _ state: inout State, from start: Int64, count: Int, heard: Bool
  ) -> Int {
    let channels = format.channels
    let spans = state.plan.spans
    var done = 0
    while done < count {
      let frame = start + Int64(done)
      guard let number = spans.lastIndex(where: { $0.start <= frame }) else { break }
      let span = spans[number]
      let until = number + 1 < spans.count ? spans[number + 1].start : .max
      var part = Int(min(Int64(count - done), until - frame))
      let target = base + done * channels
      switch span.content {
      case .program(let from):
        // Dry, the stream goes on only by an edit: frames that came since are not for the time that has gone by.
        guard let program = state.program, state.dryAt == nil else { return done }
        let index = from + frame - span.start
        part = min(part, Int(program.end - index))
        guard part > 0 else { return done }
        // Only a lost server asks for frames that were already given up.
        if index >= program.floor {
          program.ring.read(into: target, from: index, count: part)
        } else {
          part = min(part, Int(program.floor - index))
          target.update(repeating: 0, count: part * channels)
        }
        if heard { state.rendered = max(state.rendered, index + Int64(part)) }
      case .block(let samples, _, _):
        let offset = Int(frame - span.start) * channels
        part = min(part, samples.count / channels - Int(frame - span.start))
        guard part > 0 else { return done }
        samples.withUnsafeBufferPointer { block in
          if let from = block.baseAddress { target.update(from: from + offset, count: part * channels) }
        }
      case .silence:
        target.update(repeating: 0, count: part * channels)
      }
      // Fades are kept without gain, so that a change of gain goes through them evenly.
      if heard { state.gain.apply(to: target, frame: frame, count: part, channels: channels) }
      done += part
    }
    return done
  }

  /// The events of every joint between the load heard last and program index `index`, heard at `hostTime`.
  private func advance(_ state: inout State, to index: Int64, hostTime: Duration) -> [EngineEvent] {
    guard let program = state.program, var heard = state.heard,
      let number = program.segments.lastIndex(where: { $0.generation == heard })
    else { return [] }
    var events: [EngineEvent] = []
    for segment in program.segments[(number + 1)...] where segment.start <= index {
      // The host time belongs to `index`; the joint was heard earlier by the frames between.
      let time = hostTime - format.duration(of: index - segment.start)
      events.append(
        .advanced(
          from: heard, to: segment.generation,
          PositionAnchor(position: segment.media.duration, hostTime: time, rate: state.held == nil ? 1 : 0)))
      heard = segment.generation
    }
    state.heard = heard
    state.program?.forget(before: heard)
    return events
  }

  /// Notes what is to be told when output frame `frame` is heard, where the present program stands at `index`.
  private func wait(for landing: Landing, _ state: inout State, at frame: Int64, index: Int64) {
    if let program = state.program { state.landings.append(waiting(for: landing, program, at: frame, index: index)) }
  }

  private func waiting(for landing: Landing, _ program: Program, at frame: Int64, index: Int64) -> Waiting {
    // A seek to the very end lands there, although the next item begins at the same frame.
    let segment = landing == .resumed ? program.segment(at: index) : program.segments[0]
    return Waiting(
      frame: frame, landing: landing, generation: segment.generation, position: program.position(at: index, in: segment))
  }

  /// Tells at once of a program that begins held.
  private func land(_ landing: Landing, _ state: inout State, _ point: EditPoint) -> [EngineEvent] {
    guard let program = state.program else { return [] }
    let waiting = waiting(for: landing, program, at: point.earliest, index: 0)
    return [
      tell(
        waiting, &state,
        PositionAnchor(position: waiting.position, hostTime: hostTime(point.earliest, point), rate: 0))
    ]
  }

  private func tell(_ waiting: Waiting, _ state: inout State, _ anchor: PositionAnchor) -> EngineEvent {
    switch waiting.landing {
    case .loaded, .resumed:
      if waiting.landing == .loaded { state.heard = waiting.generation }
      return .anchored(waiting.generation, anchor)
    case .seek(let id):
      state.heard = waiting.generation
      return .seekLanded(id, waiting.generation, anchor)
    }
  }

  private func anchor(_ program: Program, _ place: RenderPlan.Place, hostTime: Duration) -> PositionAnchor {
    PositionAnchor(position: program.position(at: place.index), hostTime: hostTime, rate: place.advances ? 1 : 0)
  }

  private func hostTime(_ frame: Int64, _ point: EditPoint) -> Duration {
    point.hostTime + format.duration(of: frame - point.heard)
  }

  /// Tells the output the next frame worth reporting: a landing, a joint, or the end.
  private func updateMarker() {
    while true {
      let (marker, number) = state.withLock { state -> (Int64?, UInt64) in
        state.marker = nextMarker(state)
        state.markerNumber += 1
        return (state.marker, state.markerNumber)
      }
      output.setMarker(marker)
      // Two threads may come here at once; the last word to the output has to be the newest.
      if state.withLock({ $0.markerNumber == number }) { return }
    }
  }

  private func nextMarker(_ state: State) -> Int64? {
    guard state.held == nil, let program = state.program else { return nil }
    var frames = state.landings.map(\.frame)
    if let heard = state.heard, let number = program.segments.lastIndex(where: { $0.generation == heard }) {
      let next = number + 1 < program.segments.count ? program.segments[number + 1].start : nil
      let boundary = next ?? (program.isFinished && !state.hasEnded ? program.end : nil)
      // Dry, it is not known when what follows will be heard.
      if let boundary, state.dryAt == nil || boundary <= state.rendered, let frame = state.plan.frame(ofProgram: boundary) {
        frames.append(frame)
      }
    }
    return frames.min()
  }
}

extension Renderer.State {
  fileprivate mutating func withProgram<Result>(_ body: (inout Program) -> Result) -> Result? {
    guard var program else { return nil }
    // Moved out and back, so that the program is changed in place.
    self.program = nil
    let result = body(&program)
    self.program = program
    return result
  }

  fileprivate mutating func withNext<Result>(_ body: (inout Program) -> Result) -> Result? {
    guard var next else { return nil }
    self.next = nil
    let result = body(&next.program)
    self.next = next
    return result
  }
}
