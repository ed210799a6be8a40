import AttaccaCore

/// The terminal as a ``TerminalFace`` needs it.
@MainActor protocol Console: TextStreams {
  /// Columns now.
  var columns: Int { get }
  /// Whether our process group is the one that may use the terminal.
  var isForeground: Bool { get }
  /// Takes the terminal: keys come at once and unechoed, the cursor is hidden.
  func enter()
  /// Gives it back as it was.
  func leave()
}

/// Draws two or three lines in place, and leaves a line for each item that was heard.
@MainActor final class TerminalFace: Face {
  /// At most four drawings in a second.
  static let interval = Duration.milliseconds(250)
  /// How long a hint stays.
  static let hintTime = Duration.seconds(3)

  private let console: any Console
  private let now: @MainActor () -> Duration
  private let unicode: Bool
  private var region: LiveRegion
  private var tracker = ItemTracker()
  private var snapshot = PlayerSnapshot()
  private var hint: (text: String, until: Duration)?
  private var showsHelp = false

  /// Whether the terminal is ours and in our modes.
  private var isActive = false
  /// Suspended or finished: nothing is drawn until ``resume()``.
  private var isHeld = false
  private var lastDrawing: Duration?
  /// Something visible may have changed since the last drawing.
  private var isDirty = false
  /// What is on the screen may not be what was drawn.
  private var isStale = false

  /// `now` is host time; `unicode` and `styled` say what the terminal can show.
  init(_ console: any Console, unicode: Bool, styled: Bool, now: @escaping @MainActor () -> Duration) {
    self.console = console
    self.now = now
    self.unicode = unicode
    self.region = LiveRegion(styled: styled)
    resume()
  }

  var wantsSnapshots: Bool { true }

  func show(_ event: PlayerEvent) {
    for case .left(let line) in tracker.handle(event) { printAbove { console.out(text(line) + "\n") } }
  }

  func show(_ snapshot: PlayerSnapshot) {
    self.snapshot = snapshot
    change()
  }

  func report(_ problem: String) { printAbove { console.err(text(problem) + "\n") } }

  func hint(_ text: String) {
    hint = (text, now() + Self.hintTime)
    change()
  }

  func toggleHelp() {
    showsHelp.toggle()
    change()
  }

  func redraw() {
    // What the terminal did to the lines when it was resized is known only by their width: drawn anew, even if equal.
    isStale = true
    change()
  }

  func suspend() {
    isHeld = true
    guard isActive else { return }
    console.out(region.erase(columns: console.columns))
    console.leave()
    isActive = false
  }

  func resume() {
    isHeld = false
    region.forget()
    guard console.isForeground else {
      isActive = false
      return
    }
    console.enter()
    isActive = true
    change()
  }

  func finish() {
    for case .left(let line) in tracker.leave() { printAbove { console.out(text(line) + "\n") } }
    suspend()
  }

  var deadline: Duration? {
    guard !isHeld, !console.isClosed else { return nil }
    // In the background somebody may bring us forward without a word (`fg` of a running job): look now and then.
    guard isActive else { return snapshot.isPlaying ? now() + .seconds(1) : nil }
    var next: Duration? = isDirty ? now() : nil
    if let hint { next = min(next ?? hint.until, hint.until) }
    if snapshot.isPlaying, let anchor = snapshot.anchor, anchor.rate > 0, let position = snapshot.position(at: now()) {
      // The position shows whole seconds.
      let rest = .seconds(1) - Duration(secondsComponent: 0, attosecondsComponent: position.components.attoseconds)
      let second = now() + (anchor.rate == 1 ? rest : rest / anchor.rate)
      next = min(next ?? second, second)
    }
    guard let next, let lastDrawing else { return next }
    return max(next, lastDrawing + Self.interval)
  }

  func tick() {
    if !isActive, !isHeld {
      if console.isForeground { resume() }
      return
    }
    if let until = hint?.until, until <= now() { hint = nil }
    change()
  }

  /// Draws if something visible changed and the last drawing is long enough ago; else the deadline will.
  private func change() {
    isDirty = true
    guard isActive, !isHeld, !console.isClosed else { return }
    let style = StatusLine(columns: console.columns, unicode: unicode)
    var lines = style.lines(snapshot, at: now())
    if let hint {
      lines.append(style.note(hint.text))
    } else if showsHelp {
      lines.append(style.note(KeyBinding.line(unicode: unicode)))
    }
    isDirty = isStale || !region.shows(lines)
    if !isDirty { return }
    if let lastDrawing, now() - lastDrawing < Self.interval { return }
    isDirty = false
    isStale = false
    lastDrawing = now()
    console.out(region.draw(lines, columns: console.columns))
  }

  /// Prints something that stays, where the region was.
  private func printAbove(_ body: () -> Void) {
    if isActive { console.out(region.erase(columns: console.columns)) }
    body()
    change()
  }

  private func text(_ line: String) -> String { unicode ? line : asciiOnly(line) }
}
