import TestSupport
import Testing

@testable import AttaccaCore

@Suite struct LocatorTests {
  @Test func pathsArePercentEncoded() {
    #expect(Locator.file("/m/a-b_c.~1/Z").uri == "file:///m/a-b_c.~1/Z")
    #expect(Locator.file("/m/a b%?#é").uri == "file:///m/a%20b%25%3F%23%C3%A9")
    #expect(Locator.file([0x2F, 0xFF, 0x0A, 0x80]).uri == "file:///%FF%0A%80")
    #expect(Locator.url("http://h/a%20b?c").uri == "http://h/a%20b?c")
  }

  @Test func everyByteComesBack() {
    var random = SeededRandom.announced("percent encoding")
    for _ in 0..<2_000 {
      let bytes = (0..<random.below(40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      let text = percentEncoded(bytes)
      #expect(percentDecoded(Array(text.utf8)) == bytes)
      #expect(text.utf8.allSatisfy { (0x21...0x7E).contains($0) })
    }
  }

  @Test(arguments: [
    ("%", "%"), ("%4", "%4"), ("%4g", "%4g"), ("%41", "A"), ("%4a%4A", "JJ"), ("%%41", "%A"), ("a%", "a%"),
    ("%2541", "%41"),
  ])
  func incompleteEscapesStay(text: String, expected: String) {
    #expect(percentDecoded(Array(text.utf8)) == Array(expected.utf8))
  }

  @Test(
    arguments: [
      (Locator.file("/m/a.flac"), "a.flac"), (.file("a.flac"), "a.flac"), (.file("/m/dir//"), "dir"), (.file("/"), "/"),
      (.file(""), ""), (.file([0x2F, 0x61, 0xFF]), "a\u{FFFD}"), (.file("/m/a\u{1B}[2J\nb"), "a[2J b"),
      (.url("https://h/p/My%20Song.mp3?sig=1#t"), "My Song.mp3"), (.url("https://h/p/"), "p"),
      (.url("https://h:80/"), "h:80"),
      (.url("https://user:secret@h"), "h"), (.url("https://user:secret@h/?q"), "h"),
      (.url("https://h/%1B%5B2J%FF"), "[2J\u{FFFD}"),
      (.url("https://h/a?\u{301}secret"), "a"), (.url(""), ""), (.url("song"), "song"),
    ] as [(Locator, String)])
  func displayNames(locator: Locator, name: String) { #expect(locator.displayName == name) }

  @Test(arguments: [
    ("https://user:secret@h/a?b=c#d", "https://h/a?b=c"), ("https://a@b@h/", "https://h/"),
    ("https://h/a@b", "https://h/a@b"),
    ("https://h?u=a@b", "https://h?u=a@b"), ("https://user:p@\u{301}h/a", "https://\u{301}h/a"), ("opaque", "opaque"),
    ("https://h/a://b@c", "https://h/a://b@c"), ("a/b://c@d", "a/b://d"), ("", ""),
  ])
  func identityOfURLs(text: String, expected: String) {
    #expect(Array(MediaItem(.url(text)).id.rawValue.utf8) == Array(expected.utf8))
  }

  @Test func identityOfItems() {
    #expect(MediaItem(.file([0x2F, 0xFF])).id == MediaID("file:///%FF"))
    #expect(MediaItem(.file([0x2F, 0xFF])).id != MediaItem(.file([0x2F, 0xFE])).id)
    #expect(MediaItem(.file("/a"), id: MediaID("mine")).id == MediaID("mine"))
    #expect(MediaItem(.file("/a"), kind: .music).id == MediaItem(.file("/a"), kind: .podcast).id)
  }

  @Test func titles() {
    #expect(MediaItem(.file("/m/a.flac")).displayTitle == "a.flac")
    let item = MediaItem(
      .file("/m/a"), externalMetadata: [.init("title", text: "T\u{7}\u{202E}"), .init("title", text: "U")])
    #expect(item.displayTitle == "T")
    #expect(item.externalMetadata.texts("title") == ["T", "U"])
  }

  @Test func whatAnOriginMayOpen() {
    #expect(Origin.user.allows(.file("/a")) && Origin.localPlaylist.allows(.file("/a")))
    #expect(!Origin.remote.allows(.file("/a")))
    for origin in [Origin.user, .app, .localPlaylist, .remote] {
      for text in ["http://h/a", "https://h/a", "HTTPS://h/a"] { #expect(origin.allows(.url(text))) }
      for text in [
        "file:///etc/passwd", "concat:a|b", "http:/h", "httpx://h", "", "data://x", " http://h", "a/http://h",
      ] {
        #expect(!origin.allows(.url(text)), "\(text)")
      }
    }
  }
}
