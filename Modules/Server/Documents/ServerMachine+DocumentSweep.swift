import TernDocumentEngine
import TernLedger
import TernStorage

extension ServerMachine {
  /// Does a little of what has time: forgets what documents were long ago, and goes on with
  /// indexes that are being built. Every database has its turn within a minute.
  mutating func sweepDocuments(_ batch: inout ServerBatch) throws(StorageError) {
    guard diskRoom == .ample else { return }
    for room in documents.nextSweeps(uptime: batch.uptime) {
      do throws(StorageError) {
        try sweep(room, &batch)
      } catch {
        // Who needs the damaged record is told; this can wait until it is mended.
        guard error.isCorruption else { throw error }
      }
    }
  }

  private mutating func sweep(
    _ room: DocumentRoom, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let steps = try room.authority.sweepSteps(in: batch.reader)
    let swept = try room.authority.sweep(from: room.sweptTo, limit: steps, in: batch.reader)
    room.sweptTo = swept.next
    store(swept.mutations, &batch)
    store(try room.authority.buildIndexes(in: batch.reader), &batch)
  }

  /// Stores rows that say nothing about documents as they are, and so have no log record.
  func store(_ mutations: [Mutation], _ batch: inout ServerBatch) {
    if mutations.isEmpty || diskRoom != .ample { return }
    // Rows of documents that stores took; their sizes were checked with the documents.
    do throws(StorageError) { try mutations.checkLimits() } catch { return }
    batch.changes.apply(mutations)
    batch.add(Commit(mutations: mutations, record: []))
  }
}
