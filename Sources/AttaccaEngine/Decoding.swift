import AttaccaCore
import POSIXKit

/// The engine's thread: opens media, decodes ahead, and turns one load's end into the next one's beginning.
///
/// `@unchecked Sendable`: handed to its thread once, before anything else touches it; all its state is used on that
/// thread only. What others share is in the mailbox and the renderer, each behind its own lock.
final class Decoding: @unchecked Sendable {
  enum Command {
    case load(EngineLoad)
    case setUpcoming(after: Generation, loads: [EngineLoad])
    case seek(SeekID, Generation, to: Duration)
    case truncated(after: Generation, Bool)
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

    /// How many frames of a media at `rate` make a step of the output's, or fewer.
    static func step(from rate: Int, to output: StreamFormat) -> Int {
      max(256, min(step, step * rate / output.sampleRate))
    }
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
  private var isFilling = true
  private var isFinished = false
  private var isWaitingForBytes = false

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
    chain.removeAll()
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
    hasClosed()
  }

  /// Closes an output. A shutdown is complete when the thread has ended and every output has closed, those of earlier
  /// stops too: a file is not whole before.
  private func close(_ output: any AudioOutput) {
    mailbox.withLock { $0.closing += 1 }
    output.close { [self] in hasClosed() }
  }

  private func hasClosed() {
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
    case .load(let load): start(load)
    case .setUpcoming(let after, let loads): setUpcoming(after: after, loads: loads)
    case .seek(let id, let generation, let position): seek(id, generation, to: position)
    case .truncated(let after, let done): truncated(after: after, done)
    case .stop(let output):
      chain.removeAll()
      renderer = nil
      converter = nil
      ring = nil
      chunk = nil
      if let output { close(output) }
    }
  }

  // MARK: Loading

  private func start(_ load: EngineLoad) {
    chain.replace(with: load)
    chunk = nil
    isFinished = false
    guard let media = open(load) else { return chain.removeAll() }
    do throws(MediaError) {
      if load.start > .zero { try media.seek(to: load.start.frames(at: media.sampleRate)) }
      try begin(load, media, at: load.start, as: .loaded)
    } catch {
      emit(.failed(load.generation, error))
      chain.removeAll()
    }
    setReading(nil)
  }

  /// Opens a load's media and tells about it; on failure tells why.
  private func open(_ load: EngineLoad) -> OpenMedia? {
    do throws(MediaError) {
      let source = try sources.open(load.item)
      setReading(source)
      let media = try OpenMedia(source, name: load.item.locator.displayName)
      chain.setMedia(media, of: load.generation)
      emit(.opened(load.generation, media.info))
      return media
    } catch {
      setReading(nil)
      emit(.failed(load.generation, error))
      return nil
    }
  }

  /// Opens once more what was closed when it had been decoded to its end.
  private func reopen(_ load: EngineLoad) throws(MediaError) -> OpenMedia {
    let media = try OpenMedia(try sources.open(load.item), name: load.item.locator.displayName)
    chain.setMedia(media, of: load.generation)
    return media
  }

  private func setReading(_ source: (any ByteSource)?) { mailbox.withLock { $0.reading = source } }

  /// Makes a new program that begins with this media, decodes its first frames and has it heard.
  private func begin(
    _ load: EngineLoad, _ media: OpenMedia, at position: Duration, as landing: Renderer.Landing
  ) throws(MediaError) {
    guard let renderer = renderer ?? openOutput(for: media.info) else { return }
    let format = renderer.format
    guard
      let ring = FrameRing(
        capacity: max(Int(Ahead.ring * Double(format.sampleRate)), 16 * Ahead.step), channels: format.channels)
    else {
      throw MediaError(.sourceReadFailed, subject: load.item.locator.displayName, reason: "out of memory")
    }
    let converter = StreamConverter(to: format)
    var program = Program(
      ring: ring, sampleRate: format.sampleRate,
      first: .init(generation: load.generation, start: 0, media: MediaTime(position, rate: media.sampleRate)))
    chunk = nil
    end = 0
    isFinished = false
    // Decoded before anything is changed: what is heard now goes on until the new sound is there.
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
      switch try media.read() {
      case .frames(let frame, let offset, let count):
        var offset = offset
        let last = offset + count
        while offset < last, wantsMore() {
          let part = min(Ahead.step(from: media.sampleRate, to: format), last - offset)
          converter.convert(frame, offset: offset, count: part) { frames in
            ring.write(frames, at: program.end)
            program.publish(frames.count / format.channels)
          }
          offset += part
        }
        if offset < last { chunk = (.frames(frame, offset: offset, count: last - offset), 0) }
      case .concealment(let count):
        converter.conceal(count, rate: media.sampleRate) { frames in
          ring.write(frames, at: program.end)
          program.publish(frames.count / format.channels)
        }
      case .pending: isAtEnd = true
      case .end:
        isAtEnd = true
        chain.headHasEnded = true
      }
    }
    self.ring = ring
    self.converter = converter
    end = program.end
    isFilling = true
    chain.beginAgain(at: load.generation)
    if case .end? = chunk?.chunk { chunk = nil }
    renderer.install(program, as: landing)
  }

  private func openOutput(for info: MediaInfo) -> Renderer? {
    let mailbox = mailbox
    let made = mailbox.withLock { box -> (Renderer, any AudioOutput)? in
      guard let output = box.output else { return nil }
      let format = StreamFormat(streamFor: info, offline: output.isOffline)
      let renderer = Renderer(
        format: format, output: output, gain: box.gain, lowWater: Int(Ahead.low * Double(format.sampleRate)),
        emit: emit,
        wakeDecoder: { mailbox.signal { $0.wake = true } })
      box.renderer = renderer
      return (renderer, output)
    }
    guard let (renderer, output) = made else { return nil }
    output.open(renderer.format, source: renderer) { [weak renderer] in renderer?.receive($0) }
    // Read after the renderer is visible to `send`, so that no change in between is missed.
    if mailbox.withLock({ $0.isRunning }) { renderer.setRunning(true) }
    self.renderer = renderer
    return renderer
  }

  // MARK: Decoding ahead

  /// Does a little of what is to be done; answers whether there was anything.
  private func step() -> Bool {
    guard let renderer, let ring, let demand = renderer.demand(), !chain.isTruncating else { return false }
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
    guard let demand = renderer.demand(), demand.ahead > 0, isFinished || Double(demand.ahead) >= rate / 4 else {
      return
    }
    demand.isDry ? renderer.recoverFromDry() : renderer.output.sourceHasMore()
  }

  /// Converts one step's worth of frames, or goes on to the next load.
  private func decodeSome(_ renderer: Renderer, _ ring: FrameRing) -> Bool {
    if chain.headHasEnded { return goOn(renderer) }
    guard let media = chain.head?.media, let converter else { return false }
    if chunk == nil {
      do throws(MediaError) {
        chunk = (try media.read(), 0)
      } catch {
        if let generation = chain.head?.load.generation { renderer.withProgram { $0.fail(generation, error) } }
        chain.close()
        chunk = (.end, 0)
      }
    }
    let append: (UnsafeBufferPointer<Float>) -> Void = { [self] frames in
      renderer.append(frames, to: ring, at: end)
      end += Int64(frames.count / ring.channels)
    }
    let step = Ahead.step(from: media.sampleRate, to: renderer.format)
    switch chunk {
    case .some((.frames(let frame, let offset, let count), let used)):
      let part = min(step, count - used)
      converter.convert(frame, offset: offset + used, count: part, write: append)
      chunk = used + part < count ? (.frames(frame, offset: offset, count: count), used + part) : nil
    case .some((.concealment(let count), let used)):
      let part = min(step, count - used)
      converter.conceal(part, rate: media.sampleRate, write: append)
      chunk = used + part < count ? (.concealment(count: count), used + part) : nil
    case .some((.pending, _)):
      chunk = nil
      return false
    case .some((.end, _)), nil:
      chunk = nil
      chain.headHasEnded = true
    }
    return true
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
      setReading(nil)
      chain.dropNext()
      return true
    }
    setReading(nil)
    do throws(MediaError) {
      if next.needsRewind || next.load.start > .zero {
        try media.seek(to: next.load.start.frames(at: media.sampleRate))
      }
      let joint = end + (converter?.joint ?? 0)
      renderer.withProgram {
        $0.begin(
          next.load.generation, at: joint, media: MediaTime(next.load.start, rate: media.sampleRate))
      }
      chain.moveToNext(heard: renderer.heardGeneration)
    } catch {
      emit(.failed(next.load.generation, error))
      chain.dropNext()
    }
    return true
  }

  /// Opens the load after the head while there is time.
  private func openAhead() -> Bool {
    guard let next = chain.next, next.media == nil else { return false }
    if open(next.load) == nil { chain.dropNext() }
    setReading(nil)
    return true
  }

  private func requestNext() {
    if let last = chain.wantNext() { emit(.wantsNext(after: last)) }
  }

  // MARK: Changes while playing

  private func setUpcoming(after: Generation, loads: [EngineLoad]) {
    guard chain.contains(after) else { return }
    // Whatever was decoded of what is taken back has to go first; until then nothing more is decoded.
    if chain.hasBegun(after: after) || isFinished, let renderer {
      chain.isTruncating = true
      chain.pending = (after, loads)
      let mailbox = mailbox
      renderer.truncate(after: after) { done in
        mailbox.signal { $0.commands.append(.truncated(after: after, done)) }
      }
      return
    }
    chain.setUpcoming(after: after, loads: loads)
  }

  private func truncated(after: Generation, _ done: Bool) {
    chain.isTruncating = false
    guard let (wanted, loads) = chain.pending else { return }
    chain.pending = nil
    // Too late: what should have been taken back is being heard. The player will learn of it and load what it wants.
    guard done, wanted == after else { return }
    let hadBegun = chain.hasBegun(after: after)
    chain.setUpcoming(after: after, loads: loads)
    isFinished = false
    if hadBegun {
      chunk = nil
      chain.headHasEnded = true
      converter?.reset()
      end = renderer?.withProgram { $0.end } ?? end
    }
    isFilling = true
  }

  private func seek(_ id: SeekID, _ generation: Generation, to position: Duration) {
    guard let entry = chain.entry(generation) else { return }
    do throws(MediaError) {
      let media: OpenMedia
      if let opened = entry.media { media = opened } else { media = try reopen(entry.load) }
      let frame = min(position.frames(at: media.sampleRate), media.frameCount ?? .max)
      chunk = nil
      try media.seek(to: frame)
      chain.headHasEnded = false
      try begin(
        entry.load, media, at: MediaTime(frames: frame, rate: media.sampleRate).duration, as: .seek(id))
    } catch {
      emit(.seekFailed(id, generation, error))
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
