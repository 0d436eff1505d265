package import TernCore
package import TernLedger
package import TernStorage

/// The beginning of an epoch of a database that was restored from a backup.
package struct DocumentEpoch: Sendable {
  private let rows: DocumentRows

  /// The epoch of the database below `prefix`.
  package init(prefix: [UInt8]) { rows = DocumentRows(prefix: prefix) }

  /// The version of a restored database, later than every version that a client may have seen.
  ///
  /// - Parameter now: Wall-clock time in microseconds since 1970.
  package func nextEpoch(
    now: Int64, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> DocumentVersion? {
    guard let bytes = try view.get(rows.key(.state)) else { return nil }
    guard let state = DatabaseState(bytes) else { throw .corruptRecord(key: rows.key(.state)) }
    return state.nextVersion(now: now)
  }

  /// Gives some documents the version of the epoch, so that clients take them in place of what they
  /// saw after the backup.
  ///
  /// - Parameter key: The last row that was visited; `nil` at the beginning.
  /// - Returns: The last row visited now; `nil` at the end, when the database is of that epoch and
  ///   every resume token of before is void.
  package func adopt(
    _ epoch: DocumentVersion, after key: [UInt8]?, in transaction: inout WriteTransaction
  ) throws(StorageError) -> [UInt8]? {
    var range = KeyRange(prefix: rows.key(.document))
    if let key { range.lower = key + [0] }
    var writer = ByteWriter()
    writer.append(bigEndian: epoch.microseconds)
    let page = try transaction.scan(range, limit: 1_000)
    for row in page {
      guard row.value.count > StoredDocument.headBytes else { throw .corruptRecord(key: row.key) }
      var value = row.value
      value.replaceSubrange(8..<16, with: writer.bytes)
      try transaction.put(value, for: row.key)
    }
    if let last = page.last { return last.key }
    let stateKey = rows.key(.state)
    guard let bytes = try transaction.get(stateKey), var state = DatabaseState(bytes) else {
      throw .corruptRecord(key: stateKey)
    }
    state.epoch = epoch
    state.last = epoch
    try transaction.put(state.encode(), for: stateKey)
    return nil
  }
}

extension DocumentRecord {
  /// Makes a commit again that the log of another store has kept.
  ///
  /// - Returns: The changes, which later reads of `reader` see.
  package func replay(to reader: PendingReader) throws(StorageError) -> [Mutation] {
    let authority = DocumentAuthority(rows: DocumentRows(prefix: prefix))
    let decision = try authority.decision(of: self, in: reader)
    return try authority.apply(decision, to: reader).mutations
  }
}

extension DocumentRows {
  /// A database of which only the rows count, not the name.
  package init(prefix: [UInt8]) {
    self.init(prefix: prefix, database: DocumentDatabase(unchecked: ""))
  }
}
