import AttaccaCore
import CPulse
import POSIXKit

/// libpulse's own thread: connection, stream, timing and the rewriting of queued audio.
///
/// Used by its thread only. Frames are counted from the stream's beginning as the source counts them; `base` is the frame
/// at the server stream's byte 0 (not 0 after a reconnection).
final class PulseThread {
  private let mailbox: Monitor<PulseMailbox>
  private var loop: OpaquePointer?
  private var api: UnsafeMutablePointer<pa_mainloop_api>?
  private var context: OpaquePointer?
  var stream: OpaquePointer?
  private var timer: OpaquePointer?
  private var closing: [@Sendable () -> Void]?

  var format = StreamFormat(sampleRate: 44_100, channels: 2)
  var source: (any RenderSource)?
  var receive: @Sendable (OutputEvent) -> Void = { _ in }
  private var wasOpened = false
  private var isLost = false
  private var connectDeadline: Duration?
  private var retryAt: Duration?
  private var retries = 0
  /// PipeWire cannot take back what its graph has read, so edits begin at what it will read next.
  private var canRewind = true

  var base: Int64 = 0
  /// The next frame to be given.
  var next: Int64 = 0
  /// One past the last frame given, silence put in place of missing frames included.
  var written: Int64 = 0
  private var isCorked = true
  private var isReady = false
  private var holdAfter: Int64?
  private var isShort = false
  private var marker: Int64?
  private var edits: [@Sendable (EditPoint) -> OutputTransport] = []
  private var isMeasuring = false
  private var mustMeasure = false
  /// The last measurement: this frame was heard at that host time.
  private var measured: (frame: Int64, host: Duration)?
  private var lastReport: Duration = .zero

  init(_ mailbox: Monitor<PulseMailbox>) { self.mailbox = mailbox }

  // MARK: The loop

  func run() {
    guard let loop = pa_mainloop_new() else {
      mailbox.withLock { $0.isOver = true }
      return
    }
    self.loop = loop
    api = pa_mainloop_get_api(loop)
    mailbox.withLock { $0.loop = loop }
    connect()
    while closing == nil {
      takeCommands()
      guard closing == nil else { break }
      schedule()
      let isEmpty = mailbox.withLock { box in
        box.isAwake = !box.commands.isEmpty
        return box.commands.isEmpty
      }
      if isEmpty {
        pa_mainloop_iterate(loop, 1, nil)
        mailbox.withLock { $0.isAwake = true }
      }
    }
    disconnect()
    freeTimer()
    mailbox.withLock { box in
      box.loop = nil
      box.isOver = true
    }
    pa_mainloop_free(loop)
    source = nil
    let rest = mailbox.withLock { box in
      defer { box.commands = [] }
      return box.commands
    }
    closing?.forEach { $0() }
    for case .close(let completion) in rest { completion() }
  }

  private func takeCommands() {
    let commands = mailbox.withLock { box in
      defer { box.commands = [] }
      return box.commands
    }
    for command in commands {
      switch command {
      case .open(let format, let source, let receive):
        self.format = format
        self.source = source
        self.receive = receive
        if let failure { fail(failure) } else { openStream() }
      case .edit(let change):
        edits.append(change)
        processEdits()
      case .more: if isShort { resumeGiving() }
      case .marker(let frame):
        marker = frame
        if frame != nil, measured == nil { measure() }
      case .close(let completion): closing = (closing ?? []) + [completion]
      }
    }
  }

  // MARK: Connection

  private var failure: MediaError?

  private func connect() {
    guard let api else { return }
    let properties = pa_proplist_new()
    defer { pa_proplist_free(properties) }
    pa_proplist_sets(properties, PA_PROP_APPLICATION_NAME, "Attacca")
    pa_proplist_sets(properties, PA_PROP_APPLICATION_ID, "org.attacca.Attacca")
    pa_proplist_sets(properties, PA_PROP_APPLICATION_ICON_NAME, "attacca")
    guard let context = pa_context_new_with_proplist(api, "Attacca", properties) else {
      return fail(MediaError(.playerOutputUnavailable, subject: "PulseAudio", reason: "out of memory"))
    }
    self.context = context
    pa_context_set_state_callback(
      context, { _, data in PulseThread.from(data)?.contextChanged() }, Unmanaged.passUnretained(self).toOpaque())
    // A server that accepts and then says nothing is as good as none.
    connectDeadline = Clocks.host + .seconds(3)
    if pa_context_connect(context, nil, PA_CONTEXT_NOFLAGS, nil) < 0 { contextChanged() }
  }

