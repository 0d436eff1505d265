public import TernStorage

/// Opens a ``MemoryStore`` for `{"kind": "memory"}`.
public enum MemoryPlugin: StoragePlugin {
  /// No options: a store in memory has nothing to choose.
  public struct Options: Decodable, Sendable {
    /// The only options there are.
    public init() {}
  }

  public static let kind = "memory"

  /// Makes a new, empty store: memory has no place to find an earlier one in.
  public static func open(
    _ options: Options, at location: StorageLocation
  ) async throws(StorageError) -> any OrderedStore {
    MemoryStore()
  }
}
