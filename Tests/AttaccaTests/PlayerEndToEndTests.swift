import Attacca
import Foundation
import POSIXKit
import TestSupport
import Testing

/// The library as an app uses it: a player, files, an output.
@Suite(.serialized, .timeLimit(.minutes(1))) struct PlayerEndToEndTests {
  private func path() -> String { NSTemporaryDirectory() + "attacca-\(UUID().uuidString).wav" }

  private func player(_ output: OutputChoice) -> Player {
    var configuration = PlayerConfiguration()
    configuration.output = output
    return Player(configuration: configuration)
  }

  /// Plays items to the end of the queue; answers the events.
  private func playAll(_ player: Player, _ names: [String]) async throws -> [PlayerEvent] {
    let events = await player.events()
    try await player.replaceQueue(with: names.map(TestMedia.item), autoStart: .play)
    var all: [PlayerEvent] = []
    for await event in events {
      all.append(event)
      if case .statusChanged(.stopped) = event, all.count > 1 { break }
      if case .statusChanged(.failed) = event { break }
    }
    return all
  }

  @Test(arguments: TestMedia.formats) func rendersHalvesAsTheWhole(_ format: TestMedia.Format) async throws {
    let path = path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let player = player(.wav(path: Array(path.utf8)))
    let events = try await playAll(player, [format.a, format.b])
    #expect(await player.perform(.shutdown) == .done)
    let file = try WAVFileContent(path: path)
    #expect(file.rate == format.rate && file.frames == format.total)
    if format.isLossless { #expect(try file.samples == WAVFileContent(format.whole).samples) }
    let ends = events.compactMap { if case .playedToEnd(_, let isLast) = $0 { isLast } else { nil } }
    #expect(ends == [false, true])
    #expect(!events.contains { if case .failed = $0 { true } else { false } })
  }

  @Test func deadItemsAreSkippedWithoutAGap() async throws {
    let path = path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let player = player(.wav(path: Array(path.utf8)))
    let events = try await playAll(
      player, ["missing.flac", "flac/a.flac", "bad/text.mp3", "bad/empty.mp3", "flac/b.flac", "missing too.flac"])
    #expect(await player.perform(.shutdown) == .done)
    #expect(try WAVFileContent(path: path).samples == WAVFileContent("whole.wav").samples)
    let codes = events.compactMap { if case .failed(_, let error) = $0 { error.code } else { nil } }
    #expect(codes == [.sourceNotFound, .sourceUnsupported, .sourceEmpty, .sourceNotFound])
  }

  @Test func silentPlaysInRealTime() async throws {
    let player = player(.silent)
    let started = Clocks.host
    let events = try await playAll(player, ["short/whole.wav"])
    let took = Clocks.host - started
    #expect(took >= .milliseconds(990) && took < .seconds(3))
    let statuses = events.compactMap { if case .statusChanged(let status) = $0 { status.name } else { nil } }
    #expect(statuses == ["waiting", "playing", "stopped"])
    #expect(await player.perform(.shutdown) == .done)
  }

  @Test func pauseSeekAndGoOn() async throws {
    let player = player(.silent)
    try await player.replaceQueue(with: [TestMedia.item("seek/30s.flac")], autoStart: .play)
    for await snapshot in await player.snapshots() where snapshot.isPlaying { break }
    #expect(await player.seek(to: .seconds(10)) == .landed(at: .seconds(10)))
    try await player.pause()
    for await snapshot in await player.snapshots() where snapshot.anchor?.rate == 0 { break }
    let place = try #require(await player.position)
    #expect(place >= .seconds(10) && place < .seconds(12))
    #expect(await player.seek(to: .seconds(20)) == .landed(at: .seconds(20)))
    #expect(await player.position == .seconds(20))
    #expect(await player.perform(.shutdown) == .done)
  }

  @Test func fourPlayersAtOnce() async throws {
    let formats = TestMedia.formats.filter(\.isLossless).prefix(4)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for format in formats {
        group.addTask {
          let path = path()
          defer { try? FileManager.default.removeItem(atPath: path) }
          let player = player(.wav(path: Array(path.utf8)))
          _ = try await playAll(player, [format.a, format.b])
          #expect(await player.perform(.shutdown) == .done)
          #expect(try WAVFileContent(path: path).samples == WAVFileContent(format.whole).samples)
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func shutdownTwiceAndAtOnce() async throws {
    let player = player(.silent)
    try await player.replaceQueue(with: [TestMedia.item("flac/a.flac")], autoStart: .play)
    async let first = player.perform(.shutdown)
    async let second = player.perform(.shutdown)
    #expect(await (first, second) == (.done, .done))
    #expect(await player.perform(.shutdown) == .done)
    #expect(await eventually { threads().isEmpty })
  }

  /// A dropped player takes threads, files and tasks with it, whatever it was doing.
  @Test func aDroppedPlayerLeavesNothing() async throws {
    let folder = NSTemporaryDirectory() + "attacca-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = folder + "/a.flac"
    try FileManager.default.copyItem(atPath: TestMedia.path("flac/a.flac"), toPath: file)
    for round in 0..<10 {
      weak var gone: Player?
      do {
        let player = player(round % 3 == 0 ? .wav(path: Array((folder + "/out.wav").utf8)) : .silent)
        gone = player
        if round > 0 {
          try await player.replaceQueue(with: [MediaItem(.file(file)), MediaItem(.file(file))], autoStart: .play)
        }
        if round > 5 { for await snapshot in await player.snapshots() where snapshot.anchor != nil { break } }
      }
      #expect(await eventually { gone == nil })
      #expect(await eventually { threads().isEmpty }, "\(threads())")
      #expect(await eventually { !openFiles().contains { $0.hasPrefix(folder) } })
    }
  }

  @Test func unwritableOutputIsToldOnce() async throws {
    let player = player(.wav(path: Array("/nowhere/at all/x.wav".utf8)))
    let events = try await playAll(player, ["flac/a.flac"])
    let codes = events.compactMap { if case .failed(nil, let error) = $0 { error.code } else { nil } }
    #expect(codes == [.playerOutputUnavailable])
    #expect(await player.perform(.shutdown) == .done)
  }

  @Test func fullDiskIsTold() async throws {
    let player = player(.wav(path: Array("/dev/full".utf8)))
    let events = try await playAll(player, ["flac/a.flac"])
    #expect(
      events.contains { if case .failed(nil, let error) = $0 { error.code == .playerOutputFailed } else { false } })
    #expect(await player.perform(.shutdown) == .done)
  }

  @Test func mediaInfoWithoutPlaying() async throws {
    let info = try await mediaInfo(of: TestMedia.item("flac/a.flac"))
    #expect(info.codec == "flac" && info.sampleRate == 44_100 && info.channels == 2 && info.bitsPerSample == 16)
    #expect(info.metadata.text("title") == "a" && info.metadata.text("album") == "Two Halves")
    for format in TestMedia.formats {
      let duration = try await duration(of: TestMedia.item(format.a))
      #expect(
        duration == MediaDuration(MediaTime(frames: Int64(format.cut), rate: format.rate).duration, .exact), "\(format)"
      )
    }
    await #expect(throws: MediaError.self) { try await mediaInfo(of: TestMedia.item("missing.flac")) }
    do {
      _ = try await duration(of: TestMedia.item("bad/text.mp3"))
      Issue.record("a text has no duration")
    } catch {
      #expect(error.code == .sourceUnsupported)
    }
    #expect(await eventually { threads().isEmpty })
  }
}

/// The engine's and outputs' threads of this process.
private func threads() -> [String] {
  let folder = "/proc/self/task"
  let ids = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  return ids.compactMap { try? String(contentsOfFile: "\(folder)/\($0)/comm", encoding: .utf8) }
    .filter { $0.hasPrefix("attacca-") }
}

private func openFiles() -> [String] {
  let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0) }
}

/// Whether a condition comes true within ten seconds; the kernel tells of no change in `/proc`, so it is asked again.
private func eventually(_ condition: () -> Bool) async -> Bool {
  let end = Clocks.host + .seconds(10)
  while Clocks.host < end {
    if condition() { return true }
    await Task.yield()
  }
  return condition()
}
