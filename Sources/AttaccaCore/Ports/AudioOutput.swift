/// The shape of a PCM stream: interleaved 32-bit float frames in −1…1.
public struct StreamFormat: Sendable, Hashable {
  /// Frames per second.
  public var sampleRate: Int
  /// Samples per frame, in the order of WAVEFORMATEXTENSIBLE (front left, front right, centre, LFE, …).
  public var channels: Int
  /// How many bits of the source's samples carry content, where an output stores integers (16 or 24); 32 for float.
  public var significantBits: Int
  /// Whether samples shall reach the device exactly as they are: as integers of ``significantBits`` where they were.
  public var isExact: Bool

  /// Makes a format; 16 significant bits unless said otherwise.
  public init(sampleRate: Int, channels: Int, significantBits: Int = 16, isExact: Bool = false) {
    self.sampleRate = sampleRate
    self.channels = channels
    self.significantBits = significantBits
    self.isExact = isExact
  }

  /// The time `frames` take.
  public func duration(of frames: Int64) -> Duration { MediaTime(frames: frames, rate: sampleRate).duration }
}

/// What an output plays: a stream addressed by absolute frame index, of which any part not yet heard may be read again.
public protocol RenderSource: AnyObject, Sendable {
  /// Stores frames `start ..< start + n` (interleaved) in `buffer` and answers `n`, at most `count`; fewer means no more
  /// is ready now. Must not block; called on the output's thread.
  func render(into buffer: UnsafeMutableBufferPointer<Float>, from start: Int64, count: Int) -> Int

  /// Frames below `frame` have left the output and will never be asked for again.
  func didHear(upTo frame: Int64)
}

/// Where an output stands when its stream may be rewritten.
public struct EditPoint: Sendable, Hashable {
  /// The first frame whose content can still be changed.
  public var earliest: Int64
  /// The frame now leaving the output.
  public var heard: Int64
  /// The host time at which `heard` leaves it.
  public var hostTime: Duration
  /// The first frame that was never given to the output.
  public var end: Int64

  /// Makes an edit point.
  public init(earliest: Int64, heard: Int64, hostTime: Duration, end: Int64) {
    self.earliest = earliest
    self.heard = heard
    self.hostTime = hostTime
    self.end = end
  }
}

/// Whether the stream runs after an edit.
public enum OutputTransport: Sendable, Hashable {
  /// Frames leave the output.
  case running
  /// The stream is held once this frame has been heard (the end of a fade).
  case held(after: Int64)
}

/// What an output tells its engine, on the output's thread.
public enum OutputEvent: Sendable {
  /// The stream exists; frames can be heard. `name` is for people.
  case opened(OutputInfo)
  /// The stream could not be made.
  case failed(MediaError)
  /// The server or device went away after this frame was heard; the stream is held there.
  case lost(at: Int64)
  /// A lost server is back; the stream goes on at the frame where it was lost.
  case restored
  /// The marker's frame is leaving the output.
  case reached(frame: Int64, hostTime: Duration)
  /// Where the stream stands, measured now; sent now and then so that extrapolated positions do not drift.
  case measured(heard: Int64, hostTime: Duration)
  /// The source had nothing more in time: from this frame on there is silence that was not asked for.
  case starved(at: Int64)
}

/// What is known about an opened output.
public struct OutputInfo: Sendable, Hashable, Codable {
  /// A stable kind: `pulse`, `silent`, `wav`, `capture`.
  public var kind: String
  /// A name for people: the device or the file.
  public var name: String
  /// Why this is not what was asked for, when it is not (no sound server: silent instead).
  public var fallbackReason: String?

  /// Makes an output description.
  public init(kind: String, name: String, fallbackReason: String? = nil) {
    self.kind = kind
    self.name = name
    self.fallbackReason = fallbackReason
  }
}

/// Takes PCM to where it is heard (or written).
///
/// One thread of the output calls the source and delivers events. Every method returns at once: a server that does
/// not answer never blocks the caller.
public protocol AudioOutput: AnyObject, Sendable {
  /// Whether frames are consumed as fast as they come (a file) instead of at the sample rate.
  var isOffline: Bool { get }

  /// The one format it takes; `nil` when it takes what the media has. Optional.
  var fixedFormat: StreamFormat? { get }

  /// Starts whatever takes time and needs no format (connecting to a server). Optional.
  func prepare()

  /// Makes the stream, held at frame 0. Called once.
  func open(
    _ format: StreamFormat, source: any RenderSource, receive: @escaping @Sendable (OutputEvent) -> Void)

  /// Runs `change` on the output's thread with the present edit point, then reads the stream again from
  /// `earliest` on and runs or holds it as `change` says. Edits are carried out in order.
  func edit(_ change: @escaping @Sendable (EditPoint) -> OutputTransport)

  /// The source has frames it did not have before.
  func sourceHasMore()

  /// Sends ``OutputEvent/reached(frame:hostTime:)`` when `frame` leaves the output; replaces the marker before it.
  func setMarker(_ frame: Int64?)

  /// Releases everything. The last event has been delivered when `completion` runs.
  func close(_ completion: @escaping @Sendable () -> Void)
}

extension AudioOutput {
  public var fixedFormat: StreamFormat? { nil }
  public func prepare() {}
}
