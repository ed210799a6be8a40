import AttaccaCore
import Testing

@testable import AttaccaPlayer

func testItem(_ name: String) -> MediaItem { MediaItem(.file("/music/\(name)"), origin: .user) }

func testInfo(
  title: String? = nil, artist: String? = nil, album: String? = nil, seconds: Int? = 201,
  _ confidence: DurationConfidence = .exact
) -> MediaInfo {
  let tags = [("title", title), ("artist", artist), ("album", album)]
  return MediaInfo(
    container: "flac", codec: "flac", sampleRate: 44_100, channels: 2, bitsPerSample: 16,
    duration: seconds.map { MediaDuration(.seconds($0), confidence) },
    metadata: tags.compactMap { key, value in value.map { MetadataItem(key, text: $0) } })
}

func testSnapshot(
  _ info: MediaInfo? = testInfo(title: "Title", artist: "Artist", album: "Album"), position: Int = 83,
  status: PlayerStatus = .playing, rate: Double = 1
) -> PlayerSnapshot {
  var snapshot = PlayerSnapshot()
  snapshot.entry = QueueEntry(id: EntryID(1), item: testItem("file.flac"))
  snapshot.info = info
  snapshot.duration = info?.duration
  snapshot.anchor = PositionAnchor(position: .seconds(position), hostTime: .seconds(1000), rate: rate)
  snapshot.status = status
  snapshot.wantsToPlay = status == .playing
  snapshot.queueIndex = 1
  snapshot.queueCount = 12
  return snapshot
}

@Suite struct StatusLineTests {
  let now = Duration.seconds(1000)

  private func lines(_ snapshot: PlayerSnapshot, _ columns: Int = 80, unicode: Bool = true) -> [String] {
    StatusLine(columns: columns, unicode: unicode).lines(snapshot, at: now).map(\.text)
  }

  @Test func everythingHasRoom() {
    #expect(
      lines(testSnapshot(position: 100)) == [
        "▶ Title · Artist · Album",
        "  1:40 │████████████████████████▍                        │ 3:21  2/12  vol 100%",
      ])
  }

  @Test func nothingCurrentNothingShown() {
    #expect(lines(PlayerSnapshot()) == [])
  }

  @Test func asciiOnly() {
    let lines = lines(testSnapshot(testInfo(title: "Für “Elise” 日", artist: "A")), unicode: false)
    #expect(lines[0] == "> F?r \"Elise\" ? - A")
    #expect(lines[1].hasPrefix("  1:23 [=====") && lines[1].hasSuffix(" ] 3:21  2/12  vol 100%"))
    #expect(lines.allSatisfy { $0.allSatisfy(\.isASCII) })
  }

  @Test func stateIsToldInWords() {
    var snapshot = testSnapshot(status: .waiting(.stalled))
    snapshot.isMuted = true
    snapshot.repeatMode = .one
    snapshot.queueCount = 1
    let lines = lines(snapshot)
    #expect(lines[0].hasPrefix("… Title"))
    #expect(lines[1].hasSuffix(" 3:21  waiting for data  muted  repeat one"))
  }

  @Test func unknownAndEstimatedDurations() {
    #expect(lines(testSnapshot(testInfo(seconds: nil)))[1] == "  1:23  2/12  vol 100%")
    #expect(lines(testSnapshot(testInfo(.estimated)))[1].contains("~3:21"))
    #expect(lines(testSnapshot(nil))[0] == "▶ file.flac")
  }

  @Test func positionGoesOnWithTimeAndNeverBeyondTheEnd() {
    let style = StatusLine(columns: 80, unicode: true)
    let snapshot = testSnapshot()
    #expect(style.lines(snapshot, at: now + .milliseconds(999))[1].text.hasPrefix("  1:23 "))
    #expect(style.lines(snapshot, at: now + .seconds(1))[1].text.hasPrefix("  1:24 "))
    #expect(style.lines(snapshot, at: now + .seconds(10_000))[1].text.hasPrefix("  3:21 "))
    var estimated = testSnapshot(testInfo(.estimated))
    estimated.anchor?.position = .seconds(900)
    #expect(lines(estimated)[1].hasPrefix("  3:21 │████"))
  }

  @Test func detailsGoBeforeTheBarAndTheBarBeforeThePosition() {
    var snapshot = testSnapshot()
    snapshot.repeatMode = .all
    #expect(lines(snapshot, 60)[1].hasSuffix("2/12  vol 100%  repeat all"))
    #expect(lines(snapshot, 44)[1].hasSuffix("2/12  vol 100%"))
    #expect(lines(snapshot, 34)[1].hasSuffix("│ 3:21  2/12"))
    #expect(lines(snapshot, 28)[1].hasSuffix("│ 3:21"))
    #expect(lines(snapshot, 20)[1] == "  1:23 / 3:21")
    #expect(lines(snapshot, 10)[1] == "  1:23 /…")
  }

  @Test func neverAsWideAsTheTerminal() {
    let titles = ["Title", "日本語のとても長い題名です、本当に長い", "e\u{301}e\u{301}e\u{301}", "👩‍👩‍👧‍👦🇩🇪❤️🎵🎵🎵🎵", ""]
    for title in titles {
      for columns in 0...100 {
        for unicode in [true, false] {
          for snapshot in [
            testSnapshot(testInfo(title: title, artist: title, album: title)),
            testSnapshot(testInfo(title: title, seconds: nil), status: .waiting(.outputLost)),
            testSnapshot(testInfo(title: title, seconds: 400_000), status: .paused(.user)),
          ] {
            for line in StatusLine(columns: columns, unicode: unicode).lines(snapshot, at: now) {
              #expect(line.width <= max(0, columns - 1), "\(title) in \(columns)")
            }
          }
        }
      }
    }
  }

  @Test func stylesDoNotCount() {
    var line = StyledLine("a")
    line.append("bc", .bold)
    line.append("d", .dim)
    #expect(line.width == 4)
    #expect(line.rendered(styled: false) == "abcd")
    #expect(line.rendered(styled: true) == "a\u{1B}[1mbc\u{1B}[0m\u{1B}[2md\u{1B}[0m")
  }
}

