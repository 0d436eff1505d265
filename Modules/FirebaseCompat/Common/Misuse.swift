import TernCore

/// Mistakes that Firebase's signatures cannot report: each ends the program, naming the rule.
enum Misuse {
  /// Parses a path that a caller spelled in code.
  static func path(_ text: String) -> TreePath {
    do throws(TreeError) {
      return try TreePath(text)
    } catch {
      preconditionFailure("\"\(text)\" is not a path: \(error)")
    }
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
