import AttaccaCore
import POSIXKit

/// Changes of what the output plays. Each runs on the output's thread, at the first frame that can still be changed.
extension Renderer {
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
        state.since = point.earliest
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
            contents.insert(.block(old, .stands(0)), at: 0)
          }
          state.dropChain()
          state.held = 0
          state.plan.replace(from: point.earliest, with: contents, channels: format.channels)
          let landed = land(landing, &state, point)
          return (transportNow(state, point), landed + tellNotes(&state, upTo: 0))
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
        pass(&state, at: frame, from: place.index)
        if frame > dry, let passage = state.plan.passage {
          state.plan.replace(
            from: dry, with: [.silence(position: place.index, count: frame - dry), .program(passage)],
            channels: format.channels)
        }
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
          let old = state.chain?.isFlushed == true ? soundingNow(&state, point) : nil
          state.program?.isFinished = false
          if let old { beginAgain(&state, old) }
          return (transportNow(state, point), .nothing)
        }
        let start = program.segments[index + 1].start
        let isHeard =
          state.held.map { $0 > start } ?? (state.place(at: point.earliest).map { $0.index > start } ?? false)
        if isHeard { return (transportNow(state, point), .late) }
        let old = state.chain.map { $0.consumed > start || $0.isFlushed } == true ? soundingNow(&state, point) : nil
        let first = state.program?.truncate(after: generation)
        state.rendered = min(state.rendered, start)
        if let old { beginAgain(&state, old) }
        return (transportNow(state, point), .taken(from: start, carry: first?.carry ?? 0))
      }
      updateMarker()
      completion(result)
      return transport
    }
  }

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

  /// Changes the rate at once.
  func setRate(_ rate: Double) { change { $0.rate = Rate(rate) } }

  /// Changes how everything sounds at once. Whether it is bit-perfect the output's format decides: a new one does.
  func setSound(_ sound: SoundSettings) { change { $0.sound = sound } }

  private func change(_ body: @escaping @Sendable (inout State) -> Void) {
    output.edit { [self] point in
      let transport = state.withLock { state -> OutputTransport in
        let old = state.dryAt == nil && !state.hasEnded ? soundingNow(&state, point) : nil
        body(&state)
        if let old {
          beginAgain(&state, old)
          wait(for: .resumed, &state, at: old.frame, index: old.index)
        }
        return transportNow(state, point)
      }
      updateMarker()
      // More, or less, has to be decoded ahead now.
      wakeDecoder()
      return transport
    }
  }

  /// What sounds from the point on, and which frame of output and program that is; `nil` while nothing runs.
  private func soundingNow(_ state: inout State, _ point: EditPoint) -> (samples: [Float], frame: Int64, index: Int64)?
  {
    let frame = max(point.earliest, state.since)
    guard state.held == nil, let program = state.program, let place = state.place(at: frame) else { return nil }
    return (mix(&state, from: frame, count: fade), frame, min(place.index, program.end))
  }

  private func beginAgain(_ state: inout State, _ old: (samples: [Float], frame: Int64, index: Int64)) {
    // The output will ask for everything from there on again.
    state.rendered = old.index
    begin(&state, at: old.frame, index: old.index, over: old.samples)
  }

  func transportNow(_ state: State, _ point: EditPoint) -> OutputTransport {
    state.held == nil && state.program != nil ? .running : .held(after: max(point.earliest, state.silentFrom))
  }

  /// Begins to sound at a program index: at an item's own beginning untouched, elsewhere with a fade; what sounded until
  /// now fades out over it.
  func begin(_ state: inout State, at frame: Int64, index: Int64, over old: [Float]?) {
    guard let program = state.program else { return }
    pass(&state, at: frame, from: index)
    // A file is written as it is asked for, from the very frame.
    let isStart = output.isOffline || program.segments.contains { $0.start == index && $0.media.frames == 0 }
    guard old != nil || !isStart else { return }
    var block = [Float](repeating: 0, count: fade * format.channels)
    let count = block.withUnsafeMutableBufferPointer { samples in
      samples.baseAddress.map { fill($0, &state, from: frame, count: fade, heard: false) } ?? 0
    }
    guard count > 0, let passage = state.plan.passage else {
      // Nothing is there to fade to (the end): what sounded must not break off.
      guard var old else { return }
      fadeOut(&old)
      let after = frame + Int64(old.count / format.channels)
      pass(&state, at: after, from: index)
      if !program.isFinished { wait(for: .resumed, &state, at: after, index: index) }
      if let passage = state.plan.passage {
        state.plan.replace(
          from: frame, with: [.block(old, .stands(index)), .program(passage)], channels: format.channels)
      }
      return
    }
    block.removeLast((fade - count) * format.channels)
    block.withUnsafeMutableBufferPointer { samples in
      for sample in samples.indices {
        let place = Float(sample / format.channels + 1) / Float(count + 1)
        if !isStart { samples[sample] *= place }
        if let old, sample < old.count { samples[sample] += old[sample] * (1 - place) }
      }
    }
    state.plan.replace(
      from: frame, with: [.block(block, .moves(passage)), .program(passage)], channels: format.channels)
    noteRendered(&state, upTo: frame + Int64(count))
  }

  /// From output frame `frame` on the program passes from `index` on, through a chain of its own if one is needed.
  private func pass(_ state: inout State, at frame: Int64, from index: Int64) {
    state.dropChain()
    var passage = Passage(origin: frame, from: index)
    if state.needsChain, let program = state.program,
      let made = state.made ?? FrameRing(capacity: 4 * format.sampleRate + 1 << 16, channels: format.channels)
    {
      passage.rate = state.playingRate
      state.made = made
      let sound = state.sound
      state.chain = SoundChain(sound, passage, in: program, into: made, leveler: state.leveler) { $0.gain(sound) }
    }
    state.plan.replace(from: frame, with: [.program(passage)], channels: format.channels)
  }

  func resume(_ state: inout State, _ point: EditPoint) -> (OutputTransport, [EngineEvent]) {
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

  func hold(_ state: inout State, _ point: EditPoint) -> (OutputTransport, [EngineEvent]) {
    // A clock that was corrected may put the point a little before one that was used already.
    let start = max(point.earliest, state.since)
    guard state.held == nil, let program = state.program, let place = state.place(at: start) else {
      return (transportNow(state, point), [])
    }
    var block = mix(&state, from: start, count: fade)
    fadeOut(&block)
    let passage = state.plan.passage
    state.dropChain()
    let index = min(place.index, program.end)
    state.held = index
    state.dryAt = nil
    state.silentFrom = start + Int64(fade)
    state.plan.replace(
      from: start,
      with: [.block(block, .stands(index)), .silence(position: index)], channels: format.channels)
    let due = state.landings
    state.landings = []
    // What was still waited for stands held, too: where the stream now stops, if that is within the same item.
    let now = program.segment(at: index).generation
    var events = due.map {
      tell(
        $0, &state,
        PositionAnchor(
          position: $0.generation == now ? program.position(at: index) : $0.position,
          hostTime: hostTime(start, point), rate: 0))
    }
    events += advance(&state, along: passage, to: start, at: index, hostTime: hostTime(start, point))
    events += tellNotes(&state, upTo: index)
    if let heard = state.heard {
      events.append(
        .anchored(
          heard, PositionAnchor(position: program.position(at: index), hostTime: hostTime(start, point), rate: 0)))
    }
    return (transportNow(state, point), events)
  }

  /// What sounds from `frame` on if nothing is changed: a fade's worth of it, before gain; `nil` when that is silence.
  func sounding(_ state: inout State, from frame: Int64) -> [Float]? {
    state.program != nil && (state.held == nil || frame < state.silentFrom)
      ? mix(&state, from: frame, count: fade) : nil
  }

  func fadeOut(_ block: inout [Float]) {
    let count = block.count / format.channels
    for sample in block.indices { block[sample] *= 1 - Float(sample / format.channels + 1) / Float(count) }
  }

  /// What the plan has at `frame`, as samples before gain; silence where nothing is ready.
  func mix(_ state: inout State, from frame: Int64, count: Int) -> [Float] {
    var samples = [Float](repeating: 0, count: count * format.channels)
    samples.withUnsafeMutableBufferPointer { buffer in
      if let base = buffer.baseAddress { _ = fill(base, &state, from: frame, count: count, heard: false) }
    }
    return samples
  }

  /// Notes what is to be told when output frame `frame` is heard, where the present program stands at `index`.
  func wait(for landing: Landing, _ state: inout State, at frame: Int64, index: Int64) {
    if let program = state.program { state.landings.append(waiting(for: landing, program, at: frame, index: index)) }
  }

  func waiting(for landing: Landing, _ program: Program, at frame: Int64, index: Int64) -> Waiting {
    // A seek to the very end lands there, although the next item begins at the same frame.
    let segment = landing == .resumed ? program.segment(at: index) : program.segments[0]
    return Waiting(
      frame: frame, landing: landing, generation: segment.generation, position: program.position(at: index, in: segment)
    )
  }

  /// Tells at once of a program that begins held.
  func land(_ landing: Landing, _ state: inout State, _ point: EditPoint) -> [EngineEvent] {
    guard let program = state.program else { return [] }
    let waiting = waiting(for: landing, program, at: point.earliest, index: 0)
    return [
      tell(
        waiting, &state,
        PositionAnchor(position: waiting.position, hostTime: hostTime(point.earliest, point), rate: 0))
    ]
  }
}
