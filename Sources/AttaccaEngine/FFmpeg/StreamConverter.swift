import AttaccaCore
import CFFmpeg

/// Turns decoded frames of any format into the output stream's: interleaved float at one rate.
///
/// One resampler goes on over the joints of items that share a format. Where the format changes it is drained and cut
/// to the exact number of frames; the fraction left over is carried into the next run, so that the stream is never more
/// than half a frame off in total, over any number of items. Lives on one thread.
final class StreamConverter {
  let format: StreamFormat
  private var resampler: OpaquePointer?
  private var input: Input?
  /// Frames put in since this run began, and frames got out of it.
  private var framesIn: Int64 = 0
  private var framesOut: Int64 = 0
  /// The fraction of a frame, in 2⁻³² frames, by which the stream stood before this run's first frame when it began.
  private var carry: Int64 = 0
  private var scratch: UnsafeMutableBufferPointer<Float>

  private struct Input: Equatable {
    var rate: Int32
    var sampleFormat: AVSampleFormat
    var channels: Int32
    var mask: UInt64
  }

  /// Makes a converter to `format`.
  init(to format: StreamFormat) {
    self.format = format
    scratch = .allocate(capacity: 0)
  }

  deinit {
    swr_free(&resampler)
    scratch.deallocate()
  }

