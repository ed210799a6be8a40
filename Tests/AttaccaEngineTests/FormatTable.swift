import AttaccaCore
import Foundation
import TestSupport
import Testing

@testable import AttaccaEngine

/// One line of `Fixtures/formats.txt`, from which the list for people is made too.
struct FormatLine: Sendable {
  enum Proof: String { case bitExact = "bit-exact", exact, asDecoded = "as decoded", notTried = "not tried" }

  let name: String
  let extensions: [String]
  let proof: Proof
  /// Folders of the media in which it is tried.
  let kinds: [String]

  static func all() throws -> [FormatLine] {
    let path = TestMedia.root + "/Tests/AttaccaEngineTests/Fixtures/formats.txt"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    return try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      let columns = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      let proof = try #require(columns.count == 4 ? Proof(rawValue: columns[2]) : nil, "\(line)")
      return FormatLine(
        name: columns[0], extensions: columns[1].split(separator: " ").map(String.init), proof: proof,
        kinds: proof == .notTried ? [] : columns[3].split(separator: " ").map(String.init))
    }
  }
}

/// One way a format is tried: a folder with an original encoded in whole, in two (a, b) and in three pieces (1, 2, 3).
struct FormatCase: Sendable, CustomStringConvertible {
  let kind: String
  let suffix: String
  let proof: FormatLine.Proof
  /// The original's rate and name, from the sample that `make-media` cut.
  var description: String { kind }

  static let all: [FormatCase] = {
    let lines = (try? FormatLine.all()) ?? []
    return lines.flatMap { line in
      line.kinds.compactMap { kind in
        suffix(of: kind).map { FormatCase(kind: kind, suffix: $0, proof: line.proof) }
      }
    }
  }()

  static func suffix(of kind: String) -> String? {
    let names = try? FileManager.default.contentsOfDirectory(atPath: TestMedia.path("formats/" + kind))
    return names?.first { $0.hasPrefix("whole.") }.map { String($0.dropFirst(6)) }
  }

  func path(_ piece: String) -> String { TestMedia.path("formats/\(kind)/\(piece).\(suffix)") }

  /// The samples between which the halves and thirds are cut, for a decoded rate.
  func length(_ piece: String, rate: Int) -> Int {
    if kind.hasSuffix("dsd") || kind == "dsf" || kind == "dff" {
      let cuts = ["whole": 17_640, "a": 7001, "b": 10_639, "1": 5003, "2": 6004, "3": 6633]
      return (cuts[piece] ?? 0) * 8
    }
    func at(_ frame: Int) -> Int { frame * rate / 44_100 }
    let whole = rate * 3 / 2
    return switch piece {
    case "a": at(30_617)
    case "b": whole - at(30_617)
    case "1": at(20_011)
    case "2": at(43_019) - at(20_011)
    case "3": whole - at(43_019)
    default: whole
    }
  }

  /// How far, at most, a passage that is reached by a seek is from the same one played through. 0 unless the codec
  /// itself cannot do better.
  var seekTolerance: Float {
    switch kind {
    // Bits that were not sent are filled with noise, which is never the same twice.
    case let kind where kind.contains("ac3"): 0.02
    // The low seven bits of the prediction outlive a packet, until it strays by more: 127 of 32,768.
    case "caf-ima4", "mov-ima4": 0.004
    // Replicated bands are filled with noise from where the last frame left off, here nearly inaudible.
    case "he-aac", "he-aac-mono", "he-aac-m4a": 2e-3
    case let kind where kind.contains("aac") || kind.contains("opus") || kind.contains("dts"): 1e-4
    // Long-term prediction fades, but slowly in a pure tone.
    case "wav-gsm": 0.004
    case "speex", "wma1", "wma2": 1e-4
    default: 0
    }
  }
}

/// Where a passage reached by a seek differs from the same one played through; `nil` when it does not.
///
/// A tolerance above a hundredth stands for a codec's random noise: then the mean square counts, and nothing may be
/// shifted.
func seekDifference(
  _ heard: ArraySlice<Float>, _ wanted: ArraySlice<Float>, channels: Int, tolerance: Float
) -> String? {
  guard tolerance > 0.01 else { return difference(heard, wanted, channels: channels, tolerance: tolerance) }
  guard heard.count == wanted.count else { return "\(heard.count / channels) frames" }
  let sum = zip(heard, wanted).reduce(Float(0)) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
  let mean = (sum / Float(max(1, heard.count))).squareRoot()
  return mean <= tolerance / 2 ? nil : "noise of \(mean)"
}

/// Everything of an opened media from where it stands, interleaved, at its own rate and with its own channels.
func decodeAll(_ media: OpenMedia, limit: Int = .max) throws -> [Float] {
  let converter = StreamConverter(
    to: StreamFormat(sampleRate: media.sampleRate, channels: media.info.channels, significantBits: 24))
  var samples: [Float] = []
  let write: (UnsafeBufferPointer<Float>) -> Void = { samples += $0 }
  while samples.count < limit {
    switch try media.read() {
    case .frames(let frame, let offset, let count): converter.convert(frame, offset: offset, count: count, write: write)
    case .concealment(let count): converter.conceal(count, rate: media.sampleRate, write: write)
    case .end:
      converter.drain(write: write)
      return samples
    }
  }
  return samples
}

func openMedia(_ path: String) throws -> OpenMedia {
  try OpenMedia(try FileByteSource(path: Array(path.utf8)), name: path)
}
