import TernCore

/// Mistakes that Firebase's signatures cannot report: each ends the program, naming the rule.
enum Misuse {
  /// Reads the address of the root of a tree database.
  static func address(_ text: String) -> DatabaseAddress {
    guard let address = DatabaseAddress(text), address.path.isEmpty else {
      preconditionFailure("\"\(text)\" is not the address of the root of a database.")
    }
    return address
  }

  /// Names a database of documents.
  static func database(_ id: String, of projectID: String) -> DocumentDatabase {
    do throws(DocumentError) {
      return try DocumentDatabase(projectID: projectID, databaseID: id)
    } catch {
      preconditionFailure("\"\(projectID)/\(id)\" is not a database: \(error)")
    }
  }
}
