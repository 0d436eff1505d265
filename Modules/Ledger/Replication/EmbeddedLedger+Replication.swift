import Synchronization
package import TernStorage

// The copy of a shared log that a node keeps: validating without storing, and applying what the log
// holds. Source: Docs/Formats/shared-log.md, section 3.

extension EmbeddedLedger {
  /// A batch of a shared log with its place.
  package typealias PlacedBatch = (mark: ReplicaMark, batch: ReplicatedBatch)

  /// Decides and validates like ``decide(_:)``, and stores nothing.
  ///
  /// - Returns: The commits to be applied, the results that they will have once they are, and the
  ///   results that the caller keeps.
  package func draft<R>(
    _ body: (borrowing LedgerSnapshot) throws(StorageError) -> Decision<R>
  ) throws(LedgerError) -> (batch: ReplicatedBatch, results: [CommitResult], kept: R) {
    var answer: (batch: ReplicatedBatch, results: [CommitResult], kept: R)?
    try committer.withLock { committer throws(LedgerError) in
      answer = try store.read(mapping: LedgerError.storage) { snapshot throws(LedgerError) in
        try Self.draft(&committer, snapshot, body)
      }
    }
    guard let answer else { throw .storage(.abandoned) }
    return answer
  }

  private static func draft<R>(
    _ committer: inout Committer, _ snapshot: borrowing Snapshot,
    _ body: (borrowing LedgerSnapshot) throws(StorageError) -> Decision<R>
  ) throws(LedgerError) -> (batch: ReplicatedBatch, results: [CommitResult], kept: R) {
    do throws(StorageError) {
      let journal = if let kept = committer.journal { kept } else { try Journal(in: snapshot) }
      committer.journal = journal
      let reader: any StoreReader = JournaledReader(over: snapshot.reader, journal)
      let decision = try body(LedgerSnapshot(reader, version: committer.log.last))
      var draft = BatchDraft(after: committer, journal, over: reader)
      var results: [CommitResult] = []
      results.reserveCapacity(decision.commits.count)
      for commit in decision.commits { results.append(try draft.add(commit)) }
      return (draft.batch, results, decision.kept)
    } catch {
      throw .storage(error)
    }
  }

  /// Applies batches of a shared log in one storage write, in order. Those at or before the place
  /// that the copy has reached are passed over.
  ///
  /// - Throws: `corruptRecord` of the copy's place when a batch does not follow on what the copy
  ///   holds: begin the copy anew.
  package func apply(_ batches: [PlacedBatch]) throws(LedgerError) {
    guard let last = batches.last?.mark else { return }
    let now = livedTime
    try publishing { committer throws(LedgerError) in
      try LogSpace(ledger: self).cuttingLog(of: &committer) { committer throws(LedgerError) in
        try write(by: &committer, at: now) { batch, transaction throws(StorageError) in
          guard case .copy(let reached) = try ReplicaMark.state(in: transaction) else {
            throw .corruptRecord(key: LedgerKey.replica)
          }
          for next in batches where next.mark.position > reached.position {
            guard next.batch.versionBefore == batch.committer.log.last else {
              throw .corruptRecord(key: LedgerKey.replica)
            }
            for commit in next.batch.commits { try batch.replay(commit, to: &transaction) }
          }
          try batch.finish(in: &transaction)
          if last.position > reached.position {
            try transaction.put(last.row, for: LedgerKey.replica)
          }
        }
      }
    }
  }

  /// Returns the row of a stream's state as a copy stores it; `nil` when the stream is unknown.
  package static func streamRow(
    _ stream: UInt128, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> Row? {
    let key = StreamRow.key(stream)
    return try view.get(key).map { Row(key: key, value: $0) }
  }

  /// The key of the row of a stream's state.
  package static func streamKey(_ stream: UInt128) -> [UInt8] { StreamRow.key(stream) }

  /// The state of a store with regard to a shared log.
  package static func replicaState(
    of store: any OrderedStore
  ) throws(LedgerError) -> ReplicaMark.State {
    try LedgerError.wrapping { () throws(StorageError) in
      try store.read { snapshot throws(StorageError) in try ReplicaMark.state(in: snapshot) }
    }
  }

  /// Begins a copy: removes what an earlier one left in the store. Until
  /// ``finishCopy(in:at:version:)`` the store counts as partial.
  ///
  /// - Throws: ``LedgerError/foreignStore`` for a store that holds something else.
  package static func beginCopy(in store: any OrderedStore) throws(LedgerError) {
    guard try replicaState(of: store) != .foreign else { throw .foreignStore }
    try LedgerError.wrapping { () throws(StorageError) in
      try store.write { transaction throws(StorageError) in
        try transaction.remove(in: .all)
        try transaction.put(formatRow, for: LedgerKey.format)
        try transaction.put(ReplicaMark.partialRow, for: LedgerKey.replica)
      }
    }
  }

  /// Adds rows of a checkpoint to a copy that was begun.
  package static func addRows(
    _ rows: [Row], to store: any OrderedStore
  ) throws(LedgerError) {
    try LedgerError.wrapping { () throws(StorageError) in
      try store.write { transaction throws(StorageError) in
        for row in rows where LedgerKey.isCopied(row.key) {
          try transaction.put(row.value.span, for: row.key.span)
        }
      }
    }
  }

  /// Ends a copy: the store is a ledger at `version` from now on, without a log before it.
  package static func finishCopy(
    in store: any OrderedStore, at mark: ReplicaMark, version: Version
  ) throws(LedgerError) {
    try LedgerError.wrapping { () throws(StorageError) in
      try store.write { transaction throws(StorageError) in
        if version > 0 {
          try LogSegment(first: version + 1).forEachRow { row throws(StorageError) in
            try transaction.put(row.value, for: row.key)
          }
        }
        try transaction.put(mark.row, for: LedgerKey.replica)
      }
    }
  }
}

extension LedgerKey {
  /// Returns true for rows that a checkpoint holds: those of streams, and all of the committing
  /// code's.
  package static func isCopied(_ key: [UInt8]) -> Bool {
    guard let first = key.first else { return false }
    return first == stream || first >= LedgerLimits.firstOwnByte
  }
}

extension Precondition {
  func holds(in snapshot: borrowing Snapshot) throws(StorageError) -> Bool {
    switch self {
    case .exists(let key): try snapshot.contains(key)
    case .absent(let key): try !snapshot.contains(key)
    case .equals(let key, let value): try snapshot.get(key) == value
    }
  }
}
