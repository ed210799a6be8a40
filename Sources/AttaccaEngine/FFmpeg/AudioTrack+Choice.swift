import AttaccaCore

extension [AudioTrack] {
  /// The track to be played: the `wanted` one, else the default of those that can be played, else the first of them,
  /// else (so that an error can say why it does not play) the first of all.
  ///
  /// `nil` when there are no tracks, or not the wanted one.
  func choice(wanted: Int?) -> AudioTrack? {
    if let wanted { return first { $0.index == wanted } }
    return first { $0.isPlayable && $0.isDefault } ?? first { $0.isPlayable } ?? first
  }
}
