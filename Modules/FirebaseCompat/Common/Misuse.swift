import TernCore

/// Mistakes that Firebase's signatures cannot report: each ends the program, naming the rule.
enum Misuse {
  /// Names a database of documents.
  static func database(_ id: String, of projectID: String) -> DocumentDatabase {
    do throws(DocumentError) {
      return try DocumentDatabase(projectID: projectID, databaseID: id)
    } catch {
      preconditionFailure("\"\(projectID)/\(id)\" is not a database: \(error)")
    }
  }
}
