/// What holds sound back although the user wants it.
public enum Suppression: String, Sendable, Hashable, Codable, CaseIterable {
  /// Another application has the audio (a call).
  case interruption
  /// The device that was playing went away.
  case routeLost
  /// The machine goes to sleep.
  case systemSleep
  /// The sound server is gone.
  case outputLost
  /// The user is dragging the position.
  case scrubbing
}

/// What the player is doing, for a person.
public enum PlayerStatus: Sendable, Hashable {
  /// Why a player is paused.
  public enum PauseReason: String, Sendable, Hashable, Codable {
    case user, interruption, routeLost, systemSleep
  }
  /// What a player is waiting for.
  public enum WaitReason: String, Sendable, Hashable, Codable {
    case opening, stalled, outputLost, seeking
  }

  /// Nothing is loaded.
  case stopped
  /// Silent, at a position.
  case paused(PauseReason)
  /// Wants to play and cannot yet.
  case waiting(WaitReason)
  /// Samples leave the output.
  case playing
  /// Gave up.
  case failed(MediaError)

  /// The status in one word, for scripts.
  public var name: String {
    switch self {
    case .stopped: "stopped"
    case .paused: "paused"
    case .waiting: "waiting"
    case .playing: "playing"
    case .failed: "failed"
    }
  }

  /// The reason in one word, where there is one.
  public var reason: String? {
    switch self {
    case .stopped, .playing: nil
    case .paused(let reason): reason.rawValue
    case .waiting(let reason): reason.rawValue
    case .failed(let error): error.code.rawValue
    }
  }
}
