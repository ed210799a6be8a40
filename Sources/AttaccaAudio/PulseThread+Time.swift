import AttaccaCore
import CPulse
import POSIXKit

/// Where the stream stands, and what is due when.
extension PulseThread {
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

  func wasMeasured(_ success: Bool) {
    isMeasuring = false
    guard success, let stream, let info = pa_stream_get_timing_info(stream)?.pointee else { return }
    let now = Clocks.host
    let frameSize = Int64(self.frameSize)
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
        tellDry()
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
  func heardNow(_ now: Duration) -> Int64 {
    guard let measured else { return base }
    return isCorked ? measured.frame : measured.frame + max(0, (now - measured.host).frames(at: format.sampleRate))
  }

  func hostTime(of frame: Int64) -> Duration? {
    measured.map { $0.host + format.duration(of: frame - $0.frame) }
  }

  func checkMarker() {
    guard let frame = marker, let time = hostTime(of: frame), !isCorked, time <= Clocks.host else { return }
    marker = nil
    receive(.reached(frame: frame, hostTime: time))
  }

  /// Sets the one timer to whatever is due next.
  func schedule() {
    var due: [Duration] = [connectDeadline, retryAt, startBy, closeAt].compactMap { $0 }
    if !isCorked {
      if let marker, let time = hostTime(of: marker) { due.append(time) }
      if isShort, !hasToldDry, holdAfter == nil, let time = hostTime(of: next) { due.append(time) }
      if let holdAfter { due.append((hostTime(of: holdAfter) ?? Clocks.host + .milliseconds(20)) + grace) }
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

  func scheduleWithoutContext(_ api: UnsafeMutablePointer<pa_mainloop_api>, _ next: Duration) {
    let wall = Clocks.wall + max(.zero, next - Clocks.host)
    var time = timeval(tv_sec: Int(wall.components.seconds), tv_usec: Int(wall.microseconds % 1_000_000))
    timer = api.pointee.time_new(
      api, &time, { _, _, _, data in PulseThread.from(data)?.timerFired() }, Unmanaged.passUnretained(self).toOpaque())
  }

  func freeTimer() {
    if let timer, let api { api.pointee.time_free(timer) }
    timer = nil
    timerSetFor = nil
  }

  /// How long a stream goes on, silent, after what was to be heard: PipeWire's graph still holds some of that when it says
  /// that it is over.
  var grace: Duration { canRewind ? .zero : .milliseconds(100) }

  /// Nothing is heard any more: the source has not given what comes next in time.
  private func tellDry() {
    guard !hasToldDry else { return }
    hasToldDry = true
    receive(.starved(at: next))
  }

  func timerFired() {
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
    if let time = startBy, time <= now {
      startBy = nil
      cork(false)
    }
    if isShort, !isCorked, holdAfter == nil, !isResuming, let time = hostTime(of: next), time <= now { tellDry() }
    if let frame = holdAfter, hostTime(of: frame).map({ $0 + grace <= now + .milliseconds(1) }) ?? true {
      holdAfter = nil
      cork(true)
    }
    // The moment was extrapolated; ask before telling that it has come, unless the measurement is fresh.
    if let marker, let time = hostTime(of: marker), time <= now {
      if let measured, now - measured.host < .seconds(2) { checkMarker() } else { measure() }
    }
  }
}
