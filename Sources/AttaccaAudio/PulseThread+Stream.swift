import AttaccaCore
import CPulse
import POSIXKit

/// The stream: what is given to the server, and rewritten there.
extension PulseThread {
  func openStream() {
    guard let context, source != nil, stream == nil, pa_context_get_state(context) == PA_CONTEXT_READY else { return }
    var spec = pa_sample_spec(
      format: encoding.sampleFormat, rate: UInt32(format.sampleRate), channels: UInt8(format.channels))
    var map = pa_channel_map()
    pa_channel_map_init_extend(&map, UInt32(format.channels), PA_CHANNEL_MAP_WAVEEX)
    let properties = pa_proplist_new()
    defer { pa_proplist_free(properties) }
    pa_proplist_sets(properties, PA_PROP_MEDIA_ROLE, "music")
    guard let stream = pa_stream_new_with_proplist(context, "Attacca", &spec, &map, properties) else {
      return fail(
        MediaError(
          .playerOutputUnavailable, subject: "PulseAudio",
          reason: String(cString: pa_strerror(pa_context_errno(context)))))
    }
    self.stream = stream
    let data = Unmanaged.passUnretained(self).toOpaque()
    pa_stream_set_state_callback(stream, { _, data in PulseThread.from(data)?.streamChanged() }, data)
    pa_stream_set_write_callback(stream, { _, _, data in PulseThread.from(data)?.serverWantsMore() }, data)
    pa_stream_set_started_callback(stream, { _, data in PulseThread.from(data)?.measure() }, data)
    pa_stream_set_moved_callback(stream, { _, data in PulseThread.from(data)?.measure() }, data)
    base = next
    written = next
    // The server gives the device all of the buffer but two of these requests, and then asks once for as much as it took:
    // a small request makes a deep device buffer and few wake-ups, measured at 1.5 a second against 7 with half-second
    // requests. Acting at once does not suffer, because what the device has is rewritten.
    var attributes = pa_buffer_attr(
      maxlength: .max, tlength: bytes(Int64(format.sampleRate) * 5 / 2), prebuf: 0,
      minreq: bytes(Int64(format.sampleRate) / 10), fragsize: .max)
    if pa_stream_connect_playback(stream, nil, &attributes, PA_STREAM_START_CORKED, nil, nil) < 0 { streamChanged() }
  }

  func streamChanged() {
    guard let stream, let context else { return }
    switch pa_stream_get_state(stream) {
    case PA_STREAM_READY:
      isReady = true
      isCorked = true
      retries = 0
      if isLost {
        isLost = false
        receive(.restored)
        if wantsToRun {
          give(upTo: base + writable)
          cork(false)
        }
      } else if !wasOpened {
        wasOpened = true
        let name = pa_stream_get_device_name(stream).map { String(cString: $0) } ?? "default"
        receive(.opened(OutputInfo(kind: "pulse", name: sanitized(name))))
      }
      processEdits()
    case PA_STREAM_FAILED, PA_STREAM_TERMINATED:
      if pa_context_get_state(context) == PA_CONTEXT_READY { connectionLost() }
    default: break
    }
  }

  var encoding: PulseEncoding { PulseEncoding(format) }
  var frameSize: Int { encoding.bytesPerSample * format.channels }

  func bytes(_ frames: Int64) -> UInt32 { UInt32(clamping: frames * Int64(frameSize)) }

  /// Frames the server wants now.
  var writable: Int64 {
    guard let stream else { return 0 }
    let bytes = pa_stream_writable_size(stream)
    return bytes == Int.max || bytes > 1 << 40 ? 0 : Int64(bytes) / Int64(frameSize)
  }

  func serverWantsMore() {
    guard isReady, !isShort else { return }
    let now = Clocks.host
    if measured != nil { source?.didHear(upTo: min(next, heardNow(now)) - Int64(format.sampleRate / 10)) }
    give(upTo: next + writable)
    // Two clocks drift apart by a few milliseconds in this time.
    if now - lastReport > .seconds(30), !isCorked { measure() }
  }

  /// Gives frames up to `limit`, or as many as the source has.
  func give(upTo limit: Int64) {
    guard let stream, let source else { return }
    let (encoding, frameSize) = (encoding, frameSize)
    while next < limit {
      var size = Int(limit - next) * frameSize
      var memory: UnsafeMutableRawPointer?
      guard pa_stream_begin_write(stream, &memory, &size) == 0, let memory, size >= frameSize else { return }
      let count = render(source, into: memory, encoding, count: size / frameSize)
      guard count > 0 else {
        pa_stream_cancel_write(stream)
        isShort = true
        return
      }
      pa_stream_write(stream, memory, count * frameSize, nil, (next - base) * Int64(frameSize), PA_SEEK_ABSOLUTE)
      next += Int64(count)
      hasToldDry = false
      written = max(written, next)
      if count < size / frameSize {
        isShort = true
        return
      }
    }
    isShort = false
  }

