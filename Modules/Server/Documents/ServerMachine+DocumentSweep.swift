import TernDocumentEngine
import TernLedger
import TernStorage

extension ServerMachine {
  /// Does a little of what has time: forgets what documents were long ago, and goes on with
  /// indexes that are being built. One database has its turn after the other.
  mutating func sweepDocuments(_ batch: inout ServerBatch) throws(StorageError) {
    guard let (room, scope) = documents.nextSweep(uptime: batch.uptime) else { return }
    let swept = try room.authority.sweep(
      from: scope, limit: ServerMachine.scopesPerSweep, in: batch.reader)
    room.sweptTo = swept.next
    store(swept.mutations, &batch)
    store(try room.authority.buildIndexes(in: batch.reader), &batch)
  }

  /// The most collections that are looked at in one go.
  private static var scopesPerSweep: Int { 16 }

  /// Stores rows that say nothing about documents as they are, and so have no log record.
  func store(_ mutations: [Mutation], _ batch: inout ServerBatch) {
    if mutations.isEmpty { return }
    batch.changes.apply(mutations)
    batch.add(Commit(mutations: mutations, record: []))
  }
}
