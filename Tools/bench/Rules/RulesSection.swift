#if TCP
  import TernCore
  import TernLedger
  import TernSecurity
  import TernServer
  import TernStorageSQLite
  import TernSync
  import TernTransportLoopback
  import TernTreeWire

  /// The cost of 100 rules for a write: measured inside the server, around the decision, on a store
  /// on disk with rows that the rules read.
  ///
  /// The baseline is the limit, 20 µs; what the same measurement says of an authorizer that allows
  /// everything is printed beside it.
  enum RulesSection {
    private static let limitMicroseconds = 20.0
    /// The number of clients that write at once; each waits for its answers.
    private static let clients = 16
    private static let writesOfEach = 250
    private static let user = "mia"

    /// A write that meets some of the rules.
    private enum Load: String, CaseIterable {
      case counter = "100 rules, 2 of them met: 20 µs"
      case message = "100 rules, 5 of them met: 20 µs"
      case form = "100 rules, all of them met: 20 µs"

      func request(_ number: Int, of client: Int) throws -> TreeRequest {
        let id = "\(client)-\(number)"
        return switch self {
        case .counter: try Self.put("counters/c\(client)", "\(number + 1)")
        case .message: try Self.put("rooms/r/messages/\(id)", BenchRules.message(number, by: user))
        case .form: try Self.put("forms/\(id)", BenchRules.form(number, by: user))
        }
      }

      static func put(_ path: String, _ json: String) throws -> TreeRequest {
        .put(try TreePath(path), try TreeNode(json: json), expectedHash: nil, WriteHeader())
      }
    }

    static func run(rounds: Int) async throws -> [BenchLine] {
      var lines: [BenchLine] = []
      for load in Load.allCases {
        let rules = try TreeRules(load == .form ? BenchRules.form : BenchRules.app)
        guard rules.count == BenchRules.count else {
          throw BenchFailure(reason: "\(rules.count) rules")
        }
        var (ours, bare): ([Double], [Double]) = ([], [])
        for _ in 0..<max(rounds, 1) {
          bare.append(try await median(of: load, under: AllowAll()))
          ours.append(try await median(of: load, under: RulesAuthorizer(rules)))
        }
        let (median, least) = (BenchLine.median(ours), BenchLine.median(bare))
        print(
          "\(load.rawValue.prefix(while: { $0 != ":" })): median \(BenchLine.tenths(median)) µs,",
          "without rules \(BenchLine.tenths(least)) µs")
        lines.append(
          BenchLine(
            name: load.rawValue, rate: 1_000_000 / median,
            baseline: 1_000_000 / limitMicroseconds, target: 1))
      }
      return lines
    }

    /// Lets the clients write; what the decision about one write takes, in microseconds.
    private static func median(of load: Load, under judge: any Authorizer) async throws -> Double {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let authorizer = TimedAuthorizer(judge)
      let ledger = try EmbeddedLedger(
        store: try SQLiteStore(path: folder.path),
        uptime: RuntimeEnvironment.system.stopwatch())
      let transport = LoopbackTransport()
      let server = try await TernServer(
        ledger: ledger, on: transport, authorizer: authorizer, authenticator: Welcome())
      try await server.listen(on: transport)
      var client = try await FrameClient(transport)
      _ = try await client.request(.auth(TreeCredential(.service, token: "root")))
      _ = try await client.request(try Load.put("members/r/\(user)", "true"))
      for number in 0..<clients {
        _ = try await client.request(try Load.put("counters/c\(number)", "0"))
      }
      _ = authorizer.take()
      try await withThrowingTaskGroup { group in
        for number in 0..<clients {
          group.addTask {
            var client = try await FrameClient(transport)
            _ = try await client.request(.auth(TreeCredential(.user, token: user)))
            for write in 0..<writesOfEach {
              _ = try await client.request(try load.request(write, of: number))
            }
          }
        }
        try await group.waitForAll()
      }
      let taken = authorizer.take()
      await server.stop()
      await transport.shutdown()
      return Double(taken[taken.count / 2]) / 1_000
    }

    /// Takes every token for the name of a user, and services for administrators.
    private struct Welcome: Authenticator {
      func authenticate(
        _ credential: Credential, now: Int64
      ) throws(AuthenticationError) -> Authentication {
        guard credential.kind == .user else { return Authentication(.administrator) }
        let claims: JSONValue = .object([
          .init("sub", .string(credential.token)), .init("email", .string("mia@example.org")),
          .init("role", .string("editor")),
        ])
        return Authentication(.user(id: credential.token, claims: claims))
      }
    }
  }
#endif
