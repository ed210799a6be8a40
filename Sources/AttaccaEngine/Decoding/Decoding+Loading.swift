import AttaccaCore
import POSIXKit

/// Opening media, and beginning a program with one.
extension Decoding {
  func start(_ load: EngineLoad, on output: any AudioOutput) {
    forgetChain()
    // Another load or a stop came meanwhile: this one will not be heard.
    guard !isSuperseded else { return }
    chain.replace(with: load)
    guard let media = open(load) else { return chain.removeAll() }
    do throws(MediaError) {
      try reading(media) { () throws(MediaError) in
        let frame = min(load.start.frames(at: media.sampleRate), media.frameCount ?? .max)
        if frame > 0 { try media.seek(to: frame) }
        try begin(load, media, at: frame, as: .loaded, on: output)
      }
    } catch {
      if !isSuperseded { emit(.failed(load.generation, error)) }
      chain.removeAll()
    }
  }

  /// Opens a load's media and tells about it; on failure tells why.
  func open(_ load: EngineLoad) -> OpenMedia? {
    do throws(MediaError) {
      let media = try openMedia(load)
      emit(.opened(load.generation, media.info))
      return media
    } catch {
      if !isSuperseded { emit(.failed(load.generation, error)) }
      return nil
    }
  }

  func openMedia(_ load: EngineLoad) throws(MediaError) -> OpenMedia {
    let source = try sources.open(load.item)
    let media = try reading(source) { () throws(MediaError) in
      try OpenMedia(source, name: load.item.locator.displayName, track: load.item.audioTrack)
    }
    chain.setMedia(media, of: load.generation)
    return media
  }

  var isSuperseded: Bool { mailbox.withLock { $0.isSuperseded } }

  /// Reads from a source so that a newer load, a stop or the shutdown can end it.
  func reading<Result>(
    _ source: any ByteSource, _ body: () throws(MediaError) -> Result
  ) throws(MediaError) -> Result {
    mailbox.withLock { box in
      box.reading = source
      if box.isSuperseded { source.cancel() }
    }
    defer { mailbox.withLock { $0.reading = nil } }
    return try body()
  }

  func reading<Result>(
    _ media: OpenMedia, _ body: () throws(MediaError) -> Result
  ) throws(MediaError) -> Result { try reading(media.source, body) }

  /// Makes a new program that begins with this media, decodes its first frames and has it heard.
  ///
  /// Nothing is changed when it throws: what is heard goes on.
  func begin(
    _ load: EngineLoad, _ media: OpenMedia, at position: Int64, as landing: Renderer.Landing,
    on output: (any AudioOutput)?
  ) throws(MediaError) {
    guard let renderer = renderer(for: media.info, on: output) else { return }
    let format = renderer.format
    let needs = renderer.ringNeeds
    guard let ring = FrameRing(capacity: max(needs.capacity, 16 * Ahead.step), channels: format.channels) else {
      throw MediaError(.sourceReadFailed, subject: load.item.locator.displayName, reason: "out of memory")
    }
    let converter = StreamConverter(to: format)
    var program = Program(
      ring: ring, sampleRate: format.sampleRate,
      first: segment(load, media, at: 0, from: position, format))
    let write: (UnsafeBufferPointer<Float>) -> Void = { frames in
      ring.write(frames, at: program.end)
      program.publish(frames.count / format.channels)
    }
    var taken = Taken(chunk: nil, frame: position)
    var isAtEnd = false
    while program.end < needs.start, !isAtEnd {
      if taken.chunk == nil { taken.chunk = (try media.read(), 0) }
      isAtEnd = !convert(&taken, media, converter, write)
    }
    for change in media.takeTags() {
      program.note(
        change.metadata, of: load.generation, at: place(of: change.frame, from: position, at: 0, media, format))
    }
    chain.beginAgain(at: load.generation)
    chain.headHasEnded = isAtEnd
    self.ring = ring
    self.converter = converter
    chunk = taken.chunk
    consumed = taken.frame
    end = program.end
    isFinished = false
    isFilling = true
    renderer.install(program, as: landing)
    if media.hasNews { tellNews(of: media, load.generation) }
  }

  /// The program index of a media frame, `from` being at index `index`.
  func place(of frame: Int64, from: Int64, at index: Int64, _ media: OpenMedia, _ format: StreamFormat) -> Int64 {
    index + MediaTime(frames: max(0, frame - from), rate: media.sampleRate).duration.frames(at: format.sampleRate)
  }

  /// The part of a program that a media makes from frame `position` on.
  func segment(
    _ load: EngineLoad, _ media: OpenMedia, at start: Int64, from position: Int64, _ format: StreamFormat
  ) -> Program.Segment {
    let begin = MediaTime(frames: position, rate: media.sampleRate)
    var segment = Program.Segment(generation: load.generation, start: start, media: begin)
    segment.expectedEnd = media.info.duration.map {
      start + max(.zero, $0.value - begin.duration).frames(at: format.sampleRate)
    }
    segment.loudness = media.info.loudness
    return segment
  }

