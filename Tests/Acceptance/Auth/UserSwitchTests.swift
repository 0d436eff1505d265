import TernClient
import TernCore
import TernQuery
import TernSync
import Testing

@Suite struct UserSwitchTests {
  /// The server's clock, in milliseconds since 1970.
  private static let now: Int64 = 1_760_000_000_000
  private static let rules = """
    {"rules": {"users": {"$uid": {".read": "auth.uid === $uid", ".write": "auth.uid === $uid"}}}}
    """

  private func house(_ setting: Setting) async throws -> (House, TokenShop) {
    let shop = try await TokenShop()
    let house = try await House(
      setting, serverTime: Self.now, authenticator: shop.authenticator)
    try await house.judge(by: Self.rules)
    return (house, shop)
  }

  private func signIn(_ user: String, _ person: Person, _ shop: TokenShop) throws {
    try person.tern.auth.signIn(token: shop.token(user, now: Self.now))
  }

  /// Adds one to a counter in a document.
  private func addOne(_ path: String, _ person: Person) async throws -> DocumentWrite {
    try await person.tern.documents.document(path).set(
      ["n": .transform(.increment(.integer(1)))], merging: true)
  }

  /// Returns a document's `n` at the server; `nil` when there is no such document.
  private func number(_ path: String, _ person: Person) async throws -> DocumentValue? {
    try await person.tern.documents.document(path).get(from: .server).data()?["n"]
  }

  private func pendingCount(_ person: Person) async -> Int {
    await person.tern.documents.queueStatus.pending.count
  }

  /// A task that has begun to wait for what is pending, and ends with why it no longer waits.
  private func waiting(_ documents: Documents) async -> Task<DocumentsError?, Never> {
    let begun = AsyncStream<Void>.makeStream()
    let task = Task { () -> DocumentsError? in
      begun.continuation.finish()
      do throws(DocumentsError) { try await documents.waitForPendingWrites() } catch {
        return error
      }
      return nil
    }
    for await _ in begun.stream {}
    return task
  }

