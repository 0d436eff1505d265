import Synchronization
public import TernCore
import TernDocumentReplica
import TernDocumentWire
import TernSync

/// A transaction: reads and writes isolated from other clients.
///
/// Reads come first and go to the server; writes are sent together at the end, on the condition
/// that what was read still holds. One that breaks a rule writes nothing, even if the error is
/// caught. It ends when the function that received it returns: later reads and writes fail with
/// `failedPrecondition`. Source: documents reference, section 3.8.
public final class DocumentTransaction: Sendable {
  /// The default number of attempts of a transaction.
  public static let attemptLimit = 5
  /// The number of times that a commit is sent while the server cannot be reached.
  private static let sendingLimit = 5

  private struct State {
    var book = TransactionWriteSet()
    /// The first rule that was broken.
    var problem: DocumentsError?
    var isEnded = false
  }

  private let documents: Documents
  /// The user who began it; no other user reads or commits for it.
  private let user: QueueUser
  private let waitsForPendingWrites: Bool
  private let state = Mutex(State())

  init(documents: Documents, user: QueueUser, waitsForPendingWrites: Bool) {
    self.documents = documents
    self.user = user
    self.waitsForPendingWrites = waitsForPendingWrites
  }

  /// True after the function that received the transaction has returned.
  package var isEnded: Bool { state.withLock { $0.isEnded } }

  /// The document as the server has it.
  ///
  /// - Throws: ``DocumentsError/refused(_:)``, also for a read after a write.
  public func get(_ reference: DocumentLocation) async throws(DocumentsError)
    -> SingleDocumentSnapshot
  {
    let key: DocumentKey
    do throws(DocumentError) { key = try reference.key.get() } catch {
      throw broken(.invalid(error))
    }
    return SingleDocumentSnapshot(
      reference, try await document(key),
      DocumentSnapshotMetadata(hasPendingWrites: false, isFromCache: false))
  }

  /// The document as the server has it.
  package func document(_ key: DocumentKey) async throws(DocumentsError) -> Document {
    let (mayRead, isEnded) = state.withLock { ($0.book.mayRead, $0.isEnded) }
    if isEnded { throw .refused(.endedTransaction) }
    guard mayRead else {
      let status = DocumentStatus(.invalidArgument, "a transaction reads before it writes")
      throw broken(.refused(status))
    }
    let session = documents.session
    let isPending =
      waitsForPendingWrites ? await session.hasPendingWrites(to: key) : false
    var document = try await read(key)
    if isPending {
      // The answer to the read shows that there is a connection over which the writes go.
      let promise = Promise<Bool>()
      await session.waitForPendingWrites { promise.resolve($0) }
      _ = await promise.value(ifCancelled: true)
      document = try await read(key)
    }
    try enter { [document] book throws(DocumentStatus) in try book.note(document) }
    return document
  }

  private func read(_ key: DocumentKey) async throws(DocumentsError) -> Document {
    switch await documents.session.call(.batchGet([key], mask: nil, .now), as: user) {
    case .failure(let status): throw await documents.failure(status)
    case .success(let messages):
      for case .batchGet(let answer) in messages {
        if let document = answer.document { return document }
      }
      throw .refused(DocumentStatus(.internalError, "the server did not answer the read"))
    }
  }

  /// Replaces a document, or makes it.
  public func set(
    _ reference: DocumentLocation, to fields: DocumentInput, merging: Bool = false
  ) throws(DocumentsError) {
    try write(reference) { key throws(DocumentError) in
      try .setting(key, to: fields, merging: merging)
    }
  }

  /// Writes single fields of a document that must exist; names are paths, joined by dots.
  public func update(
    _ reference: DocumentLocation, _ fields: KeyValuePairs<String, DocumentInput>
  ) throws(DocumentsError) {
    try write(reference) { key throws(DocumentError) in try .updating(key, fields) }
  }

  /// Writes fields under their names, each as a whole, and leaves the others; makes the document.
  func replace(
    in reference: DocumentLocation, whole fields: [DocumentInput.Field]
  ) throws(DocumentsError) {
    try write(reference) { key throws(DocumentError) in
      try .updating(key, whole: fields).requiring(.none)
    }
  }

