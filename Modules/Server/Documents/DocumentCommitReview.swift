import TernCore
import TernDocumentAuthority
import TernLedger
import TernQuery
import TernSecurity
import TernStorage

/// A commit while it is worked out and judged.
///
/// A denial ends the work: the first write of a long commit is judged before the others are worked
/// out, so that a client that may write nothing cannot make the server work out all that it sends.
///
/// A commit that fails is judged by a *rehearsal*: the same writes without their preconditions. The
/// failure reaches only a caller that might make such writes; all others get the denial, and learn
/// nothing about the documents.
final class DocumentCommitReview {
  private let authority: DocumentAuthority
  private let reader: any StoreReader
  private let writes: [DocumentMutation]
  private let reads: DocumentReadSet?
  private let now: Int64
  private var decided: Result<DocumentDecision, DocumentStatus>?
  /// The result of the rehearsal.
  ///
  /// `nil` until it was worked out; `.some(nil)` for writes that are invalid in any case.
  private var rehearsed: (steps: [DocumentCommitStep], time: DocumentVersion)??
  /// The documents after the whole commit, once rules have asked for one.
  private var outcome: [DocumentKey: Document]?
  private var failure: StorageError?

  /// The most writes that are worked out together before any of them is judged.
  static let shortCount = 16

  /// - Parameters:
  ///   - reads: What a transaction has read.
  ///   - now: Wall-clock time in microseconds since 1970.
  init(
    _ writes: [DocumentMutation], validating reads: DocumentReadSet?, now: Int64,
    by authority: DocumentAuthority, in reader: any StoreReader
  ) {
    (self.writes, self.reads, self.now) = (writes, reads, now)
    (self.authority, self.reader) = (authority, reader)
  }

  /// Works out the commit for a caller that may make it.
  ///
  /// - Returns: The decision for a caller that is allowed; else the denial, or the status of the
  ///   failure.
  /// - Throws: Storage errors, also those that a rule met while it read a document.
  func decide(
    by judge: DocumentJudge, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> Result<DocumentDecision, DocumentStatus> {
    if judge.deniesEverything(call, database) { return .failure(DocumentStatus.denied) }
    if writes.count > Self.shortCount,
      !judge.allowsEverything(call.requester(in: database), database),
      let first = try authority.rehearse([writes[0]], now: now, in: reader)
    {
      let denial = try judge.denial(of: first.steps, at: first.time, call, database, batch) {
        self.document($0)
      }
      if let failure { throw failure }
      if let denial { return .failure(denial) }
    }
    let decided = try decision()
    switch decided {
    case .success(let decision):
      let denial = try judge.denial(of: decision.steps, at: decision.time, call, database, batch)
      return denial.map { .failure($0) } ?? decided
    case .failure(let status):
      // What a document is not tells about it; only who may make such a write is told.
      // A write that is invalid in any case is reported to every caller.
      guard let rehearsal = try rehearsal() else { return decided }
      let denial = try judge.denial(
        of: rehearsal.steps, at: rehearsal.time, call, database, batch)
      return .failure(denial ?? status)
    }
  }

  private func decision() throws(StorageError) -> Result<DocumentDecision, DocumentStatus> {
    if let decided { return decided }
    let made = try authority.decide(writes, validating: reads, now: now, in: reader)
    decided = made
    return made
  }

  private func rehearsal() throws(StorageError) -> (
    steps: [DocumentCommitStep], time: DocumentVersion
  )? {
    if let rehearsed { return rehearsed }
    let made = try authority.rehearse(writes, now: now, in: reader)
    rehearsed = .some(made)
    return made
  }

  /// Returns a document after the whole commit, whose other writes are worked out for it; `nil`
  /// when none of them is about it.
  private func document(_ key: DocumentKey) -> Document? {
    if outcome == nil {
      do throws(StorageError) {
        var steps: [DocumentCommitStep] = []
        switch try decision() {
        case .success(let decision): steps = decision.steps
        case .failure: steps = try rehearsal()?.steps ?? []
        }
        outcome = DocumentJudge.outcome(of: steps)
      } catch {
        failure = error
        outcome = [:]
      }
    }
    return outcome?[key]
  }
}