  /// Stores up to `count` frames of the source, as the server wants them, and answers how many.
  private func render(
    _ source: any RenderSource, into memory: UnsafeMutableRawPointer, _ encoding: PulseEncoding, count: Int
  ) -> Int {
    // Floats are rendered in place where there is room for them.
    if encoding.bytesPerSample == MemoryLayout<Float>.stride {
      let samples = UnsafeMutableBufferPointer(
        start: memory.assumingMemoryBound(to: Float.self), count: count * format.channels)
      let done = source.render(into: samples, from: next, count: count)
      encoding.convert(UnsafeMutableBufferPointer(rebasing: samples[..<(done * format.channels)]))
      return done
    }
    return withUnsafeTemporaryAllocation(of: Float.self, capacity: count * format.channels) { samples in
      let done = source.render(into: samples, from: next, count: count)
      encoding.convert(UnsafeMutableBufferPointer(rebasing: samples[..<(done * format.channels)]))
      if let base = samples.baseAddress {
        memory.copyMemory(from: base, byteCount: done * format.channels * encoding.bytesPerSample)
      }
      return done
    }
  }

  /// Lets the server sound what it has taken of a stream that has come to its end, before it is closed.
  ///
  /// PipeWire counts as heard what its graph has read, a quantum early; only draining tells when it is over. An edit under
  /// way is waited for: it may be the one that says that the stream ends. A server that does not answer keeps nobody.
  func finish() {
    guard let stream, isReady, closeAt == nil else { return }
    guard edits.isEmpty else {
      closeAt = Clocks.host + .seconds(1)
      return
    }
    guard !isCorked, holdAfter != nil, !canRewind else { return }
    let operation = pa_stream_drain(
      stream, { _, _, data in PulseThread.from(data)?.closeAt = Clocks.host },
      Unmanaged.passUnretained(self).toOpaque())
    guard let operation else { return }
    pa_operation_unref(operation)
    holdAfter = nil
    closeAt = Clocks.host + .seconds(1)
  }

  /// The source has frames again after it ran short. Whether that is in time only the server's clock can tell.
  func resumeGiving() {
    guard isReady else { return }
    if written == base || isCorked {
      isShort = false
      give(upTo: next + writable)
      if startBy != nil { start() }
    } else {
      isResuming = true
      measure()
    }
  }

  func processEdits() {
    guard isReady, !edits.isEmpty else { return }
    if written == base { return apply(EditPoint(earliest: base, heard: base, hostTime: Clocks.host, end: base)) }
    measure()
  }

  func apply(_ point: EditPoint) {
    let changes = edits
    edits = []
    guard !changes.isEmpty else { return }
    var transport = OutputTransport.held(after: point.earliest)
    for change in changes { transport = change(point) }
    let oldEnd = written
    next = point.earliest
    isShort = false
    hasToldDry = false
    isResuming = false
    switch transport {
    case .running:
      wantsToRun = true
      holdAfter = nil
      give(upTo: max(oldEnd, next + writable))
      silence(upTo: oldEnd)
      start()
    case .held(let after):
      wantsToRun = false
      startBy = nil
      guard !isCorked else { break }
      give(upTo: max(oldEnd, after))
      silence(upTo: oldEnd)
      holdAfter = after
    }
    if closing != nil {
      closeAt = nil
      finish()
    }
  }

  /// What was given before and is not given again must not be heard.
  func silence(upTo end: Int64) {
    guard let stream else { return }
    let frameSize = frameSize
    var from = next
    while from < end {
      var size = Int(end - from) * frameSize
      var memory: UnsafeMutableRawPointer?
      guard pa_stream_begin_write(stream, &memory, &size) == 0, let memory, size >= frameSize else { return }
      size -= size % frameSize
      memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
      pa_stream_write(stream, memory, size, nil, (from - base) * Int64(frameSize), PA_SEEK_ABSOLUTE)
      from += Int64(size / frameSize)
    }
  }

  /// Lets the stream run; a held one only when the server has as much as it wants, or after a few milliseconds.
  ///
  /// A server that renders seconds ahead would otherwise find the buffer dry at once, and what it does to make up for that
  /// can be heard. Decoding is quick, so this hardly ever waits for all of the time.
  private func start() {
    let now = Clocks.host
    guard isCorked, isShort, startBy.map({ now < $0 }) ?? true else {
      startBy = nil
      return cork(false)
    }
    startBy = startBy ?? now + .milliseconds(8)
  }

  func cork(_ corked: Bool) {
    guard let stream, corked != isCorked else { return }
    isCorked = corked
    if !corked { measured = nil }
    if let operation = pa_stream_cork(stream, corked ? 1 : 0, nil, nil) { pa_operation_unref(operation) }
    if !corked, marker != nil { measure() }
  }
}
