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
    // The synthesis filter bank's memory: one frame.
    case "mp1", "mp2": 2 * 1152
    case "aac_latm": 4 * 2048
    // One overlap.
    case "ac3", "eac3": 2 * 1536
    // The filter bank, and the prediction within sub-bands, which fades.
    case "dts": 8192
    // Musepack's scale factors refer to those of frames before, but each packet of SV8 begins anew.
    case "musepack7", "musepack8": 2 * 1152
    // The bit reservoir: a superframe of up to 16 frames holds the end of the one before.
    case "wmav1", "wmav2", "wmapro", "wmavoice": 40_960
    // Long-term prediction and filters of speech codecs fade within a fraction of a second.
    case "speex", "gsm", "gsm_ms", "amr_nb", "amr_wb", "nellymoser": 8000
    // The low bits of the prediction outlive a packet.
    case "adpcm_ima_qt": 64 * 64
    // The decimation filter's memory is shorter than this.
    case let name where name.hasPrefix("dsd_"): 256
    default: 0
    }
  }
}
