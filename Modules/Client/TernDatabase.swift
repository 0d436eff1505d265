public import TernCore
public import TernStorage
public import TernSync
public import TernTransport
import TernTreeReplica

/// A database as an application sees it: offline first, and in sync whenever there is a connection.
///
/// End it with ``close()``. Without it, the connections end when neither the database nor a
/// reference, a running listener or the handle of a write is held any more. Queued writes are sent
/// when it is opened again.
///
/// ```swift
/// let tern = try TernDatabase.open(ClientParts(queue: queue, cache: cache, transport: transport))
/// try await tern.tree["rooms/42/title"].set("Hi")
/// ```
public final class TernDatabase: Sendable {
  /// The realtime tree.
  public let tree: TreeDatabase
  /// The user of this client.
  public let auth: ClientAuth
  private let ownsAuth: Bool
  private let openDocuments: Documents?
  private let parts: ClientParts

  private init(
    tree: TreeDatabase, documents: Documents?, auth: ClientAuth, ownsAuth: Bool,
    parts: ClientParts
  ) {
    self.tree = tree
    self.auth = auth
    self.ownsAuth = ownsAuth
    openDocuments = documents
    self.parts = parts
  }

  /// The documents. Where the parts named no stores for them, ``ClientParts/documents``, every
  /// operation throws ``DocumentsError/notOpened``.
  public var documents: Documents { openDocuments ?? .notOpened(over: parts.transport) }

  /// Ends the connections of the tree and the documents, and stays without until ``goOnline()``.
  ///
  /// The server carries out this client's onDisconnect operations. Listeners keep what they have;
  /// writes keep working here and wait.
  public func goOffline() async {
    await tree.goOffline()
    await openDocuments?.goOffline()
  }

  /// Allows connections again, and tries at once.
  public func goOnline() async {
    await openDocuments?.goOnline()
    await tree.goOnline()
  }

  /// Opens a database with what is in its stores; the connection is made at its first use.
  ///
  /// Pending writes that the signed-in user made in earlier runs are part of what is seen at once,
  /// and are sent in their order. Those of other users wait for their return, see ``ClientAuth``.
  ///
  /// - Throws: ``OpeningError``: the store of a queue could not be read, or a record in that of the
  ///   tree is damaged; each case names its way out. A cache that cannot be read is reported
  ///   (``ClientNotice/cacheUnusable(_:_:)``), and done without. So is a queue for which there is
  ///   no space (``ClientNotice/queueUnusable(user:_:)``), and one of documents with damaged
  ///   records (``ClientNotice/documentQueueUnusable(user:_:)``).
  public static func open(
    _ parts: ClientParts, options: ClientOptions = ClientOptions(),
    ambient: RuntimeEnvironment = .system
  ) throws(OpeningError) -> TernDatabase {
    do throws(StorageError) { try parts.wipe.finish() } catch { throw .queue(.storage(error)) }
    var options = options
    let ownsAuth = options.auth == nil
    let auth: ClientAuth
    if let shared = options.auth { auth = shared } else { auth = try openAuth(parts, ambient) }
    options.auth = auth
    let (session, lost): (TreeSession, [LostTransaction])
    do throws(QueueError) {
      (session, lost) = try openTree(parts, options, ambient)
    } catch {
      throw .queue(error)
    }
    auth.attach(session)
    var documents: Documents?
    if let named = parts.documents {
      documents = try Documents.open(
        named, over: parts.transport, options: options, ambient: ambient, isOffline: false,
        tolerating: { $0.isOfUser || $0.isOfRecords })
    }
    session.submit { $0.begin() }
    if !lost.isEmpty {
      let user = auth.currentUser?.uid ?? ""
      options.report(.transactionsLost(user: user, at: lost.map(\.path)))
    }
    return TernDatabase(
      tree: TreeDatabase(session: session, lostTransactions: lost.map(\.path)),
      documents: documents, auth: auth, ownsAuth: ownsAuth, parts: parts)
  }

