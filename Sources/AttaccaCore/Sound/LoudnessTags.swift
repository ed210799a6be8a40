/// What tags say about an item's loudness.
public struct LoudnessTags: Sendable, Hashable {
  /// Where the gains come from.
  public enum Source: String, Sendable, Hashable, Codable {
    /// ReplayGain 2.0 tags.
    case replayGain
    /// Opus's R128 tags (RFC 7845 §5.2.1).
    case r128
    /// iTunes' Sound Check.
    case soundCheck
  }

  /// Gain in decibels that brings the item to −18 LUFS.
  public var trackGain: Double?
  /// Gain in decibels that brings its album to −18 LUFS.
  public var albumGain: Double?
  /// The item's greatest sample (1 is full scale).
  public var trackPeak: Double?
  /// The album's greatest sample.
  public var albumPeak: Double?
  /// Where the gains come from; `nil` when there are none.
  public var source: Source?

  /// Makes tags.
  public init(
    trackGain: Double? = nil, albumGain: Double? = nil, trackPeak: Double? = nil, albumPeak: Double? = nil,
    source: Source? = nil
  ) {
    self.trackGain = trackGain
    self.albumGain = albumGain
    self.trackPeak = trackPeak
    self.albumPeak = albumPeak
    self.source = source
  }

  /// Reads the tags of a file. For Opus R128 tags come first, then ReplayGain; for all others ReplayGain comes first.
  /// Sound Check is the last resort.
  public init(_ metadata: [MetadataItem], codec: String) {
    var texts: [String: String] = [:]
    for item in metadata where texts[item.id.lowercased()] == nil {
      if case .text(let text) = item.value { texts[item.id.lowercased()] = text }
    }
    trackPeak = texts["replaygain_track_peak"].flatMap(Self.peak)
    albumPeak = texts["replaygain_album_peak"].flatMap(Self.peak)
    let replayGain = (
      texts["replaygain_track_gain"].flatMap(Self.gain), texts["replaygain_album_gain"].flatMap(Self.gain)
    )
    let r128 = (texts["r128_track_gain"].flatMap(Self.r128), texts["r128_album_gain"].flatMap(Self.r128))
    let hasReplayGain = replayGain.0 != nil || replayGain.1 != nil
    let hasR128 = r128.0 != nil || r128.1 != nil
    if hasR128, codec == "opus" || !hasReplayGain {
      (trackGain, albumGain, source) = (r128.0, r128.1, .r128)
    } else if hasReplayGain {
      (trackGain, albumGain, source) = (replayGain.0, replayGain.1, .replayGain)
    } else if let norm = texts["itunnorm"] ?? texts["comment:itunnorm"], let gain = Self.soundCheck(norm) {
      (trackGain, source) = (gain, .soundCheck)
    }
  }

  /// `-7.89 dB`, also with a comma, a plus or without the unit; `nil` for anything else or beyond ±64 dB.
  static func gain(_ text: String) -> Double? {
    var text = text.lowercased().filter { !$0.isWhitespace }
    if text.hasSuffix("db") { text.removeLast(2) }
    return number(text).flatMap { $0.magnitude <= 64 ? $0 : nil }
  }

  static func peak(_ text: String) -> Double? {
    number(text.filter { !$0.isWhitespace }).flatMap { $0 > 0 && $0 <= 256 ? $0 : nil }
  }

  /// RFC 7845 §5.2.1: decibels in 8.8 fixed point, relative to −23 LUFS; ours is −18. On top of the header's output gain,
  /// which the decoder applies.
  static func r128(_ text: String) -> Double? {
    guard let value = Int(text.filter { !$0.isWhitespace }), (-32_768...32_767).contains(value) else { return nil }
    return Double(value) / 256 + 5
  }

  /// Sound Check: ten hexadecimal numbers. The first two are the power of the left and right channel relative to 1/1000 W
  /// at a gain of 0 dB, so the gain is −10·log10(greater / 1000).
  static func soundCheck(_ text: String) -> Double? {
    let words = text.split { $0.isWhitespace }
    guard words.count >= 2, let left = UInt32(words[0], radix: 16), let right = UInt32(words[1], radix: 16) else {
      return nil
    }
    let power = max(left, right)
    // Beyond any music it is no measurement.
    guard (1...1_000_000).contains(power) else { return nil }
    return -10 * logarithm10(Double(power) / 1_000)
  }

  private static func number(_ text: String) -> Double? {
    let text = text.replacing(",", with: ".")
    guard text.allSatisfy({ $0.isASCII && ($0.isNumber || "+-.e".contains($0)) }), let value = Double(text),
      value.isFinite
    else { return nil }
    return value
  }
}

extension SoundSettings {
  /// How much an item's samples are multiplied by to be as loud as wished (linear, 1 = as it is).
  ///
  /// - Parameters:
  ///   - tags: what the item says of itself.
  ///   - isAlbumContext: for ``LoudnessMode/auto``: whether albums play as albums (not shuffled).
  public func loudnessGain(_ tags: LoudnessTags, isAlbumContext: Bool) -> Double {
    let settings = clamped
    let usesAlbum: Bool
    switch settings.isBitPerfect ? .off : settings.loudness {
    case .off: return 1
    case .track: usesAlbum = false
    case .album: usesAlbum = true
    case .auto: usesAlbum = isAlbumContext
    }
    // A missing gain is replaced by the other one, and a peak goes with its gain where it can.
    let gain = usesAlbum ? tags.albumGain ?? tags.trackGain : tags.trackGain ?? tags.albumGain
    let isAlbum = usesAlbum ? tags.albumGain != nil : tags.trackGain == nil
    guard let gain, gain.isFinite else { return power10(settings.untaggedGain / 20) }
    let linear = power10((gain + settings.preamp) / 20)
    let peak = isAlbum ? tags.albumPeak ?? tags.trackPeak : tags.trackPeak ?? tags.albumPeak
    guard settings.preventsClipping, let peak, peak > 0 else { return linear }
    return min(linear, 1 / peak)
  }
}
