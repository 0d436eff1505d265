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
    _ settings: DocumentCache.Settings, _ batches: [DocumentBatch]
  ) -> (DocumentCache, StorageError?) {
    var failure = cacheFailure
    if let cache {
      do throws(StorageError) {
        let opened = try DocumentCache(
          store: cache, prefix: [], settings: settings, batches: batches)
        return (opened, nil)
      } catch {
        failure = error
      }
    }
    do throws(StorageError) {
      let inMemory = try DocumentCache(
        store: MemoryStore(), prefix: [], settings: settings, batches: batches)
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
    let queue: WriteQueue
    let rows: [QueuedWrite]
    let (pending, refused): ([DocumentQueuedBatch], [RefusedDocumentBatch])
    do throws(StorageError) { try parts.wipe.finish() } catch {
      throw .documentQueue(.storage(error))
    }
    do throws(QueueError) {
      (queue, rows) = try WriteQueue.open(
        parts.queue, limits: options.queue, newClient: ambient.randomID())
      (pending, refused) = try restored(rows, parts.database)
    } catch {
      throw .documentQueue(error)
    }
    let settings = DocumentCache.Settings(
      limitBytes: options.documentCacheLimitBytes, isEager: options.forgetsUnusedDocuments)
    var (cache, cacheFailure) = parts.openCache(settings, pending.map(\.batch))
    cache.createsIndexes = options.createsDocumentIndexes
    var machine = DocumentMachine(
      replica: DocumentReplica(cache: cache, database: parts.database), database: parts.database,
      stream: queue.client, pending: pending, refused: refused, nextSequence: queue.nextSequence,
      ambient: ambient)
    machine.cacheFailure = cacheFailure
    if let cacheFailure { options.report(.cacheUnusable(.documents, cacheFailure)) }
    let session = DocumentSession(
      machine: machine, queue: queue,
      place: options.syncsInBackground ? .background : .caller, transport: transport,
      ambient: ambient, waiting: options.waiting, report: options.report)
    if isOffline { session.submit { $0.setNetwork(isEnabled: false) } }
    options.auth?.attach(session)
    session.submit { $0.begin() }
    return Documents(
      session: session, ambient: ambient, database: parts.database, wipe: parts.wipe)
  }

  /// The batches of earlier runs, named anew in their order, and those that were refused.
  private static func restored(
    _ rows: [QueuedWrite], _ database: DocumentDatabase
  ) throws(QueueError) -> ([DocumentQueuedBatch], [RefusedDocumentBatch]) {
    var pending: [DocumentQueuedBatch] = []
    var refused: [RefusedDocumentBatch] = []
    for row in rows {
      let id = UInt64(pending.count + 1)
      let batch = try DocumentBatchRecord.batch(in: row, id: id, of: database)
      switch row.state {
      case .pending(let sequence):
        pending.append(DocumentQueuedBatch(batch: batch, row: row.id, sequence: sequence))
      case .rejected(let reason):
        refused.append(
          RefusedDocumentBatch(id: row.id, mutations: batch.mutations, reason: reason))
      case .kept: throw .damaged(id: row.id)
      }
    }
    return (pending, refused)
  }
}
