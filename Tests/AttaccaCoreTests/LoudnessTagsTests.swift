import Testing

@testable import AttaccaCore

@Suite struct LoudnessTagsTests {
  private func tags(_ pairs: [(String, String)], codec: String = "flac") -> LoudnessTags {
    LoudnessTags(pairs.map { MetadataItem($0.0, text: $0.1) }, codec: codec)
  }

  @Test(
    arguments: [
      ("-7.89 dB", -7.89), ("+3.5 dB", 3.5), ("-7,89", -7.89), ("0", 0), (" -1.5dB ", -1.5), ("2 DB", 2), ("dB", nil),
      ("", nil), ("loud", nil), ("nan", nil), ("inf dB", nil), ("-400 dB", nil), ("0x10", nil), ("1.2.3", nil),
    ] as [(String, Double?)])
  func gains(text: String, wanted: Double?) { #expect(LoudnessTags.gain(text) == wanted) }

  @Test func replayGain() {
    let found = tags([
      ("replaygain_track_gain", "-7.89 dB"), ("replaygain_track_peak", "0.988"), ("replaygain_album_gain", "-6 dB"),
      ("replaygain_album_peak", "1,05"), ("r128_track_gain", "0"),
    ])
    #expect(
      found
        == LoudnessTags(trackGain: -7.89, albumGain: -6, trackPeak: 0.988, albumPeak: 1.05, source: .replayGain))
    #expect(tags([("replaygain_track_gain", "junk"), ("replaygain_track_peak", "-1")]) == LoudnessTags())
  }

  @Test func r128() {
    // RFC 7845: −573/256 dB to −23 LUFS.
    let found = tags([("r128_track_gain", "-573"), ("r128_album_gain", "111")], codec: "opus")
    #expect(found.source == .r128)
    #expect(abs((found.trackGain ?? 0) - (-573.0 / 256 + 5)) < 1e-12)
    #expect(abs((found.albumGain ?? 0) - (111.0 / 256 + 5)) < 1e-12)
    #expect(tags([("r128_track_gain", "32768")], codec: "opus").trackGain == nil)
    #expect(tags([("r128_track_gain", "256"), ("replaygain_track_gain", "1")], codec: "opus").trackGain == 6)
  }

  @Test func soundCheck() {
    let text = " 00000FA0 000007D0 00002000 00002000 0 0 00007FFF 00007FFF 0 0"
    let found = tags([("itunnorm", text)])
    #expect(found.source == .soundCheck)
    #expect(abs((found.trackGain ?? 0) + 6.0205999) < 1e-6)
    #expect(tags([("itunnorm", "xyz 12")]).source == nil)
    #expect(tags([("itunnorm", text), ("replaygain_track_gain", "1")]).source == .replayGain)
  }

  @Test func lameHeader() {
    // Peak 0.5; track −6.5 dB set by the encoder (originator 3), album +2 dB by the user (2).
    let found = LoudnessTags(lameHeader: [0x00, 0x40, 0, 0, 0x2E, 0x41, 0x48, 0x14])
    #expect(found == LoudnessTags(trackGain: -6.5, albumGain: 2, trackPeak: 0.5, source: .replayGain))
    #expect(LoudnessTags(lameHeader: [UInt8](repeating: 0, count: 8)) == nil)
    #expect(LoudnessTags(lameHeader: [UInt8](repeating: 255, count: 8)) == nil)
    #expect(LoudnessTags(lameHeader: []) == nil)
  }

  @Test func gainsForSettings() {
    let tags = LoudnessTags(trackGain: 6, albumGain: -6, trackPeak: 0.8, albumPeak: 1, source: .replayGain)
    func gain(
      _ mode: LoudnessMode, _ tags: LoudnessTags, preamp: Double = 0, untagged: Double = 0, clip: Bool = false,
      album: Bool = true
    ) -> Double {
      SoundSettings(loudness: mode, preamp: preamp, untaggedGain: untagged, preventsClipping: clip)
        .loudnessGain(tags, isAlbumContext: album)
    }
    let half = 0.5011872336272722
    #expect(gain(.off, tags) == 1)
    #expect(abs(gain(.track, tags) - 1 / half) < 1e-12)
    #expect(abs(gain(.album, tags) - half) < 1e-12)
    #expect(abs(gain(.auto, tags, album: false) - 1 / half) < 1e-12)
    #expect(abs(gain(.auto, tags) - half) < 1e-12)
    #expect(abs(gain(.album, LoudnessTags(trackGain: -6)) - half) < 1e-12)
    #expect(abs(gain(.track, LoudnessTags(albumGain: -6)) - half) < 1e-12)
    #expect(abs(gain(.track, tags, clip: true) - 1.25) < 1e-12)
    #expect(abs(gain(.album, tags, preamp: 6) - 1) < 1e-12)
    #expect(abs(gain(.track, LoudnessTags(), preamp: 6, untagged: -6) - half) < 1e-12)
  }

  @Test func decibelFunctions() {
    for exponent in stride(from: -20.0, through: 20, by: 0.37) {
      #expect(abs(logarithm10(power10(exponent)) - exponent) < 1e-12)
    }
    #expect(power10(0) == 1 && abs(power10(3) - 1_000) < 1e-10 && abs(logarithm10(2) - 0.3010299956639812) < 1e-15)
    #expect(logarithm10(0) == -.infinity && power10(.nan) == 1)
  }
}
