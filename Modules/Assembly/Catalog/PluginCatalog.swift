public import TernStorage
public import TernTransport

/// The plugins one program was built with: storages and transports, and those of a server.
///
/// A program registers what it wants and passes the catalog to an ``Assembler``; there is no list
/// outside of it. `import TernStandard` adds `standard`, with everything that ships with Tern.
public struct PluginCatalog: Sendable {
  private(set) var storages: [StorageEntry] = []
  private(set) var transports: [TransportEntry] = []
  /// The plugins of contracts that other modules know, by contract.
  var others: [ObjectIdentifier: [any PluginEntry]] = [:]

  /// A catalog with nothing in it.
  public init() {}

  /// Adds a storage; a second one of the same kind replaces the first.
  public mutating func register<Plugin: StoragePlugin>(_ plugin: Plugin.Type) {
    storages.removeAll { $0.kind == plugin.kind }
    storages.append(StorageEntry(plugin))
  }

  /// Adds a transport; a second one of the same kind replaces the first.
  public mutating func register<Plugin: TransportPlugin>(_ plugin: Plugin.Type) {
    transports.removeAll { $0.kind == plugin.kind }
    transports.append(TransportEntry(plugin))
  }

  /// The storage kinds, in the order they were registered.
  public var storageKinds: [String] { storages.map(\.kind) }

  /// The transport kinds, in the order they were registered.
  public var transportKinds: [String] { transports.map(\.kind) }
}

/// A storage plugin with its options type hidden.
struct StorageEntry: Sendable {
  let kind: String
  /// The file by which a folder of this backend is known; `nil` for none.
  let file: String?
  /// Reads a section now; opens stores as it describes when called again.
  let prepare: @Sendable (ConfigurationValue) throws(ConfigurationError) -> StoreOpening

  init<Plugin: StoragePlugin>(_ plugin: Plugin.Type) {
    kind = plugin.kind
    file = plugin.file
    let reader = SectionReader(section: "storage", ownKeys: ["kind", "path", "durability"])
    prepare = { section throws(ConfigurationError) in
      let options = try reader.read(Plugin.Options.self, from: section)
      return { location async throws(StorageError) in
        try await Plugin.open(options, at: location)
      }
    }
  }
}

/// A transport plugin with its options type hidden.
struct TransportEntry: Sendable {
  let kind: String
  /// Reads a section now; makes the transport it describes when called again.
  let prepare: @Sendable (ConfigurationValue) throws(ConfigurationError) -> TransportOpening

  init<Plugin: TransportPlugin>(_ plugin: Plugin.Type) {
    kind = plugin.kind
    let reader = SectionReader(section: "transport", ownKeys: ["kind", "host", "port"])
    prepare = { section throws(ConfigurationError) in
      let options = try reader.read(Plugin.Options.self, from: section)
      return { () throws(TransportError) in try Plugin.open(options) }
    }
  }
}

typealias StoreOpening =
  @Sendable (StorageLocation) async throws(StorageError) -> any OrderedStore
typealias TransportOpening = @Sendable () throws(TransportError) -> any Transport
