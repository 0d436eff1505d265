import TernCore
import TernStorage

/// The databases whose data lie in a store.
enum DatabaseLayout {
  /// One database.
  struct Database: Hashable {
    /// `true` for documents, `false` for a tree.
    let isDocuments: Bool
    /// A namespace, or the resource name of a database of documents.
    let name: String
    /// The first bytes of all keys.
    let prefix: [UInt8]
  }

  private static let documents: [UInt8] = [0x28]

  /// The prefix of a database that may or may not be there.
  static func database(_ name: String) -> Database {
    let isDocuments = name.hasPrefix("projects/")
    let prefix = isDocuments ? documents + name.utf8 + [0] : StoreLayout.namespace(name)
    return Database(isDocuments: isDocuments, name: name, prefix: prefix)
  }

  /// The databases in a state of the store, trees first, in the order of their names.
  static func databases(
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> [Database] {
    var found: [Database] = []
    for start in [StoreLayout.trees, documents] {
      var range = KeyRange(prefix: start)
      while true {
        var cursor = view.cursor(over: range, limit: 1)
        guard try cursor.next() else { break }
        let key = [UInt8](copying: cursor.key)
        let name = key.dropFirst(start.count).prefix { $0 != 0 }
        let prefix = start + name + [0]
        found.append(
          Database(
            isDocuments: start == documents, name: String(decoding: name, as: UTF8.self),
            prefix: prefix))
        guard let next = KeyRange.successor(ofPrefix: prefix) else { break }
        range.lower = next
      }
    }
    return found
  }
}
