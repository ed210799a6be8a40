import AttaccaCore

/// The loads the engine knows of, in the order they are to be heard: those whose sound may still be heard, the one being
/// decoded (the head), and those that follow it.
struct LoadChain {
  struct Entry {
    var load: EngineLoad
    var media: OpenMedia?
    /// It was decoded before, up to some point, and has to go back to its beginning.
    var needsRewind = false
  }

  private var entries: [Entry] = []
  private var headIndex = 0
  /// The head has been decoded to its end.
  var headHasEnded = false
  /// The player said that nothing follows the last entry.
  private(set) var isClosed = false
  /// Which load's successor was asked for, so that it is asked for once.
  private var asked: Generation?

  var head: Entry? { headIndex < entries.count ? entries[headIndex] : nil }
  var next: Entry? { headIndex + 1 < entries.count ? entries[headIndex + 1] : nil }

  func contains(_ generation: Generation) -> Bool { index(generation) != nil }
  func entry(_ generation: Generation) -> Entry? { index(generation).map { entries[$0] } }
  private func index(_ generation: Generation) -> Int? {
    entries.lastIndex { $0.load.generation == generation }
  }

  mutating func removeAll() { self = LoadChain() }

  mutating func replace(with load: EngineLoad) {
    self = LoadChain()
    entries = [Entry(load: load)]
  }

  mutating func setMedia(_ media: OpenMedia, of generation: Generation) {
    if let index = index(generation) { entries[index].media = media }
  }

  /// Whether anything after `generation` has been decoded already.
  func hasBegun(after generation: Generation) -> Bool { index(generation).map { $0 < headIndex } ?? false }

  /// Everything after `generation` is replaced; it must not have begun, or have been taken back.
  mutating func setUpcoming(after generation: Generation, loads: [EngineLoad]) {
    guard let index = index(generation) else { return }
    if index < headIndex {
      headIndex = index
      headHasEnded = true
    }
    // Media opened ahead for a load that stays is kept.
    let opened = entries[(index + 1)...]
    entries.removeSubrange((index + 1)...)
    entries += loads.map { load in
      opened.first { $0.load == load }.map { Entry(load: load, media: $0.media, needsRewind: true) }
        ?? Entry(load: load)
    }
    isClosed = loads.isEmpty
    asked = loads.isEmpty ? asked : nil
  }

  /// The last load, if its successor is wanted and was not asked for yet.
  mutating func wantNext() -> Generation? {
    guard headIndex == entries.count - 1, !isClosed, let last = entries.last?.load.generation, asked != last else {
      return nil
    }
    asked = last
    return last
  }

  /// The next load becomes the head. What is before the load now heard is forgotten; of what may still be sounding only
  /// the last two media stay open (a queue of very short items would run out of file descriptors).
  mutating func moveToNext(heard: Generation?) {
    headIndex += 1
    headHasEnded = false
    if let heard, let index = index(heard), index > 0 {
      let gone = min(index, headIndex)
      entries.removeFirst(gone)
      headIndex -= gone
    }
    for index in entries.indices where index < headIndex - 1 { entries[index].media = nil }
  }

  /// The next load cannot be opened: nothing is known to follow the head until the player says so.
  mutating func dropNext() {
    entries.removeSubrange((headIndex + 1)...)
    asked = entries.last?.load.generation
  }

  /// No successor is asked for: the head failed underway and the player decides.
  mutating func close() {
    entries.removeSubrange((headIndex + 1)...)
    isClosed = true
  }

  /// Decoding begins anew at `generation` (a seek): what was decoded of those after it starts over.
  mutating func beginAgain(at generation: Generation) {
    guard let index = index(generation) else { return }
    headIndex = index
    for later in entries.indices where later > index { entries[later].needsRewind = true }
  }
}
