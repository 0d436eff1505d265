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

  /// What is known on this device.
  package var cache: DocumentCache
  let database: DocumentDatabase
  let limits: Limits

  /// The queries that somebody listens to, by ascending id.
  var queries: [ListenedQuery] = []
  var queryIDs: [DocumentQuery: Int] = [:]
  /// The queries of each target that is allocated.
  var targetQueries: [Int32: [Int]] = [:]
  var listeners: [DocumentListenerID: DocumentListener] = [:]
  /// How many of them are single reads.
  var readCount = 0
  /// Those who hear when all listeners have heard the same, in the order they came.
  var syncListeners: [DocumentListenerID] = []
  private var lastNumber: UInt64 = 0

  /// The documents in limbo.
  package internal(set) var limbo: LimboTable
  /// What the server is asked for, as it would be asked now.
  package internal(set) var wanted: [Int32: WatchTarget] = [:]
  var watch = WatchState.closed
  var tracker = DocumentOnlineTracker()
  var pipeline = DocumentWritePipeline()
  /// Who waits for writes to be settled, and up to which.
  var waits: [(id: DocumentWaitID, batch: UInt64)] = []
  /// Whether the application wants a connection.
  package internal(set) var isNetworkEnabled = true

  private var owed: [DocumentEffect] = []
  /// The snapshots that are being handed out, by query.
  var unraised: [(query: Int, snapshot: DocumentViewSnapshot)] = []
  var isRaising = false

  /// Where the listen stream is.
  enum WatchState: Sendable {
    case closed
    case opening
    case open(WatchAggregator)
  }

  /// Starts with what is cached; nothing is listened to yet.
  package init(cache: DocumentCache, database: DocumentDatabase, limits: Limits = Limits()) {
    self.cache = cache
    self.database = database
    self.limits = limits
    limbo = LimboTable(limit: limits.limboResolutions)
  }

  /// Keeps what has changed, and drops what nothing needs.
  package mutating func commit() throws(StorageError) { try cache.commit() }

  /// What is owed after ``commit()``: it may have met damage in the cache.
  package mutating func afterCommit() -> [DocumentEffect] { settleDebts() }

  mutating func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  mutating func owe(_ effect: DocumentEffect) { owed.append(effect) }

  /// Hands out what is owed.
  mutating func settleDebts() -> [DocumentEffect] {
    recover()
    defer { owed = [] }
    return owed
  }
}

/// One query that somebody listens to.
struct ListenedQuery: Sendable {
  let id: Int
  var view: DocumentView
  /// In the order they came.
  var listeners: [DocumentListenerID] = []
  /// What a listener that comes now hears first.
  var hasCachedResults: Bool
  /// How many of the listeners need the server.
  var serverListeners = 0
}

extension [ListenedQuery] {
  /// Where the query of an id lies; they ascend.
  func index(of id: Int) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low].id == id ? low : nil
  }
}
