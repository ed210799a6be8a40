/// The version both executables print. It lives here because POSIXKit is the only module that `attacca` links: the
/// command must start in a few milliseconds and so carries nothing of the player.
public enum ProductVersion {
  /// Semantic version 2.0.0, without a leading `v`.
  public static let current = "0.1.0"
}
