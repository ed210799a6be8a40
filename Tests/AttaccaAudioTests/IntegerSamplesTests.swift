import TestSupport
import Testing

@testable import AttaccaAudio

@Suite struct IntegerSamplesTests {
  private func nearest(_ sample: Float, _ scale: Double) -> Int32 {
    if sample.isNaN { return 0 }
    return Int32(max(-scale, min(scale - 1, (Double(sample) * scale).rounded(.toNearestOrEven))))
  }

  private func samples() -> [Float] {
    var random = SeededRandom.announced("integers")
    let special: [Float] = [
      0, -0, 1, -1, .nan, .signalingNaN, .infinity, -.infinity, 1e30, -1e30, 1e-30, 0.5 / 32_768, 1.5 / 32_768,
      2.5 / 32_768, -0.5 / 32_768, -1.5 / 32_768, 0.99999, -0.99999, 0.5 / 8_388_608, 1.5 / 8_388_608,
    ]
    return special + (0..<4001).map { _ in Float.random(in: -1.2...1.2, using: &random) }
  }

  @Test func theyAreTheNearest() {
    let samples = samples()
    var bytes: [UInt8] = []
    samples.withUnsafeBufferPointer { PCMEncoding.s16.append($0, to: &bytes) }
    for (index, sample) in samples.enumerated() {
      let value = Int16(truncatingIfNeeded: Int(bytes[index * 2]) | Int(bytes[index * 2 + 1]) << 8)
      #expect(Int32(value) == nearest(sample, 32_768), "\(sample)")
    }
    bytes = []
    samples.withUnsafeBufferPointer { PCMEncoding.s24.append($0, to: &bytes) }
    for (index, sample) in samples.enumerated() {
      let value =
        Int32(bytes[index * 3]) | Int32(bytes[index * 3 + 1]) << 8
        | Int32(Int8(truncatingIfNeeded: Int(bytes[index * 3 + 2]))) << 16
      #expect(value == nearest(sample, 8_388_608), "\(sample)")
    }
  }

  /// The sound server's memory holds the floats and then the integers.
  @Test func theyMayBeStoredOverTheFloats() {
    let samples = samples()
    for (encoding, scale) in [(PulseEncoding.int16, 32_768.0), (.int24, 8_388_608)] {
      var memory = samples
      memory.withUnsafeMutableBufferPointer { buffer in
        encoding.convert(buffer)
        let raw = UnsafeRawBufferPointer(buffer)
        for (index, sample) in samples.enumerated() {
          let value =
            encoding == .int16
            ? Int32(raw.loadUnaligned(fromByteOffset: index * 2, as: Int16.self))
            : raw.loadUnaligned(fromByteOffset: index * 4, as: Int32.self)
          #expect(value == nearest(sample, scale), "\(sample)")
        }
      }
    }
  }

  /// What was an integer is that integer again: 16 and 24 bits pass through floats untouched.
  @Test func integersComeBack() {
    let values = stride(from: Int32(-8_388_608), through: 8_388_607, by: 4_099)
    for value in values {
      #expect(nearest(Float(value) / 8_388_608, 8_388_608) == value)
    }
  }
}
