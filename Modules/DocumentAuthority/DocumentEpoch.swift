package import TernCore
package import TernLedger
package import TernStorage

/// The beginning of an epoch of a database that was restored from a backup.
///
/// Clients of a restored database hold versions and resume tokens from after the backup. The epoch
/// is later than all of them: documents get its version, so that clients take them over what they
/// hold, and the state gets it as its first commit, so that their tokens are void.
package struct DocumentEpoch: Sendable {
  private let rows: DocumentRows

  /// The epoch of the database below `prefix`.
  ///
  /// The name of the database has no part in this.
  package init(prefix: [UInt8]) { rows = DocumentRows(prefix: prefix) }

  /// The version of a restored database, later than every version that a client may have seen.
  ///
  /// - Parameter now: Wall-clock time in microseconds since 1970.
  /// - Returns: `nil` for a database without a commit, which has nothing to adopt.
  package func nextEpoch(
    now: Int64, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> DocumentVersion? {
    try state(in: view)?.nextVersion(now: now)
  }

  /// - Returns: `nil` before the first commit.
  private func state(
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> DatabaseState? {
    guard let bytes = try view.get(rows.key(.state)) else { return nil }
    guard let state = DatabaseState(bytes) else { throw .corruptRecord(key: rows.key(.state)) }
    return state
  }

  /// True when the database has a document. What it keeps of deleted ones, for listeners that come
  /// back, does not count.
  package func hasDocuments(
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> Bool {
    try !view.scan(KeyRange(prefix: rows.key(.document)), limit: 1).isEmpty
  }

  /// Returns the value that one of the database's rows has in the epoch: documents are of that
  /// version, and so is the database as a whole.
  ///
  /// - Parameters:
  ///   - value: The value as it was backed up.
  ///   - key: The whole key of the row, the prefix included.
  /// - Returns: The value itself for every row that holds no version: indexes and numbers of
  ///   scopes.
  package func adopted(
    _ value: Span<UInt8>, for key: [UInt8], _ epoch: DocumentVersion
  ) throws(StorageError) -> [UInt8] {
    var value = [UInt8](copying: value)
    if key.starts(with: rows.key(.document)) {
      guard value.count > StoredDocument.headBytes else { throw .corruptRecord(key: key) }
      var writer = ByteWriter()
      writer.append(bigEndian: epoch.microseconds)
      // Bytes 0 to 7 are the version that made the document, which stays.
      value.replaceSubrange(8..<16, with: writer.bytes)
    } else if key == rows.key(.state) {
      guard var state = DatabaseState(value) else { throw .corruptRecord(key: key) }
      (state.epoch, state.last) = (epoch, epoch)
      value = state.encode()
    }
    return value
  }

  /// Gives some documents the version of the epoch, so that clients take them in place of what they
  /// saw after the backup.
  ///
  /// - Parameters:
  ///   - key: The last row that was visited; `nil` at the beginning.
  ///   - transaction: Gets the changes of one page, at most 1,000 documents. The state changes with
  ///     the last page.
  /// - Returns: The last row visited now; `nil` at the end, when the database is of that epoch and
  ///   every resume token of before is void.
  package func adopt(
    _ epoch: DocumentVersion, after key: [UInt8]?, in transaction: inout WriteTransaction
  ) throws(StorageError) -> [UInt8]? {
    var range = KeyRange(prefix: rows.key(.document))
    if let key { range.lower = key + [0] }
    let page = try transaction.scan(range, limit: 1_000)
    for row in page {
      try transaction.put(try adopted(row.value.span, for: row.key, epoch), for: row.key)
    }
    if let last = page.last { return last.key }
    let stateKey = rows.key(.state)
    guard let bytes = try transaction.get(stateKey) else { throw .corruptRecord(key: stateKey) }
    try transaction.put(try adopted(bytes.span, for: stateKey, epoch), for: stateKey)
    return nil
  }
}

extension DocumentRecord {
  /// Makes a commit again that the log of another store has kept.
  ///
  /// The indexes and the rows of what was before are made again, as a log record has documents
  /// alone.
  ///
  /// - Parameter reader: The state that the commits before this one have left.
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
