#if TCP && canImport(Glibc)
  import Dispatch
  import Foundation
  import TernAssembly
  import TernClient
  import TernCore
  import TernSecurity
  import TernStorageMemory
  import TernTokens
  import TernTransportTCP
  import Testing

  @testable import TernGateway

  @Suite("Four endpoints for documents, one verdict") struct DocumentEndpointsTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// `TERN_DOCUMENT_OPERATIONS=10000` plays the full number.
    private static let count = environment["TERN_DOCUMENT_OPERATIONS"].flatMap { Int($0) } ?? 500
    private static let seed =
      environment["TERN_ENDPOINTS_SEED"].flatMap { UInt64($0) }
      ?? (environment["CI"] == nil ? UInt64.random(in: 1..<1 << 32) : 3_685_826_635)

    @Test("random operations come to the same over gRPC, REST, WebChannel and our own client")
    func agree() async throws {
      let seed = Self.seed
      print("documents: seed \(seed); again with TERN_ENDPOINTS_SEED=\(seed)")
      var dice = DocumentDice(seed: seed)
      let operations = (0..<Self.count).map { _ in dice.operation() }
      let rules = DocumentRulesSet(common: try DocumentRules(source: DocumentDice.rules))
      try await withGateway(
        documents: DocumentRulesAuthorizer(rules),
        authenticator: OwnerAuthenticator(others: MockUserAuthenticator())
      ) { caller in
        let (grpc, rest, channel) = (
          try GRPCDocumentCaller(caller), try RESTDocumentCaller(caller),
          ChannelDocumentCaller(caller)
        )
        let boxed = Callers(grpc: grpc, rest: rest, channel: channel)
        // Sockets block, and other tests need the threads that tasks share.
        async let overGRPC = Self.onThread { try operations.map { try boxed.grpc.perform($0) } }
        async let overREST = Self.onThread { try operations.map { try boxed.rest.perform($0) } }
        async let overChannel = Self.onThread {
          try operations.map { try boxed.channel.perform($0) }
        }
        let own = try await Self.overOwnClient(operations, caller.port)
        try Self.compare(
          operations, [await overGRPC, await overREST, await overChannel, own], seed)
      }
    }

    /// The sides of the test, each used by one thread alone.
    ///
    /// Sharing them unchecked is sound because no two threads touch the same one.
    private final class Callers: @unchecked Sendable {
      var grpc: GRPCDocumentCaller
      let rest: RESTDocumentCaller
      var channel: ChannelDocumentCaller

      init(grpc: GRPCDocumentCaller, rest: RESTDocumentCaller, channel: ChannelDocumentCaller) {
        (self.grpc, self.rest, self.channel) = (grpc, rest, channel)
      }
    }

    private static func overOwnClient(
      _ operations: [DocumentOperation], _ port: Int
    ) async throws -> [DocumentOutcome] {
      var catalog = PluginCatalog()
      catalog.register(MemoryPlugin.self)
      catalog.register(TCPPlugin.self)
      let configuration = Configuration(
        storage: ["kind": "memory"],
        transport: ["kind": "tcp", "host": "127.0.0.1", "port": .integer(Int64(port))])
      var clients: [String?: TernDatabase] = [:]
      for user in ["ann", "ben", nil] {
        var options = ClientOptions()
        options.documents = OwnDocumentCaller.database
        let client = try await Assembler(catalog: catalog).client(
          from: configuration, options: options)
        await client.documents.setCredential(user.map(DocumentOperation.token))
        clients[user] = client
      }
      let own = OwnDocumentCaller(clients: clients)
      var outcomes: [DocumentOutcome] = []
      for operation in operations { outcomes.append(try await own.perform(operation)) }
      for client in clients.values { await client.close() }
      return outcomes
    }

    private static func compare(
      _ operations: [DocumentOperation], _ sides: [[DocumentOutcome]], _ seed: UInt64
    ) throws {
      var disagreements = 0
      for (index, operation) in operations.enumerated() {
        let outcomes = sides.map { $0[index] }
        let isClear = if case .other = outcomes[0] { false } else { true }
        if isClear, outcomes.allSatisfy({ $0 == outcomes[0] }) { continue }
        disagreements += 1
        if disagreements <= 5 {
          Issue.record("seed \(seed), operation \(index): \(operation)\ncame to \(outcomes)")
        }
      }
      #expect(disagreements == 0, "seed \(seed)")
      let found = sides[0]
      let shares: [(String, Int)] = [
        ("denied", found.count { $0 == .failed(.permissionDenied) }),
        ("not found", found.count { $0 == .failed(.notFound) }),
        ("exists", found.count { $0 == .failed(.alreadyExists) } * 10),
        ("written", found.count { $0 == .done([]) }),
        ("read", found.count { if case .done(let lines) = $0 { !lines.isEmpty } else { false } }),
      ]
      print("documents: \(shares)")
      for (name, share) in shares { #expect(share > count / 80, "\(name), seed \(seed)") }
    }

    private static func onThread<R: Sendable>(
      _ work: @escaping @Sendable () throws -> R
    ) async throws -> R {
      try await withCheckedThrowingContinuation { done in
        DispatchQueue(label: "documents").async { done.resume(with: Result { try work() }) }
      }
    }
  }
#endif
