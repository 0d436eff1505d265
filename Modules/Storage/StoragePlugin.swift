/// A backend the assembler can open by name.
///
/// `PersistenceContract` of `TernTestKit` checks a plugin, as `StorageContract` checks its stores.
public protocol StoragePlugin: SendableMetatype {
  /// The backend's own options in the section `storage` of a configuration. The keys `kind`, `path`
  /// and `durability` are the assembler's; what they say is in the location of each store.
  associatedtype Options: Decodable & Sendable

  /// The `storage.kind` in the configuration that selects this backend.
  static var kind: String { get }
  /// The file that stands in the folder of every store of this backend, and of no other one: a
  /// store is not opened as one of another kind. `nil`, the default, for none.
  static var file: String? { get }

  /// Opens the store at `location`, or makes it.
  ///
  /// A program opens several stores with the same options. Two names are two stores, and the same
  /// name in the same folder is the same store, now and after a restart.
  ///
  /// - Throws: ``StorageError/inUse(path:)`` when the store is open, in this process or another;
  ///   ``StorageError/corruptStore(reason:)`` or ``StorageError/newerFormat(found:supported:)`` for
  ///   bytes that are not a store of this version; ``StorageError/readOnly(path:)``,
  ///   ``StorageError/cannotOpen(path:code:)``, ``StorageError/diskFull``.
  static func open(
    _ options: Options, at location: StorageLocation
  ) async throws(StorageError) -> any OrderedStore
}

extension StoragePlugin {
  public static var file: String? { nil }
}
