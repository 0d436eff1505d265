import TernCore
import TernDocumentReplica
import TernQuery

/// One scenario in progress: a replica, and the server and the application of the recording.
struct DocumentSpecRun {
  /// The state that the engine reports at the end of a step, and the events in it.
  struct Observations {
    var snapshots: [SpecSnapshot] = []
    var inSyncCount = 0
    var settledWaits = 0
    var acknowledged: [String] = []
    var rejected: [String] = []
  }

  let place: SpecPlace
  let settings: DocumentCache.Settings
  let limits: DocumentReplica.Limits
  static let database = try? DocumentDatabase(projectID: "test-project")

  var replica: DocumentReplica
  /// The client of the step; several share one replica.
  var client = 0
  /// The observations of each client since its last step.
  var observed: [Int: Observations] = [:]
  var expected: [Int: SpecExpectations] = [:]
  /// The client that listens, writes or waits.
  private var owners: [DocumentListenerID: Int] = [:]
  private var writers: [UInt64: Int] = [:]
  private var waiters: [DocumentWaitID: Int] = [:]
  var user = ""

  /// The listeners of the application by query, the latest last.
  var listeners: [Int: [DocumentQuery: [DocumentListenerID]]] = [:]
  var queries: [DocumentListenerID: DocumentQuery] = [:]
  var inSyncListeners: [DocumentListenerID] = []

  /// The durable queue: everything no server has answered, of all users.
  var queue: [DocumentBatch] = []
  private var lastBatch: UInt64 = 0
  /// Batches whose writer still waits.
  var awaited: Set<UInt64> = []

  /// The targets that were sent to the scenario's server.
  var activeTargets: [Int32: WatchTarget] = [:]
  var watchRequestCount = 0
  var writeRequestCount = 0
  var sent: [DocumentBatch] = []
  var isWriteStreamOpen = false
  /// True when a stream that is to be opened has to wait for its timer.
  var holdsWatchStream = false
  var isNetworkEnabled = true

  init(_ config: JSONValue, _ place: SpecPlace) throws {
    self.place = place
    var settings = DocumentCache.Settings()
    settings.isEager = !place.isDurable && config["useEagerGCForMemory"] == .bool(true)
    self.settings = settings
    var limits = DocumentReplica.Limits()
    if let count = try config["maxConcurrentLimboResolutions"]?.number {
      limits.limboResolutions = Int(count)
    }
    self.limits = limits
    replica = try DocumentSpecRun.replica(place, settings, limits, user: "", [])
  }

  static func replica(
    _ place: SpecPlace, _ settings: DocumentCache.Settings,
    _ limits: DocumentReplica.Limits, user: String, _ batches: [DocumentBatch]
  ) throws -> DocumentReplica {
    guard let database else { throw SpecError("the recordings' database has no valid name") }
    let cache = try DocumentCache(
      store: place.store, prefix: place.prefix, settings: settings, user: user, batches: batches)
    return DocumentReplica(cache: cache, database: database, limits: limits)
  }

  /// Does what the replica owes, as the scenario's server and application.
  mutating func perform(_ effects: [DocumentEffect]) throws {
    var owed = effects[...]
    while let effect = owed.popFirst() {
      switch effect {
      case .openWatchStream:
        if !holdsWatchStream { owed += replica.watchStreamOpened() }
      case .closeWatchStream: activeTargets = [:]
      case .watch(let target):
        watchRequestCount += 1
        activeTargets[target.id] = target
      case .unwatch(let target):
        watchRequestCount += 1
        activeTargets[target] = nil
      case .openWriteStream:
        writeRequestCount += 1
        isWriteStreamOpen = true
        owed += replica.writeStreamOpened()
      case .closeWriteStream:
        // The client says good-bye.
        if isWriteStreamOpen { writeRequestCount += 1 }
        closeWriteStream()
      case .send(let batch):
        writeRequestCount += 1
        sent.append(batch)
      case .startOnlineTimer, .stopOnlineTimer: break
      case .snapshot(let id, let snapshot):
        if let query = queries[id] { note(SpecSnapshot(query, snapshot), id) }
      case .failed(let id, let status):
        if let query = queries[id] { note(SpecSnapshot(query, status), id) }
      case .answered: break
      case .settled(let batch, let status): settle(batch, status)
      case .writesSettled(let id, let isCancelled):
        let waiter = waiters.removeValue(forKey: id) ?? client
        observed[waiter, default: .init()].settledWaits += isCancelled ? 0 : 1
      case .inSync(let id): observed[owners[id] ?? client, default: .init()].inSyncCount += 1
      }
    }
  }

  private mutating func note(_ snapshot: SpecSnapshot, _ id: DocumentListenerID) {
    observed[owners[id] ?? client, default: .init()].snapshots.append(snapshot)
  }

  /// A listener belongs to the client of the step.
  mutating func own(_ id: DocumentListenerID) { owners[id] = client }

  /// Waits for pending writes as the application does.
  mutating func wait() throws {
    let (id, effects) = replica.waitForPendingWrites()
    waiters[id] = client
    try perform(effects)
  }

  mutating func closeWriteStream() {
    isWriteStreamOpen = false
    sent = []
  }

  private mutating func settle(_ batch: UInt64, _ status: DocumentStatus?) {
    let keys = queue.first { $0.id == batch }?.mutations.map(\.key.text) ?? []
    queue.removeAll { $0.id == batch }
    guard awaited.remove(batch) != nil else { return }
    let writer = writers[batch] ?? client
    if status == nil {
      observed[writer, default: .init()].acknowledged += keys
    } else {
      observed[writer, default: .init()].rejected += keys
    }
  }

  /// Writes as the application does.
  mutating func write(_ mutation: DocumentMutation) throws {
    lastBatch += 1
    let batch = replica.cache.prepare(
      [mutation], id: lastBatch, user: user,
      at: DocumentTimestamp(uncheckedMicroseconds: Int64(lastBatch)))
    queue.append(batch)
    awaited.insert(batch.id)
    writers[batch.id] = client
    try perform(replica.plan(batch))
  }

  /// The process ends, and another one starts on the same store.
  mutating func restart() throws {
    activeTargets = [:]
    closeWriteStream()
    listeners = [:]
    queries = [:]
    inSyncListeners = []
    awaited = []
    isNetworkEnabled = true
    holdsWatchStream = false
    replica = try DocumentSpecRun.replica(place, settings, limits, user: user, queue)
    try perform(replica.start())
  }
}
