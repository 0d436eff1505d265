public import TernClient
import TernCore
import TernStorage
import TernSync
import TernTransport
import TernTransportTCP
import TernTransportWebSocket

extension TernDatabase {
  /// Opens the database in a folder on this device; the connection is made at its first use.
  ///
  /// ```swift
  /// let tern = try await TernDatabase.open("my-data", server: "db.example.com")
  /// ```
  /// - Parameters:
  ///   - folder: A folder for this database alone; it is made where there is none.
  ///   - server: `host` or `host:port`; port 9000 unless given, and `options.servers` without it.
  ///     `ws://host` and `wss://host` open a WebSocket, for networks that let only HTTP pass.
  ///     `a.example.com,b.example.com` names several addresses of the same data, such as the nodes
  ///     of a cluster: the client goes to the next one when one fails.
  ///   - options: Everything else.
  /// - Returns: The database. Its ``TernClient/TernDatabase/close()`` closes what was opened here.
  public static func open(
    _ folder: String = "tern-data", server: String? = nil, _ options: TernOptions = TernOptions()
  ) async throws(OpenError) -> TernDatabase {
    let addresses = if let server { try ServerAddress.list(server) } else { options.servers }
    try ServerAddress.check(addresses)
    for (name, limit) in [
      ("cacheLimitBytes", options.cacheLimitBytes),
      ("documentCacheLimitBytes", options.documentCacheLimitBytes),
    ] {
      guard let limit, limit < ClientLimits.cacheBytes else { continue }
      throw .option(name, reason: "at least \(ClientLimits.cacheBytes) bytes, not \(limit)")
    }
    guard !options.namespace.isEmpty, options.namespace.utf8.allSatisfy({ $0 >= 0x20 }) else {
      throw .option("namespace", reason: "\"\(options.namespace)\" names no tree database")
    }
    let open = OpenParts()
    do throws(OpenError) {
      return try await self.open(folder, addresses, options, open)
    } catch {
      await open.close()
      throw error
    }
  }

  private static func open(
    _ folder: String, _ addresses: [ServerAddress], _ options: TernOptions, _ open: OpenParts
  ) async throws(OpenError) -> TernDatabase {
    let transport = try connection(to: addresses, options, open)
    let tree = folder + ClientFolders.tree(of: options.namespace)
    var parts = ClientParts(
      queue: try await store(tree + ClientFolders.queue, .durable, options, open), cache: nil,
      transport: transport)
    do throws(OpenError) {
      parts.cache = try await store(tree + ClientFolders.cache, .relaxed, options, open)
    } catch {
      parts.cacheFailure = error.storage
    }
    if let database = options.documents {
      let documents = folder + ClientFolders.documents
      var stores = DocumentParts(
        database: database,
        queue: try await store(documents + ClientFolders.queue, .durable, options, open),
        cache: nil)
      do throws(OpenError) {
        stores.cache = try await store(documents + ClientFolders.cache, .relaxed, options, open)
      } catch {
        stores.cacheFailure = error.storage
      }
      parts.documents = stores
    }
    parts.whenClosed = { await open.close() }
    let tern: TernDatabase
    do throws(OpeningError) {
      tern = try .open(parts, options: options.clientOptions)
    } catch {
      throw .opening(error)
    }
    guard let token = options.token else { return tern }
    do throws(AuthError) { try tern.auth.signIn(token: token) } catch {
      await tern.close()
      throw .token(error)
    }
    return tern
  }

  private static func connection(
    to addresses: [ServerAddress], _ options: TernOptions, _ open: OpenParts
  ) throws(OpenError) -> any Transport {
    if let transport = options.transport { return transport }
    let address = addresses[0]
    var tcp = TCPOptions(host: address.host, port: address.port)
    tcp.alternatives = addresses.dropFirst().map { TCPAddress(host: $0.host, port: $0.port) }
    tcp.tls = options.tls
    if address.scheme == .secureWebSocket, tcp.tls == nil { tcp.tls = TLSOptions() }
    do throws(TransportError) {
      let transport =
        switch address.scheme {
        case .tcp: try TCPPlugin.open(tcp)
        case .webSocket, .secureWebSocket:
          try WebSocketPlugin.open(
            WebSocketOptions(tcp, path: address.path ?? WebSocketOptions.standardPath))
        }
      open.add { await transport.shutdown() }
      return transport
    } catch {
      throw .transport(error)
    }
  }

  private static func store(
    _ folder: String, _ durability: Durability, _ options: TernOptions, _ open: OpenParts
  ) async throws(OpenError) -> any OrderedStore {
    do throws(StorageError) {
      let store = try await options.storage.open(folder, durability)
      open.add { store.close() }
      return store
    } catch {
      throw .storage(error, folder: folder)
    }
  }
}

extension OpenError {
  fileprivate var storage: StorageError? {
    if case .storage(let error, _) = self { error } else { nil }
  }
}

extension TernOptions {
  /// The options of the client.
  fileprivate var clientOptions: ClientOptions {
    var client = ClientOptions()
    client.namespace = namespace
    client.documents = documents
    client.cacheLimitBytes = cacheLimitBytes
    client.documentCacheLimitBytes = documentCacheLimitBytes
    client.report = report
    return client
  }
}
