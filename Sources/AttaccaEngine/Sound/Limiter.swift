import Glibc

/// Keeps every sample within full scale without a click: it looks 5 ms ahead and turns down, all channels together,
/// before a peak arrives; afterwards the gain comes back within about 100 ms.
///
/// While nothing within the look-ahead exceeds full scale and the gain is back at 1, samples pass untouched. The output
/// is late by ``delay`` frames. How the input is cut into pieces makes no difference to a single bit. Frames go through
/// one by one; lives on one thread.
final class Limiter {
  /// Frames by which the output is late.
  let delay: Int

  private let channels: Int
  private let release: Double
  /// The last `delay` frames, and for each the gain it needs, in rings.
  private let held: UnsafeMutablePointer<Float>
  private let smooth: UnsafeMutablePointer<Float>
  /// The least needed gain within the look-ahead: candidates in rising order of time and value (a monotonic queue).
  private let minima: UnsafeMutablePointer<(frame: Int, gain: Float)>
  private var head = 0
  private var tail = 0
  private var frame = 0
  /// Double: the last steps of the way back are too small for Float.
  private var gain = 1.0
  /// The gains held in `smooth`, as whole numbers: a sum of them never drifts.
  private var sum: Int64
  private static let one: Float = 1_048_576

  /// Makes a limiter; senseless numbers are brought into range.
  init(sampleRate: Int, channels: Int) {
    self.channels = max(1, channels)
    let rate = min(max(sampleRate, 1_000), 3_072_000)
    delay = max(1, rate / 200)
    release = 1 - exp(-1 / (0.1 * Double(rate) / 2))
    held = .allocate(capacity: delay * self.channels)
    smooth = .allocate(capacity: delay)
    minima = .allocate(capacity: delay + 1)
    sum = 0
    reset()
  }

  deinit {
    held.deallocate()
    smooth.deallocate()
    minima.deallocate()
  }

  /// Forgets everything: silence is held again.
  func reset() {
    held.update(repeating: 0, count: delay * channels)
    smooth.update(repeating: 1, count: delay)
    (head, tail, frame, gain) = (0, 0, 0, 1)
    sum = Int64(delay) * Int64(Self.one)
  }

  /// Limits interleaved samples in place; what comes out is what came in ``delay`` frames earlier. What is not a number
  /// becomes silence.
  func process(_ samples: UnsafeMutableBufferPointer<Float>) {
    guard var now = samples.baseAddress else { return }
    for _ in 0..<(samples.count / channels) {
      step(now)
      now += channels
    }
  }

  /// Brings out what is held, ``delay`` frames, and begins anew.
  func flush(into samples: UnsafeMutableBufferPointer<Float>) {
    samples.update(repeating: 0)
    process(samples)
    reset()
  }

  @inline(__always)
  private func step(_ samples: UnsafeMutablePointer<Float>) {
    var peak: Float = 1
    for channel in 0..<channels {
      if !(samples[channel].magnitude < .infinity) { samples[channel] = 0 }
      peak = max(peak, samples[channel].magnitude)
    }
    let needed = 1 / peak
    // The least gain that any of the frames from the one going out to this one needs.
    let size = delay + 1
    if head != tail, minima[head % size].frame < frame - delay { head += 1 }
    while head != tail, minima[(tail - 1) % size].gain >= needed { tail -= 1 }
    minima[tail % size] = (frame, needed)
    tail += 1
    let least = Double(minima[head % size].gain)
    // Down at once, up slowly; then a mean over the look-ahead makes the way down a smooth one. All gains in the mean
    // were at most what the frame going out needs, so the mean is too.
    gain = least < gain ? least : gain + (least - gain) * release
    if gain > 0.99999, least == 1 { gain = 1 }
    let slot = frame % delay
    // Rounded down: never more than needed.
    let rounded = Float((gain * Double(Self.one)).rounded(.down))
    sum += Int64(rounded) - Int64(smooth[slot] * Self.one)
    smooth[slot] = rounded / Self.one
    let mean = Float(Double(sum) / (Double(delay) * Double(Self.one)))
    let old = held + slot * channels
    for channel in 0..<channels {
      let sample = old[channel]
      old[channel] = samples[channel]
      samples[channel] = mean == 1 ? sample : min(max(sample * mean, -1), 1)
    }
    frame += 1
  }
}
