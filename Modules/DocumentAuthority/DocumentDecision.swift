package import TernCore
package import TernStorage

/// The effect that a commit would have on its documents, before anything changes.
///
/// It is valid for the state in which it was made. ``DocumentAuthority/apply(_:to:)`` turns it into
/// rows, and ``DocumentWatch/commit(_:in:)`` into messages.
package struct DocumentDecision: Sendable {
  /// The commit's version.
  ///
  /// A commit that changes nothing has the version of the last one that did.
  package let version: DocumentVersion
  /// The result of each write, in order.
  ///
  /// Writes that change nothing have a result, too.
  package let results: [DocumentWriteResult]
  /// The states of each changed document before and after, once each, in the order of the writes.
  ///
  /// Excludes documents that do not change.
  package let changes: [DocumentCommitChange]
  /// The effect of each write, in order.
  ///
  /// Rules judge each write by it. Empty for decisions that were read back out of the log.
  package let steps: [DocumentCommitStep]
  /// The value of server timestamps in the commit.
  package let time: DocumentVersion
}

/// The effect of one write of a commit on its document.
package struct DocumentCommitStep: Sendable {
  /// The write.
  package let mutation: DocumentMutation
  /// The document before the write, with the effects of earlier writes of the commit.
  package let before: Document
  /// The document after the write.
  package let after: Document
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
  /// Record keys stay out of the text: they hold names that the client may not know.
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
