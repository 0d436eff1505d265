/// The sizes every backend supports.
public enum StorageLimits {
  /// The longest key, in bytes.
  public static let keyBytes = 4_096
  /// The longest value, in bytes.
  public static let valueBytes = 16 * 1024 * 1024

  /// Checks the sizes of one row, in bytes.
  ///
  /// - Throws: ``StorageError/keyTooLong(bytes:)``, ``StorageError/valueTooLong(bytes:)``.
  public static func check(key: Int, value: Int) throws(StorageError) {
    guard key <= keyBytes else { throw .keyTooLong(bytes: key) }
    guard value <= valueBytes else { throw .valueTooLong(bytes: value) }
  }
}

extension StorageError {
  /// True when a row is longer than ``StorageLimits`` allows.
  public var isExcess: Bool {
    switch self {
    case .keyTooLong, .valueTooLong: true
    default: false
    }
  }
}