  static func from(_ data: UnsafeMutableRawPointer?) -> PulseThread? {
    data.map { Unmanaged<PulseThread>.fromOpaque($0).takeUnretainedValue() }
  }

  private func contextChanged() {
    guard let context else { return }
    switch pa_context_get_state(context) {
    case PA_CONTEXT_READY:
      connectDeadline = nil
      let operation = pa_context_get_server_info(
        context,
        { _, info, data in
          guard let name = info?.pointee.server_name.map({ String(cString: $0) }) else { return }
          PulseThread.from(data)?.canRewind = !name.contains("PipeWire")
        }, Unmanaged.passUnretained(self).toOpaque())
      if let operation { pa_operation_unref(operation) }
      openStream()
    case PA_CONTEXT_FAILED, PA_CONTEXT_TERMINATED: connectionLost()
    default: break
    }
  }

  private func connectionLost() {
    let reason = context.map { String(cString: pa_strerror(pa_context_errno($0))) } ?? "no answer"
    guard wasOpened else {
      return fail(MediaError(.playerOutputUnavailable, subject: "PulseAudio", reason: reason.lowercased()))
    }
    if !isLost {
      isLost = true
      // What the server had taken is gone with it: the stream stands at the frame heard last.
      let frame = min(max(heardNow(Clocks.host), base), written)
      let wasRunning = !isCorked
      let stands = wasRunning ? frame : max(base, min(next, written))
      next = stands
      receive(.lost(at: stands))
    }
    disconnect()
    retries += 1
    retryAt = Clocks.host + .milliseconds(min(2000, 100 << min(retries, 5)))
  }

  private func fail(_ error: MediaError) {
    failure = error
    connectDeadline = nil
    disconnect()
    if source != nil { receive(.failed(error)) }
  }

  private func disconnect() {
    freeTimer()
    if let stream {
      pa_stream_set_state_callback(stream, nil, nil)
      pa_stream_set_write_callback(stream, nil, nil)
      pa_stream_set_underflow_callback(stream, nil, nil)
      pa_stream_set_started_callback(stream, nil, nil)
      pa_stream_set_moved_callback(stream, nil, nil)
      pa_stream_disconnect(stream)
      pa_stream_unref(stream)
    }
    stream = nil
    if let context {
      pa_context_set_state_callback(context, nil, nil)
      pa_context_disconnect(context)
      pa_context_unref(context)
    }
    context = nil
    isReady = false
    isMeasuring = false
    measured = nil
    isCorked = true
  }

  // MARK: Stream

