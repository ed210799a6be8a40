/// What a cover is, without the picture itself.
public struct Artwork: Sendable, Hashable {
  /// The type by the picture's own first bytes: `image/jpeg`, `image/png`, `image/gif`, `image/webp` or `image/bmp`.
  public var mime: String
  /// Its size in bytes.
  public var byteCount: Int
  /// Its width in pixels.
  public var width: Int
  /// Its height in pixels.
  public var height: Int

  /// Makes a description.
  public init(mime: String, byteCount: Int, width: Int, height: Int) {
    self.mime = mime
    self.byteCount = byteCount
    self.width = width
    self.height = height
  }

  /// Bytes that a picture may have at most: 32 MiB.
  public static let maximumBytes = 32 << 20
  /// Pixels that a picture may have at most: 64 million. Decoded, they take four times as many bytes.
  public static let maximumPixels = 64_000_000

  /// Reads what a picture is from its header; the picture itself is not decoded.
  ///
  /// - Throws: ``MediaWarning`` with ``MediaWarning/Code/artworkDamaged`` when the bytes are of no picture format that is
  ///   shown or break off in the header, ``MediaWarning/Code/artworkTooLarge`` beyond the limits.
  public init(picture bytes: UnsafeRawBufferPointer) throws(MediaWarning) {
    guard bytes.count <= Self.maximumBytes else {
      throw MediaWarning(.artworkTooLarge, "the cover has \(bytes.count) bytes; at most \(Self.maximumBytes) are read")
    }
    guard let header = PictureHeader(bytes) else {
      throw MediaWarning(.artworkDamaged, "the cover is damaged, or no JPEG, PNG, GIF, WebP or BMP picture")
    }
    guard header.width.multipliedReportingOverflow(by: header.height).partialValue <= Self.maximumPixels else {
      throw MediaWarning(.artworkTooLarge, "the cover has \(header.width) × \(header.height) pixels, which is too many")
    }
    self.init(mime: header.mime, byteCount: bytes.count, width: header.width, height: header.height)
  }
}

/// A cover with its picture, encoded as the file has it.
public struct ArtworkPicture: Sendable, Hashable {
  /// What it is.
  public var artwork: Artwork
  /// The encoded picture.
  public var bytes: [UInt8]

  /// Makes a cover.
  public init(_ artwork: Artwork, bytes: [UInt8]) {
    self.artwork = artwork
    self.bytes = bytes
  }
}
