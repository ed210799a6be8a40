import AttaccaCore

/// Reads how much of a DSF file is music: its last block of 4,096 bytes per channel is filled up, and only the header
/// tells with how much (Sony DSF File Format Specification, "fmt chunk").
package enum DSDTrim {
  /// Reads the count of one-bit samples and gives it in decoded frames, eight times fewer at the usual decimation.
  package static func read(_ source: any ByteSource, sampleRate: Int) -> TrimRange {
    var reader = ByteReader(source, window: 256, budget: 4096)
    guard reader.has("DSD ", at: 0), reader.has("fmt ", at: 28), let rate = reader.little(at: 56, bytes: 4), rate > 0,
      let count = reader.little(at: 64, bytes: 8).flatMap({ Int64(exactly: $0) }), count > 0,
      // The last frame is played when any of its bits is.
      let frames = count.addingClamped(Int64(rate) / Int64(max(1, sampleRate)) - 1)
        .scaledDown(by: Int64(sampleRate), over: Int64(rate))
    else { return .none }
    return TrimRange(start: 0, end: frames, source: .dsfHeader)
  }
}

extension Int64 {
  /// `self × numerator / denominator`, rounded down; `nil` when it has no room.
  fileprivate func scaledDown(by numerator: Int64, over denominator: Int64) -> Int64? {
    guard denominator > 0, self >= 0, numerator >= 0 else { return nil }
    let (high, low) = magnitude.multipliedFullWidth(by: numerator.magnitude)
    guard high < denominator.magnitude else { return nil }
    return Int64(exactly: denominator.magnitude.dividingFullWidth((high, low)).quotient)
  }
}
