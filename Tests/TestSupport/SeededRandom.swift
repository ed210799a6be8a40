import Foundation

/// SplitMix64: the same numbers for the same seed, everywhere.
public struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64
  /// What the numbers come from.
  public let seed: UInt64

  /// Makes a generator.
  public init(seed: UInt64) {
    state = seed
    self.seed = seed
  }

  /// A new seed for each run, printed so that a failure can be had again: with it in the environment's `ATTACCA_SEED`.
  public static func announced(_ name: String, seed: UInt64? = nil) -> SeededRandom {
    let wished = ProcessInfo.processInfo.environment["ATTACCA_SEED"].flatMap { UInt64($0) }
    let seed = seed ?? wished ?? .random(in: 0...UInt64.max)
    print("\(name): seed \(seed)")
    return SeededRandom(seed: seed)
  }

  /// The next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A number from 0 to below `bound`.
  public mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
