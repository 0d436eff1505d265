public import TernCore
import TernDocumentEngine
public import TernStorage
import TernStorageMemory
public import TernSync
public import TernTransport

/// What the documents of a client are made of, beside what all of it shares.
public struct DocumentParts: Sendable {
  /// The database that is spoken of.
  public var database: DocumentDatabase
  /// Where writes wait until the server has answered them; must be durable, and be used for
  /// nothing else.
  public var queue: any OrderedStore
  /// Where the server's documents are kept; `nil` keeps them in memory. May lose its last writes
  /// without harm, so it is best opened relaxed.
  public var cache: (any OrderedStore)?
  /// Why there is no cache although there should be one; it is reported.
  public var cacheFailure: StorageError?

  /// Names the parts; nothing is opened yet.
  public init(database: DocumentDatabase, queue: any OrderedStore, cache: (any OrderedStore)?) {
    self.database = database
    self.queue = queue
    self.cache = cache
  }

  /// What forgets all of it.
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
  /// For a client of documents alone; ``terminate()`` ends it. ``Tern/open(_:options:ambient:)``
  /// opens them beside a tree.
  ///
  /// - Parameter isOffline: Whether there is no traffic before ``enableNetwork()``.
  /// - Throws: ``OpeningError``: the queue could not be read. A cache that cannot be is replaced by
  ///   one in memory, and reported: ``ClientNotice/cacheUnusable(_:_:)``.
  public static func open(
    _ parts: DocumentParts, over transport: any Transport,
    options: ClientOptions = ClientOptions(), ambient: Ambient = .system, isOffline: Bool = false
  ) throws(OpeningError) -> Documents {
    let user = QueueUser(signedInTo: options.auth)
    let shelf = QueueShelf(store: parts.queue, limits: options.queue, ambient: ambient)
    let queue: OpenedQueue
    let (pending, rejected): ([DocumentQueuedBatch], [RejectedDocumentBatch])
    do throws(StorageError) { try parts.wipe.finish() } catch {
      throw .documentQueue(.storage(error))
    }
    do throws(QueueError) {
      queue = try shelf.openFirst(user)
      (pending, rejected) = try DocumentBatchRecord.batches(
        in: queue.rows, of: user, parts.database)
    } catch {
      throw .documentQueue(error)
    }
    let settings = DocumentCache.Settings(
      limitBytes: options.documentCacheLimitBytes, isEager: options.forgetsUnusedDocuments)
    var (cache, cacheFailure) = parts.openCache(settings, user, pending.map(\.batch))
    cache.createsIndexes = options.createsDocumentIndexes
    var limits = DocumentReplica.Limits()
    limits.reads = options.waiting.reads
    var machine = DocumentMachine(
      replica: DocumentReplica(cache: cache, database: parts.database, limits: limits),
      database: parts.database, user: user, stream: queue.client, pending: pending,
      rejected: rejected, nextSequence: queue.nextSequence, ambient: ambient)
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
