import AttaccaCore
import Foundation
import POSIXKit
import TestSupport
import Testing

@testable import AttaccaEngine

/// What an engine takes it gives back. Media is copied to a folder of the test's own, so that tests beside it do not count.
@Suite struct ResourceTests {
  private final class Folder {
    let path = NSTemporaryDirectory() + "attacca-\(UUID().uuidString)"
    init(_ names: [String]) throws {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      for (index, name) in names.enumerated() {
        try FileManager.default.copyItem(atPath: TestMedia.path(name), toPath: "\(path)/\(index)")
      }
    }
    deinit { try? FileManager.default.removeItem(atPath: path) }
    func item(_ index: Int) -> MediaItem { MediaItem(.file("\(path)/\(index)")) }
    var openCount: Int {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
      return names.count { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name))?.hasPrefix(path) ?? false
      }
    }
  }

  @Test func descriptorsDoNotGrowOverShortItems() throws {
    let folder = try Folder((0..<50).map { "short/flac/0\($0 < 10 ? "0" : "")\($0).flac" })
    let rig = makeRig()
    let largest = Monitor(0)
    rig.follow(with: (1..<500).map { folder.item($0 % 50) })
    let generation = rig.load(folder.item(0))
    rig.send(.setRunning(true))
    rig.output.play()
    for round in 1..<500 where round % 25 == 0 {
      try rig.waitFor("joint \(round)") {
        if case .advanced(_, Generation(generation.rawValue + UInt64(round)), _) = $0 { true } else { false }
      }
      largest.withLock { $0 = max($0, folder.openCount) }
    }
    try rig.waitForEnd()
    #expect(rig.output.heardFrames == 500 * 441)
    #expect(largest.withLock { $0 } <= 4)
    try rig.shutdown()
    #expect(folder.openCount == 0)
  }

  @Test func droppedEngineLeavesNothing() throws {
    let folder = try Folder(["flac/a.flac", "flac/b.flac"])
    let ended = Monitor(0)
    for round in 0..<20 {
      let sources = TestSources(fallback: FileSourceProvider())
      let bytes = try TestMedia.bytes("flac/a.flac")
      let watched = sources.add("watched") { GatedByteSource(bytes, Gate()) { ended.signal { $0 += 1 } } }
      let closedBefore = ended.withLock { $0 }
      weak var engine: FFmpegEngine?
      let output: CaptureOutput
      do {
        let rig = makeRig(sources: sources)
        engine = rig.engine as? FFmpegEngine
        rig.follow(with: [folder.item(1)])
        rig.load(watched)
        rig.send(.setRunning(true))
        output = rig.output
        rig.output.play(1000 * round)
        if round % 2 == 0 { try rig.waitForHeard(Int64(1000 * round)) }
      }
      #expect(engine == nil)
      #expect(output.waitForClose())
      // Dropped at once it may have opened nothing; what it opened is closed.
      #expect(eventually { ended.withLock { $0 } == sources.opened.count { $0 == "watched" } + closedBefore })
    }
    // Media of what follows is closed by the same thread before it ends.
    #expect(eventually { folder.openCount == 0 })
  }

  /// An engine that never got a command, or was never started.
  @Test func unusedEngines() throws {
    for _ in 0..<10 {
      let rig = makeRig()
      try rig.shutdown()
      let engine = FFmpegEngine(sources: FileSourceProvider()) { CaptureOutput() }
      engine.send(.load(rig.makeLoad(TestMedia.item("flac/a.flac"))))
      engine.shutdown {}
    }
  }
}

/// Whether a condition comes true within five seconds. (The kernel tells of no change in `/proc`, so it is asked again.)
func eventually(_ condition: () -> Bool) -> Bool {
  let tick = Monitor(())
  let end = Clocks.host + .seconds(5)
  while Clocks.host < end {
    if condition() { return true }
    let _: Bool? = tick.wait(until: Clocks.host + .milliseconds(5)) { _ in nil }
  }
  return condition()
}
