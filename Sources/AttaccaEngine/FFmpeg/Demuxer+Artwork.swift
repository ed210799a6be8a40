import AttaccaCore
import CFFmpeg

extension Demuxer {
  /// Calls `body` with the encoded cover, which lives as long as the demuxer: the front cover, else the first picture.
  func withCover<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
    var chosen: UnsafeMutablePointer<AVStream>?
    for index in 0..<Int(format.pointee.nb_streams) {
      guard let stream = format.pointee.streams?[index],
        stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0, stream.pointee.attached_pic.size > 0
      else { continue }
      if chosen == nil { chosen = stream }
      // ID3v2 and FLAC picture type 3.
      let kind = av_dict_get(stream.pointee.metadata, "comment", nil, 0)?.pointee.value.map { String(cString: $0) }
      if kind == "Cover (front)" {
        chosen = stream
        break
      }
    }
    guard let picture = chosen?.pointee.attached_pic, let data = picture.data else { return nil }
    return body(UnsafeRawBufferPointer(start: data, count: Int(picture.size)))
  }

  /// What the cover is, or why it is not shown; `nil` without one.
  var artwork: Result<Artwork, MediaWarning>? {
    withCover { bytes in Result { () throws(MediaWarning) in try Artwork(picture: bytes) } }
  }

  /// The cover itself; `nil` without one that can be shown.
  var picture: ArtworkPicture? {
    guard case .success(let artwork) = artwork else { return nil }
    return withCover { ArtworkPicture(artwork, bytes: Array($0)) }
  }
}
