import TernCore

/// The owners of the store's key ranges. Source: Docs/Formats/ledger.md, section 5.
enum StoreLayout {
  /// Deferred writes of sessions.
  static let presence: [UInt8] = [0x18]

  /// The rules of databases that have rules of their own: the text, by the database's name.
  static let rules: [UInt8] = [0x19]

  /// Revocations: seconds since 1970 in eight bytes, by the user's id.
  static let revocations: [UInt8] = [0x1A]

  /// Other settings of databases: JSON, by the database's name.
  static let settings: [UInt8] = [0x1B]

  /// The rules for documents of projects and databases that have rules of their own: the text, by
  /// the resource name.
  static let documentRules: [UInt8] = [0x1C]

  /// The trees of all databases.
  static let trees: [UInt8] = [0x20]

  /// The tree of a database.
  static func namespace(_ name: String) -> [UInt8] { trees + name.utf8 + [0x00] }

  /// The documents of all databases.
  static let allDocuments: [UInt8] = [0x28]

  /// The documents of a database.
  static func documents(_ database: DocumentDatabase) -> [UInt8] {
    allDocuments + database.resourceName.utf8 + [0x00]
  }
}
