import TestSupport
import Testing

@testable import AttaccaCore

private func big(_ value: Int, _ count: Int) -> [UInt8] {
  (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}
private func little(_ value: Int, _ count: Int) -> [UInt8] { big(value, count).reversed() }

private let png = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + big(13, 4) + Array("IHDR".utf8)
private let jpegSegments: [UInt8] =
  [0xFF, 0xD8, 0xFF, 0xE0] + big(16, 2) + [UInt8](repeating: 0, count: 14) + [0xFF, 0xFF, 0xE1] + big(2, 2)
private let webp = Array("RIFF".utf8) + little(100, 4) + Array("WEBP".utf8)
private let bmp = Array("BM".utf8) + [UInt8](repeating: 0, count: 12)

private func read(_ bytes: [UInt8]) -> Result<Artwork, MediaWarning> {
  bytes.withUnsafeBytes { bytes in Result { () throws(MediaWarning) in try Artwork(picture: bytes) } }
}

@Suite struct ArtworkTests {
  static let pictures: [(String, [UInt8])] = [
    ("image/png", png + big(300, 4) + big(200, 4)),
    ("image/jpeg", jpegSegments + [0xFF, 0xC2] + big(11, 2) + [8] + big(200, 2) + big(300, 2)),
    ("image/gif", Array("GIF89a".utf8) + little(300, 2) + little(200, 2)),
    (
      "image/webp",
      webp + Array("VP8 ".utf8) + little(30, 4) + [0, 0, 0, 0x9D, 0x01, 0x2A] + little(300, 2)
        + little(200 | 1 << 14, 2)
    ),
    ("image/webp", webp + Array("VP8L".utf8) + little(30, 4) + [0x2F] + little(299 | 199 << 14, 4)),
    ("image/webp", webp + Array("VP8X".utf8) + little(10, 4) + [0, 0, 0, 0] + little(299, 3) + little(199, 3)),
    ("image/bmp", bmp + little(12, 4) + little(300, 2) + little(200, 2)),
    ("image/bmp", bmp + little(40, 4) + little(300, 4) + little(-200, 4)),
  ]

  @Test(arguments: pictures) func readsTypeAndSize(_ mime: String, _ bytes: [UInt8]) throws {
    #expect(try read(bytes).get() == Artwork(mime: mime, byteCount: bytes.count, width: 300, height: 200))
    // Every byte counts: a header that breaks off is no picture.
    for count in 0..<bytes.count {
      #expect(throws: MediaWarning.self, "\(mime), \(count) bytes") { try read(Array(bytes[..<count])).get() }
    }
  }

  @Test func refusesWhatIsTooLarge() {
    func code(_ result: Result<Artwork, MediaWarning>) -> MediaWarning.Code? {
      if case .failure(let warning) = result { warning.code } else { nil }
    }
    #expect(code(read(png + big(8000, 4) + big(8000, 4))) == nil)
    #expect(code(read(png + big(8000, 4) + big(8001, 4))) == .artworkTooLarge)
    #expect(code(read(png + big(0x7FFF_FFFF, 4) + big(0x7FFF_FFFF, 4))) == .artworkTooLarge)
    #expect(code(read(png + big(0x8000_0000, 4) + big(1, 4))) == .artworkDamaged)
    #expect(code(read(png + big(0, 4) + big(1, 4))) == .artworkDamaged)
    #expect(code(read(Array("<svg></svg>".utf8))) == .artworkDamaged)
    #expect(code(read([UInt8](repeating: 0, count: Artwork.maximumBytes + 1))) == .artworkTooLarge)
    // Segments without end, fill bytes without end.
    #expect(code(read([0xFF, 0xD8] + [UInt8](repeating: 0xFF, count: 100_000))) == .artworkDamaged)
    let segments = (0..<50_000).flatMap { _ in [0xFF, 0xE0, 0, 2] as [UInt8] }
    #expect(code(read([0xFF, 0xD8] + segments)) == .artworkDamaged)
  }

  @Test func anyBytesAreBorne() {
    var random = SeededRandom.announced("pictures")
    for _ in 0..<20_000 {
      var bytes = Self.pictures[random.below(Self.pictures.count)].1
      for _ in 0..<(1 + random.below(6)) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
      if case .success(let artwork) = read(bytes) {
        #expect(artwork.width > 0 && artwork.height > 0 && artwork.width * artwork.height <= Artwork.maximumPixels)
      }
    }
  }
}
