import AttaccaCore
import Testing

@Suite struct EqualizerSyntaxTests {
  @Test(
    arguments: [
      ("flat", []),
      ("bass+3", [3, 3, 2.01, 0.99]),
      ("Bass+3, treble-2", [3, 3, 2.01, 0.99, 0, 0, -0.66, -1.34, -2, -2]),
      ("mid+1", [0, 0, 0, 0.33, 0.67, 1, 0.67, 0.33]),
      ("60:+3", [0, 3]),
      ("1k:-2.5", [0, 0, 0, 0, 0, -2.5]),
      ("16k:4", [0, 0, 0, 0, 0, 0, 0, 0, 0, 4]),
      ("1000hz:1,1 kHz: 2", [0, 0, 0, 0, 0, 3]),
      ("20:1,20000:1", [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
      ("88:1,89:2", [0, 1, 2]),
      ("rock,31:-4", [0, 3, 2, 0, -1, -1, 0, 2, 3, 4]),
      ("31:12,31:12", [12]),
      ("125:-0", []),
    ] as [(String, [Double])])
  func reads(text: String, gains: [Double]) throws {
    let settings = try EqualizerSettings(parsing: text)
    for (found, wanted) in zip(settings.gains, EqualizerSettings(gains).gains) {
      #expect(abs(found - wanted) < 1e-9, "\(text): \(settings)")
    }
  }

  @Test(arguments: [
    "", ",", "bass", "bass3", "bass+", "bass+13", "bass+nan", "loud", "60", "60:", ":3", "60:+3:4", "10:3", "30k:1",
    "60:0x3", "60:inf", "1k:+3dB", "flat,", "\u{1B}[31m", "60:1e400",
  ])
  func refuses(text: String) {
    let error = #expect(throws: EqualizerSyntaxError.self) { try EqualizerSettings(parsing: text) }
    #expect(error?.description.contains("\u{1B}") == false)
  }

  @Test func descriptionReadsBack() throws {
    for name in EqualizerSettings.presetNames {
      let settings = try #require(EqualizerSettings.preset(name))
      #expect(try EqualizerSettings(parsing: settings.description) == settings)
      #expect(try EqualizerSettings(parsing: name) == settings)
    }
    for gains in [[0.1 + 0.2, -1e-7, 0, 12], [0, 0, 0, 0, 0, 0, 0, 0, 0, -11.99]] {
      let settings = EqualizerSettings(gains)
      #expect(try EqualizerSettings(parsing: settings.description) == settings)
    }
    #expect(EqualizerSettings.flat.description == "flat")
    #expect(EqualizerSettings([3, 0, 0, 0, 0, -2.5]).description == "31.25:+3,1k:-2.5")
  }
}
