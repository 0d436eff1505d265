/// The project and the id of one database. Source: documents reference, sections 1.1 and 1.2.
public struct DocumentDatabase: Hashable, Sendable {
  /// The project the database belongs to.
  public let projectID: String

  /// The id of the database in its project.
  public let databaseID: String

  /// The id of the database that every project has.
  public static let defaultID = "(default)"

  /// Names a database.
  ///
  /// - Parameters:
  ///   - projectID: Any text without a slash, not empty, of at most
  ///     ``DocumentLimits/projectIDBytes``.
  ///   - databaseID: `(default)`, or 4 to 63 of `a-z`, `0-9` and `-`, beginning with a letter.
  /// - Throws: ``DocumentError/invalidProjectID(_:)`` or
  ///   ``DocumentError/invalidDatabaseID(_:)``.
  public init(
    projectID: String, databaseID: String = DocumentDatabase.defaultID
  ) throws(DocumentError) {
    if !(1...DocumentLimits.projectIDBytes).contains(projectID.utf8.count)
      || projectID.utf8.contains(UInt8(ascii: "/"))
    {
      throw .invalidProjectID(projectID)
    }
    if databaseID != DocumentDatabase.defaultID, !DocumentDatabase.isValid(databaseID) {
      throw .invalidDatabaseID(databaseID)
    }
    self.projectID = projectID
    self.databaseID = databaseID
  }

  /// Takes over names that are known to be valid, or that are never sent.
  package init(unchecked projectID: String, databaseID: String = DocumentDatabase.defaultID) {
    self.projectID = projectID
    self.databaseID = databaseID
  }

  private static func isValid(_ id: String) -> Bool {
    guard let first = id.utf8.first, 4...63 ~= id.utf8.count else { return false }
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    return letters ~= first
      && id.utf8.allSatisfy { letters ~= $0 || digits ~= $0 || $0 == UInt8(ascii: "-") }
  }

  /// `projects/P/databases/D`.
  public var resourceName: String { "projects/\(projectID)/databases/\(databaseID)" }

  /// `projects/P/databases/D/documents`.
  public var documentsName: String { resourceName + "/documents" }

  public static func == (left: DocumentDatabase, right: DocumentDatabase) -> Bool {
    left.projectID.hasSameBytes(as: right.projectID)
      && left.databaseID.hasSameBytes(as: right.databaseID)
  }

  public func hash(into hasher: inout Hasher) { resourceName.hashBytes(into: &hasher) }
}

/// A document anywhere: its database and its key. What a reference value holds.
public struct DocumentName: Hashable, Sendable {
  /// The database the document is in.
  public let database: DocumentDatabase

  /// The document's path within the database.
  public let key: DocumentKey

  /// Names a document.
  public init(_ key: DocumentKey, in database: DocumentDatabase) {
    self.database = database
    self.key = key
  }

  /// Takes apart `projects/P/databases/D/documents/C/D`.
  ///
  /// - Throws: ``DocumentError/invalidResourceName(_:)``, or what is wrong with an id.
  public init(resourceName: String) throws(DocumentError) {
    let parts = resourceName.utf8.split(
      separator: UInt8(ascii: "/"), maxSplits: 5, omittingEmptySubsequences: false
    ).map { String(decoding: $0, as: UTF8.self) }
    guard parts.count == 6, parts[0] == "projects", parts[2] == "databases",
      parts[4] == "documents"
    else { throw .invalidResourceName(resourceName) }
    database = try DocumentDatabase(projectID: parts[1], databaseID: parts[3])
    key = try DocumentKey(parts[5])
  }

  /// `projects/P/databases/D/documents/C/D`.
  public var resourceName: String { database.documentsName + "/" + key.text }
}
