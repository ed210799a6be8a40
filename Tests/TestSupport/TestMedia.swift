import AttaccaCore
import Foundation

/// The generated media of `scripts/make-media`, made once when missing.
public enum TestMedia {
  /// The package's root.
  public static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// The folder the media is in. The script does nothing when it is there already.
  public static let folder: String = {
    let folder = root + "/.media/test"
    let process = Process()
    process.executableURL = URL(fileURLWithPath: root + "/scripts/make-media")
    process.arguments = [folder]
    do {
      try process.run()
      process.waitUntilExit()
    } catch {
      fatalError("scripts/make-media cannot be run: \(error)")
    }
    precondition(process.terminationStatus == 0, "scripts/make-media failed")
    return folder
  }()

  /// The path of a file of the collection.
  public static func path(_ name: String) -> String { folder + "/" + name }

  /// An item of the collection.
  public static func item(_ name: String) -> MediaItem { MediaItem(.file(path(name))) }

  /// The bytes of a file of the collection.
  public static func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name))))
  }

  /// The eleven formats: folder, extension, and whether nothing is lost.
  public static let formats: [Format] = [
    Format("mp3", "mp3"), Format("mp3-itunsmpb", "mp3"), Format("m4a", "m4a"), Format("m4b", "m4b"),
    Format("alac", "m4a", isLossless: true), Format("flac", "flac", isLossless: true),
    Format("wav", "wav", isLossless: true), Format("aiff", "aiff", isLossless: true),
    Format("wv", "wv", isLossless: true),
    Format("opus", "opus", rate: 48_000), Format("ogg", "ogg"),
  ]

  /// One of the formats.
  public struct Format: Sendable, CustomStringConvertible {
    /// The folder.
    public let folder: String
    /// The files' extension.
    public let suffix: String
    /// Whether decoding gives back what was encoded.
    public let isLossless: Bool
    /// Frames per second.
    public let rate: Int

    init(_ folder: String, _ suffix: String, isLossless: Bool = false, rate: Int = 44_100) {
      self.folder = folder
      self.suffix = suffix
      self.isLossless = isLossless
      self.rate = rate
    }

    /// The first half's name in the collection.
    public var a: String { "\(folder)/a.\(suffix)" }
    /// The second half's.
    public var b: String { "\(folder)/b.\(suffix)" }
    /// Frames of the first half.
    public var cut: Int { rate == 48_000 ? 66_649 : 61_234 }
    /// Frames of both.
    public var total: Int { rate * 3 }
    /// The uncut original.
    public var whole: String { rate == 48_000 ? "whole48.wav" : "whole.wav" }
    /// The folder.
    public var description: String { folder }
  }
}

/// A WAV file read by hand: integers of 16 or 24 bits, as floats.
public struct WAVFileContent: Sendable {
  /// Frames per second.
  public let rate: Int
  /// Samples per frame.
  public let channels: Int
  /// Bits per sample.
  public let bits: Int
  /// Interleaved samples.
  public let samples: [Float]
  /// What the header says of the data's size, in bytes, and of the file's.
  public let declared: (data: Int, riff: Int)
  /// The format tag: 1 or 0xFFFE.
  public let tag: Int

  /// Frames.
  public var frames: Int { samples.count / channels }

  /// Reads a file; throws when it is none.
  public init(path: String) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    func little(_ at: Int, _ count: Int) -> Int {
      (0..<count).reduce(0) { at + $1 < bytes.count ? $0 | Int(bytes[at + $1]) << (8 * $1) : $0 }
    }
    struct NotWAV: Error {}
    guard bytes.count >= 44, Array(bytes[0..<4]) == Array("RIFF".utf8), Array(bytes[8..<12]) == Array("WAVE".utf8)
    else {
      throw NotWAV()
    }
    var (rate, channels, bits, tag, at) = (0, 0, 0, 0, 12)
    while at + 8 <= bytes.count {
      let (name, size) = (Array(bytes[at..<at + 4]), little(at + 4, 4))
      if name == Array("fmt ".utf8) {
        (tag, channels, rate, bits) = (little(at + 8, 2), little(at + 10, 2), little(at + 12, 4), little(at + 22, 2))
      } else if name == Array("data".utf8) {
        guard channels > 0, bits == 16 || bits == 24 else { throw NotWAV() }
        let width = bits / 8
        let count = min(size, bytes.count - at - 8) / width
        let scale: Float = bits == 16 ? 32_768 : 8_388_608
        samples = (0..<count).map { index in
          let value = little(at + 8 + index * width, width)
          return Float(value >= 1 << (bits - 1) ? value - (1 << bits) : value) / scale
        }
        self.rate = rate
        self.channels = channels
        self.bits = bits
        self.tag = tag
        declared = (size, little(4, 4))
        return
      }
      at += 8 + size + size % 2
    }
    throw NotWAV()
  }

  /// Reads a file of the collection.
  public init(_ name: String) throws { try self.init(path: TestMedia.path(name)) }
}
