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
  let database: DocumentDatabase
  let limits: Limits

  /// The queries with listeners, by ascending id.
  var queries: [ListenedQuery] = []
  var queryIDs: [DocumentQuery: Int] = [:]
  /// The queries of each target that is allocated.
  var targetQueries: [Int32: [Int]] = [:]
  var listeners: [DocumentListenerID: DocumentListener] = [:]
  /// The number of listeners that are single reads.
  var readCount = 0
  /// The listeners of the in-sync event, in order of registration.
  var syncListeners: [DocumentListenerID] = []
  private var lastNumber: UInt64 = 0

  /// The documents in limbo.
  package internal(set) var limbo: LimboTable
  /// The targets that the server should watch, as a new stream would request them.
  package internal(set) var wanted: [Int32: WatchTarget] = [:]
  var watch = WatchState.closed
  var tracker = DocumentOnlineTracker()
  var pipeline = DocumentWritePipeline()
  /// The callers that wait for acknowledgements, each with its last batch.
  var waits: [(id: DocumentWaitID, batch: UInt64)] = []
  /// `true` if the application wants a connection.
  package internal(set) var isNetworkEnabled = true

  private var pendingEffects: [DocumentEffect] = []
  /// The snapshots being delivered, by query.
  var unraised: [(query: Int, snapshot: DocumentViewSnapshot)] = []
  var isRaising = false

  /// The state of the listen stream.
  enum WatchState: Sendable {
    case closed
    case opening
    case open(WatchAggregator)
  }

  /// Starts with the cached data and without listeners.
  package init(cache: DocumentCache, database: DocumentDatabase, limits: Limits = Limits()) {
    self.cache = cache
    self.database = database
    self.limits = limits
    limbo = LimboTable(limit: limits.limboResolutions)
  }

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

/// One query with listeners.
struct ListenedQuery: Sendable {
  let id: Int
  var view: DocumentView
  /// In order of registration.
  var listeners: [DocumentListenerID] = []
  /// `true` if a new listener's first snapshot has cached results.
  var hasCachedResults: Bool
  /// The number of listeners that need the server.
  var serverListeners = 0
}

extension [ListenedQuery] {
  /// Returns the position of the query with an id; the ids ascend.
  func index(of id: Int) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low].id == id ? low : nil
  }
}
