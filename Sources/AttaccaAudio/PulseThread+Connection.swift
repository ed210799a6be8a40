import AttaccaCore
import CPulse
import POSIXKit

/// The way to the server: connecting, losing it, coming back.
extension PulseThread {
  func connect() {
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

  func contextChanged() {
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

  func connectionLost() {
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

  func fail(_ error: MediaError) {
    failure = error
    connectDeadline = nil
    disconnect()
    if source != nil { receive(.failed(error)) }
  }

  func disconnect() {
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
    startBy = nil
    isCorked = true
  }
}
