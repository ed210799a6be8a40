import AttaccaCore
import Foundation
import TestSupport

/// Media made on the spot by the encoders that are installed, in a folder that goes with the value.
final class TrimMedia {
  let folder: String
  static let rate = 44_100
  static let cut = 61_234
  static let whole = 132_300

  init() throws {
    folder = NSTemporaryDirectory() + "trim-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// 16-bit stereo frames of a 3 s chirp that is unlike itself at any lag.
  static let chirp: [Int16] = (0..<whole).flatMap { frame -> [Int16] in
    let time = Double(frame) / Double(rate)
    let left = 0.5 * sin(2 * .pi * (200 * time + 1500 * time * time))
    let right = 0.5 * sin(2 * .pi * (300 * time + 1400 * time * time))
    return [Int16(left * 32767), Int16(right * 32767)]
  }

  /// Writes frames of the chirp as a WAV file and answers its path.
  func wav(_ frames: Range<Int> = 0..<cut, name: String = "a.wav") throws -> String {
    try wav(Array(Self.chirp[frames.lowerBound * 2..<frames.upperBound * 2]), name: name)
  }

  func wav(_ samples: [Int16], name: String) throws -> String {
    func little(_ value: Int, _ bytes: Int) -> [UInt8] {
      (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let data = samples.flatMap { little(Int($0), 2) }
    var file = Array("RIFF".utf8) + little(36 + data.count, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
    file += little(1, 2) + little(2, 2) + little(Self.rate, 4) + little(Self.rate * 4, 4) + little(4, 2) + little(16, 2)
    file += Array("data".utf8) + little(data.count, 4) + data
    return try write(file, name)
  }

  func write(_ bytes: [UInt8], _ name: String) throws -> String {
    let path = folder + "/" + name
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return path
  }

  func path(_ name: String) -> String { folder + "/" + name }

  func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name))))
  }

  func source(_ name: String) throws -> MemoryByteSource { MemoryByteSource(try bytes(name)) }

  /// Runs a tool in the folder; throws when it fails.
  func run(_ arguments: String...) throws { try run(arguments) }

  func run(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(arguments.joined(separator: " ")) }
  }

  func ffmpeg(_ arguments: String...) throws { try run(["ffmpeg", "-v", "error", "-y"] + arguments) }

  struct Failure: Error {
    let command: String
    init(_ command: String) { self.command = command }
  }

  /// All frames as FFmpeg decodes them with skipping off and edit lists ignored: interleaved stereo.
  func raw(_ name: String) throws -> [Int16] {
    let isMP4 = name.hasSuffix(".m4a") || name.hasSuffix(".mp4")
    try run(
      ["ffmpeg", "-v", "quiet", "-y", "-flags2", "+skip_manual"] + (isMP4 ? ["-ignore_editlist", "1"] : [])
        + ["-i", name, "-f", "s16le", name + ".raw"])
    return try bytes(name + ".raw").withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
  }

  /// The lag, within ±3,000 frames, at which `decoded` is most like `original`, by the left channel's middle.
  static func lag(_ decoded: [Int16], _ original: [Int16]) -> Int {
    let (count, middle) = (2000, original.count / 4)
    var best = (lag: Int.min, error: Int.max)
    for lag in -3000...3000 {
      guard middle + lag >= 0, (middle + lag + count) * 2 <= decoded.count else { continue }
      var error = 0
      for frame in middle..<middle + count where error < best.error {
        error += abs(Int(decoded[(frame + lag) * 2]) - Int(original[frame * 2]))
      }
      if error < best.error { best = (lag, error) }
    }
    return best.lag
  }
}
