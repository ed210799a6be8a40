import AttaccaCore
import POSIXKit

/// What an edit of the queue or a seek makes of it.
extension Decoding {
  func setUpcoming(after: Generation, loads: [EngineLoad]) {
    if truncation != nil { return deferred.append((after, loads)) }
    guard chain.contains(after) else { return }
    // Whatever was decoded of what is taken back has to go first; until then nothing more is decoded.
    if chain.hasBegun(after: after) || isFinished, let renderer {
      lastTruncation += 1
      let (mailbox, number) = (mailbox, lastTruncation)
      truncation = (number, after, loads)
      renderer.truncate(after: after) { result in
        mailbox.signal { $0.commands.append(.truncated(number, result)) }
      }
      return
    }
    chain.setUpcoming(after: after, loads: loads)
  }

  func truncated(_ number: Int, _ result: Renderer.Truncation) {
    guard let (current, after, loads) = truncation, current == number else { return }
    truncation = nil
    isFilling = true
    // A seek may have taken it back meanwhile, by beginning anew.
    let hadBegun = chain.hasBegun(after: after)
    switch result {
    case .late where hadBegun || isFinished:
      // What should have been taken back is being heard. The player will learn of it and load what it wants.
      break
    case .taken(let start, let carry) where hadBegun:
      takeBack(to: start, carry)
      fallthrough
    default:
      chain.setUpcoming(after: after, loads: loads)
      isFinished = false
    }
    let waiting = deferred
    deferred = []
    for (after, loads) in waiting { setUpcoming(after: after, loads: loads) }
  }

  /// Goes on writing at program index `start`, where something that was taken back had begun.
  func takeBack(to start: Int64, _ carry: Int64) {
    chunk = nil
    chain.headHasEnded = true
    guard let renderer, let ring, let converter else { return }
    end = min(end, start)
    // The resampler may still hold the last frames before it.
    if end < start {
      converter.drain { [self] frames in
        let count = min(frames.count / ring.channels, Int(start - end))
        guard count > 0 else { return }
        renderer.append(UnsafeBufferPointer(rebasing: frames[..<(count * ring.channels)]), to: ring, at: end)
        end += Int64(count)
      }
    }
    converter.reset(carry: carry)
  }

  func seek(_ id: SeekID, _ generation: Generation, to position: Duration) {
    guard !isSuperseded, let entry = chain.entry(generation) else { return }
    let isHead = chain.head?.load.generation == generation
    do throws(MediaError) {
      let media: OpenMedia
      if let opened = entry.media { media = opened } else { media = try openMedia(entry.load) }
      let frame = min(max(0, position.frames(at: media.sampleRate)), media.frameCount ?? .max)
      try reading(media) { () throws(MediaError) in
        try media.seek(to: frame)
        try begin(entry.load, media, at: frame, as: .seek(id), on: nil)
      }
    } catch {
      guard !isSuperseded else { return }
      if isHead { goBack(after: error) }
      emit(.seekFailed(id, generation, error))
    }
  }

  /// After a seek that failed: decoding goes on where it was.
  func goBack(after error: MediaError) {
    chunk = nil
    guard let renderer, let media = chain.head?.media, !chain.headHasEnded else { return }
    do throws(MediaError) {
      try reading(media) { () throws(MediaError) in try media.seek(to: consumed) }
    } catch {
      fail(renderer, error)
    }
  }
}
