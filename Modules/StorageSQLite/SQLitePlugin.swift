public import TernStorage

/// Opens a ``SQLiteStore`` for `{"kind": "sqlite", "path": "tern-data"}`.
public enum SQLitePlugin: StoragePlugin {
  /// What a configuration says about the store.
  public struct Options: Decodable, Sendable {
    /// A directory for this store alone.
    public var path: String
    /// When a write returns; durable unless said otherwise.
    public var durability: Durability?
    /// The size past which the store does not grow, in bytes; unlimited unless said.
    public var limitBytes: Int?
    /// The bytes that are checked when they are read; pages unless said otherwise.
    public var integrity: StoreIntegrity?

    /// Options for the store in the directory `path`.
    public init(
      path: String, durability: Durability? = nil, limitBytes: Int? = nil,
      integrity: StoreIntegrity? = nil
    ) {
      self.path = path
      self.durability = durability
      self.limitBytes = limitBytes
      self.integrity = integrity
    }
  }

  public static let kind = "sqlite"

  public static func open(_ options: Options) async throws(StorageError) -> any OrderedStore {
    try SQLiteStore(
      path: options.path, durability: options.durability ?? .durable,
      limitBytes: options.limitBytes, integrity: options.integrity ?? .pages)
  }
}
