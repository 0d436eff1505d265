#if TCP && canImport(Glibc)
  import Dispatch
  import Foundation
  import TernAssembly
  import TernCore
  import TernFirebaseCompat
  import TernTreeWire
  import Testing

  @testable import TernGateway

  @Suite("Four endpoints, one verdict") struct FourEndpointsTests {
    private static let count = 10_000
    /// Each world has a server and a share of the operations. A client that waits for every answer
    /// leaves most of a machine idle, so several worlds are played at once.
    private static let worlds = 5
    /// The number of operations under way over one connection at once.
    private static let ahead = 50

    private static var seed: UInt64 {
      ProcessInfo.processInfo.environment["TERN_ENDPOINTS_SEED"].flatMap { UInt64($0) }
        ?? 20_261_121
    }

    @Test(
      "10,000 random operations come to the same over REST, WebSocket, our framing and Firebase's names"
    )
    func agree() async throws {
      let seed = Self.seed
      print("four callers: seed \(seed); again with TERN_ENDPOINTS_SEED=\(seed)")
      let share = Self.count / Self.worlds
      let verdicts = try await withThrowingTaskGroup(of: [Verdict].self) { group in
        for world in 0..<Self.worlds {
          group.addTask { try await play(seed: seed &+ UInt64(world), operations: share) }
        }
        var verdicts: [Verdict] = []
        for try await some in group { verdicts += some }
        return verdicts
      }
      try expectVariety(verdicts)
    }

    /// Plays one world, whose callers are all used at once; what its operations came to.
    private func play(seed: UInt64, operations count: Int) async throws -> [Verdict] {
      var dice = OperationDice(seed: seed)
      let operations = (0..<count).map { _ in dice.operation() }
      var verdicts: [Verdict] = []
      try await withGateway(rules: OperationDice.rules) { caller in
        let port = caller.port
        // Sockets block, and other tests need the threads that tasks share.
        async let rest = Self.onThread { try Self.overREST(operations, port) }
        async let socket = Self.onThread { try Self.overWebSocket(operations, port) }
        async let native = Self.onThread { try Self.overFrames(operations, port) }
        async let compat = Self.overFirebase(operations, port)
        verdicts = try await rest
        try await compare(verdicts, [socket, native], compat, operations, seed)
        try compareStates(of: caller, seed)
      }
      return verdicts
    }

    private func compare(
      _ rest: [Verdict], _ others: [[Verdict]], _ compat: [Verdict?],
      _ operations: [EndpointOperation], _ seed: UInt64
    ) throws {
      var disagreements = 0
      for (index, operation) in operations.enumerated() {
        let told = [rest[index]] + others.map { $0[index] } + [compat[index] ?? rest[index]]
        let isClear = if case .other = told[0] { false } else { true }
        if isClear, told.allSatisfy({ $0 == told[0] }) { continue }
        disagreements += 1
        if disagreements <= 5 {
          Issue.record("seed \(seed), operation \(index): \(operation) came to \(told)")
        }
      }
      #expect(disagreements == 0, "seed \(seed)")
    }

    /// Checks that the final state is the same behind every endpoint.
    private func compareStates(of caller: GatewayUnderTest, _ seed: UInt64) throws {
      let states = try ["rest", "socket", "native", "default"].map { namespace in
        try caller.exchange(
          "GET /.json?ns=\(namespace)&access_token=owner&format=export HTTP/1.1\r\n"
            + "Host: localhost\r\nConnection: close\r\n\r\n"
        ).split(separator: "\r\n\r\n").last
      }
      #expect(Set(states).count == 1, "seed \(seed), what is there in the end: \(states)")
    }

    /// Every kind of verdict was come to often enough to mean something.
    private func expectVariety(_ verdicts: [Verdict]) throws {
      #expect(verdicts.count { $0 == .denied } > Self.count / 20)
      #expect(verdicts.count { $0 == .invalid } > Self.count / 50)
      let done = verdicts.count { if case .done = $0 { true } else { false } }
      #expect(done > Self.count / 5)
    }

    private static func onThread<R: Sendable>(
      _ work: @escaping @Sendable () throws -> R
    ) async throws -> R {
      try await withCheckedThrowingContinuation { done in
        DispatchQueue(label: "callers").async { done.resume(with: Result { try work() }) }
      }
    }

    /// Sends operations a few ahead of their answers.
    private static func pipelined(
      _ operations: [EndpointOperation], send: (Int, EndpointOperation) -> Void,
      receive: (EndpointOperation) -> Verdict
    ) -> [Verdict] {
      var verdicts: [Verdict] = []
      var sent = 0
      while verdicts.count < operations.count {
        while sent < operations.count, sent - verdicts.count < ahead {
          send(sent + 1, operations[sent])
          sent += 1
        }
        verdicts.append(receive(operations[verdicts.count]))
      }
      return verdicts
    }

    private static func overREST(
      _ operations: [EndpointOperation], _ port: Int
    ) throws -> [Verdict] {
      let rest = RESTCaller(peer: try Peer(port: port), namespace: "rest")
      return pipelined(
        operations, send: { _, operation in rest.send(operation) },
        receive: { rest.receive($0) })
    }

    private static func overWebSocket(
      _ operations: [EndpointOperation], _ port: Int
    ) throws -> [Verdict] {
      let peer = try Peer(port: port)
      _ = peer.openWebSocket("/.ws?v=5&ns=socket")
      return pipelined(
        operations,
        send: { number, operation in peer.send(masked(1, Dialect.request(number, operation))) },
        receive: { Dialect.verdict(peer.message(), $0) })
    }

    private static func overFrames(
      _ operations: [EndpointOperation], _ port: Int
    ) throws -> [Verdict] {
      let peer = try NativePeer(port: port)
      peer.send(TreeClientMessage.open(TreeOpening(namespace: "native")).encode())
      _ = peer.frame()
      return pipelined(
        operations,
        send: { number, operation in peer.send(Array(Dialect.request(number, operation).utf8)) },
        receive: { Dialect.verdict(peer.frame(), $0) })
    }

    private static func overFirebase(
      _ operations: [EndpointOperation], _ port: Int
    ) async throws -> [Verdict?] {
      let app = FirebaseApp.configure(
        name: "four callers \(port)", configuration: Configuration(storage: ["kind": "memory"]))
      let database = Database.database(app: app)
      database.useEmulator(withHost: "127.0.0.1", port: port)
      database.callbackQueue = DispatchQueue(label: "callbacks")
      let client = CompatCaller(database: database)
      var verdicts: [Verdict?] = []
      for operation in operations { verdicts.append(await client.perform(operation)) }
      await database.close()
      return verdicts
    }
  }
#endif
