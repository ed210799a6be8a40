import AttaccaCore
import CFFmpeg

/// Frames that could not be decoded: found out, bounded, and given as silence so that time is kept.
struct Losses {
  /// The longest stretch of silence that one loss is believed to be, in seconds.
  static let longest: Int64 = 30

  /// Frames to be given as silence before what is held.
  private(set) var pending: Int64 = 0
  /// Frames of packets that were refused since the last decoded one.
  private var refused: Int64 = 0
  /// Silence that was given in good faith, which times that come later may take back.
  private var credit: Int64 = 0
  /// How long the last decoded frame was.
  var lastCount = 0

  mutating func forget() { (pending, refused) = (0, 0) }

  mutating func add(_ frames: Int64) { pending += frames }

  /// Frames to give as silence now: a part of what is pending, small enough for an `Int` of buffers.
  mutating func takePending() -> Int {
    let count = min(pending, 1 << 16)
    pending -= count
    return Int(count)
  }

  mutating func takeRefused() -> Int64 {
    defer { refused = 0 }
    return refused
  }

  /// The decoder refused a packet.
  mutating func refused(_ packet: UnsafeMutablePointer<AVPacket>, frameSize: Int, _ stream: MediaStream) {
    let duration = av_rescale_q(
      packet.pointee.duration, stream.demuxer.stream.pointee.time_base,
      AVRational(num: 1, den: Int32(stream.sampleRate)))
    refused += frameSize > 0 ? Int64(frameSize) : max(0, min(duration, 1 << 16))
  }

  /// A frame was decoded whose time says it stands at `at`, while `expected` is what comes next by counting. Answers how
  /// many of its first frames have to go.
  mutating func found(at: Int64?, isExact: Bool, expected: Int64, limit: Int64, _ rate: Int) -> Int {
    defer { refused = 0 }
    guard isExact, let at else {
      pending += min(refused, limit)
      return 0
    }
    let jump = at.subtractingClamped(expected)
    if jump > 0 {
      let silence = min(jump, limit, Int64(rate) * Self.longest)
      pending += silence
      credit += silence
      return 0
    }
    let back = min(credit, 0 - max(jump, -Int64(lastCount) * 4096))
    credit -= back
    return Int(back)
  }
}
