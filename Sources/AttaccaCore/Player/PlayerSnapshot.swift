/// All that is true of a player at a moment, but for the queue's entries: small, and cheap to send.
public struct PlayerSnapshot: Sendable, Hashable {
  /// What could be asked for now without being refused: the `can…` twins of the commands.
  public struct Abilities: Sendable, Hashable {
    /// `play` and `togglePlayPause` would do something.
    public var play = false
    /// `pause` would do something.
    public var pause = false
    /// `stop` would do something.
    public var stop = false
    /// `next` has somewhere to go.
    public var next = false
    /// `previous` has somewhere to go (the item's own beginning counts).
    public var previous = false
    /// `seek`, `skip` and scrubbing work.
    public var seek = false
    /// `setVolume` and `setMuted` work.
    public var volume = false
    /// `setRate` works.
    public var rate = false
    /// `setSound` works.
    public var sound = false

    /// Makes abilities that allow nothing.
    public init() {}
  }

  /// What the player is doing.
  public var status: PlayerStatus = .stopped
  /// What the user asked for: the play button follows this.
  public var wantsToPlay = false
  /// What holds sound back.
  public var suppressions: Set<Suppression> = []
  /// The current entry.
  public var entry: QueueEntry?
  /// What its media told; `nil` until opened.
  public var info: MediaInfo?
  /// The best known duration of the current item.
  public var duration: MediaDuration?
  /// Where the current item stands.
  public var anchor: PositionAnchor?
  /// The target of a seek under way.
  public var pendingSeek: Duration?
  /// The current entry's index in list order.
  public var queueIndex: Int?
  /// How many entries the queue has.
  public var queueCount = 0
  /// Grows with each edit of the queue.
  public var queueRevision: UInt64 = 0
  /// The repeat mode.
  public var repeatMode: RepeatMode = .off
  /// Loudness 0…1.
  public var volume: Double = 1
  /// Whether sound is muted.
  public var isMuted = false
  /// The wanted rate, in media seconds per second; what is so now, ``anchor`` tells.
  public var rate: Double = 1
  /// How everything sounds.
  public var sound = SoundSettings()
  /// What can be asked for.
  public var can = Abilities()
  /// Where sound leaves, once it does.
  public var output: OutputInfo?

  /// Makes the snapshot of a player that has done nothing yet.
  public init() {}

  /// Whether samples leave the output now.
  public var isPlaying: Bool { status == .playing }

  /// The position at host time `now`; `nil` when nothing is current. While a seek is under way it is the target.
  public func position(at now: Duration) -> Duration? {
    guard entry != nil else { return nil }
    if let pendingSeek { return pendingSeek }
    return anchor?.position(at: now, limit: duration?.confidence == .exact ? duration?.value : nil) ?? .zero
  }

  /// What to call the current item: declared title, tag, else file name.
  public var title: String? {
    guard let entry else { return nil }
    return entry.item.externalMetadata.text("title") ?? info?.metadata.text("title") ?? entry.item.locator.displayName
  }

  /// The artists of the current item, declared ones first.
  public var artists: [String] {
    let declared = entry?.item.externalMetadata.texts("artist") ?? []
    return declared.isEmpty ? info?.metadata.texts("artist") ?? [] : declared
  }

  /// The album of the current item.
  public var album: String? { entry?.item.externalMetadata.text("album") ?? info?.metadata.text("album") }
}
