/// Finds long silences: at least 0.6 s in which no 10 ms are louder than −50 dBFS (RMS), of which 0.2 s stay at each
/// side. Pure: the same frames in other pieces give the same frames to pass over.
struct SilenceDetector {
  private let channels: Int
  private let window: Int
  private let least: Int64
  private let kept: Int64
  private var power = 0.0
  private var inWindow = 0
  private var frame: Int64
  /// Where the present silence began, and up to where it has been given out.
  private var begin: Int64?
  private var given: Int64 = 0

  /// −50 dBFS as a mean square.
  private static let threshold = 1e-5

  /// Makes a detector whose first frame has the index `frame`.
  init(sampleRate: Int, channels: Int, frame: Int64 = 0) {
    self.channels = max(1, channels)
    self.frame = frame
    window = max(1, sampleRate / 100)
    least = Int64(max(1, sampleRate)) * 6 / 10
    kept = Int64(max(1, sampleRate)) * 2 / 10
  }

  /// Frames before this one are decided: passed over, as told, or not.
  var certain: Int64 { begin.map { max($0 + kept, given) } ?? frame }

  /// Takes interleaved frames.
  ///
  /// - Returns: frames to pass over that are certain now and were not told before, in order. A silence that goes on is
  ///   told in parts that follow each other.
  mutating func process(_ samples: UnsafeBufferPointer<Float>) -> [Range<Int64>] {
    guard var next = samples.baseAddress else { return [] }
    var ranges: [Range<Int64>] = []
    var left = samples.count / channels
    while left > 0 {
      let count = min(left, window - inWindow)
      for _ in 0..<(count * channels) {
        let sample = Double(next.pointee)
        if sample.magnitude < .infinity { power += sample * sample }
        next += 1
      }
      inWindow += count
      left -= count
      if inWindow == window, let range = endWindow() {
        if let last = ranges.last, last.upperBound == range.lowerBound {
          ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
        } else {
          ranges.append(range)
        }
      }
    }
    return ranges
  }

  private mutating func endWindow() -> Range<Int64>? {
    let isSilent = power < Self.threshold * Double(window * channels)
    let start = frame
    frame += Int64(window)
    (power, inWindow) = (0, 0)
    guard isSilent else {
      begin = nil
      return nil
    }
    let began = begin ?? start
    if begin == nil {
      begin = start
      given = start + kept
    }
    // What lies 0.2 s back is passed over whether the silence ends now or later.
    guard frame - began >= least, frame - kept > given else { return nil }
    let range = given..<(frame - kept)
    given = range.upperBound
    return range
  }
}
