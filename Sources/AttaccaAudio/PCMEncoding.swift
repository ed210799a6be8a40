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
      guard let source = samples.baseAddress, let target = buffer.baseAddress.map({ $0 + start }) else { return }
      switch self {
      case .s16: IntegerSamples.store16(source, count: samples.count, to: target)
      case .s24: IntegerSamples.store24(source, count: samples.count, to: target)
      case .f32:
        for (index, sample) in samples.enumerated() {
          let value: Float = sample.isNaN ? 0 : sample
          target.storeBytes(of: value.bitPattern.littleEndian, toByteOffset: index * 4, as: UInt32.self)
        }
      }
    }
  }
}
