/// Names of what may be opened. A name proves nothing (a playlist script can be called `song.mp3`), so FFmpeg is told
/// what it may recognise, whatever the file is called.
///
/// Only containers that hold their sound themselves are here: none that names other files (concat, HLS, DASH, image
/// sequences), no device and no script.
enum Whitelist {
  /// Demuxers, as FFmpeg names them.
  static let formats = """
    mp3,flac,ogg,mov,wav,aiff,wv,w64,caf,au,ape,mpc,mpc8,tta,tak,aac,loas,ac3,eac3,dts,dtshd,dsf,iff,asf,\
    matroska,avi,mpegts,mpeg,flv,amr
    """

  /// Decoders, as FFmpeg names them.
  static let codecs = """
    mp3float,mp3,mp2float,mp2,mp1float,mp1,flac,alac,aac,aac_latm,vorbis,opus,speex,wavpack,ape,mpc7,mpc8,tta,tak,als,\
    ac3,eac3,dca,wmav1,wmav2,wmapro,wmalossless,wmavoice,amrnb,amrwb,gsm,gsm_ms,nellymoser,\
    dsd_lsbf,dsd_msbf,dsd_lsbf_planar,dsd_msbf_planar,dst,\
    pcm_s16le,pcm_s16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be,pcm_s64le,pcm_s64be,pcm_u8,pcm_s8,\
    pcm_u16le,pcm_u16be,pcm_u24le,pcm_u24be,pcm_u32le,pcm_u32be,pcm_f32le,pcm_f32be,pcm_f64le,pcm_f64be,\
    pcm_s8_planar,pcm_s16le_planar,pcm_s16be_planar,pcm_s24le_planar,pcm_s32le_planar,pcm_alaw,pcm_mulaw,\
    pcm_dvd,pcm_bluray,adpcm_ms,adpcm_ima_wav,adpcm_ima_qt,adpcm_yamaha,adpcm_swf,g722,adpcm_g722,adpcm_g726,\
    adpcm_g726le
    """

  private static let codecNames = Set(codecs.split(separator: ",").map(String.init))

  /// Whether a decoder of this name may be used.
  static func allows(decoder name: String) -> Bool { codecNames.contains(name) }
}
