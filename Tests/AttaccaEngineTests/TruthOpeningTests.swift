import AttaccaCore
import TestSupport
import Testing

@testable import AttaccaEngine

/// Finding out the truth must not make opening slow: it is bounded by the bytes that are read for it.
@Suite struct TruthOpeningTests {
  @Test(arguments: ["ogg", "opus"]) func longUnchainedFileOpensQuickly(_ kind: String) throws {
    let media = try TrimMedia()
    try media.run(
      "sox", "-n", "-r", "48000", "-c", "2", "-b", "16", "long.wav", "synth", "240", "pinknoise", "vol", "0.2")
    kind == "ogg"
      ? try media.run("oggenc", "-Q", "-q1", "-o", "long", "long.wav")
      : try media.run("opusenc", "--quiet", "--comp", "0", "--bitrate", "96", "long.wav", "long")
    let bytes = try media.bytes("long")
    let source = MemoryByteSource(bytes)
    let opened = try OpenMedia(source, name: "long")
    #expect(opened.frameCount == 11_520_000)
    print("opening \(bytes.count) bytes of \(kind): \(source.bytesRead) read")
    #expect(source.bytesRead < 1 << 20)
    let path = Array(media.path("long").utf8)
    let clock = ContinuousClock()
    let times = try (0..<21).map { _ in
      try clock.measure { _ = try OpenMedia(try FileByteSource(path: path), name: "long") }
    }
    print("opening \(kind): median \(times.sorted()[10])")
  }

  /// The stream's beginning is looked at once for an MP3: its trim, its duration and its index share it.
  @Test func mp3IsLookedAtOnce() throws {
    let source = MemoryByteSource(try TestMedia.bytes("seek/30s-vbr.mp3"))
    _ = MP3StreamInfo(of: source)
    let once = source.bytesRead
    let whole = MemoryByteSource(source.bytes)
    _ = try OpenMedia(whole, name: "once")
    let demuxed = MemoryByteSource(source.bytes)
    _ = try Demuxer(demuxed, name: "once")
    print("opening an MP3: \(whole.bytesRead) bytes, of them \(once) for its header")
    #expect(whole.bytesRead < demuxed.bytesRead + 2 * once)
  }
}
