/// How media sounds, apart from volume and rate: the listener's wishes, the same for every item until changed.
public struct SoundSettings: Sendable, Hashable {
  /// Which loudness tags level the items.
  public var loudness: LoudnessMode
  /// Added to the gain of items with loudness tags, in decibels (−15…15).
  public var preamp: Double
  /// Gain for items without loudness tags, in decibels (−15…15).
  public var untaggedGain: Double
  /// Whether nothing may exceed full scale: a tagged peak lowers the gain, and a limiter catches the rest.
  public var preventsClipping: Bool
  /// The ten-band equalizer.
  public var equalizer: EqualizerSettings
  /// −1 (left only) … 0 (as it is) … 1 (right only).
  public var balance: Double
  /// Whether all channels are mixed to one, heard from both sides.
  public var isMono: Bool
  /// How long the end of one item and the beginning of the next sound together (0…12 s); never inside an album whose
  /// tracks follow each other.
  public var crossfade: Duration
  /// Whether long silence is passed over.
  public var skipsSilence: Bool
  /// Whether quiet and loud voices are brought to one level.
  public var levelsSpeech: Bool
  /// Whether the output follows the media's own format and nothing touches its samples; everything above is then off.
  public var isBitPerfect: Bool

  /// Makes settings; without arguments nothing changes the sound.
  public init(
    loudness: LoudnessMode = .off, preamp: Double = 0, untaggedGain: Double = 0, preventsClipping: Bool = true,
    equalizer: EqualizerSettings = .flat, balance: Double = 0, isMono: Bool = false, crossfade: Duration = .zero,
    skipsSilence: Bool = false, levelsSpeech: Bool = false, isBitPerfect: Bool = false
  ) {
    self.loudness = loudness
    self.preamp = preamp
    self.untaggedGain = untaggedGain
    self.preventsClipping = preventsClipping
    self.equalizer = equalizer
    self.balance = balance
    self.isMono = isMono
    self.crossfade = crossfade
    self.skipsSilence = skipsSilence
    self.levelsSpeech = levelsSpeech
    self.isBitPerfect = isBitPerfect
  }

  /// Every value brought into its range; what is not a number becomes the neutral value.
  public var clamped: SoundSettings {
    var result = self
    result.preamp = preamp.clamped(to: -15...15)
    result.untaggedGain = untaggedGain.clamped(to: -15...15)
    result.equalizer = EqualizerSettings(equalizer.gains)
    result.balance = balance.clamped(to: -1...1)
    result.crossfade = min(max(crossfade, .zero), .seconds(12))
    return result
  }
}

/// Which loudness tags (ReplayGain, R128) level the items.
public enum LoudnessMode: String, Sendable, Hashable, Codable, CaseIterable {
  /// None: everything as loud as it is.
  case off
  /// Every item as loud as every other.
  case track
  /// Albums as loud as each other; quiet tracks of an album stay quiet.
  case album
  /// Like `album`, but like `track` while shuffled.
  case auto
}

/// Gains of ten bands an octave apart (ISO 266), in decibels.
public struct EqualizerSettings: Sendable, Hashable {
  /// Centre frequencies of the bands, in hertz.
  public static let frequencies: [Double] = [31.25, 62.5, 125, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000]
  /// The greatest boost or cut of a band, in decibels.
  public static let limit = 12.0
  /// No band changed.
  public static let flat = EqualizerSettings([])

  /// Ten gains in decibels, −12…12.
  public private(set) var gains: [Double]

  /// Makes settings; missing bands are 0, further ones are left out, and each is brought into −12…12.
  public init(_ gains: [Double]) {
    self.gains = Self.frequencies.indices.map {
      $0 < gains.count ? gains[$0].clamped(to: -Self.limit...Self.limit) : 0
    }
  }

  /// Whether no band is changed.
  public var isFlat: Bool { gains.allSatisfy { $0 == 0 } }
}

extension Double {
  /// The number within `range`; 0 when it is none.
  func clamped(to range: ClosedRange<Double>) -> Double {
    isNaN ? 0 : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
  }
}
