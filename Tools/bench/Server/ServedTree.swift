#if TCP
  import Foundation
  import TernGateway
  import TernLedger
  import TernSecurity
  import TernServer
  import TernServerAssembly
  import TernStorage
  import TernStorageMemory
  import TernStorageSQLite
  import TernSync
  import TernTransportTCP

  /// The real server in a process of its own: this program, started with `serve-tree PATH`.
  /// With `observed` behind it, it lets clients of this machine ask what operators ask, and tells
  /// each request over HTTP to an access log that keeps nothing; with `logged`, its log keeps every
  /// commit; with `ruled`, rules that read a document decide who may listen to documents.
  enum ServedTree {
    static let command = "serve-tree"
    static let observed = "observed"
    static let logged = "logged"
    static let ruled = "ruled"

    private static let rules = """
      rules_version = '2';
      service cloud.firestore { match /databases/{database}/documents {
        match /rooms/{room} {
          allow read: if !exists(/databases/$(database)/documents/closed/all);
          allow write: if true;
        }
      } }
      """

    /// Serves the SQLite store at `path` at a free port, which it prints, until it is ended.
    static func serve(_ path: String, _ words: [String]) async throws {
      let isObserved = words.contains(observed)
      let store = try SQLiteStore(path: path)
      var options = LedgerOptions()
      if words.contains(logged) {
        (options.logLimit, options.logBytes) = (1 << 40, 1 << 40)
        options.logAge = .seconds(1 << 30)
      }
      let ledger = try EmbeddedLedger(
        store: store, options: options, uptime: RuntimeEnvironment.system.stopwatch())
      let transport = try TCPPlugin.open(TCPOptions(port: 0))
      let documents: (any DocumentAuthorizer)? =
        words.contains(ruled)
        ? DocumentRulesAuthorizer(DocumentRulesSet(common: try DocumentRules(source: rules))) : nil
      let server = try await TernServer(
        ledger: ledger, on: transport, documentAuthorizer: documents,
        authenticator: isObserved ? OwnerAuthenticator() : NoAuthenticator())
      if isObserved {
        server.surroundings.accessLog = { _ = "\($0)" }
        server.surroundings.read { .reading(storeKind: "sqlite", storePath: path) }
      }
      var gateway = GatewayOptions()
      gateway.isDevelopment = isObserved
      // More than are measured: those of the load generator itself come on top.
      gateway.limits.connections = 20_000
      Gateway.open(to: server, on: transport, options: gateway)
      let address = try await server.listen(on: transport)
      // Not print: a pipe would keep what was printed until it is full.
      FileHandle.standardOutput.write(Data("\(address.split(separator: ":").last ?? "")\n".utf8))
      while readLine() != nil {}
    }
  }

  extension ChildServer {
    /// The tree server on the durable SQLite store in `folder`.
    ///
    /// - Parameter words: ``ServedTree/observed``, ``ServedTree/logged``, ``ServedTree/ruled``, or
    ///   nothing.
    static func tree(in folder: String, _ words: String...) throws -> ChildServer {
      try start([ServedTree.command, folder] + words)
    }

    #if os(Linux)
      /// The bare server on a durable SQLite file in `folder`.
      static func bare(in folder: String) throws -> ChildServer {
        try start([BareServer.command, folder])
      }
    #endif

    /// etcd on one node with its standard durability, over gRPC; it must be installed.
    static func etcd(in folder: String) throws -> ChildServer {
      let port = Int.random(in: 20_000..<30_000)
      let (clients, peers) = ("http://127.0.0.1:\(port)", "http://127.0.0.1:\(port + 1)")
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = [
        "etcd", "--data-dir", folder, "--log-level", "error",
        "--listen-client-urls", clients, "--advertise-client-urls", clients,
        "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
        "--initial-cluster", "default=\(peers)",
      ]
      process.standardError = FileHandle.nullDevice
      try process.run()
      return ChildServer(process: process, port: port)
    }
  }

  /// A folder for one measurement, on the disk that everything else is measured on.
  struct BenchFolder {
    let path: String

    init() throws {
      path =
        FileManager.default.temporaryDirectory
        .appending(path: "tern-bench-\(UInt64.random(in: 0...UInt64.max))").path
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
  }
#endif
