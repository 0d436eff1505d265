import TernCore
import TernDocumentEngine
import TernDocumentWire
import TernSecurity
import TernStorage

extension ServerMachine {
  /// Whether the authorizer denies the caller everything, known before any document is read.
  func deniesEverything(_ call: DocumentCall, _ room: DocumentRoom) -> Bool {
    documentAuthorizer.blanketVerdict(for: call.requester(in: room)) == false
  }

  /// Asks the authorizer about each of several things; all must be allowed.
  func allows(
    _ accesses: [DocumentAccess], _ call: DocumentCall, _ room: DocumentRoom,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> Bool {
    try allows(accesses, call.requester(in: room), room, batch)
  }

  /// Asks the authorizer about each of several things somebody wants; all must be allowed.
  func allows(
    _ accesses: [DocumentAccess], _ requester: Requester, _ room: DocumentRoom,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> Bool {
    let lookup = DocumentLookup(room.authority, batch.reader)
    let now = batch.now
    let verdict = accesses.allSatisfy { access in
      documentAuthorizer.allows(access, by: requester, now: now) { lookup.document($0) }
    }
    try lookup.finish()
    return verdict
  }

  /// Asks the authorizer about every document of a commit, also those that stay as they are.
  func allows(
    _ decision: DocumentDecision, of writes: [DocumentMutation], _ call: DocumentCall,
    _ room: DocumentRoom, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> Bool {
    var accesses = decision.changes.map { DocumentAccess.write(before: $0.before, after: $0.after) }
    let changed = Set(decision.changes.map(\.key))
    var asked: Set<DocumentKey> = []
    for write in writes where !changed.contains(write.key) {
      guard asked.insert(write.key).inserted else { continue }
      let document = try room.authority.document(write.key, in: batch.reader)
      if case .verify = write.change {
        accesses.append(.get(document))
      } else {
        accesses.append(.write(before: document, after: document))
      }
    }
    return try allows(accesses, call, room, batch)
  }
}

/// Lets an authorizer read documents, and keeps the failure it cannot throw.
private final class DocumentLookup {
  private let authority: DocumentAuthority
  private let reader: any StoreReader
  private var failure: StorageError?

  init(_ authority: DocumentAuthority, _ reader: any StoreReader) {
    self.authority = authority
    self.reader = reader
  }

  func document(_ key: DocumentKey) -> Document {
    do throws(StorageError) {
      return try authority.document(key, in: reader)
    } catch {
      failure = error
      return .invalid(key)
    }
  }

  /// Throws what went wrong while reading.
  func finish() throws(StorageError) {
    if let failure { throw failure }
  }
}
