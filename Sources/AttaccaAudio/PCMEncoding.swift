import AttaccaCore

/// How samples are stored, little endian and without padding.
public enum PCMEncoding: String, Sendable, Hashable, CaseIterable {
  /// 16-bit integers.
  case s16
  /// 24-bit integers, three bytes each.
  case s24
  /// 32-bit floating point (IEEE 754), unclipped.
  case f32

  /// Bytes that one sample takes.
  public var bytesPerSample: Int {
    switch self {
    case .s16: 2
    case .s24: 3
    case .f32: 4
    }
  }

  /// Appends samples. Integers are rounded to the nearest (to even), clipped at full scale; what is no number is silent.
  func append(_ samples: UnsafeBufferPointer<Float>, to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: samples.count * bytesPerSample))
    bytes.withUnsafeMutableBytes { buffer in
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
      switch self {
      case .s16:
        for (index, sample) in samples.enumerated() {
          let value = Int16(truncatingIfNeeded: Self.integer(sample, scale: 32_768))
          target.storeBytes(of: value.littleEndian, toByteOffset: index * 2, as: Int16.self)
        }
      case .s24:
        for (index, sample) in samples.enumerated() {
          let value = Self.integer(sample, scale: 8_388_608)
          target[index * 3] = UInt8(truncatingIfNeeded: value)
          target[index * 3 + 1] = UInt8(truncatingIfNeeded: value >> 8)
          target[index * 3 + 2] = UInt8(truncatingIfNeeded: value >> 16)
        }
      case .f32:
        for (index, sample) in samples.enumerated() {
          let value: Float = sample.isNaN ? 0 : sample
          target.storeBytes(of: value.bitPattern.littleEndian, toByteOffset: index * 4, as: UInt32.self)
        }
      }
    }
  }

  private static func integer(_ sample: Float, scale: Float) -> Int32 {
    // A float file may hold anything, NaN too.
    sample.isNaN ? 0 : Int32(max(-scale, min(scale - 1, (sample * scale).rounded(.toNearestOrEven))))
  }
}
