import AttaccaCore
import POSIXKit

/// What the output asks for and reports: frames, and what was heard of them.
extension Renderer {
  func render(into buffer: UnsafeMutableBufferPointer<Float>, from start: Int64, count: Int) -> Int {
    guard let base = buffer.baseAddress else { return 0 }
    let (done, wake, hasJumped) = state.withLock { state -> (Int, Bool, Bool) in
      let jumps = state.plan.passage?.jumps.count
      let done = fill(base, &state, from: start, count: min(count, buffer.count / format.channels), heard: true)
      state.isShort = done < count
      let hasJumped = state.plan.passage?.jumps.count != jumps
      guard let program = state.program, !program.isFinished else { return (done, false, hasJumped) }
      return (done, state.ahead(program, rendered: state.rendered, format) < lowWater, hasJumped)
    }
    if hasJumped { updateMarker() }
    if wake { wakeDecoder() }
    return done
  }

  func didHear(upTo frame: Int64) {
    state.withLock { state in
      guard let place = state.place(at: frame) else { return }
      state.unheard = max(state.unheard, frame)
      // What was just heard is kept a moment longer, to warm up the filters of a new chain.
      if let needed = state.program?.firstNeeded(at: place.index) {
        state.program?.raiseFloor(to: needed - SoundChain.warmUp)
      }
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

  func reached(_ frame: Int64, hostTime: Duration) {
    let (events, ended) = state.withLock { state -> ([EngineEvent], Bool) in
      var events: [EngineEvent] = []
      guard let program = state.program, let place = state.place(at: frame) else { return ([], false) }
      let due = state.landings.filter { $0.frame <= frame }
      state.landings.removeAll { $0.frame <= frame }
      for waiting in due {
        let time = hostTime - format.duration(of: frame - waiting.frame)
        events.append(
          tell(
            waiting, &state,
            PositionAnchor(position: waiting.position, hostTime: time, rate: state.held == nil ? place.speed : 0)))
      }
      if state.held == nil {
        events += advance(&state, along: state.plan.passage, to: frame, at: place.index, hostTime: hostTime)
      }
      events += tellNotes(&state, upTo: place.index)
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

  func fill(
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
      case .program(let passage):
        if frame < state.since {
          // Of the program before, which is gone: only a lost server asks for it.
          part = Int(min(Int64(part), state.since - frame))
          target.update(repeating: 0, count: part * channels)
          break
        }
        // Dry, the stream goes on only by an edit: frames that came since are not for the time that has gone by.
        guard state.dryAt == nil else { return done }
        part = fillProgram(target, &state, passage, from: frame, count: part)
        guard part > 0 else { return done }
        if heard { noteRendered(&state, upTo: frame + Int64(part)) }
      case .block(let samples, _):
        let offset = Int(frame - span.start) * channels
        part = min(part, samples.count / channels - Int(frame - span.start))
        guard part > 0 else { return done }
        samples.withUnsafeBufferPointer { block in
          if let from = block.baseAddress { target.update(from: from + offset, count: part * channels) }
        }
      case .silence(_, let length):
        // Silence without end is time going by, of which a file has none.
        if length == nil, output.isOffline { return done }
        target.update(repeating: 0, count: part * channels)
      }
      // Fades are kept without gain, so that a change of gain goes through them evenly.
      if heard, !state.sound.isBitPerfect {
        state.gain.apply(to: target, frame: frame, count: part, channels: channels)
      }
      done += part
    }
    return done
  }

  /// Stores up to `count` frames of the program, as it passes, and answers how many there are now.
  private func fillProgram(
    _ target: UnsafeMutablePointer<Float>, _ state: inout State, _ passage: Passage, from frame: Int64, count: Int
  ) -> Int {
    guard let program = state.program else { return 0 }
    if let chain = state.chain {
      if frame >= chain.start {
        make(with: chain, &state, upTo: frame + Int64(count))
        let part = min(count, Int(chain.end - frame))
        if part > 0 { chain.read(into: target, from: frame, count: part) }
        return part
      }
      // Made by a chain that is gone; only a lost server asks for it.
      let part = min(count, Int(chain.start - frame))
      target.update(repeating: 0, count: part * format.channels)
      return part
    }
    let index = passage.index(at: frame)
    var part = min(count, Int(program.end - index))
    guard part > 0 else { return 0 }
    if index >= program.floor {
      program.ring.read(into: target, from: index, count: part)
    } else {
      // Given up already; again only a lost server.
      part = min(part, Int(program.floor - index))
      target.update(repeating: 0, count: part * format.channels)
    }
    return part
  }

  private func make(with chain: SoundChain, _ state: inout State, upTo frame: Int64) {
    guard frame > chain.end, var program = state.program else { return }
    // Moved out and back, so that it is changed in place.
    state.program = nil
    var jumps: [Passage.Jump] = []
    let passage = state.plan.passage
    chain.make(
      upTo: frame, above: state.unheard, from: &program,
      passage: {
        var passage = passage
        for jump in jumps { passage?.add(jump) }
        return passage
      }, didJump: { jumps.append($0) })
    state.program = program
    for jump in jumps {
      state.plan.add(jump)
      let index = jump.at + jump.by
      // At a joint the next item's beginning tells the position anyway.
      guard program.segment(at: index).start != index, let frame = state.plan.frame(ofProgram: index) else { continue }
      wait(for: .resumed, &state, at: frame, index: index)
    }
  }

  /// Notes that the output was given everything up to `frame`.
  func noteRendered(_ state: inout State, upTo frame: Int64) {
    guard let program = state.program, let place = state.plan.place(at: frame) else { return }
    state.rendered = max(state.rendered, min(place.index, program.end))
  }

  /// The events of every joint between the load heard last and program index `index`, which is output frame `frame` and
  /// heard at `hostTime`.
  func advance(
    _ state: inout State, along passage: Passage?, to frame: Int64, at index: Int64, hostTime: Duration
  ) -> [EngineEvent] {
    guard let program = state.program, var heard = state.heard,
      let number = program.segments.lastIndex(where: { $0.generation == heard })
    else { return [] }
    var events: [EngineEvent] = []
    for segment in program.segments[(number + 1)...] where segment.start <= index {
      // The joint may have been heard some frames earlier.
      let passed = passage.map { max(0, frame - $0.frame(of: segment.start)) } ?? 0
      let time = hostTime - format.duration(of: passed)
      let rate = state.held == nil ? passage?.rate.value ?? 1 : 0
      events.append(
        .advanced(
          from: heard, to: segment.generation,
          PositionAnchor(position: segment.media.duration, hostTime: time, rate: rate)))
      heard = segment.generation
    }
    state.heard = heard
    state.program?.forget(before: heard)
    return events
  }

  /// The events of tags that hold from program index `index`, or one before it, on.
  func tellNotes(_ state: inout State, upTo index: Int64) -> [EngineEvent] {
    guard state.program?.notes.isEmpty == false else { return [] }
    return (state.program?.takeNotes(upTo: index) ?? []).map { .metadataChanged($0.generation, $0.metadata) }
  }

  func tell(_ waiting: Waiting, _ state: inout State, _ anchor: PositionAnchor) -> EngineEvent {
    switch waiting.landing {
    case .loaded, .resumed:
      if waiting.landing == .loaded { state.heard = waiting.generation }
      return .anchored(waiting.generation, anchor)
    case .seek(let id):
      state.heard = waiting.generation
      return .seekLanded(id, waiting.generation, anchor)
    }
  }

  func anchor(_ program: Program, _ place: RenderPlan.Place, hostTime: Duration) -> PositionAnchor {
    PositionAnchor(position: program.position(at: place.index), hostTime: hostTime, rate: place.speed)
  }

  func hostTime(_ frame: Int64, _ point: EditPoint) -> Duration {
    point.hostTime + format.duration(of: frame - point.heard)
  }

  /// Tells the output the next frame worth reporting: a landing, a joint, or the end.
  func updateMarker() {
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

  func nextMarker(_ state: State) -> Int64? {
    guard state.held == nil, let program = state.program else { return nil }
    var frames = state.landings.map(\.frame)
    if let note = program.notes.first, let frame = state.plan.frame(ofProgram: note.index) { frames.append(frame) }
    if let heard = state.heard, let number = program.segments.lastIndex(where: { $0.generation == heard }) {
      let next = number + 1 < program.segments.count ? program.segments[number + 1].start : nil
      let boundary = next ?? (program.isFinished && !state.hasEnded ? program.end : nil)
      // Dry, it is not known when what follows will be heard.
      if let boundary, state.dryAt == nil || boundary <= state.rendered,
        let frame = state.plan.frame(ofProgram: boundary)
      {
        frames.append(frame)
      }
    }
    return frames.min()
  }
}
