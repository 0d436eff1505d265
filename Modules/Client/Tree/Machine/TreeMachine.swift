package import TernCore
package import TernStorage
package import TernSync
package import TernTreeReplica

/// The decisions of one client, without a thread, a clock, a disk or a socket.
///
/// Its owner calls one method for every event, and performs the effects it collects, in order,
/// before the next call: ``drainEffects()``. Nothing here waits.
///
/// The state lies in parts; the machine composes them, and takes every event to the part it
/// concerns.
package struct TreeMachine: Sendable {
  package struct Limits: Sendable {
    /// The most writes on their way to the server without an answer.
    package var window = 1_024
    /// The most bytes of frames on their way without an answer; one frame may always go.
    package var windowBytes = 16 * 1024 * 1024
    /// The time that a one-time read waits for a connection before it reads the cache.
    package var readPatience: Duration = .seconds(3)
    package var waiting = WaitingLimits()
    package var connection = Connection.Limits()

    package init() {}
  }

  let limits: Limits
  /// Views, writes, outbox, and the channel to the server.
  var exchange: TreeExchange
  var transactions: TreeTransactions
  var reads: TreeReads
  var presence = TreePresence()
  private var pushIDs = PushIDGenerator()

  /// Makes a client that has not been used yet.
  ///
  /// - Parameters:
  ///   - user: Who uses the device.
  ///   - client: The stream of their durable writes, from the queue.
  ///   - namespace: The name of the tree database on the server.
  ///   - origin: What names its store for ever, from the queue; by default its stream.
  ///   - nextSequence: The number its next write will get.
  ///   - addressCount: The number of addresses of the server, 1 or more.
  package init(
    replica: TreeReplica, namespace: String = ClientOptions.defaultNamespace,
    user: QueueUser = .nobody, client: UInt128, origin: UInt128? = nil, nextSequence: UInt64,
    ambient: RuntimeEnvironment,
    addressCount: Int = 1, limits: Limits = Limits()
  ) {
    self.limits = limits
    exchange = TreeExchange(
      channel: TreeChannel(
        namespace: namespace, origin: origin ?? client, ambient: ambient,
        connection: ClientConnection(limits.connection, addressCount: addressCount)),
      views: TreeViews(replica),
      writes: TreeWrites(user, UserWrites(client: client, nextSequence: nextSequence)),
      outbox: TreeOutbox(limits, transactionStream: ambient.randomID()))
    transactions = TreeTransactions(limits)
    reads = TreeReads(limits)
  }

  /// Returns the effects since the last call.
  package mutating func drainEffects() -> [TreeClientEffect] {
    exchange.channel.connection.drainEffects()
  }
}

// MARK: - State

extension TreeMachine {
  /// The user of this device.
  package var user: QueueUser { exchange.writes.user }

  /// Pending writes in the order they were made, and rejected ones in the order of their rows.
  package var queueStatus: TreeQueueStatus {
    TreeQueueStatus(
      pending: exchange.writes.users.present.pending,
      rejected: exchange.writes.users.present.rejected)
  }

  /// The pending writes that listeners see, oldest first, with server values as estimated here.
  package var visibleWrites: [TreeWrite] { exchange.views.replica.overlay.visibleWrites }

  /// Writes and other ordered requests on their way without an answer; at most the window.
  package var unansweredWrites: Int { exchange.outbox.unansweredCount }

  /// The reason the cache last could not be stored.
  package internal(set) var cacheFailure: StorageError? {
    get { exchange.views.cacheFailure }
    set { exchange.views.cacheFailure = newValue }
  }

  /// Stores what the cache gathered, in one transaction. A cache that fails costs nothing but the
  /// data it would have kept.
  ///
  /// - Returns: Why it could not be stored, the first time.
  @discardableResult
  package mutating func storeCache() -> StorageError? { exchange.views.storeCache() }

  /// The name of a child made now.
  package mutating func pushKey() -> TreeKey {
    pushIDs.next(
      milliseconds: exchange.channel.serverNow,
      randomBits: exchange.channel.ambient.randomBits)
  }
}
