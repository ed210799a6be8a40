extension LoudnessTags {
  /// Reads the gains in LAME's part of an MP3's Xing or Info frame: the eight bytes from the eleventh behind the
  /// beginning of the encoder's name on (peak, track gain, album gain; all big-endian, LAME's "Mp3 info tag rev 1").
  ///
  /// The gains are in tenths of a decibel to ReplayGain's 89 dB, which is −18 LUFS. `nil` when there is none in them.
  public init?(lameHeader bytes: some Collection<UInt8>) {
    guard bytes.count == 8 else { return nil }
    let words = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let track = Self.lameGain(UInt16(truncatingIfNeeded: words >> 16), name: 1)
    let album = Self.lameGain(UInt16(truncatingIfNeeded: words), name: 2)
    guard track != nil || album != nil else { return nil }
    // The peak is a fixed-point number with 23 bits behind the point.
    let peak = Double(words >> 32) / Double(1 << 23)
    self.init(trackGain: track, albumGain: album, trackPeak: peak > 0 && peak <= 8 ? peak : nil, source: .replayGain)
  }

  /// Three bits of name (1 track, 2 album), three of originator (0: not set), a sign and nine of tenths of a decibel.
  private static func lameGain(_ word: UInt16, name: UInt16) -> Double? {
    guard word >> 13 == name, word >> 10 & 7 != 0 else { return nil }
    let gain = Double(word & 0x1FF) / 10
    return word & 0x200 == 0 ? gain : -gain
  }
}