  /// A decoded chunk, how much of it was converted, and the media frame that comes next.
  struct Taken {
    var chunk: (chunk: DecodedChunk, used: Int)?
    var frame: Int64
  }

  /// Converts a step's worth of a chunk; answers `false` at the media's end.
  func convert(
    _ taken: inout Taken, _ media: OpenMedia, _ converter: StreamConverter,
    _ write: (UnsafeBufferPointer<Float>) -> Void
  ) -> Bool {
    guard let (chunk, used) = taken.chunk else { return true }
    let count: Int
    switch chunk {
    case .frames(_, _, let number), .concealment(let number): count = number
    case .end:
      taken.chunk = nil
      return false
    }
    let part = min(converter.step(Ahead.step, rate: media.sampleRate), count - used)
    switch chunk {
    case .frames(let frame, let offset, _): converter.convert(frame, offset: offset + used, count: part, write: write)
    case .concealment: converter.conceal(part, rate: media.sampleRate, write: write)
    case .end: break
    }
    taken.frame += Int64(part)
    taken.chunk = used + part < count ? (chunk, used + part) : nil
    return true
  }

  /// The renderer for what begins: the present one, or a new one where there is none or its format will not do.
  private func renderer(for info: MediaInfo, on output: (any AudioOutput)?) -> Renderer? {
    guard let renderer else { return output.flatMap { openOutput($0, for: info) } }
    guard mustReopen(renderer, for: info) else { return renderer }
    let fresh = makeOutput()
    fresh.prepare()
    let isOurs = mailbox.withLock { box in
      guard box.output === renderer.output else { return false }
      box.output = fresh
      box.renderer = nil
      return true
    }
    // A stop has taken it away already.
    guard isOurs else { return nil }
    self.renderer = nil
    close(renderer.output)
    return openOutput(fresh, for: info)
  }

  /// Whether a bit-perfect stream cannot take this media as it is.
  func mustReopen(_ renderer: Renderer, for info: MediaInfo) -> Bool {
    guard !renderer.output.isOffline, renderer.output.fixedFormat == nil else { return false }
    let isBitPerfect = mailbox.withLock { $0.sound.isBitPerfect }
    guard isBitPerfect || renderer.format.isExact else { return false }
    return StreamFormat(streamFor: info, offline: false, isExact: isBitPerfect) != renderer.format
  }

  private func openOutput(_ output: any AudioOutput, for info: MediaInfo) -> Renderer? {
    let mailbox = mailbox
    let format =
      output.fixedFormat
      ?? StreamFormat(
        streamFor: info, offline: output.isOffline, isExact: mailbox.withLock { $0.sound.isBitPerfect })
    let made = mailbox.withLock { box -> Renderer? in
      // A stop has taken it away already.
      guard box.output === output else { return nil }
      let renderer = Renderer(
        format: format, output: output, gain: box.gain, rate: box.rate, sound: box.sound,
        lowWater: Int(Ahead.low * Double(format.sampleRate)),
        emit: emit,
        wakeDecoder: { mailbox.signal { $0.wake = true } })
      box.renderer = renderer
      return renderer
    }
    guard let renderer = made else { return nil }
    output.open(format, source: renderer) { [weak renderer] in renderer?.receive($0) }
    // Read after the renderer is visible to `send`, so that no change in between is missed.
    if mailbox.withLock({ $0.isRunning }) { renderer.setRunning(true) }
    self.renderer = renderer
    return renderer
  }
}

extension StreamFormat {
  /// The stream for a media that is the first to be heard: its own rate, but for the ear never a rate that would make what
  /// follows sound worse (a 22 kHz voice before a 44.1 kHz album), and never mono before stereo.
  ///
  /// An exact stream has the media's own format, whatever it is.
  init(streamFor info: MediaInfo, offline: Bool, isExact: Bool) {
    if isExact {
      self.init(
        sampleRate: min(max(1, info.sampleRate), 384_000), channels: min(8, max(1, info.channels)),
        significantBits: info.bitsPerSample.map { $0 > 24 ? 32 : $0 > 16 ? 24 : 16 } ?? 32, isExact: true)
      return
    }
    var rate = max(1, info.sampleRate)
    if rate < 44_100, !offline { rate = 44_100 % rate == 0 ? 44_100 : 48_000 }
    self.init(
      sampleRate: min(rate, 384_000), channels: min(8, max(2, info.channels)),
      significantBits: info.bitsPerSample.map { $0 > 16 ? 24 : 16 } ?? 16)
  }
}
