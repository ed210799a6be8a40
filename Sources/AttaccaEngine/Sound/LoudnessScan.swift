import AttaccaCore
import CEBUR128
import POSIXKit
import Synchronization

/// The measured loudness of an item (EBU R128, ITU-R BS.1770).
public struct LoudnessScan: Sendable {
  /// Integrated loudness in LUFS; `nil` when everything is below the gate (silence).
  public let integrated: Double?
  /// Loudness range in LU (EBU Tech 3342).
  public let range: Double
  /// The greatest value between samples, four times oversampled (1 is full scale).
  public let truePeak: Double
  /// The greatest sample.
  public let samplePeak: Double
  fileprivate let state: LoudnessState

  /// What ReplayGain would say of the item alone: the gain to −18 LUFS and the peak.
  public var tags: LoudnessTags {
    LoudnessTags(trackGain: integrated.map { -18 - $0 }, trackPeak: samplePeak, source: .replayGain)
  }

  /// What ReplayGain would say of items that are an album, in their order; silent ones have no track gain.
  public static func album(_ scans: [LoudnessScan]) -> [LoudnessTags] {
    let albumGain = LoudnessState.loudness(of: scans.map(\.state)).map { -18 - $0 }
    let albumPeak = scans.map(\.samplePeak).max()
    return scans.map { scan in
      var tags = scan.tags
      (tags.albumGain, tags.albumPeak) = (albumGain, albumPeak)
      return tags
    }
  }
}

/// Measures an item's loudness on a thread of its own, as fast as it can be decoded.
///
/// - Throws: ``MediaError`` with a `source.*` code; `source.readFailed` when the task was cancelled.
public func scanLoudness(
  of item: MediaItem, sources: any ByteSourceProvider
) async throws(MediaError) -> LoudnessScan {
  let cancellation = ScanCancellation()
  let result = await withTaskCancellationHandler {
    await withCheckedContinuation { (continuation: CheckedContinuation<Result<LoudnessScan, MediaError>, Never>) in
      let worker = Worker(name: "attacca-scan") {
        continuation.resume(
          returning: Result { () throws(MediaError) in try scan(item, sources: sources, cancellation) })
      }
      guard let worker else {
        return continuation.resume(
          returning: .failure(
            MediaError(.sourceReadFailed, subject: item.locator.displayName, reason: "no thread could be started")))
      }
      worker.detach()
    }
  } onCancel: {
    cancellation.cancel()
  }
  return try result.get()
}

private func scan(
  _ item: MediaItem, sources: any ByteSourceProvider, _ cancellation: ScanCancellation
) throws(MediaError) -> LoudnessScan {
  let name = item.locator.displayName
  let source = try sources.open(item)
  cancellation.watch(source)
  let media = try OpenMedia(source, name: name)
  let channels = min(max(media.info.channels, 1), 8)
  // All in the format of the first frame: what changes later is converted.
  let converter = StreamConverter(to: StreamFormat(sampleRate: media.sampleRate, channels: channels))
  guard let state = LoudnessState(sampleRate: media.sampleRate, channels: channels) else {
    throw MediaError(.sourceUnsupported, subject: name, reason: "its loudness cannot be measured in this format")
  }
  reading: while true {
    if cancellation.isCancelled { throw MediaError(.sourceReadFailed, subject: name, reason: "cancelled") }
    switch try media.read() {
    case .frames(let frame, let offset, let count):
      converter.convert(frame, offset: offset, count: count) { state.add($0) }
    case .concealment(let count): converter.conceal(count, rate: media.sampleRate) { state.add($0) }
    case .end: break reading
    }
  }
  converter.drain { state.add($0) }
  return state.result
}

/// The source that a cancelled scan must let go of.
private final class ScanCancellation: Sendable {
  private let state = Mutex<(isCancelled: Bool, source: (any ByteSource)?)>((false, nil))

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func watch(_ source: any ByteSource) {
    let isCancelled = state.withLock {
      $0.source = source
      return $0.isCancelled
    }
    if isCancelled { source.cancel() }
  }

