import AttaccaCore
import POSIXKit

/// What the output asks for and reports: frames, and what was heard of them.
extension Renderer {
  func render(into buffer: UnsafeMutableBufferPointer<Float>, from start: Int64, count: Int) -> Int {
    guard let base = buffer.baseAddress else { return 0 }
    let (done, wake) = state.withLock { state -> (Int, Bool) in
      let done = fill(base, &state, from: start, count: min(count, buffer.count / format.channels), marking: true)
      state.isShort = done < count
      guard let program = state.program, !program.isFinished else { return (done, false) }
      return (done, Int(program.end - max(state.rendered, program.floor)) < lowWater)
    }
    if wake { wakeDecoder() }
    return done
  }

  func didHear(upTo frame: Int64) {
    let events = state.withLock { state -> [EngineEvent] in
      guard let place = state.plan.place(at: frame) else { return [] }
      let events = advance(&state, to: place.index, hostTime: nil)
      state.program?.raiseFloor(to: place.index)
      state.plan.forget(before: frame)
      return events
    }
    events.forEach(emit)
  }

  /// Takes the output's reports.
  func receive(_ event: OutputEvent) {
    switch event {
    case .opened(let info): emit(.outputOpened(info))
    case .failed(let error): emit(.outputFailed(error))
    case .starved(let frame):
      let event = state.withLock { state -> EngineEvent? in
        guard state.held == nil, let program = state.program, !program.isFinished, let heard = state.heard,
          let place = state.plan.place(at: frame)
        else { return nil }
        state.dryAt = frame
        return .stalled(
          heard, PositionAnchor(position: program.position(at: place.index), hostTime: Clocks.host, rate: 0))
      }
      if let event { emit(event) }
      wakeDecoder()
    case .reached(let frame, let hostTime): reached(frame, hostTime: hostTime)
    case .measured(let heard, let hostTime):
      let event = state.withLock { state -> EngineEvent? in
        guard state.held == nil, state.dryAt == nil, let generation = state.heard, state.landings.isEmpty,
          let place = state.plan.place(at: heard), let program = state.program,
          program.segment(at: place.index).generation == generation
        else { return nil }
        return .anchored(generation, anchor(program, place, hostTime: hostTime))
      }
      if let event { emit(event) }
    case .lost(let frame):
      let event = state.withLock { state -> EngineEvent in
        state.lostAt = frame
        guard let program = state.program, let place = state.plan.place(at: frame), let heard = state.heard else {
          return .outputLost(nil, nil)
        }
        return .outputLost(
          heard, PositionAnchor(position: program.position(at: place.index), hostTime: Clocks.host, rate: 0))
      }
      emit(event)
    case .restored:
      state.withLock { state in
        if state.held == nil, let frame = state.lostAt { state.landings.append((frame, .resumed)) }
        state.lostAt = nil
      }
      emit(.outputRestored)
      updateMarker()
    }
  }

  func reached(_ frame: Int64, hostTime: Duration) {
    let (events, ended) = state.withLock { state -> ([EngineEvent], Bool) in
      var events: [EngineEvent] = []
      guard let program = state.program, let place = state.plan.place(at: frame) else { return ([], false) }
      let due = state.landings.filter { $0.frame <= frame }
      state.landings.removeAll { $0.frame <= frame }
      for entry in due {
        let at = state.plan.place(at: entry.frame) ?? place
        let time = hostTime - format.duration(of: frame - entry.frame)
        events += self.event(entry.landing, &state, program, anchor(program, at, hostTime: time))
      }
      if state.held == nil { events += advance(&state, to: place.index, hostTime: hostTime) }
      let ended = program.isFinished && place.index >= program.end && !state.hasEnded && state.held == nil
      if ended, let last = program.segments.last {
        state.hasEnded = true
        state.held = program.end
        state.plan.replace(
          from: frame, with: [.silence(position: program.end)], channels: format.channels)
        events.append(
          last.failure.map { .failed(last.generation, $0) }
            ?? .ended(last.generation, at: program.position(at: program.end)))
      }
      return (events, ended)
    }
    if ended { output.edit { .held(after: $0.heard) } }
    events.forEach(emit)
    updateMarker()
  }

  func fill(
    _ base: UnsafeMutablePointer<Float>, _ state: inout State, from start: Int64, count: Int, marking: Bool
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
        guard let program = state.program else { return done }
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
        state.gain.apply(to: target, frame: frame, count: part, channels: channels)
        if marking { state.rendered = max(state.rendered, index + Int64(part)) }
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
      done += part
    }
    return done
  }

  /// The events of every joint between the load heard last and program index `index`.
  func advance(_ state: inout State, to index: Int64, hostTime: Duration?) -> [EngineEvent] {
    guard let program = state.program, var heard = state.heard,
      let number = program.segments.lastIndex(where: { $0.generation == heard })
    else { return [] }
    var events: [EngineEvent] = []
    for segment in program.segments[(number + 1)...] where segment.start <= index {
      // The host time belongs to `index`; the joint was heard earlier by the frames between.
      let time = (hostTime ?? Clocks.host) - format.duration(of: index - segment.start)
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

  func land(
    _ landings: [Landing], _ state: inout State, index: Int64, _ point: EditPoint, rate: Double
  ) -> [EngineEvent] {
    guard let program = state.program else { return [] }
    let anchor = PositionAnchor(
      position: program.position(at: index), hostTime: hostTime(point.earliest, point), rate: rate)
    return landings.flatMap { event($0, &state, program, anchor) }
  }

  func event(
    _ landing: Landing, _ state: inout State, _ program: Program, _ anchor: PositionAnchor
  ) -> [EngineEvent] {
    let first = program.segments[0]
    switch landing {
    case .loaded:
      state.heard = first.generation
      return [.anchored(first.generation, anchor)]
    case .seek(let id):
      // A seek to the very end lands there, although the next item begins at the same frame.
      state.heard = first.generation
      var anchor = anchor
      anchor.position = first.media.duration
      return [.seekLanded(id, first.generation, anchor)]
    case .resumed:
      return state.heard.map { [.anchored($0, anchor)] } ?? []
    }
  }

  func anchor(_ program: Program, _ place: RenderPlan.Place, hostTime: Duration) -> PositionAnchor {
    PositionAnchor(position: program.position(at: place.index), hostTime: hostTime, rate: place.advances ? 1 : 0)
  }

  func hostTime(_ frame: Int64, _ point: EditPoint) -> Duration {
    point.hostTime + format.duration(of: frame - point.heard)
  }

  /// Tells the output the next frame worth reporting: a landing, a joint, or the end.
  ///
  /// Two threads may be here at once, each about to tell what was true when it looked. Whoever told last looks again.
  func updateMarker() {
    var told = nextMarker
    output.setMarker(told)
    while true {
      let marker = nextMarker
      guard marker != told else { return }
      told = marker
      output.setMarker(told)
    }
  }

  private var nextMarker: Int64? {
    state.withLock { state -> Int64? in
      guard state.held == nil, let program = state.program else { return nil }
      var frames = state.landings.map(\.frame)
      if let heard = state.heard, let number = program.segments.lastIndex(where: { $0.generation == heard }) {
        let next = number + 1 < program.segments.count ? program.segments[number + 1].start : nil
        let boundary = next ?? (program.isFinished && !state.hasEnded ? program.end : nil)
        if let frame = boundary.flatMap({ state.plan.frame(ofProgram: $0) }) { frames.append(frame) }
      }
      return frames.min()
    }
  }
}
