import TernCore
import TernLedger
import TernSecurity
import TernServer
import TernStorage
import TernStorageMemory
import TernSync
import TernTestKit
import TernTransport
import TernTransportLoopback

@testable import TernClient

/// A real server and any number of real clients on one loopback network, all in memory.
struct Home {
  let transport: LoopbackTransport
  let server: TernServer

  init(
    authorizer: any Authorizer = AllowLocal(),
    documentAuthorizer: (any DocumentAuthorizer)? = nil,
    authenticator: any Authenticator = NoAuthenticator(),
    limit: FrameLimit = .standard,
    report: @escaping @Sendable (ServerEvent) -> Void = { _ in }
  ) async throws {
    transport = LoopbackTransport(limit: limit)
    let ledger = try EmbeddedLedger(
      store: MemoryStore(), uptime: RuntimeEnvironment.system.stopwatch())
    server = try await TernServer(
      ledger: ledger, on: transport, authorizer: authorizer,
      documentAuthorizer: documentAuthorizer, authenticator: authenticator, report: report)
    try await server.listen(on: transport)
  }

  func client(
    queue: any OrderedStore = MemoryStore(), cache: MemoryStore? = MemoryStore(),
    _ change: (inout ClientOptions) -> Void = { _ in }
  ) throws -> TernDatabase {
    var options = ClientOptions()
    options.syncsInBackground = false
    // On a loaded machine a connection takes its time, and no answer would be the cache's.
    options.readPatience = .seconds(120)
    change(&options)
    return try TernDatabase.open(
      ClientParts(queue: queue, cache: cache, transport: transport), options: options,
      ambient: .patient)
  }

  /// A client that is there for its documents.
  func documentClient(
    queue: any OrderedStore = MemoryStore(), cache: MemoryStore = MemoryStore(),
    _ change: (inout ClientOptions) -> Void = { _ in }
  ) throws -> TernDatabase {
    var options = ClientOptions()
    options.syncsInBackground = false
    // On a loaded machine a connection takes its time, and no answer would be the cache's.
    options.readPatience = .seconds(120)
    change(&options)
    var parts = ClientParts(queue: MemoryStore(), cache: nil, transport: transport)
    parts.documents = DocumentParts(
      database: try DocumentDatabase(projectID: "demo"), queue: queue, cache: cache)
    return try TernDatabase.open(parts, options: options, ambient: .patient)
  }
}

/// Rules under which everything can be read and nothing be written.
func denyingWrites() throws -> RulesAuthorizer {
  RulesAuthorizer(try TreeRules(#"{"rules": {".read": true, ".write": false}}"#))
}

extension AsyncSequence {
  /// The first element that fits; `nil` when the sequence ends before.
  func first(_ fits: (Element) -> Bool) async throws -> Element? {
    for try await element in self where fits(element) { return element }
    return nil
  }
}

/// Takes every token for that of the user it names.
struct TrustingAuthenticator: Authenticator {
  func authenticate(
    _ credential: Credential, now: Int64
  ) throws(AuthenticationError) -> Authentication {
    guard let user = try? AuthUser(token: credential.token) else { throw .invalid(reason: "none") }
    return Authentication(.user(id: user.uid, claims: .object([])))
  }

  /// Returns a token of a user.
  static func token(_ user: String) -> String {
    let claims = #"{"uid":"\#(user)"}"#
    return "e30." + String(decoding: Base64.encode(Array(claims.utf8)), as: UTF8.self) + ".s"
  }
}
