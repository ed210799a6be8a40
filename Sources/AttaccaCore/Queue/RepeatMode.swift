/// What follows when the play order, or an item, has ended.
public enum RepeatMode: String, Sendable, Hashable, Codable, CaseIterable {
  /// The queue plays once.
  case off
  /// The current entry plays again at its natural end; explicit next and previous still move.
  case one
  /// After the last entry comes the first.
  case all
}
