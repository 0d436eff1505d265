package import TernCore
package import TernDocumentEngine
import TernDocumentWire
package import TernStorage
package import TernSync

/// The documents of one client: a replica, the link to its server, and the writes in between.
///
/// A machine without input and output: what happens is told by its verbs, what is owed is taken
/// by ``takeEffects()``. Calls share one link, see Docs/Formats/document-wire.md.
package struct DocumentMachine: Sendable {
  /// What bounds a machine.
  package struct Limits: Sendable {
    /// The most calls that wait or are under way.
    package var calls = 1_000
    /// The most bytes of the writes of one batch, as they are sent: what a server takes in one
    /// request, without the little that goes with them. Source: documents reference, section 3.6.
    package var batchBytes = DocumentWireLimits.requestBytes - 1_024
    /// How long a stream that failed waits before it is opened again. Source: documents
    /// reference, section 5.2.
    package var backoff = DocumentMachine.streamBackoff

    package init() {}
  }

  /// The schedule of the streams: at once, then 1 s growing by half up to a minute, each more or
  /// less by up to a half. Source: documents reference, section 5.2.
  package static let streamBackoff = {
    var limits = Backoff.Limits()
    limits.longestMilliseconds = 60_000
    limits.growth = 1.5
    limits.jitter = 0.5
    limits.excess = 0.5
    return limits
  }()

  /// What is known and pending on this device.
  package var replica: DocumentReplica
  let database: DocumentDatabase
  let names: DocumentNames
  let ambient: Ambient
  let limits: Limits
  /// Who uses this device.
  package internal(set) var user: QueueUser
  var credential: String?
  /// What the server refused last. With it nothing is asked for: it would be refused again.
  var refusedCredential: String?

  var connection = Connection()
  /// Whether a link that works is being left for another one.
  var isLeaving = false
  var lastCall: UInt32 = 0
  var listening: StreamState
  var writing: StreamState
  var writes: WriteBook
  /// Why the server last took no writes, as the developer was told.
  var lastWords: String?
  /// Those of who used this device before, in this run or as it was read from their queues.
  var former: [QueueUser: WriteBook] = [:]
  var writeNames = WriteNames()
  /// Whether the queues of all users were looked into.
  var knowsAllUsers = false
  var calls = CallBook()
  /// Why the cache could not be opened, or last could not be stored; `nil` while it is well.
  package internal(set) var cacheFailure: StorageError?

  private var hasCacheStopped = false
  private var owed: [DocumentClientEffect] = []
  private var backlog: [DocumentEffect] = []
  private var isRunning = false

  /// One of the two streams that are opened again when they end.
  struct StreamState: Sendable {
    /// Whether the replica asks for it.
    var isWanted = false
    /// The call it is; `nil` while there is none.
    var call: UInt32?
    /// Whether a timer has to run out before it is opened.
    var isResting = false
    var backoff: Backoff

    /// Forgets past failures: what is opened next is opened at once.
    mutating func forgetRest() {
      isResting = false
      backoff.reset()
    }
  }

  /// Starts with what is cached and queued.
  ///
  /// - Parameters:
  ///   - user: Who uses this device.
  ///   - stream: The stream that the user's writes are numbered in.
  ///   - pending: What the queue holds, in order, as the replica's cache was given it.
  ///   - rejected: The batches in it that the server rejected.
  ///   - nextSequence: The number that the queue gives next.
  package init(
    replica: DocumentReplica, database: DocumentDatabase, user: QueueUser = .nobody,
    stream: UInt128, pending: [DocumentQueuedBatch],
    rejected: [RejectedDocumentBatch] = [], nextSequence: UInt64 = 1, ambient: Ambient,
    limits: Limits = Limits()
  ) {
    self.replica = replica
    self.database = database
    self.user = user
    self.ambient = ambient
    self.limits = limits
    names = DocumentNames(database)
    listening = StreamState(backoff: Backoff(limits: limits.backoff))
    writing = StreamState(backoff: Backoff(limits: limits.backoff))
    writes = WriteBook(stream: stream, nextSequence: nextSequence)
    for queued in pending {
      writes.restore(queued)
      writeNames.note(batch: queued.batch.id)
    }
    for batch in rejected { writes.restore(batch) }
  }

  /// Begins to send what was pending. Called once, before anything else.
  package mutating func start() {
    run(replica.start())
    owe(.startTimer(.evict, Housekeeping.firstEviction))
    owe(.startTimer(.index, Housekeeping.firstIndexing))
  }

  /// How often a device looks after its cache. Source: documents reference, section 5.2.
  enum Housekeeping {
    static let firstEviction: Duration = .seconds(60)
    static let eviction: Duration = .seconds(300)
    static let firstIndexing: Duration = .seconds(15)
    static let indexing: Duration = .seconds(60)
    /// The same while there is more to index: a large cache is indexed within minutes, not hours.
    static let busyIndexing: Duration = .seconds(1)
    /// The most documents that are indexed in one go.
    static let indexedDocuments = 500
  }

  /// Whether anything is owed.
  package var owesSomething: Bool { !owed.isEmpty }

  /// Hands out what is owed.
  package mutating func takeEffects() -> [DocumentClientEffect] {
    defer { owed = [] }
    return owed
  }

  /// Keeps what the server has told. A device whose cache fails works on without keeping.
  ///
  /// - Returns: Why it could not be kept, the first time.
  @discardableResult
  package mutating func storeCache() -> StorageError? {
    guard !hasCacheStopped else { return nil }
    var failure: StorageError?
    do throws(StorageError) { try replica.commit() } catch {
      hasCacheStopped = true
      cacheFailure = error
      failure = error
    }
    run(replica.afterCommit())
    return failure
  }

  mutating func owe(_ effect: DocumentClientEffect) { owed.append(effect) }

  /// Does what the replica owes, and what that leads to, in order.
  mutating func run(_ effects: [DocumentEffect]) {
    backlog += effects
    guard !isRunning else { return }
    isRunning = true
    var next = 0
    while next < backlog.count {
      perform(backlog[next])
      next += 1
    }
    backlog = []
    isRunning = false
  }

  private mutating func perform(_ effect: DocumentEffect) {
    switch effect {
    case .openWatchStream: openListening()
    case .closeWatchStream: closeListening()
    case .watch(let target): listen(.add(target))
    case .unwatch(let target): listen(.remove(target))
    case .openWriteStream: openWriting()
    case .closeWriteStream: closeWriting()
    case .send(let batch): queueToSend(batch)
    case .startOnlineTimer(let delay): owe(.startTimer(.online, delay))
    case .stopOnlineTimer: owe(.stopTimer(.online))
    case .snapshot(let id, let snapshot): owe(.snapshot(id, snapshot))
    case .failed(let id, let status): owe(.failed(id, status))
    case .answered(let id, let result): owe(.answered(id, result))
    case .settled(let batch, let status): owe(.settled(batch: batch, status))
    case .writesSettled(let id, let isCancelled):
      owe(.writesSettled(id, isCancelled: isCancelled))
    case .inSync(let id): owe(.inSync(id))
    }
  }
}