  /// Removes a document.
  public func remove(_ reference: DocumentLocation) throws(DocumentsError) {
    try write(reference) { key throws(DocumentError) in .delete(key) }
  }

  private func write(
    _ reference: DocumentLocation,
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
    try enter { book throws(DocumentStatus) in try book.write(mutation) }
  }

  private func enter(
    _ body: (inout TransactionWriteSet) throws(DocumentStatus) -> Void
  ) throws(DocumentsError) {
    let refusal: DocumentStatus? = state.withLock { state in
      // The commit has its copy of the writes: one that comes now would be lost.
      if state.isEnded { return .endedTransaction }
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

  /// Runs the function of the application, at whose end the transaction ends.
  fileprivate func run<R: Sendable>(
    _ body: @Sendable (DocumentTransaction) async throws -> R
  ) async throws -> R {
    defer { state.withLock { $0.isEnded = true } }
    return try await body(self)
  }

  /// Commits what was gathered; a repetition after a lost answer is not applied twice.
  fileprivate func commit() async throws(DocumentsError) -> DocumentStatus? {
    let (writes, problem) = state.withLock { ($0.book.commit, $0.problem) }
    if let problem { throw problem }
    if writes.isEmpty { return nil }
    let mark = DocumentWriteHeader(stream: documents.ambient.randomID(), sequence: 1)
    let request = DocumentRequest.Body.commit(writes, transaction: [], mark)
    for attempt in 0..<Self.sendingLimit {
      if Task.isCancelled { throw .cancelled }
      let answer = await documents.session.call(request, as: user)
      guard case .failure(let status) = answer else { return nil }
      if status == .cancelledWait { throw .cancelled }
      if status.code != .unavailable {
        return TransactionWriteSet.failure(status, mayBeMade: attempt > 0)
      }
    }
    return DocumentStatus(.unavailable, "the server cannot be reached")
  }
}

extension DocumentStatus {
  /// The status of a transaction that is used after its end.
  fileprivate static let endedTransaction = DocumentStatus(
    .failedPrecondition, "the transaction has ended")
}

extension Documents {
  /// Runs a transaction, again after a conflict with another client.
  ///
  /// - Parameters:
  ///   - attempts: How often it is tried at most, at least 1.
  ///   - waitsForPendingWrites: Whether a read of a document that this client has written waits
  ///     until the server has answered those writes, so that the transaction reads them. Without,
  ///     it reads what the server has at that moment.
  ///   - body: May run several times; does nothing but read and write by its argument.
  /// - Throws: What `body` throws, or ``DocumentsError/refused(_:)``. Nothing was written then,
  ///   unless the code is `unavailable`: the answer to the commit may have been lost. After a
  ///   change of user it is given up, with the code `cancelled`. A cancelled task gets
  ///   ``DocumentsError/cancelled`` at once; a commit that was sent by then goes on.
  public func transaction<R: Sendable>(
    attempts: Int = DocumentTransaction.attemptLimit, waitsForPendingWrites: Bool = true,
    _ body: @Sendable (DocumentTransaction) async throws -> R
  ) async throws -> R {
    var backoff = Backoff(limits: DocumentMachine.streamBackoff)
    var last = DocumentStatus(.aborted, "the transaction was not tried")
    let user = await session.user
    for attempt in 0..<max(attempts, 1) {
      let delay = backoff.next(unit: ambient.randomUnit())
      if attempt > 0, delay > .zero { try? await ambient.clock.sleep(for: delay) }
      if Task.isCancelled { throw DocumentsError.cancelled }
      let transaction = DocumentTransaction(
        documents: self, user: user, waitsForPendingWrites: waitsForPendingWrites)
      do {
        let result = try await transaction.run(body)
        guard let status = try await transaction.commit() else { return result }
        last = status
        // It may have been committed: another attempt could be the second that is.
        if status.code == .unavailable { break }
      } catch DocumentsError.refused(let status) {
        last = status
      }
      if last == .cancelledWait { throw DocumentsError.cancelled }
      if await session.isClosed { throw session.closure }
      if !TransactionWriteSet.mayRetry(last) { break }
      if await session.user != user {
        last = .otherUser
        break
      }
      if await !session.withReplica({ $0.isNetworkEnabled }) { break }
    }
    throw DocumentsError.refused(last)
  }
}
