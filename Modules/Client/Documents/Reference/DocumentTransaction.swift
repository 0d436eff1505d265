import Synchronization
public import TernCore
import TernDocumentEngine
import TernDocumentWire
import TernSync

/// Reads and writes that are made as if nobody else were there.
///
/// Reads come first and go to the server; writes are sent together at the end, on the condition
/// that what was read still holds. One that breaks a rule writes nothing, even if the error is
/// caught. Source: documents reference, section 3.8.
public final class DocumentTransaction: Sendable {
  /// How often a transaction is tried, unless something else is asked for.
  public static let attemptLimit = 5
  /// How often a commit is sent while the server cannot be reached.
  private static let sendingLimit = 5

  private struct State {
    var book = DocumentTransactionBook()
    /// The first rule that was broken.
    var problem: DocumentsError?
  }

  private let documents: Documents
  /// Who began it; nobody else reads or commits for it.
  private let user: QueueUser
  private let state = Mutex(State())

  init(documents: Documents, user: QueueUser) {
    self.documents = documents
    self.user = user
  }

  /// The document as the server has it.
  ///
  /// - Throws: ``DocumentsError/refused(_:)``, also for a read after a write.
  public func get(_ reference: DocumentReference) async throws(DocumentsError) -> DocumentSnapshot {
    let key: DocumentKey
    do throws(DocumentError) { key = try reference.key.get() } catch {
      throw broken(.invalid(error))
    }
    return DocumentSnapshot(
      reference, try await document(key),
      SnapshotMetadata(hasPendingWrites: false, isFromCache: false))
  }

  /// The document as the server has it.
  package func document(_ key: DocumentKey) async throws(DocumentsError) -> Document {
    guard state.withLock({ $0.book.mayRead }) else {
      let status = DocumentStatus(.invalidArgument, "a transaction reads before it writes")
      throw broken(.refused(status))
    }
    switch await documents.session.call(.batchGet([key], mask: nil, .now), as: user) {
    case .failure(let status): throw await documents.failure(status)
    case .success(let messages):
      for case .batchGet(let answer) in messages {
        guard let document = answer.document else { continue }
        try enter { book throws(DocumentStatus) in try book.note(document) }
        return document
      }
      throw .refused(DocumentStatus(.internalError, "the server did not answer the read"))
    }
  }

  /// Replaces a document, or makes it.
  public func set(
    _ reference: DocumentReference, to fields: DocumentInput, merging: Bool = false
  ) throws(DocumentsError) {
    try write(reference) { key throws(DocumentError) in
      try .setting(key, to: fields, merging: merging)
    }
  }

  /// Writes single fields of a document that must exist; names are paths, joined by dots.
  public func update(
    _ reference: DocumentReference, _ fields: KeyValuePairs<String, DocumentInput>
  ) throws(DocumentsError) {
    try write(reference) { key throws(DocumentError) in try .updating(key, fields) }
  }

  /// Deletes a document.
  public func delete(_ reference: DocumentReference) throws(DocumentsError) {
    try write(reference) { key throws(DocumentError) in .delete(key) }
  }

  private func write(
    _ reference: DocumentReference,
    _ make: (DocumentKey) throws(DocumentError) -> DocumentMutation
  ) throws(DocumentsError) {
    let mutation: DocumentMutation
    do throws(DocumentError) { mutation = try make(try reference.key.get()) } catch {
      throw broken(.invalid(error))
    }
    try write(mutation)
  }

  /// Adds a write.
  package func write(_ mutation: DocumentMutation) throws(DocumentsError) {
    do throws(DocumentError) { try mutation.checkReferences(in: documents.database) } catch {
      throw broken(.invalid(error))
    }
    try enter { book throws(DocumentStatus) in try book.write(mutation) }
  }

  private func enter(
    _ body: (inout DocumentTransactionBook) throws(DocumentStatus) -> Void
  ) throws(DocumentsError) {
    let refusal: DocumentStatus? = state.withLock { state in
      do throws(DocumentStatus) { try body(&state.book) } catch { return error }
      return nil
    }
    guard let refusal else { return }
    throw refusal.code == .invalidArgument ? broken(.refused(refusal)) : .refused(refusal)
  }

  /// Notes that a rule was broken: nothing is written then.
  private func broken(_ error: DocumentsError) -> DocumentsError {
    state.withLock { $0.problem = $0.problem ?? error }
    return error
  }

  /// Commits what was gathered; a repetition after a lost answer is not applied twice.
  fileprivate func commit() async throws(DocumentsError) -> DocumentStatus? {
    let (writes, problem) = state.withLock { ($0.book.commit, $0.problem) }
    if let problem { throw problem }
    if writes.isEmpty { return nil }
    let mark = DocumentWriteMark(stream: documents.ambient.randomID(), sequence: 1)
    let request = DocumentRequest.Body.commit(writes, transaction: [], mark)
    for attempt in 0..<Self.sendingLimit {
      let answer = await documents.session.call(request, as: user)
      guard case .failure(let status) = answer else { return nil }
      if status.code != .unavailable {
        return DocumentTransactionBook.failure(status, mayBeMade: attempt > 0)
      }
    }
    return DocumentStatus(.unavailable, "the server cannot be reached")
  }
}

extension Documents {
  /// Runs a transaction, again when somebody else interfered.
  ///
  /// - Parameters:
  ///   - attempts: How often it is tried at most, at least 1.
  ///   - body: May run several times; does nothing but read and write by its argument.
  /// - Throws: What `body` throws, or ``DocumentsError/refused(_:)``. Nothing was written then,
  ///   unless the code is `unavailable`: the answer to the commit may have been lost. When somebody
  ///   else signs in meanwhile it is given up, with the code `cancelled`.
  public func runTransaction<R: Sendable>(
    attempts: Int = DocumentTransaction.attemptLimit,
    _ body: @Sendable (DocumentTransaction) async throws -> R
  ) async throws -> R {
    var backoff = Backoff(limits: DocumentMachine.streamBackoff)
    var last = DocumentStatus(.aborted, "the transaction was not tried")
    let user = await session.user
    for attempt in 0..<max(attempts, 1) {
      let delay = backoff.next(unit: ambient.randomUnit())
      if attempt > 0, delay > .zero { try await ambient.clock.sleep(for: delay) }
      let transaction = DocumentTransaction(documents: self, user: user)
      do {
        let result = try await body(transaction)
        guard let status = try await transaction.commit() else { return result }
        last = status
        // It may have been committed: another attempt could be the second that is.
        if status.code == .unavailable { break }
      } catch DocumentsError.refused(let status) {
        last = status
      }
      if await session.isClosed { throw DocumentsError.closed }
      if !DocumentTransactionBook.mayRetry(last) { break }
      if await session.user != user {
        last = DocumentMachine.otherUser
        break
      }
      if await !session.withReplica({ $0.isNetworkEnabled }) { break }
    }
    throw DocumentsError.refused(last)
  }
}
