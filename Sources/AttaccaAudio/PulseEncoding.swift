import AttaccaCore
import CPulse

/// How samples are given to the server: as floats, which it converts as its device needs, or exactly as the media had them.
enum PulseEncoding {
  case float
  case int16
  /// 24 bits in the lower part of 32.
  case int24

  init(_ format: StreamFormat) {
    self = !format.isExact || format.significantBits > 24 ? .float : format.significantBits > 16 ? .int24 : .int16
  }

  var sampleFormat: pa_sample_format_t {
    switch self {
    case .float: PA_SAMPLE_FLOAT32LE
    case .int16: PA_SAMPLE_S16LE
    case .int24: PA_SAMPLE_S24_32LE
    }
  }

  var bytesPerSample: Int { self == .int16 ? 2 : 4 }

  /// Converts samples in place: the integers are written over the beginning of the floats.
  func convert(_ samples: UnsafeMutableBufferPointer<Float>) {
    guard let base = samples.baseAddress else { return }
    switch self {
    case .float: return
    // Each piece is read before what lies over it is written.
    case .int16: IntegerSamples.store16(base, count: samples.count, to: base)
    case .int24: IntegerSamples.store24In32(base, count: samples.count, to: base)
    }
  }
}
