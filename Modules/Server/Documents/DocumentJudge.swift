import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage

/// Asks the authorizer about documents.
///
/// A value that is made for each batch of work, so that it holds the rules of that moment.
/// ``DocumentListens`` reads it from the registry instead, since reads beside the executor may end
/// under other rules.
struct DocumentJudge {
  let authorizers: DocumentAuthorizers

  /// The authorizer of a database.
  func authorizer(of database: OpenDatabase) -> any DocumentAuthorizer {
    authorizers.authorizer(of: database.name)
  }

  /// Returns true when the authorizer denies the caller everything, which is known before any
  /// document is read.
  ///
  /// Checked first for writes: it costs nothing, and spares working out a commit that is going to
  /// be denied.
  func deniesEverything(_ call: DocumentCall, _ database: OpenDatabase) -> Bool {
    authorizer(of: database).blanketVerdict(for: call.requester(in: database)) == false
  }

  /// Returns true when the authorizer allows a requester everything, whatever the documents are.
  func allowsEverything(_ requester: Requester, _ database: OpenDatabase) -> Bool {
    authorizer(of: database).blanketVerdict(for: requester) == true
  }

  /// Returns the query as it is run for a call: alternatives that no document can match read
  /// nothing, because rules were not asked about them.
  func executable(
    _ query: DocumentQuery, _ call: DocumentCall, _ database: OpenDatabase
  ) -> DocumentQuery {
    if query.filter == nil || allowsEverything(call.requester(in: database), database) {
      return query
    }
    return query.feasible
  }

