public import TernCore
import TernDocumentReplica
import TernDocumentWire
public import TernQuery
public import TernStorage
public import TernSync

/// The documents of a database, as an application sees them.
///
/// ```swift
/// let cities = tern.documents.collection("cities")
/// try await cities.document("SF").set(["name": "San Francisco", "state": "CA"])
/// for try await result in cities.where("state", .equals, "CA").snapshots() { … }
/// ```
public struct Documents: Sendable {
  package let session: DocumentSession
  let ambient: RuntimeEnvironment
  /// The project and id of the database.
  public let database: DocumentDatabase
  private let wipe: StoreWipe

  init(
    session: DocumentSession, ambient: RuntimeEnvironment, database: DocumentDatabase,
    wipe: StoreWipe
  ) {
    self.session = session
    self.ambient = ambient
    self.database = database
    self.wipe = wipe
  }

  /// A collection, by its path.
  ///
  /// A path that names none is told by the first operation on it.
  public func collection(_ path: String) -> DocumentCollection {
    DocumentCollection(
      documents: self,
      path: Result { () throws(DocumentError) in try CollectionPath(path) })
  }

  /// All collections of an id, at any depth.
  public func collectionGroup(_ id: String) -> DocumentQueryReference {
    DocumentQueryReference(
      documents: self,
      query: Result { () throws(DocumentQueryError) in try .group(id) })
  }

  /// A query that was made by hand.
  public func query(_ query: DocumentQuery) -> DocumentQueryReference {
    DocumentQueryReference(documents: self, query: .success(query))
  }

  /// A document, by its path.
  public func document(_ path: String) -> DocumentLocation {
    DocumentLocation(
      documents: self, key: Result { () throws(DocumentError) in try DocumentKey(path) })
  }

  /// Gathers writes that are made together or not at all.
  public func batch() -> DocumentWriteBatch { DocumentWriteBatch(documents: self) }

  /// Waits until the server has answered everything that is pending now, whatever it answers.
  ///
  /// Does not return while the device is offline and something is pending.
  public func waitForPendingWrites() async throws(DocumentsError) {
    let promise = Promise<Bool>()
    await session.waitForPendingWrites { promise.resolve($0) }
    guard await promise.value(ifCancelled: true) else { return }
    throw await session.isClosed ? session.closure : .cancelled
  }

  /// Returns the reason a call failed: where the documents are closed, that is the reason.
  func failure(_ status: DocumentStatus) async -> DocumentsError {
    if status == .cancelledWait { return .cancelled }
    return await session.isClosed ? session.closure : .refused(status)
  }

  /// The state of the connection of documents, now and whenever it changes; the tree has its own.
  public var connection: ListenSequence<ConnectionState, Never> {
    let session = session
    return ListenSequence(newest: { box in
      let id = await session.observeConnection(box)
      return { session.submit { $0.stopObserving(id) } }
    })
  }

  /// Ends the connection and stays without one until ``goOnline()``: reads answer from the cache,
  /// writes wait in the queue.
  public func goOffline() async { await session.setNetwork(isEnabled: false) }

  /// Allows a connection again, and tries at once.
  public func goOnline() async { await session.setNetwork(isEnabled: true) }

  /// Sets the credential that proves this client's identity to the server; `nil` shows none.
  public func setCredential(_ credential: String?) async {
    await session.setCredential(credential)
  }

  /// An element whenever all listeners have heard the same state of the world, first now.
  ///
  /// A slow reader skips.
  public func snapshotsInSync() -> ListenSequence<Void, DocumentsError> {
    let session = session
    return ListenSequence(newest: { box in
      let id = await session.listenInSync(
        DocumentStepHandler(heard: { box.post(()) }, ended: { box.fail(session.closure) }))
      guard let id else { return {} }
      return {
        box.cancel()
        session.submit { $0.unlistenInSync(id) }
      }
    })
  }

  /// Takes in documents and results of queries that a server packed for many clients.
  ///
  /// - Throws: ``DocumentsError/invalidBundle(_:)``, with nothing taken in.
  public func loadBundle(_ bytes: [UInt8]) async throws(DocumentsError) {
    if await session.isClosed { throw session.closure }
    let bundle: DocumentBundle
    do throws(BundleError) {
      bundle = try BundleReader.read(bytes, of: database)
    } catch {
      throw .invalidBundle(error)
    }
    await session.load(bundle)
  }

  /// A query that came in a bundle; `nil` when there is none of the name.
  public func namedQuery(_ name: String) async -> DocumentQueryReference? {
    let named = await session.withReplica { $0.cache.namedQuery(name) }
    return named.map { DocumentQueryReference(documents: self, query: .success($0.query)) }
  }

  /// The bytes of the server's documents on this device, which
  /// ``ClientOptions/documentCacheLimitBytes`` limits.
  public var cacheBytes: Int {
    get async { await session.withReplica { $0.cache.byteCount } }
  }

  /// The indexes that queries on this device use.
  public var indexes: DocumentIndexes { DocumentIndexes(session: session) }

  /// Ends all traffic, listeners and waiting calls; what is queued stays queued.
  ///
  /// Later operations fail with ``DocumentsError/closed``.
  public func terminate() async {
    await session.close()
    await session.queueSettled()
  }

  /// Forgets everything on this device, what waits to be sent included. Only after
  /// ``terminate()``, and before the stores are closed; ``TernDatabase/wipe()`` does it all in one
  /// call.
  ///
  /// No byte of it is left in the files. When the program ends in the middle, the next opening
  /// finishes.
  ///
  /// - Throws: ``DocumentsError/refused(_:)`` while the documents are in use.
  public func clearPersistence() async throws(DocumentsError) {
    guard await session.isClosed else {
      throw .refused(DocumentStatus(.failedPrecondition, "the documents are in use"))
    }
    await session.queueSettled()
    do throws(StorageError) { try wipe.run() } catch { throw .queue(.storage(error)) }
  }

  /// The reason the cache could not be opened, or last could not be stored; `nil` while it is well.
  ///
  /// The documents work without it, but are known for the length of the program only.
  public var cacheFailure: StorageError? {
    get async { await session.machine.cacheFailure }
  }
}
