public import TernClient
public import TernCore
public import TernStorage
import TernStorageMemory
import TernStorageSQLite
public import TernTransport
public import TernTransportTCP

/// The choices for a database: server, security, storage, sizes.
///
/// ```swift
/// var options = TernOptions()
/// options.tls = TLSOptions()
/// options.token = token
/// let tern = try await TernDatabase.open("my-data", server: "db.example.com", options)
/// ```
/// Programs with a configuration file assemble their client with `TernAssembly` instead; both open
/// the same folders.
public struct TernOptions: Sendable {
  /// The addresses of the server; the text that ``TernDatabase/open(_:server:_:)`` is given comes
  /// before them. With several, such as the nodes of a cluster, the client goes to the next one
  /// when one cannot be reached or ends the connection. 1...16, all of one scheme and path.
  public var servers = [ServerAddress()]
  /// TLS with the server; `nil` sends everything in the clear.
  public var tls: TLSOptions?
  /// Signs a user in; `nil` leaves it as it was when the program ended.
  public var token: String?
  /// The place of the data on this device.
  public var storage = LocalStorage.sqlite
  /// The name of the server's tree database, `ns` in the addresses of Firebase's clients. Each has
  /// a
  /// folder of its own.
  public var namespace = ClientOptions.defaultNamespace
  /// The database of documents; `nil` opens the tree alone.
  public var documents = ClientOptions().documents
  /// The bytes of the tree that the cache keeps at most, unless active listeners need more: at
  /// least
  /// ``TernClient/ClientLimits/cacheBytes``; `nil` keeps everything.
  public var cacheLimitBytes = ClientOptions().cacheLimitBytes
  /// The same for documents.
  public var documentCacheLimitBytes = ClientOptions().documentCacheLimitBytes
  /// Receives what a developer should know, such as that no server answers; must not wait. By
  /// default each notice is a line on standard error.
  public var report: @Sendable (ClientNotice) -> Void = StandardErrorReport().callAsFunction
  /// The transport; `nil` connects to the servers above.
  public var transport: (any Transport)?

  /// The defaults: SQLite, 127.0.0.1:9000, notices on standard error.
  public init() {}
}

/// A storage engine on this device.
public struct LocalStorage: Sendable {
  /// Opens the store in a folder.
  let open:
    @Sendable (_ folder: String, _ durability: Durability) async throws(StorageError) ->
      any OrderedStore

  /// An engine of another module, such as `TernStorageLMDB`.
  ///
  /// - Parameter open: Opens the store in a folder that is its alone.
  public init(
    _ open:
      @escaping @Sendable (_ folder: String, _ durability: Durability) async throws(StorageError) ->
      any OrderedStore
  ) {
    self.open = open
  }

  /// SQLite: one file for each store.
  public static let sqlite = LocalStorage {
    (folder, durability) async throws(StorageError) -> any OrderedStore in
    try SQLiteStore(path: folder, durability: durability)
  }

  /// Memory: nothing survives the program.
  public static let memory = LocalStorage {
    (_, _) async throws(StorageError) -> any OrderedStore in MemoryStore()
  }
}
