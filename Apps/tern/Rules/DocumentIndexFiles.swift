import TernQuery

/// The files that declare the indexes of documents.
enum DocumentIndexFiles {
  /// The file that is read when none is named, if it is there.
  static let usualFile = "firestore.indexes.json"

  /// Reads the files of a server; an empty catalog where there is none.
  ///
  /// - Parameters:
  ///   - rules: The rules file that was asked for; a `firebase.json` names the indexes too.
  ///   - project: What the project of a development server says.
  static func load(
    _ rules: String?, _ project: FirebaseProject
  ) throws -> DocumentIndexCatalogs {
    var named = project.documentIndexes
    if let rules, FirebaseProject.isOne(rules) {
      named = try FirebaseProject(at: rules).documentIndexes
    }
    if named.isEmpty, FileStatus(of: usualFile) != nil { named = [nil: usualFile] }
    var catalogs = DocumentIndexCatalogs()
    for (database, path) in named {
      let catalog: DocumentIndexCatalog
      let text = try fileBytes(at: path)
      do throws(DocumentIndexError) {
        catalog = try DocumentIndexCatalog(text)
      } catch {
        throw Failure(.usage, "\(path): \(error)")
      }
      if let database { catalogs.byDatabase[database] = catalog } else { catalogs.common = catalog }
    }
    return catalogs
  }
}
