import TernCore
import TernDocumentAuthority
public import TernLedger
public import TernStorage
import TernTreeAuthority
import TernTreeRows

/// A store with the rows of a backup, and the steps that make a server's of it. No server has it
/// open.
public struct RestoredStore: Sendable {
  let store: any OrderedStore

  /// Takes a store that backups were written into.
  public init(_ store: any OrderedStore) { self.store = store }

  /// Lets clients that saw later commits than the backup's notice it: versions go on where none was
  /// before, all documents count as written now, and resume tokens are void.
  ///
  /// Outcomes of writes stay. So a client that sends a write again that the backup holds changes
  /// nothing, and one that the backup does not hold is made once.
  ///
  /// - Parameter now: In milliseconds since 1970.
  /// - Returns: The version of the store from now on.
  /// - Complexity: O(documents).
  public func beginEpoch(now: Int64) throws(BackupError) -> Version {
    let version: Version
    do throws(LedgerError) { version = try LedgerRewriting.beginEpoch(in: store) } catch {
      throw .ledger(error)
    }
    do throws(StorageError) {
      let databases = try store.read { snapshot throws(StorageError) in
        try DatabaseLayout.databases(in: snapshot)
      }
      for database in databases where database.isDocuments {
        try adoptEpoch(DocumentEpoch(prefix: database.prefix), now: now)
      }
    } catch {
      throw .storage(error)
    }
    return version
  }

  private func adoptEpoch(_ database: DocumentEpoch, now: Int64) throws(StorageError) {
    let epoch = try store.read { snapshot throws(StorageError) in
      try database.nextEpoch(now: now * 1_000, in: snapshot)
    }
    guard let epoch else { return }
    var last: [UInt8]?
    repeat {
      last = try store.write { [last] transaction throws(StorageError) in
        try database.adopt(epoch, after: last, in: &transaction)
      }
    } while last != nil
  }

  /// Makes commits again that a later backup's log has kept, in a store that was restored from an
  /// earlier one.
  ///
  /// Data of trees and documents are as of `end` then, and so are the outcomes of writes. Rules,
  /// settings and revocations, of which the log holds nothing, stay those of the earlier backup;
  /// onDisconnect operations stay if the later backup has them too.
  ///
  /// - Parameters:
  ///   - later: The restored later backup.
  ///   - end: The last commit to be made again.
  /// - Throws: ``BackupError/outOfReach(first:last:)``.
  public func replay(
    from later: any OrderedStore, through end: Version
  ) throws(BackupError) {
    do throws(LedgerError) {
      let ledger = try EmbeddedLedger(store: store) { 0 }
      let source = try EmbeddedLedger(store: later) { 0 }
      var version = try ledger.read { $0.version }
      let last = try source.read { $0.version }
      guard end <= last else { throw LedgerError.truncated(first: version) }
      while version < end {
        let count = min(256, Int(clamping: end - version))
        let entries = try source.log(after: version, limit: count)
        guard let newest = entries.last?.version else { throw LedgerError.truncated(first: end) }
        try Self.replay(entries, to: ledger, from: source)
        version = newest
      }
      try Self.keepCommon(ledger, source)
    } catch {
      if case .truncated(let first) = error { throw .outOfReach(first: first, last: end) }
      throw .ledger(error)
    }
  }

  private static func replay(
    _ entries: [LogEntry], to ledger: EmbeddedLedger, from source: EmbeddedLedger
  ) throws(LedgerError) {
    let outcomes = try source.read { snapshot throws(StorageError) in
      var outcomes: [CommitID: StreamState.Outcome] = [:]
      for case let id? in entries.map(\.id) {
        outcomes[id] = try snapshot.stream(id.stream)?[id.sequence]
      }
      return outcomes
    }
    _ = try ledger.decide { snapshot throws(StorageError) in
      let reader = PendingReader(over: snapshot.reader)
      var commits: [Commit] = []
      for entry in entries {
        let mutations = try mutations(of: entry.record, to: reader)
        // One that its writer knows the outcome of is made without a name: it never comes again.
        let claim = entry.id.flatMap { id in
          outcomes[id].map { outcome in
            // The writer knew all before it, or they would not have been dropped.
            IdempotencyKey(
              id: id, payloadHash: outcome.payloadHash, acknowledged: id.sequence &- 1)
          }
        }
        let record = mutations.isEmpty && entry.record.isEmpty ? Self.emptyRecord : entry.record
        commits.append(
          Commit(
            claim: claim, mutations: mutations, record: record,
            outcome: entry.id.flatMap { outcomes[$0]?.detail } ?? []))
      }
      return Decision(commits, keeping: ())
    }
  }

  /// The record of a commit of which the log kept nothing, so that it takes its version all the
  /// same: a record of a tree without assignments.
  private static let emptyRecord: [UInt8] =
    TreeRecord(of: [], in: TreeRows(prefix: [])).encode()

  /// The changes that make a commit again.
  static func mutations(
    of record: [UInt8], to reader: PendingReader
  ) throws(StorageError) -> [Mutation] {
    if let record = DocumentRecord(record) {
      return try record.replay(to: reader)
    }
    guard let record = TreeRecord(record) else { return [] }
    let authority = TreeAuthority(rows: TreeRows(prefix: record.prefix))
    var mutations: [Mutation] = []
    for entry in record.assignments {
      mutations += try authority.apply(
        .set(entry.path, entry.node), to: reader, knowing: KnownPaths())
    }
    return mutations
  }

  /// Removes the onDisconnect operations that the later store does not have: they may have fired.
  private static func keepCommon(
    _ ledger: EmbeddedLedger, _ source: EmbeddedLedger
  ) throws(LedgerError) {
    let range = KeyRange(prefix: StoreLayout.presence)
    let later = try source.read { snapshot throws(StorageError) in
      Set(try snapshot.scan(range))
    }
    _ = try ledger.decide { snapshot throws(StorageError) in
      let gone = try snapshot.scan(range).filter { !later.contains($0) }
      let removals = gone.map { Mutation.remove(KeyRange(only: $0.key)) }
      let commits = removals.isEmpty ? [] : [Commit(mutations: removals, record: [])]
      return Decision(commits, keeping: ())
    }
  }
}
