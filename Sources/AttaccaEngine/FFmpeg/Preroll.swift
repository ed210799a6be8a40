/// How far before a seek's target decoding has to begin for the target to sound as it does when played through.
enum Preroll {
  static func frames(codec: String, sampleRate: Int) -> Int {
    switch codec {
    // The bit reservoir reaches back at most 511 bytes beyond a frame's own: up to 9 short frames, and one for the overlap.
    case "mp3": 10 * 1152
    case "aac": 2 * 2048
    // RFC 7845 §4.6 asks for at least 80 ms; after 400 ms the decoder's prediction has forgotten where it began (80 ms
    // leave differences up to 0.18 of full scale, 400 ms none above 10⁻⁵).
    case "opus": 19_200
    // One long window.
    case "vorbis": 8192
    default: 0
    }
  }
}
