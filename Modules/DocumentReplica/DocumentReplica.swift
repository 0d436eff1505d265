package import TernCore
package import TernQuery
package import TernStorage

/// One client's documents: what it has cached, what it has written, and what its listeners see.
///
/// A machine without input and output: each event is answered with the effects that are owed. The
/// cache is read and written in place; ``commit()`` keeps it. Source: documents reference,
/// sections 4 and 5.
package struct DocumentReplica: Sendable {
  /// The numbers that bound what a replica asks of a server.
  package struct Limits: Sendable {
    /// The most documents in limbo that are asked for at the same time.
    package var limboResolutions = LimboTable.concurrentLimit
    /// The most batches that are sent and not answered.
    package var pipelineDepth = 10
    /// The most single reads that wait for their answer.
    package var reads = 10_000

    package init() {}
  }

  /// The data known on this device.
  package var cache: DocumentCache
  let limits: Limits

  /// The queries with listeners.
  var queries = QueryTable()
  var listeners = ListenerTable()
  private var lastNumber: UInt64 = 0

  /// The documents in limbo.
  package internal(set) var limbo: LimboTable
  var watch: WatchStream
  var pipeline = DocumentWritePipeline()
  var waits = DocumentWriteWaits()

  var pendingEffects: [DocumentEffect] = []
  /// The snapshots being delivered, by query.
  var unraised: [(query: Int, snapshot: DocumentViewSnapshot)] = []
  var isRaising = false

  /// Starts with the cached data and without listeners.
  package init(cache: DocumentCache, database: DocumentDatabase, limits: Limits = Limits()) {
    self.cache = cache
    watch = WatchStream(database: database)
    self.limits = limits
    limbo = LimboTable(limit: limits.limboResolutions)
  }

  /// The targets that the server should watch, as a new stream would request them.
  package var wanted: [Int32: WatchTarget] { watch.wanted }

  /// `true` if the application wants a connection.
  package var isNetworkEnabled: Bool { watch.isNetworkEnabled }

  /// Stores all changes, and drops data that is not needed.
  package mutating func commit() throws(StorageError) { try cache.commit() }

  /// Returns the effects pending after ``commit()``, which may have found corrupt data in the
  /// cache.
  package mutating func afterCommit() -> [DocumentEffect] { settlePendingSnapshots() }

  mutating func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  mutating func emit(_ effect: DocumentEffect) { pendingEffects.append(effect) }

  /// Returns the pending effects, and clears them.
  mutating func settlePendingSnapshots() -> [DocumentEffect] {
    recover()
    defer { pendingEffects = [] }
    return pendingEffects
  }
}
