import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage

/// Work on databases of documents that has time.
struct DocumentSweep {
  let registry: DatabaseRegistry

  /// Does a little of what has time: forgets what documents were long ago, and goes on with
  /// indexes that are being built. Every database has its turn within a minute.
  ///
  /// Nothing is swept while the disk is full: a removal of history writes rows before it frees any.
  func run(_ batch: inout ServerBatch) throws(StorageError) {
    guard batch.diskSpace == .ample else { return }
    for database in registry.nextSweeps(uptime: batch.uptime) {
      do throws(StorageError) {
        try sweep(database, &batch)
      } catch {
        // Who needs the damaged record is told; this can wait until it is mended.
        guard error.isCorruption else { throw error }
      }
    }
  }

  /// Sweeps one database.
  ///
  /// Takes as many steps as the authority says are due to keep up with writes, and continues at
  /// ``OpenDatabase/sweptTo``.
  private func sweep(
    _ database: OpenDatabase, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let steps = try database.authority.sweepSteps(in: batch.reader)
    let swept = try database.authority.sweep(from: database.sweptTo, limit: steps, in: batch.reader)
    database.sweptTo = swept.next
    Self.store(swept.mutations, &batch)
    Self.store(try database.authority.buildIndexes(in: batch.reader), &batch)
  }

  /// Stores rows that say nothing about documents as they are, and so have no log record.
  static func store(_ mutations: [Mutation], _ batch: inout ServerBatch) {
    if mutations.isEmpty || batch.diskSpace != .ample { return }
    // Rows of documents that stores took; their sizes were checked with the documents.
    do throws(StorageError) { try mutations.checkLimits() } catch { return }
    batch.commit(mutations)
  }
}
