public import TernStorage

/// Opens an ``LMDBStore`` for `{"kind": "lmdb", "path": "tern-data"}`.
public enum LMDBPlugin: StoragePlugin {
  /// The options of the store in a configuration.
  public struct Options: Decodable, Sendable {
    /// The size past which the store does not grow, in bytes; unlimited unless said.
    public var limitBytes: Int?

    /// Options for stores without a limit, or with one.
    public init(limitBytes: Int? = nil) { self.limitBytes = limitBytes }
  }

  public static let kind = "lmdb"
  public static let file: String? = "rows.mdb"

  public static func open(
    _ options: Options, at location: StorageLocation
  ) async throws(StorageError) -> any OrderedStore {
    try LMDBStore(
      path: location.folder, durability: location.durability, limitBytes: options.limitBytes)
  }
}