  private static func openAuth(
    _ parts: ClientParts, _ ambient: RuntimeEnvironment
  ) throws(OpeningError) -> ClientAuth {
    do throws(AuthError) {
      return try ClientAuth(store: parts.queue, ambient: ambient)
    } catch {
      switch error {
      case .notStored(let error): throw .queue(.storage(error))
      case .malformedToken, .userTooLong:
        preconditionFailure("a kept sign-in that is no credential is ignored")
      }
    }
  }

  private static func openTree(
    _ parts: ClientParts, _ options: ClientOptions, _ ambient: RuntimeEnvironment
  ) throws(QueueError) -> (TreeSession, [LostTransaction]) {
    let user = QueueUser(signedInTo: options.auth)
    let shelf = WriteQueueRegistry(
      store: parts.queue, of: WriteRecord.records, limits: options.queue, ambient: ambient)
    let queue: OpenedQueue
    do throws(QueueError) {
      queue = try shelf.openFirst(user)
      if !queue.setAside.isEmpty {
        options.report(.writesSetAside(user: user.id, queue.setAside))
      }
    } catch {
      guard error.isOfUser else { throw error }
      // This user's writes are rejected; everything else works, the sign-in of another one too.
      queue = .none(client: ambient.randomID())
      options.report(.queueUnusable(user: user.id, error))
    }
    let (cache, cacheFailure) = parts.openCache(limitBytes: options.cacheLimitBytes)
    var machine = TreeMachine(
      replica: TreeReplica(cache: cache), namespace: options.namespace, user: user,
      client: queue.client, origin: shelf.origin ?? queue.origin,
      nextSequence: queue.nextSequence, ambient: ambient,
      addressCount: parts.transport.addressCount, limits: options.machineLimits)
    machine.cacheFailure = cacheFailure
    if let cacheFailure { options.report(.cacheUnusable(.tree, cacheFailure)) }
    let lost = try machine.restore(queue.rows)
    let session = TreeSession(
      machine: machine, queues: shelf,
      place: options.syncsInBackground ? .background : .caller, transport: parts.transport,
      ambient: ambient, report: options.report)
    return (session, lost)
  }

  /// Ends the database: the connection is closed, listeners end, waiting calls throw `closed`.
  ///
  /// Durable writes are kept. The stores and the transport belong to their maker, which
  /// ``ClientParts/whenClosed`` informs.
  public func close() async {
    await closeSessions()
    await parts.whenClosed()
  }

  /// Ends the database like ``close()``, and forgets everything on this device: what it was told
  /// and
  /// what waits to be sent, of the tree and the documents.
  ///
  /// No byte of it is left in the files of its stores, see ``TernStorage/OrderedStore/wipe()``.
  /// When
  /// the program ends in the middle, the next ``open(_:options:ambient:)`` finishes.
  ///
  /// - Throws: The error of the store that could not be wiped; the next opening tries again.
  public func wipe() async throws(StorageError) {
    await closeSessions()
    let wiped = Result { () throws(StorageError) in try parts.wipe.run() }
    await parts.whenClosed()
    try wiped.get()
  }

  private func closeSessions() async {
    await tree.session.close()
    // An acknowledged write leaves the queue a moment later: the stores stay open until it has.
    await tree.session.queueSettled()
    await openDocuments?.terminate()
    if ownsAuth { auth.close() }
  }
}

/// The parts of a client.
public struct ClientParts: Sendable {
  /// The store of pending writes; must be durable, and be used for nothing else.
  public var queue: any OrderedStore
  /// The store of the server's data for the next start; `nil` keeps none. May lose its last writes
  /// without harm, so it is best opened relaxed.
  public var cache: (any OrderedStore)?
  /// The reason for a missing cache; it is reported.
  public var cacheFailure: StorageError?
  /// The transport to the server.
  public var transport: any Transport
  /// The stores of the documents; `nil` for a client of the tree alone.
  public var documents: DocumentParts?
  /// The closing of the parts above, for parts that only this database uses. Called by every
  /// ``TernDatabase/close()``.
  public var whenClosed: @Sendable () async -> Void = {}

