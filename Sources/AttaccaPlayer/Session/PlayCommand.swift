import Attacca
import Glibc
import POSIXKit

/// `attacca-player play`: everything from the arguments to the exit status.
@MainActor enum PlayCommand {
  /// What a session needs, once it is clear that there is something to play.
  struct Plan {
    var options: PlayOptions
    var items: [MediaItem]
  }

  /// Reads arguments and folders. Answers the plan, or the exit status when there is nothing to play.
  static func plan(_ arguments: [[UInt8]]) -> (plan: Plan?, status: Int32) {
    let options: PlayOptions
    do throws(UsageError) {
      if arguments.isEmpty {
        complain(HelpText.short)
        return (nil, 2)
      }
      switch try parseArguments(arguments) {
      case .help:
        writeAll(HelpText.full.utf8, to: STDOUT_FILENO)
        return (nil, 0)
      case .version:
        writeAll("attacca-player \(ProductVersion.current)\n".utf8, to: STDOUT_FILENO)
        return (nil, 0)
      case .play(let parsed): options = parsed
      }
    } catch {
      complain("attacca: \(error.message)\n")
      return (nil, 2)
    }
    let expansion = FileExpansion(options.operands)
    for problem in expansion.problems { complain("attacca: \(problem)\n") }
    guard !expansion.items.isEmpty else { return (nil, 1) }
    var items = expansion.items
    if let track = options.track {
      for index in items.indices { items[index].audioTrack = track - 1 }
    }
    return (Plan(options: options, items: items), 0)
  }

  /// Plays the plan on a player made for it; answers the exit status.
  static func run(_ plan: Plan, on player: Player) async -> Int32 {
    let input = SignalPipe.install().flatMap { InputThread(signals: $0, keys: STDIN_FILENO) }
    let (face, streams) = face(for: plan.options, input: input)
    let clock = SystemClock()
    let hooks = PlaySession.Hooks(
      stopProcess: SignalPipe.stopProcess, willEnd: SignalPipe.restoreDefaults,
      didStart: {
        Task {
          try? await Task.sleep(for: .seconds(1))
          Memory.dropStartUpPages()
        }
      },
      shutdown: { await player.shutdown() })
    let session = PlaySession(link: player, face: face, streams: streams, clock: clock, hooks: hooks)
    let ending = await session.run(
      plan.items, start: plan.options.start, inputs: input?.inputs ?? AsyncStream { $0.finish() })
    input?.end()
    switch ending {
    case .finished(let heard, let outputFailed): return heard && !outputFailed ? 0 : 1
    case .quit: return 0
    case .unread: return 1
    case .signal(let signal):
      // Whoever started us shall see which signal it was (and a shell stop its loop).
      SignalPipe.raiseDefault(signal)
      return 128 + signal
    }
  }

  private static func face(
    for options: PlayOptions, input: InputThread?
  ) -> (any Face, any TextStreams) {
    // Sound on standard output leaves only standard error to text.
    if options.isPCMOnStandardOutput {
      let streams = StandardStreams(out: STDERR_FILENO)
      return (PlainFace(streams), streams)
    }
    let isRendering = if case .wav = options.output { true } else { false }
    let traits = TerminalTraits.current
    if !options.json, !isRendering, !options.noTerminal, traits.hasCursor, isatty(STDOUT_FILENO) == 1 {
      let console = TerminalConsole(input: input)
      let face = TerminalFace(console, unicode: traits.unicode, styled: traits.styled) { Clocks.host }
      return (face, console)
    }
    let streams = StandardStreams()
    if options.json { return (JSONFace(streams) { Clocks.wall }, streams) }
    return (isRendering ? QuietFace(streams) : PlainFace(streams), streams)
  }

  private static func complain(_ text: String) { writeAll(text.utf8, to: STDERR_FILENO) }
}

extension PlayerConfiguration {
  /// The player that the options ask for.
  init(_ options: PlayOptions) {
    self.init()
    output =
      switch options.output {
      case .auto: .automatic
      case .pulse: .pulse
      case .silent: .silent
      case .wav(let path): .wav(path: path)
      case .pipe(let path): .pipe(path: path, format: options.pcm)
      }
    setup.volume = options.volume
    setup.repeatMode = options.repeatMode
    setup.rate = options.rate
    setup.sound = options.sound
  }
}
