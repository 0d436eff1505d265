package import TernCore

/// One attempt at a transaction: what it has read, and what it will write if nothing changed.
///
/// Source: documents reference, section 3.8.
package struct TransactionWriteSet: Sendable {
  /// The number of attempts of a transaction.
  package static let attemptLimit = DocumentTransaction.attemptLimit

  private var versions: [DocumentKey: DocumentVersion] = [:]
  private var written: Set<DocumentKey> = []
  /// The documents whose last write so far is a removal.
  private var removed: Set<DocumentKey> = []
  private var mutations: [DocumentMutation] = []

  /// Begins an attempt.
  package init() {}

  /// True while reads are allowed: they come before writes.
  package var mayRead: Bool { mutations.isEmpty }

  /// Notes a document that was read.
  ///
  /// - Throws: A status to try again with, when it is another version than before.
  package mutating func note(_ document: Document) throws(DocumentStatus) {
    let version = document.isFound ? document.version : .none
    if let earlier = versions[document.key], earlier != version {
      throw DocumentStatus(.aborted, "the document changed while it was read twice")
    }
    versions[document.key] = version
  }

  /// Adds a write, on the condition that what was read still holds.
  ///
  /// - Throws: A status not to try again with, when it updates a document that is missing.
  package mutating func write(_ mutation: DocumentMutation) throws(DocumentStatus) {
    if removed.contains(mutation.key), mutation.precondition == .exists(true) {
      throw Self.updateOfMissing(mutation.key)
    }
    if case .delete = mutation.change {
      removed.insert(mutation.key)
    } else {
      removed.remove(mutation.key)
    }
    let isFirst = written.insert(mutation.key).inserted
    guard isFirst, let version = versions[mutation.key] else {
      mutations.append(mutation)
      return
    }
    if version != .none {
      mutations.append(mutation.requiring(.version(version)))
    } else if mutation.precondition == .exists(true) {
      throw Self.updateOfMissing(mutation.key)
    } else {
      mutations.append(mutation.requiring(.exists(false)))
    }
  }

  private static func updateOfMissing(_ key: DocumentKey) -> DocumentStatus {
    DocumentStatus(.invalidArgument, "\(key) does not exist, and is updated")
  }

  /// Everything to commit: the writes, and that what was only read is unchanged.
  package var commit: [DocumentMutation] {
    let unwritten = versions.keys.filter { !written.contains($0) }.sorted()
    return mutations + unwritten.map { .verify($0, is: versions[$0] ?? .none) }
  }

  /// Returns the reason a commit failed, as far as that is known.
  ///
  /// - Parameter mayBeMade: Whether an answer to the same commit may have been lost before. Then a
  ///   failure that says nothing about it leaves it as uncertain as it was: another transaction in
  ///   its place could be the second that is made.
  package static func failure(_ status: DocumentStatus, mayBeMade: Bool) -> DocumentStatus {
    guard mayBeMade, !status.code.isPermanent else { return status }
    return DocumentStatus(.unavailable, status.message)
  }

  /// Returns true when another attempt may succeed after a failure.
  package static func mayRetry(_ status: DocumentStatus) -> Bool {
    switch status.code {
    case .aborted, .failedPrecondition, .alreadyExists: true
    default: !status.code.isPermanent
    }
  }
}