  /// Names the parts; nothing is opened or connected yet.
  public init(queue: any OrderedStore, cache: (any OrderedStore)?, transport: any Transport) {
    self.queue = queue
    self.cache = cache
    self.transport = transport
  }

  /// The erasure of all of it.
  var wipe: StoreWipe {
    StoreWipe(queue: queue, caches: [cache, documents?.cache, documents?.queue])
  }

  /// Opens the cache. A client whose cache cannot be opened works without one.
  func openCache(limitBytes: Int?) -> (TreeCache?, StorageError?) {
    guard let cache else { return (nil, cacheFailure) }
    do throws(StorageError) {
      return (try TreeCache(store: cache, prefix: [], limitBytes: limitBytes ?? .max), nil)
    } catch {
      return (nil, error)
    }
  }
}

/// The bounds of what may be chosen about a client.
public enum ClientLimits {
  /// The most writes on their way to the server without an answer; half of what it remembers the
  /// outcomes of.
  public static let window = 8_192
  /// The fewest bytes a cache may be limited to: 1 MiB.
  public static let cacheBytes = 1 << 20
}

/// The options of a client.
public struct ClientOptions: Sendable {
  /// The tree database of clients that name none.
  public static let defaultNamespace = "default"

  /// The name of the tree database on the server, `ns` in the addresses of its HTTP endpoints: at
  /// least one byte, and no control characters.
  ///
  /// The stores of a client belong to one database: open others for another name, as an assembler
  /// does, or its queued writes reach the wrong database.
  public var namespace = Self.defaultNamespace
  /// The most the queue of writes holds.
  public var queue = QueueLimits()
  /// The bytes of server data the cache keeps at most, unless active listeners need more;
  /// `nil` keeps everything.
  public var cacheLimitBytes: Int? = 10 * 1024 * 1024
  /// The database whose documents an assembled client opens; `nil` for the tree alone.
  public var documents = try? DocumentDatabase(projectID: "tern")
  /// The bytes of documents the cache keeps at most, unless active listeners need more: at least
  /// ``ClientLimits/cacheBytes``; `nil` keeps everything.
  public var documentCacheLimitBytes: Int? = 100 * 1024 * 1024
  /// True when queries of documents that read many for few results get indexes by themselves, see
  /// ``DocumentIndexes``.
  public var createsDocumentIndexes = true
  /// True when a document leaves the cache as soon as no listener needs it: for caches in memory.
  public var forgetsUnusedDocuments = false
  /// The most writes on their way to the server without an answer, 1...``ClientLimits/window``.
  public var window = 1_024
  /// The user of the client, if other clients of the program share it; `nil` keeps it in the store
  /// of the queue.
  public var auth: ClientAuth?
  /// The time that a one-time read waits for a connection before it reads the cache.
  public var readPatience: Duration = .seconds(3)
  /// The most that may wait in this client at the same moment.
  public var waiting = WaitingLimits()
  /// Hears what a developer wants to know, on the session, and must not wait.
  public var report: @Sendable (ClientNotice) -> Void = { _ in }
  /// True when queued writes are made durable on a thread of their own. Without, a write blocks its
  /// session for the time of the sync: right for stores in memory and for simulations.
  public var syncsInBackground = true

  /// The defaults.
  public init() {}

  var machineLimits: TreeMachine.Limits {
    var limits = TreeMachine.Limits()
    // The server must still know the outcome of everything that may be on its way.
    limits.window = min(max(window, 1), ClientLimits.window)
    limits.readPatience = readPatience
    limits.waiting = waiting
    return limits
  }
}
