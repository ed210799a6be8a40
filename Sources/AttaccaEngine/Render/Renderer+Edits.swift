import AttaccaCore
import POSIXKit

/// Changes of what the output plays. Each runs on the output's thread, at the first frame that can still be changed.
extension Renderer {
  /// Makes `program` what is heard, from its beginning, as soon as the output can.
  func install(_ program: Program, as landing: Landing) {
    output.edit { [self] point in
      let (transport, events) = state.withLock { state in
        let old = state.held == nil ? mix(&state, from: point.earliest, count: fade) : nil
        state.program = program
        state.isSuperseded = false
        state.rendered = 0
        state.hasEnded = false
        state.isShort = false
        state.dryAt = nil
        state.landings = []
        guard state.isRunning else {
          state.held = 0
          state.plan.replace(from: point.earliest, with: [.silence(position: 0)], channels: format.channels)
          return (OutputTransport.held(after: point.earliest), land([landing], &state, index: 0, point, rate: 0))
        }
        state.held = nil
        begin(&state, at: point.earliest, index: 0, over: old)
        state.landings = [(point.earliest, landing)]
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
        guard let dry = state.dryAt, state.held == nil, let place = state.plan.place(at: dry) else {
          return transportNow(state, point)
        }
        state.dryAt = nil
        if point.earliest > dry {
          state.plan.replace(
            from: dry,
            with: [.silence(position: place.index, count: point.earliest - dry), .program(from: place.index)],
            channels: format.channels)
          state.landings.append((point.earliest, .resumed))
        }
        return .running
      }
      updateMarker()
      return transport
    }
  }

  /// Takes back what follows `generation`, unless it can no longer be kept from being heard. `completion` (on the output's
  /// thread) gets whether it was taken back.
  func truncate(after generation: Generation, completion: @escaping @Sendable (Bool) -> Void) {
    output.edit { [self] point in
      let (transport, done) = state.withLock { state -> (OutputTransport, Bool) in
        guard let program = state.program,
          let index = program.segments.lastIndex(where: { $0.generation == generation })
        else { return (transportNow(state, point), false) }
        guard index + 1 < program.segments.count else {
          state.program?.isFinished = false
          return (transportNow(state, point), true)
        }
        let start = program.segments[index + 1].start
        if state.held == nil, let frame = state.plan.frame(ofProgram: start), frame < point.earliest {
          return (transportNow(state, point), false)
        }
        _ = state.program?.truncate(after: generation)
        state.rendered = min(state.rendered, start)
        return (transportNow(state, point), true)
      }
      updateMarker()
      completion(done)
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

  func transportNow(_ state: State, _ point: EditPoint) -> OutputTransport {
    state.held == nil && state.program != nil ? .running : .held(after: point.earliest)
  }

  /// Begins to sound at a program index: at an item's own beginning untouched, elsewhere with a fade; what sounded until
  /// now fades out over it.
  func begin(_ state: inout State, at frame: Int64, index: Int64, over old: [Float]?) {
    guard let program = state.program else { return }
    let isStart = program.segments.contains { $0.start == index && $0.media.frames == 0 }
    let count = min(fade, Int(program.end - index))
    guard old != nil || !isStart, count > 0 else {
      state.plan.replace(from: frame, with: [.program(from: index)], channels: format.channels)
      return
    }
    var block = [Float](repeating: 0, count: count * format.channels)
    block.withUnsafeMutableBufferPointer { samples in
      guard let base = samples.baseAddress else { return }
      program.ring.read(into: base, from: index, count: count)
      state.gain.apply(to: base, frame: frame, count: count, channels: format.channels)
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

  func resume(_ state: inout State, _ point: EditPoint) -> (OutputTransport, [EngineEvent]) {
    guard let index = state.held, let program = state.program, !state.isSuperseded, !state.hasEnded else {
      return (transportNow(state, point), [])
    }
    state.held = nil
    state.dryAt = nil
    state.rendered = index
    begin(&state, at: point.earliest, index: max(index, program.floor), over: nil)
    state.landings.append((point.earliest, .resumed))
    return (.running, [])
  }

  func hold(_ state: inout State, _ point: EditPoint) -> (OutputTransport, [EngineEvent]) {
    guard state.held == nil, let program = state.program, let place = state.plan.place(at: point.earliest) else {
      return (transportNow(state, point), [])
    }
    var block = mix(&state, from: point.earliest, count: fade)
    for sample in block.indices { block[sample] *= 1 - Float(sample / format.channels + 1) / Float(fade) }
    let index = min(place.index, program.end)
    state.held = index
    state.dryAt = nil
    state.plan.replace(
      from: point.earliest,
      with: [.block(block, position: index, advances: false), .silence(position: index)], channels: format.channels)
    let waiting = state.landings.map(\.landing)
    state.landings = []
    var events = land(waiting, &state, index: index, point, rate: 0)
    events += advance(&state, to: index, hostTime: nil)
    if let heard = state.heard {
      events.append(
        .anchored(
          heard,
          PositionAnchor(position: program.position(at: index), hostTime: hostTime(point.earliest, point), rate: 0)))
    }
    return (.held(after: point.earliest + Int64(fade)), events)
  }

  /// What the plan has at `frame`, as samples; silence where nothing is ready.
  func mix(_ state: inout State, from frame: Int64, count: Int) -> [Float] {
    var samples = [Float](repeating: 0, count: count * format.channels)
    samples.withUnsafeMutableBufferPointer { buffer in
      if let base = buffer.baseAddress { _ = fill(base, &state, from: frame, count: count, marking: false) }
    }
    return samples
  }
}
