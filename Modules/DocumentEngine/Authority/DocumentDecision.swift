package import TernCore
package import TernStorage

/// What a commit would make of the documents it is about, before anything is changed.
package struct DocumentDecision: Sendable {
  /// The commit's version.
  package let version: DocumentVersion
  /// What became of each write, in order.
  package let results: [DocumentWriteResult]
  /// What each document was, and what it would be; each once, in the order of the writes.
  ///
  /// Documents that stay as they are are not among them.
  package let changes: [DocumentCommitChange]
}

extension DocumentStatus {
  /// The answer to a write that met another document than it wants.
  ///
  /// Source: documents reference, section 3.6.
  package init(_ conflict: DocumentConflict) {
    switch conflict {
    case .notFound(let key): self.init(.notFound, "No document to update: \(key)")
    case .alreadyExists(let key): self.init(.alreadyExists, "Document already exists: \(key)")
    case .changed(let key):
      self.init(.failedPrecondition, "The document is not of the version asked for: \(key)")
    case .invalid(let key, let error): self.init(.invalidArgument, "\(key): \(error)")
    }
  }
}

extension DocumentStatus {
  /// The answer to a request that needs a damaged record, DATA_LOSS; or that makes a row that no
  /// store takes, INVALID_ARGUMENT.
  ///
  /// - Throws: The error, when it is not about one record.
  package init(damage error: StorageError) throws(StorageError) {
    if error.isExcess {
      self.init(.invalidArgument, "What is written cannot be stored: \(error)")
      return
    }
    guard case .corruptRecord = error else { throw error }
    self.init(.dataLoss, "What is stored here is damaged.")
  }
}
