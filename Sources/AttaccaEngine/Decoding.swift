import AttaccaCore
import POSIXKit

/// The engine's thread: opens media, decodes ahead, and turns one load's end into the next one's beginning.
///
/// `@unchecked Sendable`: handed to its thread once, before anything else touches it; all its state is used on that
/// thread only. What others share is in the mailbox and the renderer, each behind its own lock.
final class Decoding: @unchecked Sendable {
  enum Command {
    case load(EngineLoad, any AudioOutput)
    case setUpcoming(after: Generation, loads: [EngineLoad])
    case seek(SeekID, Generation, to: Duration)
    case truncated(Int, Renderer.Truncation)
    case stop((any AudioOutput)?)
  }

  /// How much is decoded ahead of the output, and how much the ring holds in all (what was given but not yet heard stays
  /// in it, so that it can be given again).
  private enum Ahead {
    static let low = 1.5
    static let high = 3.5
    static let ring = 8.0
    /// Frames that are enough to begin with …
    static let start = 4096
    /// … and this long it may take to have as much as an output takes at once, so that it does not run short right
    /// after beginning and has to be rewritten.
    static let full = 2.6
    static let patience: Duration = .milliseconds(8)
    /// Frames made at a time, at the output's rate.
    static let step = 8192
  }

  private let mailbox: Monitor<Pipeline.Mailbox>
  private let sources: any ByteSourceProvider
  private let emit: @Sendable (EngineEvent) -> Void
  private var chain = LoadChain()
  private var renderer: Renderer?
  private var converter: StreamConverter?
  private var ring: FrameRing?
  /// One past the last frame written to the ring.
  private var end: Int64 = 0
  private var chunk: (chunk: DecodedChunk, used: Int)?
  /// The media frame of the head at which what was not converted yet begins.
  private var consumed: Int64 = 0
  private var isFilling = true
  private var isFinished = false
  /// Something decoded too early is being taken back on the output's thread; nothing is decoded until then, and what the
  /// player says about what follows waits its turn.
  private var truncation: (number: Int, after: Generation, loads: [EngineLoad])?
  private var lastTruncation = 0
  private var deferred: [(after: Generation, loads: [EngineLoad])] = []

  init(mailbox: Monitor<Pipeline.Mailbox>, sources: any ByteSourceProvider) {
    self.mailbox = mailbox
    self.sources = sources
    let receive = mailbox.withLock { $0.receive }
    emit = receive ?? { _ in }
  }

  func run() {
    while !mailbox.withLock({ $0.isShutDown }) {
      if let command = nextCommand() {
        handle(command)
      } else if !step() {
        waitForWork()
      }
    }
    finish()
  }

  private func nextCommand() -> Command? {
    mailbox.withLock { (box: inout Pipeline.Mailbox) -> Command? in
      box.wake = false
      guard !box.commands.isEmpty else { return nil }
      return box.commands.removeFirst()
    }
  }

  private func waitForWork() {
    let _: Bool? = mailbox.wait { (box: inout Pipeline.Mailbox) -> Bool? in
      let hasWork = box.wake || !box.commands.isEmpty || box.isShutDown
      return hasWork ? true : nil
    }
  }

  private func finish() {
    forgetChain()
    renderer = nil
    let outputs = mailbox.withLock { box -> [any AudioOutput] in
      // A stop that was not carried out any more has an output to close too.
      let stopped = box.commands.compactMap { if case .stop(let output) = $0 { output } else { nil } }
      defer {
        box.output = nil
        box.renderer = nil
        box.receive = nil
        box.commands = []
        box.closing += 1
        box.hasEnded = true
      }
      return stopped + [box.output].compactMap { $0 }
    }
    for output in outputs { close(output) }
    Self.hasClosed(mailbox)
  }

  /// Closes an output. A shutdown is complete when the thread has ended and every output has closed, those of earlier
  /// stops too: a file is not whole before.
  private func close(_ output: any AudioOutput) {
    let mailbox = mailbox
    mailbox.withLock { $0.closing += 1 }
    output.close { Self.hasClosed(mailbox) }
  }

