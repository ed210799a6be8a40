import AttaccaCore
import Glibc
import POSIXKit

/// Renders to a WAV file as fast as frames come. 16-bit integers unless the first source has more; what would exceed
/// full scale is clipped.
public final class WAVOutput: ForwardingOutput {
  public let destination: any AudioOutput

  /// Makes an output that creates (or replaces) the file at `path`, any bytes but NUL.
  public init(path: [UInt8]) {
    destination = ThreadedOutput { WAVFile(path: path) }
  }
}

/// A RIFF/WAVE file being written (Multimedia Programming Interface and Data Specifications 1.0; WAVE_FORMAT_EXTENSIBLE
/// beyond two channels or 16 bits). Past 4 GiB the sizes are left at their maximum, which readers take as "to the end".
final class WAVFile: FrameSink {
  static var isOffline: Bool { true }
  private let path: [UInt8]
  private var file: Int32 = -1
  private var format = StreamFormat(sampleRate: 44_100, channels: 2)
  private var bytes: [UInt8] = []
  private var written: UInt64 = 0

  init(path: [UInt8]) { self.path = path }

  deinit { if file >= 0 { Glibc.close(file) } }

  private var encoding: PCMEncoding { format.significantBits > 16 ? .s24 : .s16 }
  private var bytesPerSample: Int { encoding.bytesPerSample }
  private var isExtensible: Bool { format.channels > 2 || bytesPerSample > 2 }

  func open(_ format: StreamFormat) throws(MediaError) -> OutputInfo {
    self.format = format
    guard !path.contains(0) else {
      throw MediaError(
        .playerOutputUnavailable, subject: Locator.file(path).displayName, reason: "not a usable file name")
    }
    file = (path + [0]).withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { text in
        text.baseAddress.map { Glibc.open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) } ?? -1
      }
    }
    guard file >= 0 else { throw failure(.playerOutputUnavailable) }
    try put(header(dataSize: UInt32.max - 128))
    return OutputInfo(kind: "wav", name: Locator.file(path).displayName)
  }

  func write(_ frames: UnsafeBufferPointer<Float>) throws(MediaError) {
    bytes.removeAll(keepingCapacity: true)
    encoding.append(frames, to: &bytes)
    try put(bytes)
    written += UInt64(bytes.count)
  }

  func finish() throws(MediaError) {
    if written % 2 == 1 { try put([0]) }
    if written < UInt64(UInt32.max - 128), lseek(file, 0, SEEK_SET) == 0 { try put(header(dataSize: UInt32(written))) }
    let status = Glibc.close(file)
    file = -1
    if status != 0 { throw failure(.playerOutputFailed) }
  }

  private func header(dataSize: UInt32) -> [UInt8] {
    func little(_ value: UInt32, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let block = format.channels * bytesPerSample
    var chunk: [UInt8] = little(isExtensible ? 0xFFFE : 1, 2) + little(UInt32(format.channels), 2)
    chunk += little(UInt32(format.sampleRate), 4) + little(UInt32(format.sampleRate * block), 4)
    chunk += little(UInt32(block), 2) + little(UInt32(bytesPerSample * 8), 2)
    if isExtensible {
      // Speaker positions as FFmpeg's default layouts have them.
      let masks: [UInt32] = [0, 0x4, 0x3, 0x7, 0x107, 0x37, 0x3F, 0x70F, 0x63F]
      chunk += little(22, 2) + little(UInt32(bytesPerSample * 8), 2)
      chunk += little(format.channels < masks.count ? masks[format.channels] : 0, 4)
      // KSDATAFORMAT_SUBTYPE_PCM.
      chunk += [1, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
    }
    let padded = dataSize &+ dataSize % 2
    let size = UInt32(4 + 8 + chunk.count + 8) &+ padded
    return Array("RIFF".utf8) + little(size, 4) + Array("WAVEfmt ".utf8) + little(UInt32(chunk.count), 4) + chunk
      + Array("data".utf8) + little(dataSize, 4)
  }

  private func put(_ bytes: [UInt8]) throws(MediaError) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress.map { $0 + done }, bytes.count - done) }
      if count > 0 {
        done += count
      } else if count < 0, errno == EINTR {
        continue
      } else {
        throw failure(.playerOutputFailed)
      }
    }
  }

  private func failure(_ code: MediaError.Code) -> MediaError {
    MediaError(code, subject: Locator.file(path).displayName, reason: systemMessage(errno))
  }
}
