/// Floats made into integers: rounded to the nearest (to even), clipped at full scale; what is no number is silent.
///
/// Rounding is done by adding a number so large that the sum has no place for a fraction; which is exact, and much faster
/// than asking for it sample by sample.
enum IntegerSamples {
  /// Stores `count` samples as 16-bit integers.
  static func store16(_ samples: UnsafePointer<Float>, count: Int, to target: UnsafeMutableRawPointer) {
    let source = UnsafeRawPointer(samples)
    var index = 0
    while index + 8 <= count {
      let values = source.loadUnaligned(fromByteOffset: index * 4, as: SIMD8<Float>.self)
      let integers = SIMD8<Int16>(truncatingIfNeeded: rounded16(values))
      target.storeBytes(of: integers, toByteOffset: index * 2, as: SIMD8<Int16>.self)
      index += 8
    }
    while index < count {
      let integer = rounded16(SIMD8<Float>(repeating: samples[index]))[0]
      target.storeBytes(of: Int16(truncatingIfNeeded: integer), toByteOffset: index * 2, as: Int16.self)
      index += 1
    }
  }

  /// Stores `count` samples as 24-bit integers in three bytes each.
  static func store24(_ samples: UnsafePointer<Float>, count: Int, to target: UnsafeMutableRawPointer) {
    for index in 0..<count {
      let value = rounded24(samples[index])
      target.storeBytes(of: UInt8(truncatingIfNeeded: value), toByteOffset: index * 3, as: UInt8.self)
      target.storeBytes(of: Int16(truncatingIfNeeded: value >> 8), toByteOffset: index * 3 + 1, as: Int16.self)
    }
  }

  /// Stores `count` samples as 24-bit integers in the lower part of 32 bits; `target` may be where the samples are.
  static func store24In32(_ samples: UnsafePointer<Float>, count: Int, to target: UnsafeMutableRawPointer) {
    for index in 0..<count { target.storeBytes(of: rounded24(samples[index]), toByteOffset: index * 4, as: Int32.self) }
  }

  private static func rounded16(_ samples: SIMD8<Float>) -> SIMD8<Int32> {
    let numbers = samples.replacing(with: 0, where: samples .!= samples)
    let scaled = (numbers * 32_768).clamped(
      lowerBound: SIMD8(repeating: -32_768), upperBound: SIMD8(repeating: 32_767))
    // 1.5 · 2²³: beyond it floats are whole numbers.
    let sum = scaled + 12_582_912
    return unsafeBitCast(sum, to: SIMD8<Int32>.self) &- 0x4B40_0000
  }

  private static func rounded24(_ sample: Float) -> Int32 {
    guard !sample.isNaN else { return 0 }
    // 1.5 · 2⁵²: beyond it doubles are whole numbers, and the lower half is this one.
    let sum = min(max(Double(sample) * 8_388_608, -8_388_608), 8_388_607) + 6_755_399_441_055_744
    return Int32(truncatingIfNeeded: sum.bitPattern)
  }
}
