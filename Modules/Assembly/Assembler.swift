import TernClient
public import TernStorage
public import TernSync
package import TernTransport

/// Turns a ``Configuration`` into running parts.
///
/// The whole configuration is checked before anything opens, and parts close in the reverse order
/// of their opening. Parts assembled from the same `transport` section by one assembler share one
/// transport; that is how a server and its clients meet over loopback in one process.
public struct Assembler: Sendable {
  /// The plugins that can be assembled.
  public let catalog: PluginCatalog
  /// The source of time and randomness for the parts.
  public let ambient: RuntimeEnvironment
  let transports = SharedTransports()

  /// An assembler of its own: what it opens is shared with no other.
  public init(catalog: PluginCatalog, ambient: RuntimeEnvironment = .system) {
    self.catalog = catalog
    self.ambient = ambient
  }

  /// Checks every section of a client's configuration without opening anything.
  public func check(_ configuration: Configuration) throws(ConfigurationError) {
    _ = try storage(of: configuration)
    _ = try transport(of: configuration)
    _ = try clientOptions(of: configuration, ClientOptions())
  }

  /// Opens the store of the section `storage`.
  ///
  /// The caller closes it. Stores do not share: a folder belongs to one open store.
  /// - Throws: ``AssemblyError``, with nothing left open.
  public func store(
    from configuration: Configuration
  ) async throws(AssemblyError) -> any OrderedStore {
    let prepared = try checked { () throws(ConfigurationError) in
      try storage(of: configuration)
    }
    return try await prepared.open()
  }

  /// Opens the store that one section of JSON describes: `{"kind": "sqlite"}`.
  public func store(fromJSON section: String) async throws(AssemblyError) -> any OrderedStore {
    let configuration = try checked { () throws(ConfigurationError) in
      try Configuration(json: #"{"storage": \#(section)}"#)
    }
    return try await store(from: configuration)
  }

  /// Opens the store in a subfolder of the configured folder, and nothing else. The caller closes
  /// it.
  ///
  /// - Parameters:
  ///   - subfolder: A server's store is in `server`, a client's are in `queue` and `cache`.
  ///   - durability: The durability that the store's owner needs; `nil` leaves it to the
  ///     configuration.
  public func store(
    in subfolder: String, durability: Durability? = nil, from configuration: Configuration
  ) async throws(AssemblyError) -> any OrderedStore {
    let prepared = try checked { () throws(ConfigurationError) in
      try storage(of: configuration, subfolder: subfolder, durability: durability)
    }
    return try await prepared.open()
  }
}

extension Assembler {
  /// Reads the section `storage`, for a store in `subfolder` of its path.
  ///
  /// - Parameters:
  ///   - durability: The durability that the store's owner needs; `nil` leaves it to the
  ///     configuration.
  ///   - standard: The durability when the configuration names none.
  package func storage(
    of configuration: Configuration, subfolder: String? = nil, durability: Durability? = nil,
    standard: Durability = .durable
  ) throws(ConfigurationError) -> PreparedStore {
    let kind = try kind(in: configuration.storage, "storage", known: catalog.storageKinds)
    guard let entry = catalog.storages.first(where: { $0.kind == kind }) else {
      throw .unknownKind(kind, section: "storage", known: catalog.storageKinds)
    }
    let own = try SectionReader(section: "storage", ownKeys: [])
      .read(StoragePlace.self, ofKeys: StoragePlace.keys, from: configuration.storage)
    let location = StorageLocation(
      name: subfolder ?? "", in: own.path ?? StoragePlace.standardPath,
      durability: durability ?? own.durability ?? standard)
    var members = configuration.storage.members
    for key in ["kind", "scrub"] + StoragePlace.keys { members[key] = nil }
    let opening = try entry.prepare(.object(members))
    let others = catalog.storages.filter { $0.kind != kind }
    return PreparedStore(kind: kind, location: location, file: entry.file, others: others) {
      () async throws(StorageError) in
      try await opening(location)
    }
  }

  /// Reads the section `transport`.
  package func transport(
    of configuration: Configuration
  ) throws(ConfigurationError) -> PreparedTransport {
    let kind = try kind(in: configuration.transport, "transport", known: catalog.transportKinds)
    guard let entry = catalog.transports.first(where: { $0.kind == kind }) else {
      throw .unknownKind(kind, section: "transport", known: catalog.transportKinds)
    }
    var members = configuration.transport.members
    members["kind"] = nil
    return PreparedTransport(
      name: kind + " " + ConfigurationValue.object(members).canonicalText,
      opening: try entry.prepare(.object(members)))
  }

  /// Opens stores and a transport: the transport is made first and let go of before the stores.
  ///
  /// A transport that was just made has opened nothing, but knows whether it can.
  package func connected<R, Failure: Error>(
    _ open: OpenParts, _ transport: PreparedTransport,
    _ fail: (AssemblyError) -> Failure,
    _ openStores: () async throws(Failure) -> R
  ) async throws(Failure) -> (R, any Transport) {
    let network: any Transport
    do throws(AssemblyError) { network = try transports.acquire(transport) } catch {
      throw fail(error)
    }
    let stores: R
    do throws(Failure) { stores = try await openStores() } catch {
      await transports.release(transport.name)
      throw error
    }
    open.add { [transports] in await transports.release(transport.name) }
    return (stores, network)
  }

  /// Runs a check; what it throws becomes a case of ``AssemblyError``.
  package func checked<R>(_ body: () throws(ConfigurationError) -> R) throws(AssemblyError) -> R {
    do throws(ConfigurationError) { return try body() } catch { throw .configuration(error) }
  }

  private func kind(
    in section: ConfigurationValue, _ name: String, known: [String]
  ) throws(ConfigurationError) -> String {
    guard let value = section.members["kind"] else {
      throw .missingKind(section: name, known: known)
    }
    guard let kind = value.stringValue else {
      throw .wrongType(key: "kind", section: name, expected: "a string", found: value.typeName)
    }
    return kind
  }
}

/// A store whose options are read and whose files are not touched yet.
package struct PreparedStore: Sendable {
  package let kind: String
  let location: StorageLocation
  /// The file by which a store of this kind is known; `nil` for none.
  let file: String?
  /// The other kinds that this program knows.
  let others: [StorageEntry]
  let opening: @Sendable () async throws(StorageError) -> any OrderedStore

  /// The folder of the store's files.
  package var path: String { location.folder }

  /// Opens the store; the caller closes it.
  package func open() async throws(AssemblyError) -> any OrderedStore {
    try refuseOtherKind()
    do throws(StorageError) { return try await opening() } catch {
      throw .storage(error, kind: kind, path: path)
    }
  }

  /// Refuses a folder with the store of another kind: its files would be taken for damaged ones, or
  /// a second store be made beside it.
  private func refuseOtherKind() throws(AssemblyError) {
    // A kind without files of its own leaves those of others alone.
    guard let file, !location.holds(file),
      let other = others.first(where: { $0.file.map(location.holds) ?? false })
    else { return }
    throw .configuration(
      .refused(
        section: "storage",
        reason: "\(path) holds a store of the kind \(other.kind), not \(kind): set \"kind\" to "
          + "\(other.kind), in commands --storage \(other.kind)"))
  }
}

/// A transport whose options are read and which does not exist yet.
package struct PreparedTransport: Sendable {
  /// Equal for sections that say the same.
  let name: String
  let opening: TransportOpening
}
