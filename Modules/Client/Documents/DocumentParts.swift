public import TernCore
import TernDocumentReplica
public import TernStorage
import TernStorageMemory
public import TernSync
public import TernTransport

/// The parts of a client for documents, beside those that all of it shares.
public struct DocumentParts: Sendable {
  /// The database that is spoken of.
  public var database: DocumentDatabase
  /// The store of pending writes; must be durable, and be used for nothing else.
  public var queue: any OrderedStore
  /// The store of the server's documents; `nil` keeps them in memory. May lose its last writes
  /// without harm, so it is best opened relaxed.
  public var cache: (any OrderedStore)?
  /// The reason for a missing cache; it is reported.
  public var cacheFailure: StorageError?

  /// Names the parts; nothing is opened yet.
  public init(database: DocumentDatabase, queue: any OrderedStore, cache: (any OrderedStore)?) {
    self.database = database
    self.queue = queue
    self.cache = cache
  }

  /// The erasure of all of it.
  var wipe: StoreWipe { StoreWipe(queue: queue, caches: [cache]) }

  /// Opens the cache; one that cannot be opened is replaced by one in memory.
  func openCache(
    _ settings: DocumentCache.Settings, _ user: QueueUser, _ batches: [DocumentBatch]
  ) -> (DocumentCache, StorageError?) {
    var failure = cacheFailure
    if let cache {
      do throws(StorageError) {
        let opened = try DocumentCache(
          store: cache, prefix: [], settings: settings, user: user.id, batches: batches)
        return (opened, nil)
      } catch {
        failure = error
      }
    }
    do throws(StorageError) {
      let inMemory = try DocumentCache(
        store: MemoryStore(), prefix: [], settings: settings, user: user.id, batches: batches)
      return (inMemory, failure)
    } catch {
      preconditionFailure("a new store in memory can be read and written: \(error)")
    }
  }
}

extension Documents {
  /// Opens the documents with what is in their stores; the connection is made at its first use.
  ///
  /// For a client of documents alone; ``terminate()`` ends it.
  /// ``TernDatabase/open(_:options:ambient:)``
  /// opens them beside a tree.
  ///
  /// - Parameter isOffline: Whether there is no traffic before ``goOnline()``.
  /// - Throws: ``OpeningError``: the queue could not be read. A cache that cannot be is replaced by
  ///   one in memory, and reported: ``ClientNotice/cacheUnusable(_:_:)``.
  public static func open(
    _ parts: DocumentParts, over transport: any Transport,
    options: ClientOptions = ClientOptions(), ambient: RuntimeEnvironment = .system,
    isOffline: Bool = false
  ) throws(OpeningError) -> Documents {
    try open(
      parts, over: transport, options: options, ambient: ambient, isOffline: isOffline,
      tolerating: \.isOfUser)
  }

  /// - Parameter isTolerable: Returns true for the failures of a queue that are reported, and with
  ///   which the documents open all the same: the user's writes are rejected.
  static func open(
    _ parts: DocumentParts, over transport: any Transport, options: ClientOptions,
    ambient: RuntimeEnvironment, isOffline: Bool, tolerating isTolerable: (QueueError) -> Bool
  ) throws(OpeningError) -> Documents {
    let user = QueueUser(signedInTo: options.auth)
    let shelf = WriteQueueRegistry(
      store: parts.queue, of: DocumentBatchRecord.records(in: parts.database),
      limits: options.queue, ambient: ambient)
    do throws(StorageError) { try parts.wipe.finish() } catch {
      throw .documentQueue(.storage(error))
    }
    var queue: RestoredBatches
    do throws(QueueError) {
      queue = try RestoredBatches(of: user, in: parts.database, shelf)
      if !queue.setAside.isEmpty {
        options.report(.documentWritesSetAside(user: user.id, queue.setAside))
      }
    } catch {
      guard isTolerable(error) else { throw .documentQueue(error) }
      shelf.refuse(user, error)
      queue = RestoredBatches()
      options.report(.documentQueueUnusable(user: user.id, error))
    }
    let settings = DocumentCache.Settings(
      limitBytes: options.documentCacheLimitBytes, isEager: options.forgetsUnusedDocuments)
    var (cache, cacheFailure) = parts.openCache(settings, user, queue.pending.map(\.batch))
    cache.createsIndexes = options.createsDocumentIndexes
    var limits = DocumentReplica.Limits()
    limits.reads = options.waiting.reads
    var machine = DocumentMachine(
      replica: DocumentReplica(cache: cache, database: parts.database, limits: limits),
      database: parts.database, user: user, stream: queue.stream, pending: queue.pending,
      rejected: queue.rejected, nextSequence: queue.nextSequence, ambient: ambient,
      addressCount: transport.addressCount)
    machine.cacheFailure = cacheFailure
    if let cacheFailure { options.report(.cacheUnusable(.documents, cacheFailure)) }
    let session = DocumentSession(
      machine: machine, queues: shelf,
      place: options.syncsInBackground ? .background : .caller, transport: transport,
      ambient: ambient, waiting: options.waiting, report: options.report)
    if isOffline { session.submit { $0.setNetwork(isEnabled: false) } }
    options.auth?.attach(session)
    session.submit { $0.begin() }
    return Documents(
      session: session, ambient: ambient, database: parts.database, wipe: parts.wipe)
  }
}

/// The contents of a user's queue as a machine takes them up; by default those of no queue.
private struct RestoredBatches {
  /// `nil` without a queue.
  var stream: UInt128?
  var nextSequence: UInt64 = 1
  var pending: [DocumentQueuedBatch] = []
  var rejected: [RejectedDocumentBatch] = []
  var setAside: [DamagedRecord] = []

  init() {}

  /// Opens the queue of the first user.
  init(
    of user: QueueUser, in database: DocumentDatabase, _ shelf: WriteQueueRegistry
  ) throws(QueueError) {
    let queue = try shelf.openFirst(user)
    stream = queue.client
    nextSequence = queue.nextSequence
    setAside = queue.setAside
    (pending, rejected) = try DocumentBatchRecord.batches(in: queue.rows, of: user, database)
  }
}

extension Documents {
  /// Documents of a database that was opened for the tree alone: every operation says so.
  static func notOpened(over transport: any Transport) -> Documents {
    let stores = DocumentParts(
      database: DocumentDatabase(unchecked: "none"), queue: MemoryStore(), cache: nil)
    let cache = stores.openCache(DocumentCache.Settings(limitBytes: nil), QueueUser(""), []).0
    let machine = DocumentMachine(
      replica: DocumentReplica(cache: cache, database: stores.database),
      database: stores.database, user: QueueUser(""), stream: 0, pending: [], rejected: [],
      nextSequence: 1, ambient: .system)
    let queues = WriteQueueRegistry(
      store: stores.queue, of: DocumentBatchRecord.records(in: stores.database),
      limits: QueueLimits(), ambient: .system)
    let session = DocumentSession(
      machine: machine, queues: queues, place: .caller, transport: transport, ambient: .system,
      waiting: WaitingLimits(), isOpened: false)
    return Documents(
      session: session, ambient: .system, database: stores.database, wipe: stores.wipe)
  }
}
