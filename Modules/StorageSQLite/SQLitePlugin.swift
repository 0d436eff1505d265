public import TernStorage

/// Opens a ``SQLiteStore`` for `{"kind": "sqlite", "path": "tern-data"}`.
public enum SQLitePlugin: StoragePlugin {
  /// The options of the store in a configuration.
  public struct Options: Decodable, Sendable {
    /// The size past which the store does not grow, in bytes; unlimited unless said.
    public var limitBytes: Int?
    /// The bytes that are checked when they are read; pages unless said otherwise.
    public var integrity: StoreIntegrity?

    /// Options for stores without a limit, or with one.
    public init(limitBytes: Int? = nil, integrity: StoreIntegrity? = nil) {
      self.limitBytes = limitBytes
      self.integrity = integrity
    }
  }

  public static let kind = "sqlite"
  public static let file: String? = SQLiteFormat.file

  public static func open(
    _ options: Options, at location: StorageLocation
  ) async throws(StorageError) -> any OrderedStore {
    try SQLiteStore(
      path: location.folder, durability: location.durability, limitBytes: options.limitBytes,
      integrity: options.integrity ?? .pages)
  }
}
