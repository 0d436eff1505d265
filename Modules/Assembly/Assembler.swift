import TernClient
public import TernStorage
public import TernSync
import TernTransport

/// Turns a ``Configuration`` into running parts.
///
/// The whole configuration is checked before anything opens, and parts close in the reverse order
/// of their opening. Parts assembled from the same `transport` section by one assembler share one
/// transport; that is how a server and its clients meet over loopback in one process.
public struct Assembler: Sendable {
  /// What can be assembled.
  public let catalog: PluginCatalog
  /// Where the parts get their time and chance from.
  public let ambient: Ambient
  let transports = SharedTransports()

  /// An assembler of its own: what it opens is shared with no other.
  public init(catalog: PluginCatalog, ambient: Ambient = .system) {
    self.catalog = catalog
    self.ambient = ambient
  }

  /// Checks every section without opening anything.
  public func check(_ configuration: Configuration) throws(ConfigurationError) {
    _ = try storage(of: configuration)
    _ = try transport(of: configuration)
    _ = try clientOptions(of: configuration, ClientOptions())
    _ = try authOptions(of: configuration)
    _ = try limitOptions(of: configuration)
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
}

extension Assembler {
  /// Reads the section `storage`, for a store in `subfolder` of its path.
  func storage(
    of configuration: Configuration, subfolder: String? = nil, durability: Durability? = nil
  ) throws(ConfigurationError) -> PreparedStore {
    let kind = try kind(in: configuration.storage, "storage", known: catalog.storageKinds)
    guard let entry = catalog.storages.first(where: { $0.kind == kind }) else {
      throw .unknownKind(kind, section: "storage", known: catalog.storageKinds)
    }
    var members = configuration.storage.members
    members["kind"] = nil
    members["scrub"] = nil
    var path = "tern-data"
    if let given = members["path"] {
      guard let text = given.stringValue, !text.isEmpty else {
        throw .wrongType(
          key: "path", section: "storage", expected: "a folder",
          found: given.stringValue == nil ? given.typeName : "an empty text")
      }
      path = text
    }
    if let subfolder { path += "/" + subfolder }
    members["path"] = .string(path)
    if let durability { members["durability"] = .string(durability.rawValue) }
    return PreparedStore(kind: kind, path: path, opening: try entry.prepare(.object(members)))
  }

  /// Reads the section `transport`.
  func transport(
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
  func connected<R>(
    _ open: OpenParts, _ transport: PreparedTransport,
    _ openStores: () async throws(AssemblyError) -> R
  ) async throws(AssemblyError) -> (R, any Transport) {
    let network = try transports.acquire(transport)
    let stores: R
    do throws(AssemblyError) { stores = try await openStores() } catch {
      await transports.release(transport.name)
      throw error
    }
    open.add { [transports] in await transports.release(transport.name) }
    return (stores, network)
  }

  /// Runs a check; what it throws becomes a case of ``AssemblyError``.
  func checked<R>(_ body: () throws(ConfigurationError) -> R) throws(AssemblyError) -> R {
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
struct PreparedStore {
  let kind: String
  let path: String
  let opening: StoreOpening

  func open() async throws(AssemblyError) -> any OrderedStore {
    do throws(StorageError) { return try await opening() } catch {
      throw .storage(error, kind: kind, path: path)
    }
  }
}

/// A transport whose options are read and which does not exist yet.
struct PreparedTransport {
  /// Equal for sections that say the same.
  let name: String
  let opening: TransportOpening
}
