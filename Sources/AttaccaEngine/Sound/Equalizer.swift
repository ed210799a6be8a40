import AttaccaCore
import Glibc

/// The ten-band equalizer: a chain of second-order filters, one for each band that is not flat.
///
/// The outermost bands are shelves, the others peaks an octave wide (R. Bristow-Johnson: "Cookbook formulae for audio EQ
/// biquad filter coefficients"). Inside everything is Double: with Float, a 31 Hz filter at 384 kHz would be all
/// rounding. How the input is cut into pieces makes no difference to a single bit.
struct Equalizer {
  private var bands: [Band] = []
  /// The filters' memory: of each band, two numbers for each pair of channels.
  private var states: [State]
  private let channels: Int
  private let pairs: Int
  /// Frames until tiny numbers are next swept away, so that silence does not become slow denormals.
  private var untilSweep = Self.sweep

  private static let sweep = 256

  /// Makes an equalizer. Bands from 0.45 of the sample rate on are left out: their curve would not be theirs.
  init(sampleRate: Int, channels: Int, settings: EqualizerSettings) {
    self.channels = max(1, channels)
    pairs = (self.channels + 1) / 2
    for (index, frequency) in EqualizerSettings.frequencies.enumerated() {
      let gain = settings.gains[index]
      guard gain != 0, frequency < 0.45 * Double(sampleRate) else { continue }
      bands.append(Band(index: index, frequency: frequency, gain: gain, sampleRate: Double(sampleRate)))
    }
    states = Array(repeating: State(), count: bands.count * pairs)
  }

  /// Whether samples pass untouched.
  var isFlat: Bool { bands.isEmpty }

  /// Forgets what was heard before.
  mutating func reset() {
    for index in states.indices { states[index] = State() }
    untilSweep = Self.sweep
  }

  /// What the equalizer does to a tone of this frequency, in decibels.
  func gain(at frequency: Double, sampleRate: Int) -> Double {
    bands.reduce(0) { $0 + $1.gain(at: 2 * .pi * frequency / Double(sampleRate)) }
  }

  /// Filters interleaved samples in place; what is not a number becomes silence.
  mutating func process(_ samples: UnsafeMutableBufferPointer<Float>) {
    guard !bands.isEmpty, let base = samples.baseAddress else { return }
    let frames = samples.count / channels
    withUnsafeTemporaryAllocation(of: SIMD2<Double>.self, capacity: Self.sweep) { block in
      var done = 0
      while done < frames {
        let count = min(untilSweep, frames - done)
        for pair in 0..<pairs {
          filter(base + done * channels, pair: pair, UnsafeMutableBufferPointer(rebasing: block[..<count]))
        }
        done += count
        untilSweep -= count
        if untilSweep == 0 {
          for index in states.indices { states[index].sweep() }
          untilSweep = Self.sweep
        }
      }
    }
  }

  /// Filters two channels of some frames through all bands.
  private mutating func filter(
    _ samples: UnsafeMutablePointer<Float>, pair: Int, _ block: UnsafeMutableBufferPointer<SIMD2<Double>>
  ) {
    let left = pair * 2
    let right = left + 1 < channels ? left + 1 : left
    for index in block.indices {
      let frame = samples + index * channels
      let (a, b) = (frame[left], frame[right])
      block[index] = SIMD2(a.magnitude < .infinity ? Double(a) : 0, b.magnitude < .infinity ? Double(b) : 0)
    }
    for number in bands.indices {
      let band = bands[number]
      var state = states[number * pairs + pair]
      // Transposed direct form II.
      for index in block.indices {
        let x = block[index]
        let y = band.b0 * x + state.first
        state.first = band.b1 * x - band.a1 * y + state.second
        state.second = band.b2 * x - band.a2 * y
        block[index] = y
      }
      states[number * pairs + pair] = state
    }
    for index in block.indices {
      let frame = samples + index * channels
      frame[right] = Float(block[index].y)
      frame[left] = Float(block[index].x)
    }
  }

  private struct State {
    var first = SIMD2<Double>()
    var second = SIMD2<Double>()

    mutating func sweep() {
      for lane in 0..<2 {
        if first[lane].magnitude < 1e-30 { first[lane] = 0 }
        if second[lane].magnitude < 1e-30 { second[lane] = 0 }
      }
    }
  }

  /// One band's coefficients, normalised.
  private struct Band {
    var b0: Double
    var b1: Double
    var b2: Double
    var a1: Double
    var a2: Double

    init(index: Int, frequency: Double, gain: Double, sampleRate: Double) {
      let isLow = index == 0
      let isHigh = index == EqualizerSettings.frequencies.count - 1
      // A shelf's frequency is the middle of its slope: the edge of the band.
      let corner = isLow ? frequency * 2.0.squareRoot() : isHigh ? frequency / 2.0.squareRoot() : frequency
      let angle = 2 * .pi * corner / sampleRate
      let (sine, cosine) = (sin(angle), cos(angle))
      let a = pow(10, gain / 40)
      // Q of √2 is one octave; of 1/√2, the steepest shelf without a bump.
      let alpha = sine / (2 * (isLow || isHigh ? 0.5.squareRoot() : 2.0.squareRoot()))
      let a0: Double
      if isLow || isHigh {
        let slope = 2 * a.squareRoot() * alpha
        let (more, less) = (a + 1, isLow ? a - 1 : 1 - a)
        a0 = more + less * cosine + slope
        b0 = a * (more - less * cosine + slope) / a0
        b1 = 2 * a * (less - more * cosine) / a0
        b2 = a * (more - less * cosine - slope) / a0
        a1 = -2 * (less + more * cosine) / a0
        a2 = (more + less * cosine - slope) / a0
      } else {
        a0 = 1 + alpha / a
        b0 = (1 + alpha * a) / a0
        b1 = -2 * cosine / a0
        b2 = (1 - alpha * a) / a0
        a1 = -2 * cosine / a0
        a2 = (1 - alpha / a) / a0
      }
    }

    /// The response at an angle per frame, in decibels.
    func gain(at angle: Double) -> Double {
      func power(_ c0: Double, _ c1: Double, _ c2: Double) -> Double {
        let re = c0 + c1 * cos(angle) + c2 * cos(2 * angle)
        let im = c1 * sin(angle) + c2 * sin(2 * angle)
        return re * re + im * im
      }
      return 10 * log10(power(b0, b1, b2) / power(1, a1, a2))
    }
  }
}