  private func openStream() {
    guard let context, source != nil, stream == nil, pa_context_get_state(context) == PA_CONTEXT_READY else { return }
    var spec = pa_sample_spec(
      format: PA_SAMPLE_FLOAT32LE, rate: UInt32(format.sampleRate), channels: UInt8(format.channels))
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

  private func streamChanged() {
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

  /// What the last edit asked for, kept over a lost connection.
  private var wantsToRun = false

  func bytes(_ frames: Int64) -> UInt32 { UInt32(clamping: frames * Int64(4 * format.channels)) }

  /// Frames the server wants now.
  private var writable: Int64 {
    guard let stream else { return 0 }
    let bytes = pa_stream_writable_size(stream)
    return bytes == Int.max || bytes > 1 << 40 ? 0 : Int64(bytes) / Int64(4 * format.channels)
  }

  private func serverWantsMore() {
    guard isReady, !isShort else { return }
    let now = Clocks.host
    if measured != nil { source?.didHear(upTo: min(next, heardNow(now)) - Int64(format.sampleRate / 10)) }
    give(upTo: next + writable)
    // Two clocks drift apart by a few milliseconds in this time.
    if now - lastReport > .seconds(30), !isCorked { measure() }
  }

  /// Gives frames up to `limit`, or as many as the source has.
  private func give(upTo limit: Int64) {
    guard let stream, let source else { return }
    let frameSize = 4 * format.channels
    while next < limit {
      var size = Int(limit - next) * frameSize
      var memory: UnsafeMutableRawPointer?
      guard pa_stream_begin_write(stream, &memory, &size) == 0, let memory, size >= frameSize else { return }
      let samples = UnsafeMutableBufferPointer(
        start: memory.assumingMemoryBound(to: Float.self), count: size / MemoryLayout<Float>.stride)
      let count = source.render(into: samples, from: next, count: size / frameSize)
      guard count > 0 else {
        pa_stream_cancel_write(stream)
        isShort = true
        return
      }
      pa_stream_write(stream, memory, count * frameSize, nil, (next - base) * Int64(frameSize), PA_SEEK_ABSOLUTE)
      next += Int64(count)
      written = max(written, next)
      if count < size / frameSize {
        isShort = true
        return
      }
    }
    isShort = false
  }

  /// The source has frames again after it ran short. Whether that is in time only the server's clock can tell.
  private func resumeGiving() {
    guard isReady else { return }
    if written == base || isCorked {
      isShort = false
      give(upTo: next + writable)
    } else {
      isResuming = true
      measure()
    }
  }

  private var isResuming = false

  // MARK: Edits

  private func processEdits() {
    guard isReady, !edits.isEmpty else { return }
    if written == base { return apply(EditPoint(earliest: base, heard: base, hostTime: Clocks.host, end: base)) }
    measure()
  }

  private func apply(_ point: EditPoint) {
    let changes = edits
    edits = []
    guard !changes.isEmpty else { return }
    var transport = OutputTransport.held(after: point.earliest)
    for change in changes { transport = change(point) }
    let oldEnd = written
    next = point.earliest
    isShort = false
    isResuming = false
    switch transport {
    case .running:
      wantsToRun = true
      holdAfter = nil
      give(upTo: max(oldEnd, next + writable))
      silence(upTo: oldEnd)
      cork(false)
    case .held(let after):
      wantsToRun = false
      guard !isCorked else { return }
      give(upTo: max(oldEnd, after))
      silence(upTo: oldEnd)
      holdAfter = after
    }
  }

  /// What was given before and is not given again must not be heard.
  private func silence(upTo end: Int64) {
    guard let stream else { return }
    let frameSize = 4 * format.channels
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

  private func cork(_ corked: Bool) {
    guard let stream, corked != isCorked else { return }
    isCorked = corked
    if !corked { measured = nil }
    if let operation = pa_stream_cork(stream, corked ? 1 : 0, nil, nil) { pa_operation_unref(operation) }
    if !corked, marker != nil { measure() }
  }

  // MARK: Time

  /// Asks the server where the stream stands.
  func measure() {
    guard let stream, isReady else { return }
    guard !isMeasuring else {
      mustMeasure = true
      return
    }
    let operation = pa_stream_update_timing_info(
      stream, { _, success, data in PulseThread.from(data)?.wasMeasured(success != 0) },
      Unmanaged.passUnretained(self).toOpaque())
    guard let operation else { return }
    isMeasuring = true
    pa_operation_unref(operation)
  }

  private func wasMeasured(_ success: Bool) {
    isMeasuring = false
    guard success, let stream, let info = pa_stream_get_timing_info(stream)?.pointee else { return }
    let now = Clocks.host
    let frameSize = Int64(4 * format.channels)
    let read = base + info.read_index / frameSize
    let latency = Duration.microseconds(Int64(clamping: info.sink_usec)).frames(at: format.sampleRate)
    let host = now - .microseconds(Int64(clamping: info.transport_usec))
    let heard = isCorked ? read : max(base, read - latency)
    if info.playing != 0 || isCorked { measured = (heard, host) }
    if !edits.isEmpty {
      // A few milliseconds on the way to the server, and as many for it to render again what it had rendered.
      let margin = Int64(format.sampleRate / 150)
      let earliest =
        isCorked ? max(read, base) : max(base, canRewind ? heard + margin : read + margin, heardNow(now) + margin)
      apply(EditPoint(earliest: min(earliest, max(written, earliest)), heard: heard, hostTime: host, end: written))
    } else if isResuming {
      isResuming = false
      if next >= heardNow(now) {
        isShort = false
        give(upTo: max(written, next + writable))
      } else {
        receive(.starved(at: next))
      }
    }
    if !isCorked, info.playing != 0, now - lastReport > .seconds(1) {
      lastReport = now
      receive(.measured(heard: heard, hostTime: host))
    }
    source?.didHear(upTo: min(next, heard))
    checkMarker()
    if mustMeasure {
      mustMeasure = false
      measure()
    }
  }

  /// The frame heard at `now`, extrapolated from the last measurement.
  private func heardNow(_ now: Duration) -> Int64 {
    guard let measured else { return base }
    return isCorked ? measured.frame : measured.frame + max(0, (now - measured.host).frames(at: format.sampleRate))
  }

  private func hostTime(of frame: Int64) -> Duration? {
    measured.map { $0.host + format.duration(of: frame - $0.frame) }
  }

  private func checkMarker() {
    guard let frame = marker, let time = hostTime(of: frame), !isCorked, time <= Clocks.host else { return }
    marker = nil
    receive(.reached(frame: frame, hostTime: time))
  }

  private var timerSetFor: Duration?

  /// Sets the one timer to whatever is due next.
  private func schedule() {
    var due: [Duration] = [connectDeadline, retryAt].compactMap { $0 }
    if !isCorked {
      if let marker, let time = hostTime(of: marker) { due.append(time) }
      if let holdAfter { due.append(hostTime(of: holdAfter) ?? Clocks.host + .milliseconds(20)) }
    }
    let next = due.min()
    guard next != timerSetFor else { return }
    timerSetFor = next
    guard let api else { return }
    freeTimer()
    guard let next else { return }
    timerSetFor = next
    // Timers of the main loop take wall-clock times unless asked otherwise; only a context's helper knows how to ask.
    guard let context else { return scheduleWithoutContext(api, next) }
    timer = pa_context_rttime_new(
      context, UInt64(max(0, next.microseconds)),
      { _, _, _, data in PulseThread.from(data)?.timerFired() }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func scheduleWithoutContext(_ api: UnsafeMutablePointer<pa_mainloop_api>, _ next: Duration) {
    let wall = Clocks.wall + max(.zero, next - Clocks.host)
    var time = timeval(tv_sec: Int(wall.components.seconds), tv_usec: Int(wall.microseconds % 1_000_000))
    timer = api.pointee.time_new(
      api, &time, { _, _, _, data in PulseThread.from(data)?.timerFired() }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func freeTimer() {
    if let timer, let api { api.pointee.time_free(timer) }
    timer = nil
    timerSetFor = nil
  }

  private func timerFired() {
    let now = Clocks.host
    timerSetFor = nil
    if let deadline = connectDeadline, deadline <= now {
      connectDeadline = nil
      wasOpened
        ? connectionLost()
        : fail(MediaError(.playerOutputUnavailable, subject: "PulseAudio", reason: "the server does not answer"))
    }
    if let time = retryAt, time <= now {
      retryAt = nil
      connect()
    }
    if let frame = holdAfter, hostTime(of: frame).map({ $0 <= now + .milliseconds(1) }) ?? true {
      holdAfter = nil
      cork(true)
    }
    // The moment was extrapolated; ask before telling that it has come, unless the measurement is fresh.
    if let marker, let time = hostTime(of: marker), time <= now {
      if let measured, now - measured.host < .seconds(2) { checkMarker() } else { measure() }
    }
  }
}