  private static func hasClosed(_ mailbox: Monitor<Pipeline.Mailbox>) {
    let completions = mailbox.withLock { box -> [@Sendable () -> Void] in
      box.closing -= 1
      guard box.isOver else { return [] }
      defer { box.completions = [] }
      return box.completions
    }
    completions.forEach { $0() }
  }

  private func handle(_ command: Command) {
    switch command {
    case .load(let load, let output): start(load, on: output)
    case .setUpcoming(let after, let loads): setUpcoming(after: after, loads: loads)
    case .seek(let id, let generation, let position): seek(id, generation, to: position)
    case .truncated(let number, let result): truncated(number, result)
    case .stop(let output):
      forgetChain()
      renderer = nil
      converter = nil
      ring = nil
      if let output { close(output) }
    }
  }

  private func forgetChain() {
    chain.removeAll()
    chunk = nil
    isFinished = false
    truncation = nil
    deferred = []
  }

  // MARK: Loading

  private func start(_ load: EngineLoad, on output: any AudioOutput) {
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
  private func open(_ load: EngineLoad) -> OpenMedia? {
    do throws(MediaError) {
      let media = try openMedia(load)
      emit(.opened(load.generation, media.info))
      return media
    } catch {
      if !isSuperseded { emit(.failed(load.generation, error)) }
      return nil
    }
  }

  private func openMedia(_ load: EngineLoad) throws(MediaError) -> OpenMedia {
    let source = try sources.open(load.item)
    let media = try reading(source) { () throws(MediaError) in
      try OpenMedia(source, name: load.item.locator.displayName)
    }
    chain.setMedia(media, of: load.generation)
    return media
  }

  private var isSuperseded: Bool { mailbox.withLock { $0.isSuperseded } }

  /// Reads from a source so that a newer load, a stop or the shutdown can end it.
  private func reading<Result>(
    _ source: any ByteSource, _ body: () throws(MediaError) -> Result
  ) throws(MediaError) -> Result {
    mailbox.withLock { box in
      box.reading = source
      if box.isSuperseded { source.cancel() }
    }
    defer { mailbox.withLock { $0.reading = nil } }
    return try body()
  }

  private func reading<Result>(
    _ media: OpenMedia, _ body: () throws(MediaError) -> Result
  ) throws(MediaError) -> Result { try reading(media.source, body) }

  /// Makes a new program that begins with this media, decodes its first frames and has it heard.
  ///
  /// Nothing is changed when it throws: what is heard goes on.
  private func begin(
    _ load: EngineLoad, _ media: OpenMedia, at position: Int64, as landing: Renderer.Landing,
    on output: (any AudioOutput)?
  ) throws(MediaError) {
    guard let renderer = renderer ?? output.flatMap({ openOutput($0, for: media.info) }) else { return }
    let format = renderer.format
    guard let ring = FrameRing(capacity: max(Int(Ahead.ring * Double(format.sampleRate)), 16 * Ahead.step), channels: format.channels) else {
      throw MediaError(.sourceReadFailed, subject: load.item.locator.displayName, reason: "out of memory")
    }
    let converter = StreamConverter(to: format)
    var program = Program(
      ring: ring, sampleRate: format.sampleRate,
      first: .init(
        generation: load.generation, start: 0, media: MediaTime(frames: position, rate: media.sampleRate)))
    let write: (UnsafeBufferPointer<Float>) -> Void = { frames in
      ring.write(frames, at: program.end)
      program.publish(frames.count / format.channels)
    }
    var taken = Taken(chunk: nil, frame: position)
    var isAtEnd = false
    let full = renderer.output.isOffline ? 0 : Int64(Ahead.full * Double(format.sampleRate))
    var deadline: Duration?
    func wantsMore() -> Bool {
      guard program.end >= Ahead.start else { return true }
      guard program.end < full else { return false }
      let now = Clocks.host
      deadline = deadline ?? now + Ahead.patience
      return deadline.map { now < $0 } ?? false
    }
    while !isAtEnd, wantsMore() {
      if taken.chunk == nil { taken.chunk = (try media.read(), 0) }
      isAtEnd = !convert(&taken, media, converter, write)
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
  }

  /// A decoded chunk, how much of it was converted, and the media frame that comes next.
  private struct Taken {
    var chunk: (chunk: DecodedChunk, used: Int)?
    var frame: Int64
  }

  /// Converts a step's worth of a chunk; answers `false` at the media's end.
  private func convert(
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

  private func openOutput(_ output: any AudioOutput, for info: MediaInfo) -> Renderer? {
    let format = StreamFormat(streamFor: info, offline: output.isOffline)
    let mailbox = mailbox
    let made = mailbox.withLock { box -> Renderer? in
      // A stop has taken it away already.
      guard box.output === output else { return nil }
      let renderer = Renderer(
        format: format, output: output, gain: box.gain, lowWater: Int(Ahead.low * Double(format.sampleRate)), emit: emit,
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

  // MARK: Decoding ahead

  /// Does a little of what is to be done; answers whether there was anything.
  private func step() -> Bool {
    guard let renderer, let ring, let demand = renderer.demand(), truncation == nil else { return false }
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
    return openAhead()
  }

  /// Tells an output that waits for frames of them: not of every few, which would only make it wake up more often.
  private func feed(_ renderer: Renderer, _ rate: Double) {
    guard let demand = renderer.demand(), demand.ahead > 0, isFinished || Double(demand.ahead) >= rate / 4 else { return }
    demand.isDry ? renderer.recoverFromDry() : renderer.output.sourceHasMore()
  }

  /// Converts one step's worth of frames, or goes on to the next load.
  private func decodeSome(_ renderer: Renderer, _ ring: FrameRing) -> Bool {
    if chain.headHasEnded { return goOn(renderer) }
    guard let media = chain.head?.media, let converter else { return false }
    if chunk == nil {
      do throws(MediaError) {
        chunk = (try reading(media) { () throws(MediaError) in try media.read() }, 0)
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
  private func fail(_ renderer: Renderer, _ error: MediaError) {
    guard let head = chain.head, !isSuperseded else { return }
    renderer.withProgram { $0.fail(head.load.generation, error) }
    chain.close()
    chunk = nil
    chain.headHasEnded = true
  }

  /// The head has been decoded to its end: the next load follows in the same stream, or nothing does.
  private func goOn(_ renderer: Renderer) -> Bool {
    guard let next = chain.next else {
      guard chain.isClosed else {
        requestNext()
        return false
      }
      converter?.drain { [self] frames in
        guard let ring else { return }
        renderer.append(frames, to: ring, at: end)
        end += Int64(frames.count / ring.channels)
      }
      isFinished = true
      renderer.withProgram { $0.isFinished = true }
      return true
    }
    guard let media = next.media ?? open(next.load) else {
      chain.dropNext()
      return true
    }
    do throws(MediaError) {
      let frame = min(next.load.start.frames(at: media.sampleRate), media.frameCount ?? .max)
      if next.needsRewind || frame > 0 {
        try reading(media) { () throws(MediaError) in try media.seek(to: frame) }
      }
      let (frames, carry) = converter?.joint ?? (0, 0)
      let joint = end + frames
      renderer.withProgram {
        $0.begin(
          next.load.generation, at: joint, media: MediaTime(frames: frame, rate: media.sampleRate), carry: carry)
      }
      chain.moveToNext(heard: renderer.heardGeneration)
      consumed = frame
    } catch {
      if !isSuperseded { emit(.failed(next.load.generation, error)) }
      chain.dropNext()
    }
    return true
  }

  /// Opens the load after the head while there is time.
  private func openAhead() -> Bool {
    guard let next = chain.next, next.media == nil else { return false }
    if open(next.load) == nil { chain.dropNext() }
    return true
  }

  private func requestNext() {
    if let last = chain.wantNext() { emit(.wantsNext(after: last)) }
  }

  // MARK: Changes while playing

  private func setUpcoming(after: Generation, loads: [EngineLoad]) {
    if truncation != nil { return deferred.append((after, loads)) }
    guard chain.contains(after) else { return }
    // Whatever was decoded of what is taken back has to go first; until then nothing more is decoded.
    if chain.hasBegun(after: after) || isFinished, let renderer {
      lastTruncation += 1
      let (mailbox, number) = (mailbox, lastTruncation)
      truncation = (number, after, loads)
      renderer.truncate(after: after) { result in
        mailbox.signal { $0.commands.append(.truncated(number, result)) }
      }
      return
    }
    chain.setUpcoming(after: after, loads: loads)
  }

  private func truncated(_ number: Int, _ result: Renderer.Truncation) {
    guard let (current, after, loads) = truncation, current == number else { return }
    truncation = nil
    isFilling = true
    // A seek may have taken it back meanwhile, by beginning anew.
    let hadBegun = chain.hasBegun(after: after)
    switch result {
    case .late where hadBegun || isFinished:
      // What should have been taken back is being heard. The player will learn of it and load what it wants.
      break
    case .taken(let start, let carry) where hadBegun:
      takeBack(to: start, carry)
      fallthrough
    default:
      chain.setUpcoming(after: after, loads: loads)
      isFinished = false
    }
    let waiting = deferred
    deferred = []
    for (after, loads) in waiting { setUpcoming(after: after, loads: loads) }
  }

  /// Goes on writing at program index `start`, where something that was taken back had begun.
  private func takeBack(to start: Int64, _ carry: Int64) {
    chunk = nil
    chain.headHasEnded = true
    guard let renderer, let ring, let converter else { return }
    end = min(end, start)
    // The resampler may still hold the last frames before it.
    if end < start {
      converter.drain { [self] frames in
        let count = min(frames.count / ring.channels, Int(start - end))
        guard count > 0 else { return }
        renderer.append(UnsafeBufferPointer(rebasing: frames[..<(count * ring.channels)]), to: ring, at: end)
        end += Int64(count)
      }
    }
    converter.reset(carry: carry)
  }

  private func seek(_ id: SeekID, _ generation: Generation, to position: Duration) {
    guard !isSuperseded, let entry = chain.entry(generation) else { return }
    let isHead = chain.head?.load.generation == generation
    do throws(MediaError) {
      let media: OpenMedia
      if let opened = entry.media { media = opened } else { media = try openMedia(entry.load) }
      let frame = min(max(0, position.frames(at: media.sampleRate)), media.frameCount ?? .max)
      try reading(media) { () throws(MediaError) in
        try media.seek(to: frame)
        try begin(entry.load, media, at: frame, as: .seek(id), on: nil)
      }
    } catch {
      guard !isSuperseded else { return }
      if isHead { goBack(after: error) }
      emit(.seekFailed(id, generation, error))
    }
  }

  /// After a seek that failed: decoding goes on where it was.
  private func goBack(after error: MediaError) {
    chunk = nil
    guard let renderer, let media = chain.head?.media, !chain.headHasEnded else { return }
    do throws(MediaError) {
      try reading(media) { () throws(MediaError) in try media.seek(to: consumed) }
    } catch {
      fail(renderer, error)
    }
  }
}

extension StreamFormat {
  /// The stream for a media that is the first to be heard: its own rate, but for the ear never a rate that would make what
  /// follows sound worse (a 22 kHz voice before a 44.1 kHz album), and never mono before stereo.
  init(streamFor info: MediaInfo, offline: Bool) {
    var rate = max(1, info.sampleRate)
    if rate < 44_100, !offline { rate = 44_100 % rate == 0 ? 44_100 : 48_000 }
    self.init(
      sampleRate: min(rate, 384_000), channels: min(8, max(2, info.channels)),
      significantBits: info.bitsPerSample.map { $0 > 16 ? 24 : 16 } ?? 16)
  }
}
