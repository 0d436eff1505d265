public import TernClient
public import TernStorage
import TernSync
import TernTransport

extension Assembler {
  /// Opens a client: a store for its queue, another for its cache, and the transport.
  ///
  /// The stores are the folders `queue` and `cache` below `storage.path`, and the same below
  /// `documents` there; those of another tree database than the default one lie below `trees` in a
  /// folder with its name. Caches are opened relaxed, for they can be had again. One that cannot be
  /// opened is done without and reported; a queue never is, for it holds what only this device
  /// knows. The connection is made at the first use.
  ///
  /// - Parameter options: What the configuration does not say.
  /// - Returns: The client; its `close()` closes everything that was opened here.
  /// - Throws: ``AssemblyError``, with nothing left open.
  public func client(
    from configuration: Configuration, options: ClientOptions = ClientOptions()
  ) async throws(AssemblyError) -> TernDatabase {
    let prepared = try checked { () throws(ConfigurationError) in
      try prepareClient(configuration, options)
    }
    let open = OpenParts()
    do throws(AssemblyError) {
      return try await self.open(prepared, open)
    } catch {
      await open.close()
      throw error
    }
  }

  /// Opens the store that ``client(from:options:)`` keeps its queue in, and nothing else: for a
  /// queue that does not open. The caller closes it.
  ///
  /// - Parameter namespace: The name of the server's tree database, ``ClientOptions/namespace``.
  public func queueStore(
    from configuration: Configuration, namespace: String = ClientOptions.defaultNamespace
  ) async throws(AssemblyError) -> any OrderedStore {
    let prepared = try checked { () throws(ConfigurationError) in
      try storage(of: configuration, subfolder: try treeFolder(of: namespace) + "queue")
    }
    return try await prepared.open()
  }

  /// Opens the store that ``client(from:options:)`` keeps the queue of documents in, and nothing
  /// else: for a queue that does not open. The caller closes it.
  public func documentQueueStore(
    from configuration: Configuration
  ) async throws(AssemblyError) -> any OrderedStore {
    let prepared = try checked { () throws(ConfigurationError) in
      try storage(of: configuration, subfolder: Self.documentQueueFolder)
    }
    return try await prepared.open()
  }

  private static let documentQueueFolder = "documents/queue"

  private struct PreparedClient {
    let queue: PreparedStore
    let cache: PreparedStore
    let documentQueue: PreparedStore
    let documentCache: PreparedStore
    let transport: PreparedTransport
    let options: ClientOptions
  }

  private func prepareClient(
    _ configuration: Configuration, _ options: ClientOptions
  ) throws(ConfigurationError) -> PreparedClient {
    try check(configuration)
    let folder = try treeFolder(of: options.namespace)
    return PreparedClient(
      queue: try storage(of: configuration, subfolder: folder + "queue"),
      cache: try storage(of: configuration, subfolder: folder + "cache", durability: .relaxed),
      documentQueue: try storage(of: configuration, subfolder: Self.documentQueueFolder),
      documentCache: try storage(
        of: configuration, subfolder: "documents/cache", durability: .relaxed),
      transport: try transport(of: configuration),
      options: try clientOptions(of: configuration, options))
  }

  /// The folder of the stores of a tree database, with a slash at its end; none for the default
  /// one.
  private func treeFolder(of namespace: String) throws(ConfigurationError) -> String {
    guard !namespace.isEmpty, namespace.utf8.allSatisfy({ $0 >= 0x20 }) else {
      throw .refused(
        section: "options", reason: "\"\(namespace)\" is not the name of a tree database")
    }
    return String((ClientFolders.tree(of: namespace) + "/").dropFirst())
  }

  private func open(
    _ prepared: PreparedClient, _ open: OpenParts
  ) async throws(AssemblyError) -> TernDatabase {
    let (stores, transport) = try await connected(open, prepared.transport, \.self) {
      () throws(AssemblyError) in
      let queue = try await prepared.queue.open()
      open.add { queue.close() }
      let cache = await openCache(prepared.cache, open)
      return (queue, cache, try await openDocuments(prepared, open))
    }
    let (queue, cache, documents) = stores
    var parts = ClientParts(queue: queue, cache: cache.store, transport: transport)
    parts.cacheFailure = cache.failure
    parts.documents = documents
    parts.whenClosed = { await open.close() }
    do throws(OpeningError) {
      return try TernDatabase.open(parts, options: prepared.options, ambient: ambient)
    } catch {
      switch error {
      case .queue(let error): throw .queue(error, path: prepared.queue.path)
      case .documentQueue(let error): throw .queue(error, path: prepared.documentQueue.path)
      }
    }
  }

  private func openDocuments(
    _ prepared: PreparedClient, _ open: OpenParts
  ) async throws(AssemblyError) -> DocumentParts? {
    guard let database = prepared.options.documents else { return nil }
    let queue = try await prepared.documentQueue.open()
    open.add { queue.close() }
    let cache = await openCache(prepared.documentCache, open)
    var parts = DocumentParts(database: database, queue: queue, cache: cache.store)
    parts.cacheFailure = cache.failure
    return parts
  }

  /// Opens the store of a cache, which a client can do without.
  func openCache(
    _ prepared: PreparedStore, _ open: OpenParts
  ) async -> (store: (any OrderedStore)?, failure: StorageError?) {
    do throws(StorageError) {
      let store = try await prepared.opening()
      open.add { store.close() }
      return (store, nil)
    } catch {
      return (nil, error)
    }
  }
}
