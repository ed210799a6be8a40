/// Numbers each loading of an entry, so that what arrives late is recognised as stale.
public struct Generation: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The number; grows with each load.
  public var rawValue: UInt64
  /// Makes a generation from its number.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
  /// Earlier loads come first.
  public static func < (a: Generation, b: Generation) -> Bool { a.rawValue < b.rawValue }
  /// The number as text.
  public var description: String { String(rawValue) }
}

/// Numbers seeks; the engine answers each with the same number.
public struct SeekID: Sendable, Hashable {
  /// The number; grows with each seek.
  public var rawValue: UInt64
  /// Makes a seek's identity from its number.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// One loading of an entry.
public struct EngineLoad: Sendable, Hashable {
  /// The entry.
  public var entry: EntryID
  /// Which load this is.
  public var generation: Generation
  /// What to open.
  public var item: MediaItem
  /// Where to begin, in media time.
  public var start: Duration

  /// Makes a load.
  public init(entry: EntryID, generation: Generation, item: MediaItem, start: Duration = .zero) {
    self.entry = entry
    self.generation = generation
    self.item = item
    self.start = start
  }
}

/// Where a media stands at a moment of host time, and how fast it moves: all that is needed to know the position at
/// any other moment without asking again.
public struct PositionAnchor: Sendable, Hashable {
  /// The media position.
  public var position: Duration
  /// The host time at which it is (or was) heard.
  public var hostTime: Duration
  /// Media seconds per host second; 0 while held.
  public var rate: Double

  /// Makes an anchor.
  public init(position: Duration, hostTime: Duration, rate: Double) {
    self.position = position
    self.hostTime = hostTime
    self.rate = rate
  }

  /// The position at host time `now`, never before the anchor's and never beyond `limit`.
  public func position(at now: Duration, limit: Duration? = nil) -> Duration {
    let elapsed = max(.zero, now - hostTime)
    // At the ordinary rate no floating-point number is involved. A rate that is none (NaN, negative) moves nothing, and
    // one beyond any use is bounded, because `Duration` traps on what it cannot hold.
    let moved = rate == 1 ? elapsed : rate > 0 ? elapsed * min(rate, 1_000) : .zero
    let position = position + moved
    guard let limit else { return position }
    return min(position, max(limit, self.position))
  }
}

/// What the player tells an engine. Sending never blocks; commands are carried out in order.
public enum EngineCommand: Sendable, Hashable {
  /// Drops everything and opens this load; when it can be heard it replaces what is playing.
  case load(EngineLoad)
  /// Lets sound run or holds it (with a fade; what is faded is heard again).
  case setRunning(Bool)
  /// Everything after `after` in the chain of loads is replaced by `loads`; they follow without a gap.
  case setUpcoming(after: Generation, loads: [EngineLoad])
  /// Goes to a media position of the current load.
  case seek(SeekID, Generation, to: Duration)
  /// Linear gain 0…1 applied to the sound, without a click.
  case setGain(Double)
  /// Media seconds per second (0.25…4), with the pitch kept; acts at once, and on every load from then on.
  case setRate(Double)
  /// How everything sounds; acts at once, except for a bit-perfect output, which begins with the next load. The loudness
  /// mode is never `auto`: the player has decided.
  case setSound(SoundSettings)
  /// Releases output and media.
  case stop
}

/// What an engine tells the player. Everything carries the generation it is about.
public enum EngineEvent: Sendable, Hashable {
  /// The media was opened.
  case opened(Generation, MediaInfo)
  /// The media could not be opened, or failed underway; it ends here.
  case failed(Generation, MediaError)
  /// The duration is now known better.
  case durationChanged(Generation, MediaDuration)
  /// The media's tags are other ones from here on (the next link of a chained stream, the next song of a broadcast):
  /// these take the place of all that were known.
  case metadataChanged(Generation, [MetadataItem])
  /// The chain's last load has been opened and decoded far enough that its successor is wanted.
  case wantsNext(after: Generation)
  /// The current load's position mapping changed: it began, was held, went on, or was measured afresh.
  case anchored(Generation, PositionAnchor)
  /// Nothing can be heard because bytes or decoding are late.
  case stalled(Generation, PositionAnchor)
  /// This load's successor is now heard.
  case advanced(from: Generation, to: Generation, PositionAnchor)
  /// A seek's target is heard (or, held, is what would be heard).
  case seekLanded(SeekID, Generation, PositionAnchor)
  /// A seek could not be done; the old position goes on.
  case seekFailed(SeekID, Generation, MediaError)
  /// The load was heard to its end and nothing follows.
  case ended(Generation, at: Duration)
  /// The output was opened.
  case outputOpened(OutputInfo)
  /// No output could be opened.
  case outputFailed(MediaError)
  /// The output went away; the position stands still.
  case outputLost(Generation?, PositionAnchor?)
  /// The output is back and sound goes on.
  case outputRestored
}

/// What an engine can do; the player's `can…` twins follow it.
public struct EngineCapabilities: Sendable, Hashable {
  /// Consecutive loads join without a gap.
  public var gapless: Bool
  /// Seeks are exact to the sample.
  public var exactSeek: Bool
  /// The engine has a gain of its own.
  public var gain: Bool
  /// Rates other than 1 are possible.
  public var rate: Bool
  /// The engine carries out ``SoundSettings``.
  public var sound: Bool

  /// Makes a description.
  public init(gapless: Bool, exactSeek: Bool, gain: Bool, rate: Bool, sound: Bool) {
    self.gapless = gapless
    self.exactSeek = exactSeek
    self.gain = gain
    self.rate = rate
    self.sound = sound
  }

  /// Everything.
  public static let all = EngineCapabilities(gapless: true, exactSeek: true, gain: true, rate: true, sound: true)
}

/// Plays one chain of loads. The port has no PCM, output frame or decoder type in it, so that a system player could
/// implement it.
public protocol PlaybackEngine: AnyObject, Sendable {
  /// What it can do.
  var capabilities: EngineCapabilities { get }

  /// Sets where events go; called once, before any command. `receive` is called on the engine's threads, in order.
  func start(_ receive: @escaping @Sendable (EngineEvent) -> Void)

  /// Takes a command; returns at once.
  func send(_ command: EngineCommand)

  /// Ends every thread and releases everything; `completion` runs when nothing is left. Further commands do nothing.
  func shutdown(_ completion: @escaping @Sendable () -> Void)
}
