import TernCore
import TernTreeEngine

/// One database of the server: a tree below a prefix of the store, and who listens to it.
final class Namespace {
  let name: String
  /// The name as the machine's dictionaries have it.
  let key: ExactText
  let authority: TreeAuthority
  let listens = ListenIndex()
  /// What its writes have shown of the tree's shape.
  let places = KnownPlaces()
  /// The hashes of its large nodes that conditional writes were compared with.
  let hashes: NodeHashes
  /// The sessions that have it open.
  var sessionCount = 0

  var rows: TreeRows { authority.rows }

  init(_ name: String, hashes: NodeHashes = NodeHashes()) {
    self.name = name
    self.hashes = hashes
    key = ExactText(name)
    authority = TreeAuthority(rows: TreeRows(prefix: StoreLayout.namespace(name)))
  }

  /// Whether a database can have this name.
  static func isValid(_ name: String, limitBytes: Int) -> Bool {
    let bytes = name.utf8
    return !bytes.isEmpty && bytes.count <= limitBytes && bytes.allSatisfy { $0 >= 0x20 }
  }
}

/// Who owns which keys. Source: Docs/Formats/ledger.md, section 5.
enum StoreLayout {
  /// Deferred writes of sessions.
  static let presence: [UInt8] = [0x18]

  /// The rules of databases that have rules of their own: the text, by the database's name.
  static let rules: [UInt8] = [0x19]

  /// Revocations: seconds since 1970 in eight bytes, by the user's id.
  static let revocations: [UInt8] = [0x1A]

  /// Other settings of databases: JSON, by the database's name.
  static let settings: [UInt8] = [0x1B]

  /// The trees of all databases.
  static let trees: [UInt8] = [0x20]

  /// The tree of a database.
  static func namespace(_ name: String) -> [UInt8] { trees + name.utf8 + [0x00] }

  /// The documents of a database.
  static func documents(_ database: DocumentDatabase) -> [UInt8] {
    [0x28] + database.resourceName.utf8 + [0x00]
  }
}
