/// The sizes a tree may have. Source: realtime reference, sections 1.5 and 13.
public enum TreeLimits {
  /// The most bytes of UTF-8 in one key.
  public static let keyBytes = 768

  /// The most segments from the root to a value.
  public static let depth = 32

  /// The most bytes of a path that a client reads or writes, down to every value: those of each
  /// segment in UTF-8, and one for the slash before it.
  public static let pathBytes = 768

  /// The limit on the paths that a server stores, from any source. A key of ``keyBytes`` fits, and
  /// every row of every database has a name that stores can hold.
  public static let storedPathBytes = 3_584

  /// The most segments a path may have at all; what is below ``depth`` can be asked for, but
  /// nothing is ever there.
  public static let pathSegments = 256

  /// The most bytes of UTF-8 in one string value: 10 MiB.
  public static let stringBytes = 10 * 1024 * 1024
}
