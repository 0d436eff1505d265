package import TernCore
package import TernDocumentReplica
import TernDocumentWire
package import TernSync

/// A batch as the durable queue holds it. Source: Docs/Formats/client-store.md, section "Payload of
/// the queue of documents".
package enum DocumentBatchRecord {
  private static let version: UInt8 = 1

  /// The record of a batch.
  ///
  /// - Returns: Its bytes, and how many of them are the writes as they are sent.
  static func encode(
    _ batch: DocumentBatch, in database: DocumentDatabase
  ) -> (bytes: [UInt8], writeBytes: Int) {
    var bytes = [version]
    bytes.append(text: batch.user)
    bytes.append(integer: batch.localWriteTime.microseconds)
    bytes.append(counted: message(batch.baseMutations, database))
    let writes = message(batch.mutations, database)
    return (bytes + writes, writes.count)
  }

  /// The records of a queue of documents.
  package static func records(in database: DocumentDatabase) -> QueueRecords {
    QueueRecords(
      understands: understands,
      isOfThisVersion: { $0.first.map { $0 == version } ?? true },
      filler: filler(in: database))
  }

  /// A batch that changes nothing and only has a number: it stands where a damaged one was.
  static func filler(in database: DocumentDatabase) -> [UInt8] {
    let nothing = DocumentBatch(
      id: 0, localWriteTime: DocumentTimestamp(uncheckedMicroseconds: 0), mutations: [])
    return encode(nothing, in: database).bytes
  }

  /// Returns true when this library understands a row of the queue, of whatever database.
  @Sendable static func understands(_ row: QueuedWrite) -> Bool {
    if case .kept = row.state { return false }
    return read(row.payload, id: row.id) != nil
  }

  /// Reads the batch in a row of the queue.
  ///
  /// - Parameter id: The name the batch gets in this run.
  /// - Throws: ``QueueError/damaged(id:)`` when it is none, ``QueueError/unreadable(reason:)`` when
  ///   it is one of another database.
  static func batch(
    in row: QueuedWrite, id: UInt64, of database: DocumentDatabase
  ) throws(QueueError) -> DocumentBatch {
    guard understands(row), let (batch, found) = read(row.payload, id: id) else {
      throw .damaged(id: row.id)
    }
    guard found == database else {
      throw .unreadable(
        reason: "it is that of \(found.resourceName), not of \(database.resourceName)")
    }
    return batch
  }

  /// Reads the batches of a user's queue, and those that were rejected.
  ///
  /// - Parameter last: The name of the last batch of this run; those that are pending follow it.
  /// - Throws: What ``batch(in:id:of:)`` throws.
  package static func batches(
    in rows: [QueuedWrite], of user: QueueUser, _ database: DocumentDatabase,
    after last: UInt64 = 0
  ) throws(QueueError) -> (pending: [DocumentQueuedBatch], rejected: [RejectedDocumentBatch]) {
    var pending: [DocumentQueuedBatch] = []
    var rejected: [RejectedDocumentBatch] = []
    for row in rows {
      let id = last + UInt64(pending.count + 1)
      let found = try batch(in: row, id: id, of: database)
      switch row.state {
      case .pending(let sequence):
        // Whose it is says the queue it lies in.
        let batch = DocumentBatch(
          id: id, user: user.id, localWriteTime: found.localWriteTime,
          baseMutations: found.baseMutations, mutations: found.mutations)
        pending.append(DocumentQueuedBatch(batch: batch, row: row.id, sequence: sequence))
      case .rejected(let reason):
        rejected.append(
          RejectedDocumentBatch(id: row.id, mutations: found.mutations, reason: reason))
      case .kept: throw .damaged(id: row.id)
      }
    }
    return (pending, rejected)
  }

  /// Reads a batch; `nil` when the bytes are none, or one of another database.
  ///
  /// - Parameter id: The name the batch gets in this run.
  package static func decode(
    _ bytes: [UInt8], id: UInt64, in database: DocumentDatabase
  ) -> DocumentBatch? {
    guard let (batch, found) = read(bytes, id: id), found == database else { return nil }
    return batch
  }

  private static func read(
    _ bytes: [UInt8], id: UInt64
  ) -> (batch: DocumentBatch, database: DocumentDatabase)? {
    var reader = RecordReader(bytes)
    guard reader.byte() == version, let user = reader.text(),
      let time: Int64 = reader.integer(), let bases = reader.counted(),
      let (baseMutations, baseDatabase) = mutations(bases),
      let (mutations, database) = mutations(reader.rest()), baseDatabase == database
    else { return nil }
    let batch = DocumentBatch(
      id: id, user: user, localWriteTime: DocumentTimestamp(uncheckedMicroseconds: time),
      baseMutations: baseMutations, mutations: mutations)
    return (batch, database)
  }

  /// The writes as the message that would commit them.
  private static func message(
    _ mutations: [DocumentMutation], _ database: DocumentDatabase
  ) -> [UInt8] {
    DocumentRequest(.commit(mutations, transaction: [], nil), in: database).encode()
  }

  private static func mutations(
    _ message: [UInt8]
  ) -> (mutations: [DocumentMutation], database: DocumentDatabase)? {
    guard let request = try? DocumentRequest.decode(.commit, message),
      case .commit(let mutations, _, _) = request.body
    else { return nil }
    return (mutations, request.database)
  }
}
