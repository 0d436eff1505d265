import Dispatch
import TernClient
import TernCore
import TernSync
import TernTokens

@testable import TernFirebaseCompat

/// The program of a signed-in user: both databases, over one cable, with the stores of its name.
struct Person: Sendable {
  let tern: TernDatabase
  let database: Database
  let firestore: Firestore
  let auth: Auth
  let cable: Cable

  /// Starts the program, or starts it again on the same cable.
  init(
    _ name: String, in house: House, on cable: Cable? = nil, online: Bool = true
  ) throws {
    let cable = try cable ?? Cable(house.clientTransport(), isPlugged: online)
    let kind = house.setting.storage
    var parts = ClientParts(
      queue: try house.stores.store(name + "-queue", kind: kind),
      cache: try house.stores.store(name + "-cache", kind: kind, relaxed: true), transport: cable)
    parts.documents = DocumentParts(
      database: House.documentDatabase,
      queue: try house.stores.store(name + "-document-queue", kind: kind),
      cache: try house.stores.store(name + "-document-cache", kind: kind, relaxed: true))
    let tern = try TernDatabase.open(parts)
    self.tern = tern
    self.cable = cable
    let queue = DispatchQueue(label: "callbacks of \(name)")
    database = Database(address: "test://\(name)") { _ in tern }
    try database.configure { $0.callbackQueue = queue }
    firestore = Firestore(database: House.documentDatabase) { _, _ in
      OpenedDocuments(documents: tern.documents) {}
    }
    auth = Auth(callbackQueue: queue) { tern.auth }
  }

  /// Ends the program without a word to the server.
  func crash() async {
    cable.unplug()
    await tern.close()
  }

  func plug() async {
    cable.plug()
    await tern.tree.goOnline()
    await tern.documents.goOnline()
  }

  /// Waits for a state of the sign-in.
  func waitForState(_ isIt: @escaping @Sendable (AuthState) -> Bool) async throws {
    let heard = Trace()
    let states = tern.auth.states
    let reading = Task { for await state in states where isIt(state) { heard.add("it") } }
    defer { reading.cancel() }
    try await heard.wait(for: "it")
  }
}

/// Makes tokens that a server takes.
struct TokenShop: Sendable {
  let authenticator: TokenAuthenticator
  private let issuer: TokenIssuer

  init() async throws {
    let keys = try await TokenKeys.reading(Array("0123456789abcdef0123456789abcdef".utf8))
    authenticator = TokenAuthenticator(keys)
    issuer = try TokenIssuer(keys)
  }

  /// A token that ends so many seconds after the server's clock shows `now`, in milliseconds.
  func token(_ user: String, now: Int64, lifetime: Int64 = 3_600) throws -> String {
    let issued = now / 1_000 - 7_200
    return try issuer.sign(user: user, now: issued, lifetimeSeconds: 7_200 + lifetime)
  }
}
