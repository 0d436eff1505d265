/// A backend the assembler can open by name.
public protocol StoragePlugin: SendableMetatype {
  associatedtype Options: Decodable & Sendable

  /// The `storage.kind` in the configuration that selects this backend.
  static var kind: String { get }

  /// Opens the store that `options` describe.
  static func open(_ options: Options) async throws(StorageError) -> any OrderedStore
}
