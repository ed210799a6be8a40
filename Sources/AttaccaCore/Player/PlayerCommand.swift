/// Whether a change of item also changes the user's intent.
public enum AutoStart: String, Sendable, Hashable, Codable {
  /// Playing goes on playing, paused stays paused.
  case keep
  /// Plays.
  case play
  /// Stays silent on the new item.
  case pause
}

/// Everything the player can be asked to do. Each has a `can…` twin in ``PlayerSnapshot/Abilities`` where it can be
/// refused, and a refusal says why.
public enum PlayerCommand: Sendable, Hashable {
  /// Makes these items the queue, with the one at `startAt` current.
  case replaceQueue([MediaItem], startAt: Int = 0, autoStart: AutoStart = .keep)
  /// Puts items at the end of the queue.
  case append([MediaItem])
  /// Puts items right after the current entry, in their order.
  case insertNext([MediaItem])
  /// Puts items before an entry.
  case insertBefore(EntryID, [MediaItem])
  /// Puts items after an entry.
  case insertAfter(EntryID, [MediaItem])
  /// Moves an entry to a final index in list order (clamped).
  case move(EntryID, to: Int)
  /// Removes entries. If the current one is among them, the one after it goes on.
  case remove([EntryID])
  /// Gives an entry another item; a playing one is loaded anew.
  case replaceItem(EntryID, MediaItem)
  /// Empties the queue and stops.
  case clearQueue

  /// Wants sound; starts the queue when stopped.
  case play
  /// Wants silence; the position stays.
  case pause
  /// Play or pause, whichever is not wanted now.
  case togglePlayPause
  /// Ends playing: the output is released, the current entry stays, at its beginning.
  case stop
  /// Goes to the entry after the current one in play order.
  case next(AutoStart = .keep)
  /// Restarts the item when more than three seconds in, else goes to the entry before it.
  case previous(AutoStart = .keep)
  /// Goes to an entry.
  case jump(EntryID, AutoStart = .keep)

  /// Goes to a media position of the current item, exact to the sample; clamped at both ends.
  case seek(Duration)
  /// Moves relative to the position, or to the target of a seek still under way.
  case skip(Duration)
  /// The user drags the position: sound is held while seeks go on.
  case beginScrub
  /// The user let go.
  case endScrub

  /// Loudness 0…1 as heard (the gain is its cube); clamped.
  case setVolume(Double)
  /// Silence without forgetting the volume.
  case setMuted(Bool)
  /// Media seconds per second, 0.25…4 (clamped), with the pitch kept. Lasts for every item; starts nothing.
  case setRate(Double)
  /// How everything sounds; values out of their ranges are clamped.
  case setSound(SoundSettings)
  /// What happens at the end of items and of the queue.
  case setRepeat(RepeatMode)

  /// Something outside holds sound back, whatever the user wants.
  case suppress(Suppression)
  /// It no longer does.
  case lift(Suppression)
  /// Ends everything; the player refuses all further commands.
  case shutdown
}

/// Why a command was not carried out.
public struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable code.
  public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
    /// There is no current entry.
    case noCurrent = "player.noCurrent"
    /// The queue has no entries.
    case emptyQueue = "player.emptyQueue"
    /// The queue has no entry with this id.
    case unknownEntry = "player.unknownEntry"
    /// There is no entry to go on to.
    case noNext = "player.noNext"
    /// There is no entry to go back to.
    case noPrevious = "player.noPrevious"
    /// The media has no choice of position.
    case notSeekable = "player.notSeekable"
    /// A value makes no sense (an empty list of items, a volume that is no number).
    case invalidValue = "player.invalidValue"
    /// The engine cannot do it.
    case notSupported = "player.notSupported"
    /// The player was shut down.
    case shutDown = "player.shutDown"
  }

  /// The stable code.
  public var code: Code
  /// What it means, as a short clause.
  public var reason: String

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  /// `reason (code)`.
  public var description: String { "\(reason) (\(code.rawValue))" }
}

/// How a seek ended; each seek ends in exactly one way.
public enum SeekOutcome: Sendable, Hashable {
  /// The target is what is heard (or, while held, what would be).
  case landed(at: Duration)
  /// A later seek, another item or the end came first.
  case superseded
  /// It could not be asked for.
  case rejected(Refusal)
  /// It was tried and did not work; the old position goes on.
  case failed(MediaError)
}

/// What came of a command.
public enum CommandResult: Sendable, Hashable {
  /// It was carried out.
  case done
  /// It was carried out and made these entries.
  case added([EntryID])
  /// It was a seek and ended so.
  case seek(SeekOutcome)
  /// It was refused.
  case refused(Refusal)
}
