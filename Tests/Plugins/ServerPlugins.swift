import Synchronization
import TernCore
import TernLedger
import TernSecurity
import TernServer
import TernStorage
import TernTestKit

/// A ledger in the server's store that counts the commits of the store: `{"kind": "counted"}`.
enum CountedPlugin: LedgerPlugin {
  struct Options: Decodable, Sendable {}

  static let kind = "counted"
  static let stores = Mutex<[RecordingStore]>([])

  static func open(
    _ options: Options, with resources: LedgerResources
  ) async throws(LedgerError) -> any Ledger {
    let store: RecordingStore
    do throws(StorageError) { store = RecordingStore(try await resources.openStore()) } catch {
      throw .storage(error)
    }
    stores.withLock { $0.append(store) }
    resources.whenClosed { stores.withLock { $0.removeAll { $0 === store } } }
    return try EmbeddedLedger(store: store, uptime: resources.uptime)
  }
}

/// Takes the names of a list for tokens: `{"kind": "names", "names": ["ann"]}`.
enum NamesPlugin: AuthenticatorPlugin {
  struct Options: Decodable, Sendable {
    let names: [String]
  }

  static let kind = "names"

  static func open(
    _ options: Options, with resources: AuthenticatorResources
  ) async throws(PluginError) -> (any Authenticator)? {
    if options.names.isEmpty { throw PluginError(reason: "there are no names") }
    return NameAuthenticator(names: options.names)
  }
}

private struct NameAuthenticator: Authenticator {
  let names: [String]

  func authenticate(
    _ credential: Credential, now: Int64
  ) throws(AuthenticationError) -> Authentication {
    guard names.contains(credential.token) else { throw .invalid(reason: "No such name.") }
    return Authentication(.user(id: credential.token, claims: .object([])))
  }
}

/// An endpoint that counts the servers it is open on: `{"counter": {"step": 1}}`.
enum CounterPlugin: EndpointPlugin {
  struct Options: Decodable, Sendable {
    var step: Int?
  }

  static let kind = "counter"
  static let count = Mutex(0)

  static func open(
    _ options: Options, to server: TernServer, with resources: EndpointResources
  ) async throws(PluginError) {
    let step = options.step ?? 1
    if step == 0 { throw PluginError(reason: "a step is not 0") }
    count.withLock { $0 += step }
    resources.whenClosed { count.withLock { $0 -= step } }
  }
}
