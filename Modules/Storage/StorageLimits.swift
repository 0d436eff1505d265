/// The sizes every backend supports.
public enum StorageLimits {
  /// The longest key, in bytes.
  public static let keyBytes = 4_096
  /// The longest value, in bytes.
  public static let valueBytes = 16 * 1024 * 1024
}
