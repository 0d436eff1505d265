import TernCore

/// Mistakes that Firebase's signatures cannot report: each ends the program, naming the rule.
enum Misuse {
  /// Rejects a write to a batch that was committed: it would be lost.
  static func committedBatch() -> Never {
    preconditionFailure("A write batch can no longer be used after commit has been called.")
  }

  /// Rejects a write of a transaction whose update function has returned: it would be lost.
  static func endedTransaction() -> Never {
    preconditionFailure("A transaction can no longer be used after its update function returned.")
  }

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