  func cancel() {
    let source = state.withLock {
      $0.isCancelled = true
      return $0.source
    }
    source?.cancel()
  }
}

/// libebur128's state.
///
/// `@unchecked Sendable`: frames are added on one thread before the state is shared; afterwards the library only reads
/// it.
private final class LoudnessState: @unchecked Sendable {
  private var state: UnsafeMutablePointer<ebur128_state>?
  private let channels: Int

  init?(sampleRate: Int, channels: Int) {
    // Blocks are kept as a histogram: hours take no more memory than seconds.
    let mode =
      EBUR128_MODE_I.rawValue | EBUR128_MODE_LRA.rawValue | EBUR128_MODE_TRUE_PEAK.rawValue
      | EBUR128_MODE_HISTOGRAM.rawValue
    self.channels = channels
    state = ebur128_init(UInt32(channels), UInt(max(0, sampleRate)), Int32(mode))
    guard let state else { return nil }
    // The library's own order has neither a low-frequency channel where 5.1 has it nor more than six channels.
    for (index, position) in Self.positions(channels).enumerated() {
      ebur128_set_channel(state, UInt32(index), Int32(position.rawValue))
    }
  }

  deinit { ebur128_destroy(&state) }

  /// Counts interleaved frames.
  func add(_ samples: UnsafeBufferPointer<Float>) {
    guard let state, let base = samples.baseAddress else { return }
    // One number that is none would spoil the filters for good.
    if samples.allSatisfy({ $0.magnitude < 1e6 }) {
      ebur128_add_frames_float(state, base, samples.count / channels)
    } else {
      samples.map { $0.magnitude < 1e6 ? $0 : 0 }.withUnsafeBufferPointer {
        _ = ebur128_add_frames_float(state, $0.baseAddress, $0.count / channels)
      }
    }
  }

  var result: LoudnessScan {
    var range = 0.0
    if ebur128_loudness_range(state, &range) != Int32(EBUR128_SUCCESS.rawValue) { range = 0 }
    var (truePeak, samplePeak) = (0.0, 0.0)
    for channel in 0..<UInt32(channels) {
      var peak = 0.0
      if ebur128_true_peak(state, channel, &peak) == Int32(EBUR128_SUCCESS.rawValue) { truePeak = max(truePeak, peak) }
      if ebur128_sample_peak(state, channel, &peak) == Int32(EBUR128_SUCCESS.rawValue) {
        samplePeak = max(samplePeak, peak)
      }
    }
    return LoudnessScan(
      integrated: Self.loudness(of: [self]), range: range.isFinite ? range : 0, truePeak: truePeak,
      samplePeak: samplePeak, state: self)
  }

  /// The integrated loudness of several together; `nil` for silence.
  static func loudness(of states: [LoudnessState]) -> Double? {
    var pointers = states.map(\.state)
    var loudness = 0.0
    guard ebur128_loudness_global_multiple(&pointers, pointers.count, &loudness) == Int32(EBUR128_SUCCESS.rawValue),
      loudness.isFinite
    else { return nil }
    return loudness
  }

  private static func positions(_ channels: Int) -> [CEBUR128.channel] {
    let (front, surround) = ([EBUR128_LEFT, EBUR128_RIGHT], [EBUR128_LEFT_SURROUND, EBUR128_RIGHT_SURROUND])
    switch channels {
    case 1: return [EBUR128_DUAL_MONO]
    case 2: return front
    case 3: return front + [EBUR128_UNUSED]
    case 4: return front + [EBUR128_CENTER, EBUR128_Mp180]
    case 5: return front + [EBUR128_CENTER] + surround
    case 6: return front + [EBUR128_CENTER, EBUR128_UNUSED] + surround
    case 7: return front + [EBUR128_CENTER, EBUR128_UNUSED, EBUR128_Mp180] + surround
    default:
      return front + [EBUR128_CENTER, EBUR128_UNUSED, EBUR128_Mp135, EBUR128_Mm135, EBUR128_Mp090, EBUR128_Mm090]
    }
  }
}
