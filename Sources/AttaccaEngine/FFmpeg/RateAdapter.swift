import AttaccaCore
import CFFmpeg

/// Brings a link whose frame rate is not the first link's to that one, so that a media has one time line.
///
/// What comes out is exactly as many frames as the link's take at the other rate, rounded once. Lives on one thread.
final class RateAdapter {
  private var resampler: OpaquePointer?
  private var output: UnsafeMutablePointer<AVFrame>?
  private let input: UnsafeMutablePointer<AVFrame>?
  private let from: Int
  private let to: Int
  private var layout: (channels: Int32, format: Int32) = (0, 0)
  private var framesIn: Int64 = 0
  private var framesOut: Int64 = 0

  /// Makes an adapter from one rate to another, both in frames per second.
  init(from: Int, to: Int) {
    (self.from, self.to) = (max(1, from), max(1, to))
    output = av_frame_alloc()
    input = av_frame_alloc()
  }

  deinit {
    swr_free(&resampler)
    av_frame_free(&output)
    var input = input
    av_frame_free(&input)
  }

  /// What the stretch becomes; `nil` while everything is held back. `end` brings out what was.
  func convert(_ chunk: DecodedChunk) -> DecodedChunk? {
    switch chunk {
    case .frames(let frame, let offset, let count):
      framesIn += Int64(count)
      guard let input, let frame = part(of: frame, offset, count, in: input), push(frame) else {
        return conceal(wanted - framesOut)
      }
      return produced(limit: .max)
    case .concealment(let count):
      framesIn += Int64(count)
      guard resampler != nil, swr_inject_silence(resampler, Int32(count)) >= 0, push(nil, drains: false) else {
        return conceal(wanted - framesOut)
      }
      return produced(limit: .max)
    case .end:
      guard wanted > framesOut else { return nil }
      if resampler != nil, push(nil), let last = produced(limit: wanted - framesOut) {
        swr_free(&resampler)
        return last
      }
      return conceal(wanted - framesOut)
    }
  }

  private var wanted: Int64 { framesIn.scaled(by: Int64(to), over: Int64(from)) ?? 0 }

  private func conceal(_ count: Int64) -> DecodedChunk? {
    guard count > 0 else { return nil }
    let part = min(count, 1 << 16)
    framesOut += part
    return .concealment(count: Int(part))
  }

  private func produced(limit: Int64) -> DecodedChunk? {
    guard let output, output.pointee.nb_samples > 0 else { return nil }
    let count = min(Int64(output.pointee.nb_samples), limit)
    framesOut += count
    return .frames(output, offset: 0, count: Int(count))
  }

  private func push(_ frame: UnsafeMutablePointer<AVFrame>?, drains: Bool = true) -> Bool {
    guard let output else { return false }
    av_frame_unref(output)
    if let frame {
      let next = (frame.pointee.ch_layout.nb_channels, frame.pointee.format)
      if next != layout { swr_free(&resampler) }
      layout = next
      if resampler == nil {
        var (place, same) = (frame.pointee.ch_layout, frame.pointee.ch_layout)
        guard
          swr_alloc_set_opts2(
            &resampler, &place, AV_SAMPLE_FMT_FLTP, Int32(to), &same, AVSampleFormat(rawValue: frame.pointee.format),
            Int32(from), 0, nil) >= 0, swr_init(resampler) >= 0
        else { return false }
      }
      av_channel_layout_copy(&output.pointee.ch_layout, &frame.pointee.ch_layout)
    } else {
      av_channel_layout_default(&output.pointee.ch_layout, layout.channels)
    }
    output.pointee.sample_rate = Int32(to)
    output.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
    let count = frame?.pointee.nb_samples ?? 0
    output.pointee.nb_samples = max(1, swr_get_out_samples(resampler, count))
    guard av_frame_get_buffer(output, 0) >= 0 else { return false }
    let room = output.pointee.nb_samples
    let data = UnsafeMutableRawPointer(output.pointee.extended_data)?
      .assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self)
    let made: Int32
    if let frame {
      let planes = UnsafeMutableRawPointer(frame.pointee.extended_data)?
        .assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
      made = swr_convert(resampler, data, room, planes, count)
    } else {
      made = swr_convert(resampler, data, room, nil, 0)
    }
    output.pointee.nb_samples = max(0, made)
    return made >= 0
  }

  /// A frame that refers to a part of another one's samples.
  private func part(
    of frame: UnsafeMutablePointer<AVFrame>, _ offset: Int, _ count: Int, in input: UnsafeMutablePointer<AVFrame>
  ) -> UnsafeMutablePointer<AVFrame>? {
    guard offset > 0 || count < Int(frame.pointee.nb_samples) else { return frame }
    av_frame_unref(input)
    guard av_frame_ref(input, frame) >= 0 else { return nil }
    let format = AVSampleFormat(rawValue: frame.pointee.format)
    let size = Int(av_get_bytes_per_sample(format))
    let channels = Int(frame.pointee.ch_layout.nb_channels)
    let isPlanar = av_sample_fmt_is_planar(format) != 0
    for plane in 0..<(isPlanar ? channels : 1) {
      input.pointee.extended_data[plane]? += offset * size * (isPlanar ? 1 : channels)
    }
    input.pointee.nb_samples = Int32(count)
    return input
  }
}