  /// Decides about several accesses of a call's request; all must be allowed.
  ///
  /// - Parameter time: The version that documents are read at; `nil` for now.
  /// - Returns: The denial; `nil` when all are allowed.
  func denial(
    of accesses: [DocumentAccess], at time: DocumentVersion? = nil, _ call: DocumentCall,
    _ database: OpenDatabase, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentStatus? {
    let verdict = try verdict(
      on: accesses, at: time, call.requester(in: database), database, batch)
    if verdict.refusal != nil { batch.metrics.denials += 1 }
    return verdict.refusal.map(DocumentStatus.init(denial:))
  }

  /// Decides about several accesses of one request; all must be allowed.
  ///
  /// A denial also results when rules needed a document as of a time whose history is gone: the
  /// rules took it for missing, and may have allowed too much.
  ///
  /// - Parameters:
  ///   - time: The version that documents are read at; `nil` for now.
  ///   - earlier: The dependencies of verdicts on other parts of the same request.
  ///   - lookup: That of other parts of the same request, at the same time; `nil` for a new one.
  func verdict(
    on accesses: [DocumentAccess], at time: DocumentVersion? = nil,
    after earlier: Set<DocumentKey> = [], by lookup: DocumentLookup? = nil,
    _ requester: Requester, _ database: OpenDatabase, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentVerdict {
    let authorizer = authorizer(of: database)
    if let blanket = authorizer.blanketVerdict(for: requester) {
      return DocumentVerdict(refusal: blanket ? nil : AccessRefusal(), dependencies: [])
    }
    let lookup = lookup ?? DocumentLookup(database.authority, batch.counted, at: time)
    let verdict = authorizer.verdict(
      on: accesses, by: requester,
      time: DocumentTimestamp(uncheckedMicroseconds: batch.now * 1_000),
      in: DocumentAccessState(asked: earlier) { lookup.document($0) })
    try lookup.finish()
    // Rules that took an unknown document for a missing one may have allowed too much.
    if lookup.isTooOld { return DocumentVerdict(refusal: AccessRefusal(), dependencies: []) }
    return verdict
  }

  /// Decides about writes of a commit, also those that change nothing.
  ///
  /// - Parameter after: Answers what a document is after the whole commit; `nil` for one that no
  ///   write is about. By default the writes are the whole commit.
  func denial(
    of steps: [DocumentCommitStep], at time: DocumentVersion, _ call: DocumentCall,
    _ database: OpenDatabase, _ batch: borrowing ServerBatch,
    after: ((DocumentKey) -> Document?)? = nil
  ) throws(StorageError) -> DocumentStatus? {
    let requester = call.requester(in: database)
    let authorizer = authorizer(of: database)
    if let blanket = authorizer.blanketVerdict(for: requester) {
      return blanket ? nil : DocumentStatus(denial: AccessRefusal())
    }
    let lookup = DocumentLookup(database.authority, batch.reader, at: nil)
    let outcome = after == nil ? Self.outcome(of: steps) : [:]
    let after = after ?? { outcome[$0] }
    let verdict = authorizer.verdict(
      on: steps.map(Self.access), by: requester,
      time: Self.timestamp(of: time),
      in: DocumentAccessState(
        before: { lookup.document($0) }, after: { after($0) ?? lookup.document($0) }))
    try lookup.finish()
    return verdict.refusal.map(DocumentStatus.init(denial:))
  }

  /// The documents after the writes of a commit.
  static func outcome(of steps: [DocumentCommitStep]) -> [DocumentKey: Document] {
    var outcome: [DocumentKey: Document] = [:]
    for step in steps { outcome[step.mutation.key] = step.after }
    return outcome
  }

  /// The value that server timestamps take in a commit: whole milliseconds.
  private static func timestamp(of version: DocumentVersion) -> DocumentTimestamp {
    DocumentTimestamp(
      uncheckedMicroseconds: version.microseconds - version.microseconds % microsecondsPerUnit)
  }

  private static let microsecondsPerUnit: Int64 = 1_000

  /// The access that a write of a commit is.
  ///
  /// A write that wants its document to exist, or not to, is judged as what it would be then.
  private static func access(_ step: DocumentCommitStep) -> DocumentAccess {
    let method: DocumentWriteAccess.Method
    switch (step.mutation.change, step.mutation.precondition) {
    case (.verify, _): return .get(step.before)
    case (.delete, _): method = .delete
    case (_, .exists(true)), (_, .version): method = .update
    case (_, .exists(false)): method = .create
    case (_, .none): method = step.before.isFound ? .update : .create
    }
    return .write(DocumentWriteAccess(before: step.before, after: step.after, method: method))
  }
}

extension DocumentStatus {
  /// The answer to a request that is denied.
  init(denial: AccessRefusal) { self.init(.permissionDenied, denial.documentText) }
}

/// Lets an authorizer read documents, and keeps the failure it cannot throw.
///
/// Each `get` and `exists` of a rule is one read of a document. A failed read returns an invalid
/// document and is kept for ``finish()``, so that the verdict is never used.
final class DocumentLookup {
  private let authority: DocumentAuthority
  private let reader: any StoreReader
  private let time: DocumentVersion?
  private var failure: StorageError?
  /// The documents that were looked up at `time`.
  private var known: [DocumentKey: Document] = [:]
  /// The rows that may yet be read to look documents up at `time`.
  private var rowsLeft: Int
  /// True when rules asked for a document as of a time that is no longer known, or since which too
  /// much has changed.
  private(set) var isTooOld = false

  /// The most rows that are read to look documents up at an earlier time. Others wait meanwhile.
  static let pastRows = 20_000

  /// - Parameters:
  ///   - time: The version that documents are read at; `nil` for now.
  ///   - pastRows: The most rows that are read to look documents up at `time`.
  init(
    _ authority: DocumentAuthority, _ reader: any StoreReader, at time: DocumentVersion?,
    pastRows: Int = DocumentLookup.pastRows
  ) {
    rowsLeft = pastRows
    self.authority = authority
    self.reader = reader
    self.time = time
  }

  func document(_ key: DocumentKey) -> Document {
    do throws(StorageError) {
      guard let time else { return try authority.document(key, in: reader) }
      if let document = known[key] { return document }
      guard let documents = try documents(key, at: time) else {
        isTooOld = true
        return .invalid(key)
      }
      let document = documents.first ?? Document(key, .missing)
      known[key] = document
      return document
    } catch {
      failure = error
      return .invalid(key)
    }
  }

  /// - Returns: `nil` when the document as of then is not known, or takes too many rows.
  private func documents(
    _ key: DocumentKey, at time: DocumentVersion
  ) throws(StorageError) -> [Document]? {
    let authority = authority
    guard let counting = reader as? CountingReader else {
      let outcome = try authority.documents(of: .document(key), at: time, in: reader)
      return try? outcome.get()
    }
    let before = counting.rows
    let outcome = try counting.read(atMost: rowsLeft, nil) { reader throws(StorageError) in
      try authority.documents(of: .document(key), at: time, in: reader)
    }
    rowsLeft = max(rowsLeft - (counting.rows - before), 0)
    return try? outcome?.get()
  }

  /// Throws what went wrong while reading.
  func finish() throws(StorageError) {
    if let failure { throw failure }
  }
}
