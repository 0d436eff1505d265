#if TCP && os(Linux)
  import Foundation
  import Glibc
  import TernCommitLog
  import TernLogPostgres
  import TernSync
  import TernTransport
  import TernTransportTCP

  /// Nodes over one shard of a log, each a process of the program `tern`.
  final class BenchCluster {
    /// The time that any step may take before a run has failed.
    static let patience = Duration.seconds(120)
    private static let pause = Duration.milliseconds(20)

    private struct Node {
      let port: Int
      /// The path of its files, without an extension.
      let path: String
      var process: TiedProcess?
    }

    private let program: String
    private let connection: String
    private let shard = ShardID(.random(in: 1 ... .max))
    private let folder: BenchFolder
    private let log: PostgresLog
    private var nodes: [Node] = []

    init(program: String, connection: String) throws {
      self.program = program
      self.connection = connection
      folder = try BenchFolder()
      log = PostgresLog(
        PostgresOptions(connection: connection), clock: ContinuousClock(),
        uptime: RuntimeEnvironment.system.stopwatch())
      let secret = (0..<64).map { _ in String(UInt8.random(in: 0..<16), radix: 16) }.joined()
      try secret.write(toFile: folder.path + "/secret", atomically: true, encoding: .utf8)
    }

    /// Ends all nodes, and removes their files. Rows in the database stay.
    func remove() async {
      for node in nodes.indices { stop(node) }
      await log.close()
      folder.remove()
    }

    // MARK: Nodes

    /// Names a further node, which has nothing yet.
    func add() throws -> Int {
      let path = folder.path + "/node\(nodes.count)"
      let port = try Self.freePort()
      let configuration: [String: [String: Any]] = [
        "storage": ["kind": "sqlite", "path": path],
        "transport": ["kind": "tcp", "host": "127.0.0.1", "port": port],
        "ledger": [
          "kind": "shared", "log": connection, "shard": shard.number,
          "address": "127.0.0.1:\(port)", "secretFile": folder.path + "/secret",
        ],
      ]
      try JSONSerialization.data(withJSONObject: configuration)
        .write(to: URL(fileURLWithPath: path + ".json"))
      nodes.append(Node(port: port, path: path))
      return nodes.count - 1
    }

    func start(_ node: Int) throws {
      let path = nodes[node].path
      nodes[node].process = try TiedProcess(
        [program, "serve", "--dev", "--config", path + ".json"], log: path + ".log")
    }

    /// Kills a node by `SIGKILL`.
    func kill(_ node: Int) { nodes[node].process?.end() }

    /// Kills a node, and returns when it has ended.
    func stop(_ node: Int) {
      kill(node)
      nodes[node].process?.waitForEnd()
      nodes[node].process = nil
    }

    /// Removes a node that does not run, with its copy.
    func forget(_ node: Int) throws {
      try FileManager.default.removeItem(atPath: nodes[node].path)
    }

    /// The node as a server for load generators.
    func server(_ node: Int) throws -> ChildServer {
      guard let process = nodes[node].process?.process else {
        throw BenchFailure(reason: "node \(node) does not run")
      }
      return ChildServer(process: process, port: nodes[node].port)
    }

    func port(_ node: Int) -> Int { nodes[node].port }

    var ports: [Int] { nodes.map(\.port) }

    /// A transport to all nodes, beginning with one of them.
    func transport(first: Int) throws -> any Transport {
      var options = TCPOptions()
      options.addresses = nodes.indices.map { index in
        TCPAddress(host: "127.0.0.1", port: nodes[(first + index) % nodes.count].port)
      }
      return try TCPPlugin.open(options)
    }

    // MARK: State

    /// Waits until a node serves clients by its own word.
    func awaitReady(_ node: Int, every pause: Duration = pause) async throws {
      try await wait("node \(node) is not ready", every: pause) { self.isReady(node) }
    }

    /// Waits until all nodes serve and the node that leads is one of them; returns it.
    func awaitLeader() async throws -> Int {
      for node in nodes.indices { try await awaitReady(node) }
      var leader: Int?
      try await wait("no node leads", every: Self.pause) {
        let address = try await self.log.open(self.shard).leader?.address
        leader = self.nodes.firstIndex { "127.0.0.1:\($0.port)" == address }
        return leader != nil
      }
      return leader ?? 0
    }

    /// Waits until the checkpoint holds all that was committed.
    func awaitCheckpoint() async throws {
      try await wait("the checkpoint does not move", every: .milliseconds(200)) {
        let state = try await self.log.open(self.shard)
        return state.mark == state.position
      }
    }

    /// Lets the leader hand over, and returns what the command prints.
    func stepDown() async throws -> String {
      let words = try await TiedProcess.run(
        [program, "cluster", "step-down", "--config", nodes[0].path + ".json"])
      // Warnings about the environment come before.
      return words.split(separator: "\n").last.map(String.init) ?? ""
    }

    /// The last lines that each node has printed.
    var lastLines: String {
      nodes.map { node in
        let text = (try? String(contentsOfFile: node.path + ".log", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(5).joined(separator: "\n")
      }.joined(separator: "\n\n")
    }

    private func isReady(_ node: Int) -> Bool {
      guard let socket = try? BenchSocket(port: nodes[node].port),
        (try? socket.send(Self.readiness)) != nil, let status = try? socket.read(12)
      else { return false }
      return status.elementsEqual("HTTP/1.1 200".utf8)
    }

    private static let readiness = Array("GET /-/readyz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)

    private func wait(
      _ problem: String, every pause: Duration, until isOver: () async throws -> Bool
    ) async throws {
      let deadline = ContinuousClock.now + Self.patience
      while try await !isOver() {
        if ContinuousClock.now > deadline { throw BenchFailure(reason: problem) }
        try await Task.sleep(for: pause)
      }
    }

    /// A port of 127.0.0.1 that is free now.
    static func freePort() throws -> Int {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe bind(descriptor, $0, size) + getsockname(descriptor, $0, &size)
        }
      }
      guard result == 0 else { throw BenchFailure(reason: "no port is free") }
      return Int(in_port_t(bigEndian: address.sin_port))
    }
  }
#endif
