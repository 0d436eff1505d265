/// The sizes a tree may have. Source: realtime reference, sections 1.5 and 13.
public enum TreeLimits {
  /// The most bytes of UTF-8 in one key.
  public static let keyBytes = 768

  /// The most segments from the root to a value.
  public static let depth = 32

  /// The most bytes of UTF-8 in one string value: 10 MiB.
  public static let stringBytes = 10 * 1024 * 1024
}
