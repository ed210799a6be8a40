import AttaccaCore

/// The sound processing between a program and the output stream, with all its state.
///
/// It takes the program's frames in order and makes the stream's frames from an output frame on, ahead of what is heard;
/// what it made stays readable until it was heard, because an output may ask again. Its state goes on over the joints of
/// items; a seek, a pause or a change of settings begins with a new chain. Used under the renderer's lock.
final class SoundChain {
  /// The output frame it begins with.
  let start: Int64
  /// One past the last output frame made.
  private(set) var end: Int64
  /// The program was finished and all of it has been made into sound.
  private(set) var isFlushed = false
  private var input: SoundInput
  /// Knows how loud the voice is; a later chain goes on with it.
  private(set) var leveler: Leveler?
  private var mixer: ChannelMixer?
  private var equalizer: Equalizer?
  private let stretcher: TimeStretcher?
  private var limiter: Limiter?
  private let made: FrameRing
  private let channels: Int
  /// Frames still to be thrown away: those before the beginning, which only warm the filters up, and the limiter's delay.
  private var toDrop: Int64
  private var blockInput: UnsafeMutablePointer<Float>
  private var blockOutput: UnsafeMutableBufferPointer<Float>
  /// Program frames taken at a time.
  private static let block = 512

  /// Makes a chain that begins at output frame `passage.origin`, and program index `passage.from`.
  ///
  /// - Parameter made: holds what was made; it may hold frames of another chain before.
  init(
    _ settings: SoundSettings, _ passage: Passage, in program: Program, into made: FrameRing, leveler: Leveler?,
    gain: @escaping (Program.Segment) -> Float
  ) {
    start = passage.origin
    end = passage.origin
    self.made = made
    channels = program.ring.channels
    let rate = program.sampleRate
    // The filters have settled when the first frame that counts comes: as many whole output frames as the program has
    // before it, so that the mapping stays exact.
    let first = settings.crossfade > .zero ? program.segment(at: passage.from).start : 0
    let before = passage.from - max(program.floor, first)
    let warmUp = min(passage.rate.output(Self.warmUp), max(0, passage.rate.output(before) - 1))
    input = SoundInput(
      at: passage.from - passage.rate.input(warmUp), in: program,
      crossfade: settings.crossfade.frames(at: rate), skipFrom: settings.skipsSilence ? passage.from : nil, gain: gain)
    if settings.levelsSpeech { self.leveler = leveler ?? Leveler(sampleRate: rate, channels: channels) }
    if settings.balance != 0 || settings.isMono {
      mixer = ChannelMixer(channels: channels, balance: settings.balance, isMono: settings.isMono)
    }
    if !settings.equalizer.isFlat {
      equalizer = Equalizer(sampleRate: rate, channels: channels, settings: settings.equalizer)
    }
    stretcher =
      passage.rate == .one ? nil : TimeStretcher(sampleRate: rate, channels: channels, rate: passage.rate.value)
    if settings.preventsClipping { limiter = Limiter(sampleRate: rate, channels: channels) }
    toDrop = warmUp + Int64(limiter?.delay ?? 0)
    blockInput = .allocate(capacity: Self.block * channels)
    // At a quarter of the rate a block becomes four, and the stretcher may bring more at once.
    blockOutput = .allocate(capacity: Self.block * 8 * channels)
  }

  deinit {
    blockInput.deallocate()
    blockOutput.deallocate()
  }

  /// Program frames before the beginning that filters are warmed up with.
  static let warmUp: Int64 = 4096

  /// Frames that must fit before more are made: a stretcher may bring many at once.
  private static let margin = 1 << 15

  /// The next program index that will be taken.
  var consumed: Int64 { input.index }

  /// Makes frames up to output frame `wanted`, or as many as the program has and `made` holds above `floor`.
  ///
  /// - Parameter didJump: is told when frames of the program are left out.
  func make(
    upTo wanted: Int64, above floor: Int64, from program: inout Program, passage: () -> Passage?,
    didJump: (Passage.Jump) -> Void
  ) {
    while end < wanted, !isFlushed, made.capacity - Int(end - floor) > Self.margin {
      switch input.take(Self.block, from: &program, into: blockInput) {
      case .nothing: return
      case .end:
        if let passage = passage() { flush(to: passage.frame(of: program.end)) }
        return
      case .frames(let count, let jump):
        if let jump { didJump(jump) }
        process(UnsafeMutableBufferPointer(start: blockInput, count: count * channels))
      }
    }
  }

  /// Copies `count` frames that were made.
  func read(into target: UnsafeMutablePointer<Float>, from frame: Int64, count: Int) {
    made.read(into: target, from: frame, count: count)
  }

  private func process(_ samples: UnsafeMutableBufferPointer<Float>) {
    leveler?.process(samples)
    mixer?.process(samples)
    equalizer?.process(samples)
    guard let stretcher else { return emit(samples) }
    stretcher.write(UnsafeBufferPointer(samples))
    emitStretched(stretcher)
  }

  private func emitStretched(_ stretcher: TimeStretcher) {
    while true {
      let count = stretcher.read(into: blockOutput)
      guard count > 0 else { return }
      emit(UnsafeMutableBufferPointer(rebasing: blockOutput[..<(count * channels)]))
    }
  }

  private func emit(_ samples: UnsafeMutableBufferPointer<Float>) {
    limiter?.process(samples)
    let count = Int64(samples.count / channels)
    let dropped = min(toDrop, count)
    toDrop -= dropped
    guard dropped < count else { return }
    made.write(UnsafeBufferPointer(rebasing: samples[(Int(dropped) * channels)...]), at: end)
    end += count - dropped
  }

  /// Brings out what the stages still hold; the sound ends exactly at output frame `last`.
  private func flush(to last: Int64) {
    isFlushed = true
    if let stretcher {
      stretcher.finish()
      emitStretched(stretcher)
    }
    // The limiter's delay, and what rounding may have left over.
    while end < last {
      let count = min(Int(last - end) + Int(toDrop), blockOutput.count / channels)
      let silence = UnsafeMutableBufferPointer(rebasing: blockOutput[..<(count * channels)])
      silence.update(repeating: 0)
      emit(silence)
    }
    end = last
  }
}

extension SoundSettings {
  /// Whether a chain is needed to carry them out.
  var needsChain: Bool {
    !isBitPerfect
      && (loudness != .off || !equalizer.isFlat || balance != 0 || isMono || crossfade > .zero || skipsSilence
        || levelsSpeech)
  }
}
