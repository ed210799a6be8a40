import AttaccaCore
import POSIXKit

/// Decoding ahead of what is heard, over the joints.
extension Decoding {
  /// Does a little of what is to be done; answers whether there was anything.
  func step() -> Bool {
    guard let renderer, let demand = renderer.demand(), truncation == nil else { return false }
    growRing(renderer)
    guard let ring else { return false }
    let rate = Double(renderer.format.sampleRate)
    if demand.ahead < Int(Ahead.low * rate) { isFilling = true }
    let room = demand.room
    if demand.ahead >= Int(Ahead.high * rate) || room < Ahead.step * 4 { isFilling = false }
    if isFilling, !isFinished, decodeSome(renderer, ring) {
      if demand.isDry || demand.isShort { feed(renderer, rate) }
      return true
    }
    if demand.isDry || demand.isShort { feed(renderer, 0) }
    if !chain.headHasEnded || chain.next == nil { requestNext() }
    return openAhead() || scanAhead()
  }

  /// With nothing else to do: finds out how long what is played really is.
  func scanAhead() -> Bool {
    guard let head = chain.head, let media = head.media, media.scan() || media.hasNews else { return false }
    tellNews(of: media, head.load.generation)
    return true
  }

  /// Tells what became known of a media while it was read.
  func tellNews(of media: OpenMedia, _ generation: Generation) {
    if let duration = media.takeDuration() { emit(.durationChanged(generation, duration)) }
    guard let renderer else { return }
    for change in media.takeTags() {
      // Told when they are heard.
      let index = place(
        of: change.frame, from: consumed, at: end + (converter?.joint.frames ?? 0), media, renderer.format)
      renderer.withProgram { $0.note(change.metadata, of: generation, at: index) }
    }
  }

  /// Tells an output that waits for frames of them: not of every few, which would only make it wake up more often.
  func feed(_ renderer: Renderer, _ rate: Double) {
    guard let demand = renderer.demand(), demand.ahead > 0, isFinished || Double(demand.ahead) >= rate / 4 else {
      return
    }
    demand.isDry ? renderer.recoverFromDry() : renderer.output.sourceHasMore()
  }

  /// Converts one step's worth of frames, or goes on to the next load.
  func decodeSome(_ renderer: Renderer, _ ring: FrameRing) -> Bool {
    if chain.headHasEnded { return goOn(renderer) }
    guard let media = chain.head?.media, let converter else { return false }
    if chunk == nil {
      do throws(MediaError) {
        chunk = (try reading(media) { () throws(MediaError) in try media.read() }, 0)
        if media.hasNews, let head = chain.head { tellNews(of: media, head.load.generation) }
      } catch {
        fail(renderer, error)
        return !isSuperseded
      }
    }
    var taken = Taken(chunk: chunk, frame: consumed)
    let goesOn = convert(&taken, media, converter) { [self] frames in
      renderer.append(frames, to: ring, at: end)
      end += Int64(frames.count / ring.channels)
    }
    chunk = taken.chunk
    consumed = taken.frame
    if !goesOn { chain.headHasEnded = true }
    return true
  }

  /// The head cannot be decoded any further: it ends here, and the player decides what comes then.
  func fail(_ renderer: Renderer, _ error: MediaError) {
    guard let head = chain.head, !isSuperseded else { return }
    renderer.withProgram { $0.fail(head.load.generation, error) }
    chain.close()
    chunk = nil
    chain.headHasEnded = true
  }

  /// The head has been decoded to its end: the next load follows in the same stream, or nothing does.
  func goOn(_ renderer: Renderer) -> Bool {
    guard let next = chain.next else {
      guard chain.isClosed else {
        requestNext()
        return false
      }
      return finishProgram(renderer)
    }
    guard let media = next.media ?? open(next.load) else {
      chain.dropNext()
      return true
    }
    if mustReopen(renderer, for: media.info) {
      // It cannot go on in this stream: the player will load it when this one has been heard.
      return finishProgram(renderer)
    }
    do throws(MediaError) {
      let frame = min(next.load.start.frames(at: media.sampleRate), media.frameCount ?? .max)
      if next.needsRewind || frame > 0 {
        try reading(media) { () throws(MediaError) in try media.seek(to: frame) }
      }
      let (frames, carry) = converter?.joint ?? (0, 0)
      var segment = segment(next.load, media, at: end + frames, from: frame, renderer.format)
      segment.carry = carry
      segment.continuesAlbum = chain.head?.media.map { isSameAlbum($0.info, media.info) } ?? false
      renderer.withProgram { $0.begin(segment) }
      chain.moveToNext(heard: renderer.heardGeneration)
      consumed = frame
    } catch {
      if !isSuperseded { emit(.failed(next.load.generation, error)) }
      chain.dropNext()
    }
    return true
  }

  /// Nothing follows what was decoded.
  private func finishProgram(_ renderer: Renderer) -> Bool {
    converter?.drain { [self] frames in
      guard let ring else { return }
      renderer.append(frames, to: ring, at: end)
      end += Int64(frames.count / ring.channels)
    }
    isFinished = true
    renderer.withProgram { $0.isFinished = true }
    return true
  }

  /// A faster rate, or items that sound together, need more frames at hand.
  func growRing(_ renderer: Renderer) {
    let capacity = renderer.ringNeeds.capacity
    guard let ring, ring.capacity < capacity else { return }
    let grown = renderer.withProgram { program -> FrameRing? in
      let grown = ring.grown(to: capacity, keeping: program.floor..<program.end)
      if let grown { program.move(to: grown) }
      return grown
    }
    if let grown = grown.flatMap({ $0 }) { self.ring = grown }
  }

  /// Opens the load after the head while there is time.
  func openAhead() -> Bool {
    guard let next = chain.next, next.media == nil else { return false }
    if open(next.load) == nil { chain.dropNext() }
    return true
  }

  func requestNext() {
    if let last = chain.wantNext() { emit(.wantsNext(after: last)) }
  }
}