@Suite struct TextWidthTests {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한글", 4), ("\u{1112}\u{1161}\u{11AB}", 2), ("ｱ", 1),
    ("Ａ", 2), ("🎵", 2), ("🇩🇪", 2), ("…", 1), ("█", 1), ("\u{200B}", 0), ("ا", 1), ("𝄞", 1), ("𠀀", 2), ("❤\u{FE0F}", 2),
  ])
  func width(_ text: String, _ expected: Int) { #expect(columns(text) == expected) }

  @Test(arguments: [
    ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"),
    ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"), ("abc", 1, "…"), ("abc", 0, ""), ("abc", -1, ""),
  ])
  func truncation(_ text: String, _ limit: Int, _ expected: String) { #expect(truncated(text, to: limit) == expected) }

  @Test func asciiTruncation() {
    #expect(truncated("abcdef", to: 5, unicode: false) == "ab...")
    #expect(truncated("abcdef", to: 2, unicode: false) == "..")
  }
}

@Suite struct LiveRegionTests {
  @Test func drawsInPlace() {
    var region = LiveRegion(styled: false)
    #expect(region.erase(columns: 80) == "")
    #expect(region.draw([StyledLine("a"), StyledLine("b")], columns: 80) == "\ra\u{1B}[K\r\nb\u{1B}[K")
    #expect(region.shows([StyledLine("a"), StyledLine("b")]))
    #expect(region.draw([StyledLine("c"), StyledLine("d")], columns: 80) == "\r\u{1B}[1Ac\u{1B}[K\r\nd\u{1B}[K")
    #expect(region.draw([StyledLine("e")], columns: 80) == "\r\u{1B}[1Ae\u{1B}[K\u{1B}[J")
    #expect(region.erase(columns: 80) == "\r\u{1B}[J")
    #expect(region.erase(columns: 80) == "")
  }

  @Test func wrappedLinesTakeMoreRows() {
    var region = LiveRegion(styled: false)
    _ = region.draw([StyledLine(String(repeating: "x", count: 50)), StyledLine("b")], columns: 80)
    #expect(region.draw([StyledLine("c"), StyledLine("d")], columns: 20).hasPrefix("\r\u{1B}[3Ac\u{1B}[K"))
  }

  @Test func forgottenLinesAreLeftAlone() {
    var region = LiveRegion(styled: false)
    _ = region.draw([StyledLine("a"), StyledLine("b")], columns: 80)
    region.forget()
    #expect(region.draw([StyledLine("c")], columns: 80) == "\rc\u{1B}[K")
  }
}

@Suite struct TerminalTraitsTests {
  private func traits(_ environment: [String: String]) -> TerminalTraits { TerminalTraits { environment[$0] } }

  @Test func fromTheEnvironment() {
    #expect(traits([:]).hasCursor == false)
    #expect(traits(["TERM": "dumb"]).hasCursor == false)
    #expect(traits(["TERM": "xterm"]).hasCursor)
    #expect(traits([:]).styled && traits(["NO_COLOR": ""]).styled)
    #expect(!traits(["NO_COLOR": "1"]).styled)
    #expect(!traits([:]).unicode && !traits(["LANG": "C"]).unicode && !traits(["LANG": "de_DE@euro"]).unicode)
    #expect(traits(["LANG": "C.UTF-8"]).unicode && traits(["LC_CTYPE": "de_DE.utf8@euro"]).unicode)
    #expect(!traits(["LANG": "C.UTF-8", "LC_ALL": "C"]).unicode)
    #expect(traits(["LANG": "C.UTF-8", "LC_ALL": ""]).unicode)
  }
}
