package import TernCore
package import TernDocumentReplica
import TernDocumentWire
package import TernStorage
package import TernSync

/// The documents of one client: a replica, the link to its server, and the writes in between.
///
/// A machine without input and output: what happens is told by its verbs, what is owed is taken
/// by ``drainEffects()``. Calls share one link, see Docs/Formats/document-wire.md.
package struct DocumentMachine: Sendable {
  /// The limits of a machine.
  package struct Limits: Sendable {
    /// The most calls that wait or are under way.
    package var calls = 1_000
    /// The most bytes of the writes of one batch, as they are sent: what a server takes in one
    /// request, without the little that goes with them. Source: documents reference, section 3.6.
    package var batchBytes = DocumentWireLimits.requestBytes - 1_024
    /// The pause before a failed stream is opened again. Source: documents reference, section 5.2.
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

  /// The documents and pending writes on this device.
  package var replica: DocumentReplica
  let database: DocumentDatabase
  let names: DocumentNames
  let ambient: RuntimeEnvironment
  let limits: Limits
  /// The user of this device.
  package internal(set) var user: QueueUser
  var credential: String?
  /// The credential that the server rejected last. With it no request is made: it would be rejected
  /// again.
  var refusedCredential: String?

  var connection = Connection()
  /// True while a working link is being left for another one.
  var isLeaving = false
  var lastCall: UInt32 = 0
  var listening: StreamState
  var writing: StreamState
  var writes: OutboundWrites
  /// The server's latest reason for taking no writes, as the developer was told.
  var lastWords: String?
  /// Those of who used this device before, in this run or as it was read from their queues.
  var former: [QueueUser: OutboundWrites] = [:]
  var writeNames = WriteNames()
  /// True when the queues of all users were read.
  var knowsAllUsers = false
  var calls = PendingCalls()
  /// The reason the cache could not be opened, or last could not be stored; `nil` while it is well.
  package internal(set) var cacheFailure: StorageError?

  private var hasCacheStopped = false
  private var pendingEffects: [DocumentClientEffect] = []
  private var backlog: [DocumentEffect] = []
  private var isRunning = false

  /// One of the two streams that are opened again when they end.
  struct StreamState: Sendable {
    /// True when the replica requests it.
    var isWanted = false
    /// The call it is; `nil` while there is none.
    var call: UInt32?
    /// True while a timer has to run out before it is opened.
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
    rejected: [RejectedDocumentBatch] = [], nextSequence: UInt64 = 1, ambient: RuntimeEnvironment,
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
    writes = OutboundWrites(stream: stream, nextSequence: nextSequence)
    for queued in pending {
      writes.restore(queued)
      writeNames.note(batch: queued.batch.id)
    }
    for batch in rejected { writes.restore(batch) }
  }

  /// Begins to send what was pending. Called once, before anything else.
  package mutating func start() {
    run(replica.start())
    emit(.startTimer(.evict, Housekeeping.firstEviction))
    emit(.startTimer(.index, Housekeeping.firstIndexing))
  }

  /// The intervals of a device's cache maintenance. Source: documents reference, section 5.2.
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

  /// True when effects are pending.
  package var owesSomething: Bool { !pendingEffects.isEmpty }

  /// Hands out what is owed.
  package mutating func drainEffects() -> [DocumentClientEffect] {
    defer { pendingEffects = [] }
    return pendingEffects
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

  mutating func emit(_ effect: DocumentClientEffect) { pendingEffects.append(effect) }

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
    case .startOnlineTimer(let delay): emit(.startTimer(.online, delay))
    case .stopOnlineTimer: emit(.stopTimer(.online))
    case .snapshot(let id, let snapshot): emit(.snapshot(id, snapshot))
    case .failed(let id, let status): emit(.failed(id, status))
    case .answered(let id, let result): emit(.answered(id, result))
    case .settled(let batch, let status): emit(.settled(batch: batch, status))
    case .writesSettled(let id, let isCancelled):
      emit(.writesSettled(id, isCancelled: isCancelled))
    case .inSync(let id): emit(.inSync(id))
    }
  }
}