  /// Converts `count` frames of `frame` from `offset` on and gives what comes out to `write`.
  func convert(
    _ frame: UnsafeMutablePointer<AVFrame>, offset: Int, count: Int, write: (UnsafeBufferPointer<Float>) -> Void
  ) {
    let layout = frame.pointee.ch_layout
    let next = Input(
      rate: frame.pointee.sample_rate, sampleFormat: AVSampleFormat(rawValue: frame.pointee.format),
      channels: layout.nb_channels, mask: layout.order == AV_CHANNEL_ORDER_NATIVE ? layout.u.mask : 0)
    if next != input {
      drain(write: write)
      open(next, layout: layout)
    }
    let sampleSize = Int(av_get_bytes_per_sample(next.sampleFormat))
    let isPlanar = av_sample_fmt_is_planar(next.sampleFormat) != 0
    let step = offset * sampleSize * (isPlanar ? 1 : Int(next.channels))
    let planes = isPlanar ? Int(next.channels) : 1
    withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: max(1, planes)) { pointers in
      for plane in 0..<planes { pointers[plane] = frame.pointee.extended_data[plane].map { UnsafePointer($0 + step) } }
      push(pointers.baseAddress, count: count, write: write)
    }
  }

  /// Adds `count` silent frames, of a media of this rate, in place of frames that could not be decoded.
  func conceal(_ count: Int, rate: Int, write: (UnsafeBufferPointer<Float>) -> Void) {
    if input?.rate != Int32(rate) {
      drain(write: write)
      var layout = AVChannelLayout()
      av_channel_layout_default(&layout, 2)
      open(Input(rate: Int32(rate), sampleFormat: AV_SAMPLE_FMT_FLT, channels: 2, mask: layout.u.mask), layout: layout)
    }
    guard let input else { return }
    let bytes = count * Int(av_get_bytes_per_sample(input.sampleFormat)) * Int(input.channels)
    withUnsafeTemporaryAllocation(byteCount: max(1, bytes), alignment: 16) { zeros in
      // Unsigned 8-bit silence is 128; no decoder in the whitelist conceals in it, PCM being never corrupt.
      zeros.initializeMemory(as: UInt8.self, repeating: 0)
      let base = zeros.baseAddress.map { UnsafePointer($0.assumingMemoryBound(to: UInt8.self)) }
      withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: Int(max(1, input.channels))) { pointers in
        pointers.initialize(repeating: base)
        push(pointers.baseAddress, count: count, write: write)
      }
    }
  }

  /// Brings out what the resampler still holds and ends the run at its exact length.
  func drain(write: (UnsafeBufferPointer<Float>) -> Void) {
    guard let input else { return }
    let (total, fraction) = Self.rounded(exactFramesOut(input) + carry)
    if framesOut < total, input.rate != Int32(format.sampleRate) {
      emit(nil, count: 0, limit: Int(total - framesOut), write: write)
      // The filter may be a frame short at the very end: hold silence for it rather than lose time.
      if framesOut < total {
        let missing = Int(total - framesOut)
        reserve(missing)
        let samples = missing * format.channels
        scratch.baseAddress?.update(repeating: 0, count: samples)
        framesOut = total
        write(UnsafeBufferPointer(rebasing: scratch[..<samples]))
      }
    }
    carry = fraction
    swr_free(&resampler)
    self.input = nil
  }

  /// Forgets everything put in, as if the run before had ended with this fraction of a frame left over.
  func reset(carry: Int64) {
    swr_free(&resampler)
    input = nil
    self.carry = carry
  }

  /// Where what was put in so far ends: in output frames from the next one given on, and the fraction left over then.
  var joint: (frames: Int64, carry: Int64) {
    guard let input else { return (0, carry) }
    let (whole, fraction) = Self.rounded(exactFramesOut(input) + carry)
    return (whole - framesOut, fraction)
  }

  /// How many frames of a media of this rate may be put in at once if at most `limit` shall come out.
  func step(_ limit: Int, rate: Int) -> Int { max(1, min(limit, limit * rate / max(1, format.sampleRate))) }

  /// What the frames put in amount to at the output's rate, in 2⁻³² frames.
  private func exactFramesOut(_ input: Input) -> Int64 {
    let (whole, rest) = (framesIn * Int64(format.sampleRate)).quotientAndRemainder(dividingBy: Int64(input.rate))
    return whole << 32 + (rest << 32) / Int64(input.rate)
  }

  private static func rounded(_ value: Int64) -> (whole: Int64, fraction: Int64) {
    let whole = (value + (1 << 31)) >> 32
    return (whole, value - whole << 32)
  }

  private func open(_ next: Input, layout: AVChannelLayout) {
    var inLayout = layout
    if layout.order == AV_CHANNEL_ORDER_UNSPEC { av_channel_layout_default(&inLayout, layout.nb_channels) }
    var outLayout = AVChannelLayout()
    av_channel_layout_default(&outLayout, Int32(format.channels))
    swr_alloc_set_opts2(
      &resampler, &outLayout, AV_SAMPLE_FMT_FLT, Int32(format.sampleRate), &inLayout, next.sampleFormat, next.rate, 0,
      nil)
    if let resampler {
      // Downmixing must not clip.
      av_opt_set_double(UnsafeMutableRawPointer(resampler), "rematrix_maxval", 1, 0)
      // One channel is heard from both sides as loud as it is, not 3 dB below (FFmpeg's rule for a centre channel).
      if next.channels == 1, format.channels == 2 { swr_set_matrix(resampler, [1, 1], 1) }
      if swr_init(resampler) < 0 { swr_free(&self.resampler) }
    }
    input = next
    framesIn = 0
    framesOut = 0
  }

  private func push(
    _ planes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, count: Int, write: (UnsafeBufferPointer<Float>) -> Void
  ) {
    framesIn += Int64(count)
    // A long run would overflow the 2³²-fold product; fold whole seconds out of both counts.
    if let input, framesIn > 1 << 24 {
      let seconds = (framesIn - 1 << 20) / Int64(input.rate)
      framesIn -= seconds * Int64(input.rate)
      framesOut -= seconds * Int64(format.sampleRate)
    }
    emit(planes, count: count, limit: .max, write: write)
  }

  private func emit(
    _ planes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, count: Int, limit: Int,
    write: (UnsafeBufferPointer<Float>) -> Void
  ) {
    guard let resampler else { return }
    let room = min(limit, Int(swr_get_out_samples(resampler, Int32(count))))
    guard room > 0 else { return }
    reserve(room)
    let produced = withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<UInt8>?.self, capacity: 1) { out in
      out[0] = UnsafeMutableRawPointer(scratch.baseAddress)?.assumingMemoryBound(to: UInt8.self)
      return Int(swr_convert(resampler, out.baseAddress, Int32(room), planes, Int32(count)))
    }
    guard produced > 0 else { return }
    framesOut += Int64(produced)
    write(UnsafeBufferPointer(rebasing: scratch[..<(produced * format.channels)]))
  }

  private func reserve(_ frames: Int) {
    guard scratch.count < frames * format.channels else { return }
    scratch.deallocate()
    scratch = .allocate(capacity: frames * format.channels + 4096)
  }
}
