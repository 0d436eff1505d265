package import TernCore
package import TernDocumentReplica
import TernDocumentWire
package import TernStorage
package import TernSync

/// The documents of one client: a replica, the link to its server, and the writes in between.
///
/// A machine without input and output: what happens is told by its verbs, what it requests is taken
/// by ``drainEffects()``. The state lies in parts; the machine composes them, and takes every event
/// to the part it concerns.
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
  var channel: DocumentChannel
  /// The stream that brings what is listened to.
  var listening: DocumentStream
  var outbox: DocumentOutbox
  var calls: PendingCalls
  private var upkeep = DocumentCacheUpkeep()
  private var backlog = DocumentEffectBacklog()

  /// Starts with what is cached and queued.
  ///
  /// - Parameters:
  ///   - user: Who uses this device.
  ///   - stream: The stream that the user's writes are numbered in; `nil` without a queue.
  ///   - pending: What the queue holds, in order, as the replica's cache was given it.
  ///   - rejected: The batches in it that the server rejected.
  ///   - nextSequence: The number that the queue gives next.
  ///   - addressCount: The number of addresses of the server, 1 or more.
  package init(
    replica: DocumentReplica, database: DocumentDatabase, user: QueueUser = .nobody,
    stream: UInt128?, pending: [DocumentQueuedBatch],
    rejected: [RejectedDocumentBatch] = [], nextSequence: UInt64 = 1, ambient: RuntimeEnvironment,
    addressCount: Int = 1, limits: Limits = Limits()
  ) {
    self.replica = replica
    channel = DocumentChannel(to: database, ambient: ambient, addressCount: addressCount)
    listening = DocumentStream(.listen, retriedAfter: .listenRetry, limits.backoff)
    outbox = DocumentOutbox(user, stream: stream, nextSequence: nextSequence, limits)
    outbox.restore(pending: pending, rejected: rejected)
    calls = PendingCalls(limit: limits.calls)
  }

  /// Begins to send what was pending. Called once, before anything else.
  package mutating func start() {
    run(replica.start())
    upkeep.start(&channel)
  }

  /// The user of this device.
  package var user: QueueUser { outbox.user }

  /// True when effects are pending.
  package var owesSomething: Bool { channel.connection.hasEffects }

  /// Returns the effects since the last call.
  package mutating func drainEffects() -> [DocumentClientEffect] {
    channel.connection.drainEffects()
  }

  mutating func emit(_ effect: DocumentClientEffect) { channel.emit(effect) }
}

// MARK: - The replica's effects

extension DocumentMachine {
  /// Does what the replica requests, and what that leads to, in order.
  mutating func run(_ effects: [DocumentEffect]) {
    guard backlog.add(effects) else { return }
    while let effect = backlog.next() { perform(effect) }
  }

  private mutating func perform(_ effect: DocumentEffect) {
    switch effect {
    case .openWatchStream: openListening()
    case .closeWatchStream: listening.close(&channel)
    case .watch(let target): listening.send(.listen(.add(target)), &channel)
    case .unwatch(let target): listening.send(.listen(.remove(target)), &channel)
    case .openWriteStream: openWriting()
    case .closeWriteStream: outbox.closeStream(&channel)
    case .send(let batch): queueToSend(batch)
    case .startOnlineTimer(let delay): emit(.startTimer(.online, delay))
    case .stopOnlineTimer: emit(.stopTimer(.online))
    case .snapshot(let id, let snapshot): emit(.snapshot(id, snapshot))
    case .failed(let id, let status): emit(.failed(id, status))
    case .answered(let id, let result): emit(.answered(id, result))
    // A rejection is told once the queue keeps it.
    case .settled(let batch, let status): if status == nil { emit(.settled(batch: batch, nil)) }
    case .writesSettled(let id, let isCancelled):
      emit(.writesSettled(id, isCancelled: isCancelled))
    case .inSync(let id): emit(.inSync(id))
    }
  }
}

// MARK: - The cache

extension DocumentMachine {
  /// The reason the cache could not be opened, or last could not be stored; `nil` while it is well.
  package internal(set) var cacheFailure: StorageError? {
    get { upkeep.failure }
    set { upkeep.failure = newValue }
  }

  /// Keeps what the server has told. A device whose cache fails works on without keeping.
  ///
  /// - Returns: Why it could not be kept, the first time.
  @discardableResult
  package mutating func storeCache() -> StorageError? {
    guard !upkeep.hasStopped else { return nil }
    let failure = upkeep.store(&replica)
    run(replica.afterCommit())
    return failure
  }

  /// A timer ran out.
  package mutating func timerFired(_ timer: DocumentTimer) {
    switch timer {
    case .connection(let timer): connectionEvent(.timerFired(timer))
    case .online: run(replica.onlineTimerFired())
    case .listenRetry: if listening.rested() { openListening() }
    case .writeRetry: if outbox.rested() { openWriting() }
    case .evict: upkeep.evict(&replica, &channel)
    case .index: upkeep.index(&replica, &channel)
    }
  }

  /// Ends the connection for good.
  package mutating func close() {
    connectionEvent(.interrupt(.closed))
    calls.failAll(.unreachable, &channel)
    upkeep.stop(&channel)
  }

  /// Restores the queues of other users: the documents they have written must stay cached.
  ///
  /// - Returns: Whose queue cannot be read or makes no sense, and why.
  package mutating func restore(
    others: [(user: QueueUser, queue: Result<OpenedQueue, QueueError>)]
  ) -> [(user: QueueUser, failure: QueueError)] {
    upkeep.foundOthers()
    var failures: [(user: QueueUser, failure: QueueError)] = []
    for (user, opened) in others where !outbox.users.knows(user) {
      do throws(QueueError) {
        let batches = try outbox.add(try opened.get(), of: user, in: channel.database)
        replica.cache.restore(batches)
      } catch {
        failures.append((user, error))
      }
    }
    _ = replica.cache.evict()
    return failures
  }
}