  @Test(
    "writes to documents wait for their user's return, over a restart, and go out once each",
    arguments: Setting.storages)
  func documents(setting: Setting) async throws {
    let (house, shop) = try await house(setting)
    var person = try Person("device", in: house, online: false)
    let watcher = try Person("watcher", in: house)
    try signIn("ann", person, shop)
    let seen = Trace()
    let listening = seen.listen(person.tern.documents.collection("notes"))
    let first = try await addOne("notes/ann", person)
    for _ in 1...2 { _ = try await addOne("notes/ann", person) }
    try await seen.wait(forLast: "[ann {n:3}] from cache pending")
    let waited = await waiting(person.tern.documents)
    // The wait and these calls stand in one line: it has begun when they have been answered.
    for _ in 1...100 { #expect(await pendingCount(person) == 3) }

    // Another user: sees nothing of it, and writes on their own account.
    try signIn("bob", person, shop)
    try await seen.wait(forLast: "[] from cache")
    #expect(await waited.value == .cancelled)
    #expect(await pendingCount(person) == 0)
    let bobs = try await addOne("notes/bob", person)
    try await seen.wait(forLast: "[bob {n:1}] from cache pending")
    await person.plug()
    try await bobs.acknowledged()
    #expect(try await number("notes/bob", watcher) == .integer(1))
    #expect(try await number("notes/ann", watcher) == nil)

    // The former user comes back: what was promised to them goes on.
    await person.tern.documents.goOffline()
    try signIn("ann", person, shop)
    try await seen.wait(forLast: "[ann {n:3} bob {n:1}] from cache pending")
    await person.tern.documents.goOnline()
    try await first.acknowledged()
    try await person.tern.documents.waitForPendingWrites()
    #expect(try await number("notes/ann", watcher) == .integer(3))

    // The same over the end of the program.
    await person.tern.documents.goOffline()
    for _ in 1...2 { _ = try await addOne("notes/ann", person) }
    try signIn("bob", person, shop)
    listening.cancel()
    await person.crash()
    person = try Person("device", in: house, on: person.cable)
    #expect(person.tern.auth.currentUser?.uid == "bob")
    await person.plug()
    try await addOne("notes/bob", person).acknowledged()
    #expect(try await number("notes/ann", watcher) == .integer(3))
    #expect(await pendingCount(person) == 0)
    await person.crash()
    person = try Person("device", in: house, on: person.cable)
    try signIn("ann", person, shop)
    let again = try await person.tern.documents.document("notes/ann").get(from: .cache)
    #expect(again.data()?["n"] == .integer(5) && again.metadata.hasPendingWrites)
    #expect(await pendingCount(person) == 2)
    await person.plug()
    try await person.tern.documents.waitForPendingWrites()
    #expect(try await number("notes/ann", watcher) == .integer(5))
    #expect(try await number("notes/bob", watcher) == .integer(2))
    #expect(await person.tern.documents.queueStatus.rejected.isEmpty)
    await watcher.crash()
    await person.crash()
    try await house.close()
  }

  @Test(
    "writes to the tree are never sent with another user's token, and none is lost",
    arguments: Setting.storages)
  func tree(setting: Setting) async throws {
    let (house, shop) = try await house(setting)
    var person = try Person("device", in: house, online: false)
    try signIn("ann", person, shop)
    let first = try await person.tern.tree["users/ann/n"].set(.increment(by: 1))
    for _ in 1...2 { _ = try await person.tern.tree["users/ann/n"].set(.increment(by: 1)) }
    #expect(await person.tern.tree.pendingWrites.count == 3)
    try signIn("bob", person, shop)
    #expect(await person.tern.tree.pendingWrites.isEmpty)
    let bobs = try await person.tern.tree["users/bob/n"].set(.increment(by: 1))
    await person.plug()
    try await bobs.acknowledged()
    #expect(person.cable.sent(action: "p") == 1)

    // While there is a connection, the link stays and the writes follow the credential.
    try signIn("ann", person, shop)
    try await first.acknowledged()
    #expect(try await person.tern.tree["users/ann/n"].get().node == .init(.integer(3)))
    try signIn("bob", person, shop)
    #expect(try await person.tern.tree["users/bob/n"].get().node == .init(.integer(1)))

    // The same over the end of the program.
    await person.tern.tree.goOffline()
    try signIn("ann", person, shop)
    for _ in 1...2 { _ = try await person.tern.tree["users/ann/n"].set(.increment(by: 1)) }
    try person.tern.auth.signOut()
    await person.crash()
    person = try Person("device", in: house, on: person.cable)
    #expect(await person.tern.tree.pendingWrites.isEmpty)
    try signIn("bob", person, shop)
    await person.plug()
    try await person.tern.tree["users/bob/n"].set(.increment(by: 1)).acknowledged()
    try signIn("ann", person, shop)
    #expect(await person.tern.tree.pendingWrites.count <= 2)
    for await status in person.tern.tree.queue where status.pending.isEmpty { break }
    #expect(try await person.tern.tree["users/ann/n"].get().node == .init(.integer(5)))
    #expect(await person.tern.tree.rejectedWrites.isEmpty)
    await person.crash()
    try await house.close()
  }

  @Test(
    "a transaction ends when another user signs in, and writes nothing",
    arguments: Setting.transports)
  func transactions(setting: Setting) async throws {
    let (house, shop) = try await house(setting)
    let person = try Person("device", in: house)
    try signIn("ann", person, shop)
    try await addOne("notes/t", person).acknowledged()
    let bob = try shop.token("bob", now: Self.now)
    let tern = person.tern
    await #expect(throws: DocumentsError.self) {
      try await tern.documents.transaction { transaction in
        let place = tern.documents.document("notes/t")
        _ = try await transaction.get(place)
        try tern.auth.signIn(token: bob)
        // The sign-in is in the documents' order before what is asked next.
        try transaction.set(place, to: ["n": 100])
      }
    }
    #expect(try await number("notes/t", person) == .integer(1))
    await person.crash()
    try await house.close()
  }
}
