import AttaccaCore
import CFFmpeg
import Glibc

/// Lends a ``ByteSource`` to FFmpeg as its only way to bytes.
///
/// Lives on the engine's thread. The `AVIOContext` holds an unretained pointer to this object, which therefore has to
/// outlive it: both are owned by the demuxer.
final class ByteSourceIO {
  let source: any ByteSource
  /// The first failure of the source, kept because FFmpeg passes on only a number.
  private(set) var failure: MediaError?
  private(set) var context: UnsafeMutablePointer<AVIOContext>?
  private var position: Int64 = 0

  init(_ source: any ByteSource) {
    self.source = source
  }

  /// Makes the context FFmpeg reads through; `nil` when out of memory.
  func open(bufferSize: Int32 = 32 * 1024) -> UnsafeMutablePointer<AVIOContext>? {
    guard let buffer = av_malloc(Int(bufferSize)) else { return nil }
    context = avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), bufferSize, 0, Unmanaged.passUnretained(self).toOpaque(),
      { opaque, buffer, count in
        guard let opaque, let buffer else { return attacca_averror_eio }
        return Unmanaged<ByteSourceIO>.fromOpaque(opaque).takeUnretainedValue()
          .read(UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)))
      }, nil,
      { opaque, offset, whence in
        guard let opaque else { return Int64(attacca_averror_eio) }
        return Unmanaged<ByteSourceIO>.fromOpaque(opaque).takeUnretainedValue().seek(offset, whence)
      })
    guard let context else {
      av_free(buffer)
      return nil
    }
    context.pointee.seekable = source.isSeekable ? AVIO_SEEKABLE_NORMAL : 0
    return context
  }

  deinit {
    guard let context else { return }
    // FFmpeg may have replaced the buffer, so free the one it has now.
    av_free(context.pointee.buffer)
    var pointer: UnsafeMutablePointer<AVIOContext>? = context
    avio_context_free(&pointer)
  }

  /// Whether FFmpeg has met the end of the bytes.
  var isAtEnd: Bool { (context?.pointee.eof_reached ?? 0) != 0 }

  /// Forgets a failure: what is read next is somewhere else.
  func clearFailure() {
    failure = nil
    packetsSinceRead = 0
    context?.pointee.error = 0
    context?.pointee.eof_reached = 0
  }

  /// Packets that were made without asking for bytes. A buffer of them has room for 32,768 packets of a byte.
  private var packetsSinceRead = 0

  /// Counts a packet; answers `false` when a demuxer makes them out of nothing, which it might do for ever.
  func countPacket() -> Bool {
    packetsSinceRead += 1
    return packetsSinceRead <= 1 << 17
  }

  private func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int32 {
    packetsSinceRead = 0
    switch source.read(into: buffer, at: position) {
    case .bytes(let count):
      position += Int64(count)
      return Int32(count)
    case .end: return attacca_averror_eof
    case .pending: return attacca_averror_eagain
    case .failed(let error):
      failure = failure ?? error
      return attacca_averror_eio
    }
  }

  private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
    let whence = whence & ~AVSEEK_FORCE
    let target: Int64?
    switch whence {
    case AVSEEK_SIZE: return source.length ?? Int64(attacca_averror_eio)
    case SEEK_SET: target = offset
    case SEEK_CUR: target = position.addingReportingOverflow(offset).partialValue
    case SEEK_END: target = source.length.map { $0.addingReportingOverflow(offset).partialValue }
    default: target = nil
    }
    guard let target, target >= 0 else { return Int64(attacca_averror_eio) }
    position = target
    return target
  }
}
