import AttaccaCore
import CFFmpeg
import Foundation
import TestSupport

@testable import AttaccaEngine

/// Whether there is time for all twenty cases of everything: `ATTACCA_LONG=1`. In everyday runs there are fewer.
let isLong = ProcessInfo.processInfo.environment["ATTACCA_LONG"] == "1"

/// What a media gives when it is read to its end, without player or output.
struct ReadThrough {
  /// Frames given, silence for what was lost among them.
  var frames: Int64 = 0
  /// Frames of that silence.
  var concealed: Int64 = 0
  /// The left channel, when it was asked for.
  var samples: [Float] = []
  /// Where silence was put in: first frame and count.
  var gaps: [(at: Int64, count: Int)] = []
  /// The duration told at the opening, and those told later.
  var durations: [MediaDuration?] = []
  /// Tags told underway.
  var tags: [(frame: Int64, metadata: [MetadataItem])] = []
  /// What ended it early.
  var error: MediaError?

  init(_ source: any ByteSource, keeping: Bool = false, from start: Int64 = 0) throws {
    let media = try OpenMedia(source, name: "test")
    try self.init(media, keeping: keeping, from: start)
  }

  init(_ media: OpenMedia, keeping: Bool = false, from start: Int64 = 0) throws {
    durations = [media.info.duration]
    if start > 0 { try media.seek(to: start) }
    reading: while true {
      do {
        switch try media.read() {
        case .frames(let frame, let offset, let count):
          frames += Int64(count)
          if keeping { samples += Self.left(frame, offset, count) }
        case .concealment(let count):
          gaps.append((frames, count))
          frames += Int64(count)
          concealed += Int64(count)
          if keeping { samples += [Float](repeating: 0, count: count) }
        case .end: break reading
        }
      } catch {
        self.error = error
        break
      }
      note(media)
    }
    note(media)
  }

  private mutating func note(_ media: OpenMedia) {
    if let duration = media.takeDuration() { durations.append(duration) }
    tags += media.takeTags()
  }

  static func left(_ frame: UnsafeMutablePointer<AVFrame>, _ offset: Int, _ count: Int) -> [Float] {
    let format = AVSampleFormat(rawValue: frame.pointee.format)
    let step = av_sample_fmt_is_planar(format) != 0 ? 1 : Int(frame.pointee.ch_layout.nb_channels)
    guard let data = frame.pointee.extended_data[0] else { return [] }
    func copy<Sample: BinaryInteger>(_: Sample.Type, _ scale: Float) -> [Float] {
      data.withMemoryRebound(to: Sample.self, capacity: (offset + count) * step) { samples in
        (offset..<offset + count).map { Float(samples[$0 * step]) / scale }
      }
    }
    switch format {
    case AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P: return copy(Int16.self, 32_768)
    case AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P: return copy(Int32.self, 2_147_483_648)
    default:
      return data.withMemoryRebound(to: Float.self, capacity: (offset + count) * step) { samples in
        if step == 1 { return Array(UnsafeBufferPointer(start: samples + offset, count: count)) }
        return (offset..<offset + count).map { samples[$0 * step] }
      }
    }
  }
}

/// The file a format's damage is tried on: long enough to have many frames, pages and blocks.
struct TruthFile: Sendable, CustomStringConvertible {
  static let seconds: Int64 = 8
  let name: String
  /// Frames per second.
  var rate: Int { name == "t.opus" ? 48_000 : 44_100 }
  /// Frames of the whole.
  var frames: Int64 { Self.seconds * Int64(rate) }
  /// Frames of the decoder's largest frame: the bar for time kept.
  let frame: Int64
  /// Bytes at the beginning that hold headers.
  let head: Int
  var description: String { name }

  static let all: [TruthFile] = [
    TruthFile(name: "t.mp3", frame: 1152, head: 2000), TruthFile(name: "t-vbr.mp3", frame: 1152, head: 2000),
    TruthFile(name: "t.m4a", frame: 1024, head: 12_000), TruthFile(name: "t-alac.m4a", frame: 4096, head: 12_000),
    TruthFile(name: "t.flac", frame: 4096, head: 9000), TruthFile(name: "t.opus", frame: 960, head: 1500),
    TruthFile(name: "t.ogg", frame: 1024, head: 5000), TruthFile(name: "t.oga", frame: 4096, head: 9000),
    TruthFile(name: "t.wv", frame: 22_050, head: 200), TruthFile(name: "t.wav", frame: 1, head: 200),
    TruthFile(name: "t.aiff", frame: 1, head: 200),
  ]

  /// All of them, made once: 8 s of the sweep.
  static let media: Result<[String: [UInt8]], any Error> = Result {
    let media = try TrimMedia()
    let (source, source48) = (media.path("whole.wav"), media.path("whole48.wav"))
    for (name, target) in [("pieces/whole.wav", source), ("pieces/whole48.wav", source48)] {
      try media.run("sox", "-D", TestMedia.path(name), target, "trim", "0", "\(seconds)")
    }
    try media.run("lame", "--quiet", "-b", "128", source, "t.mp3")
    try media.run("lame", "--quiet", "-V", "4", source, "t-vbr.mp3")
    try media.ffmpeg("-i", source, "-c:a", "aac", "-aac_pns", "0", "-b:a", "128k", "-movflags", "+faststart", "t.m4a")
    try media.ffmpeg("-i", source, "-c:a", "alac", "-movflags", "+faststart", "t-alac.m4a")
    try media.run("flac", "--silent", "-o", "t.flac", source)
    try media.run("opusenc", "--quiet", source48, "t.opus")
    try media.run("oggenc", "-Q", "-q", "4", "-o", "t.ogg", source)
    try media.run("flac", "--silent", "--ogg", "-o", "t.oga", source)
    try media.run("wavpack", "-q", source, "-o", "t.wv")
    try media.run("cp", source, "t.wav")
    try media.ffmpeg("-i", source, "t.aiff")
    return try Dictionary(uniqueKeysWithValues: all.map { ($0.name, try media.bytes($0.name)) })
  }

  func bytes() throws -> [UInt8] { try Self.media.get()[name] ?? [] }
}

extension [Float] {
  /// Whether the first `count` samples are the same to the bit.
  func isEqual(to other: [Float], upTo count: Int) -> Bool {
    guard count <= self.count, count <= other.count else { return false }
    return withUnsafeBytes { a in other.withUnsafeBytes { b in memcmp(a.baseAddress!, b.baseAddress!, count * 4) == 0 }
    }
  }
}
