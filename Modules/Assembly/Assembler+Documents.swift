public import TernClient
public import TernCore
import TernStorage
import TernSync

extension Assembler {
  /// Opens a client of documents alone: two stores, as ``client(from:options:)`` opens them, and
  /// the transport.
  ///
  /// - Parameters:
  ///   - database: Stores of another than the default one lie in a folder named after it.
  ///   - options: What the configuration does not say; its `documents.project` and
  ///     `documents.database` give way to `database`.
  ///   - isOffline: Whether there is no traffic before `goOnline()`.
  /// - Throws: ``AssemblyError``, with nothing left open.
  public func documents(
    of database: DocumentDatabase, from configuration: Configuration,
    options: ClientOptions = ClientOptions(), isOffline: Bool = false
  ) async throws(AssemblyError) -> AssembledDocuments {
    let folder =
      database.databaseID == DocumentDatabase.defaultID
      ? "documents" : "documents-" + database.databaseID
    let prepared = try checked { () throws(ConfigurationError) in
      try check(configuration)
      return (
        queue: try storage(of: configuration, subfolder: folder + "/queue"),
        cache: try storage(of: configuration, subfolder: folder + "/cache", durability: .relaxed),
        transport: try transport(of: configuration),
        options: try clientOptions(of: configuration, options)
      )
    }
    let open = OpenParts()
    do throws(AssemblyError) {
      let (parts, network) = try await connected(open, prepared.transport, \.self) {
        () throws(AssemblyError) in
        let queue = try await prepared.queue.open()
        open.add { queue.close() }
        let cache = await openCache(prepared.cache, open)
        var parts = DocumentParts(database: database, queue: queue, cache: cache.store)
        parts.cacheFailure = cache.failure
        return parts
      }
      do throws(OpeningError) {
        let documents = try Documents.open(
          parts, over: network, options: prepared.options, ambient: ambient, isOffline: isOffline)
        open.add { await documents.terminate() }
        return AssembledDocuments(documents: documents, open: open)
      } catch {
        throw AssemblyError(error, queue: prepared.queue)
      }
    } catch {
      await open.close()
      throw error
    }
  }
}

/// Documents that were opened with everything they are made of.
public struct AssembledDocuments: Sendable {
  /// The documents.
  public let documents: Documents
  private let open: OpenParts

  init(documents: Documents, open: OpenParts) {
    self.documents = documents
    self.open = open
  }

  /// Ends the documents and closes their parts. What was reported durable is kept.
  public func close() async { await open.close() }
}

extension AssemblyError {
  fileprivate init(_ error: OpeningError, queue: PreparedStore) {
    switch error {
    case .queue(let error), .documentQueue(let error): self = .queue(error, path: queue.path)
    }
  }
}
