import Foundation
import TernClient
import TernCore
import TernFirebaseCompat
import TernSync
import Testing

@Suite struct AuthTests {
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

  @Test(
    "R09 after a restart without a connection the user is still signed in",
    arguments: Setting.storages)
  func tokenIsKept(setting: Setting) async throws {
    let (house, shop) = try await house(setting)
    var person = try Person("ann", in: house)
    #expect(person.tern.auth.currentUser == nil)
    try await person.auth.signIn(withCustomToken: shop.token("ann", now: Self.now))
    try await person.database.reference(withPath: "users/ann/name").setValue("Ann")
    await person.crash()

    person = try Person("ann", in: house, on: person.cable)
    #expect(person.tern.auth.currentUser?.uid == "ann")
    let heard = Trace()
    person.auth.addStateDidChangeListener { _, user in heard.add(user?.uid ?? "nobody") }
    #expect(try await heard.wait(for: 1) == ["ann"])
    #expect(person.auth.currentUser?.uid == "ann")
    // What is written before there is a connection is written as that user.
    let write = try await person.tern.tree["users/ann/name"].set("Ann B.")
    await person.plug()
    try await write.acknowledged()

    try person.auth.signOut()
    try await heard.wait(for: "nobody")
    await person.crash()
    person = try Person("ann", in: house, on: person.cable)
    #expect(person.tern.auth.currentUser == nil)
    await person.crash()
    try await house.close()
  }

  @Test("R09 a sign-out before the kept user is known counts")
  func earlySignOut() async throws {
    let (house, shop) = try await house(Setting.storages[0])
    let person = try Person("ann", in: house)
    try await person.auth.signIn(withCustomToken: shop.token("ann", now: Self.now))
    let opens = Promise<Bool>()
    let native = person.tern.auth
    let auth = Auth(callbackQueue: DispatchQueue(label: "callbacks")) {
      _ = await opens.value()
      return native
    }
    let heard = Trace()
    auth.addStateDidChangeListener { _, user in heard.add(user?.uid ?? "nobody") }
    try auth.signOut()
    #expect(native.currentUser?.uid == "ann")
    opens.resolve(true)
    #expect(try await heard.wait(for: 1) == ["nobody"])
    #expect(try await auth.native().currentUser == nil)
    // From now on it is done at once.
    try await auth.signIn(withCustomToken: shop.token("bob", now: Self.now))
    try await heard.wait(for: "bob")
    try auth.signOut()
    #expect(native.currentUser == nil)
    await person.crash()
    try await house.close()
  }

  @Test(
    "R10 writes of a user whose token has expired wait for the next one, and none is dropped",
    arguments: Setting.storages)
  func expiredTokenPausesWrites(setting: Setting) async throws {
    let (house, shop) = try await house(setting)
    let person = try Person("ann", in: house, online: false)
    try await person.auth.signIn(
      withCustomToken: shop.token("ann", now: Self.now, lifetime: -3_600))
    let counter = person.tern.tree["users/ann/count"]
    var writes: [TreeWriteHandle] = []
    for number in Int64(1)...5 { writes.append(try await counter.set(TreeNode(.integer(number)))) }
    let document = try await person.tern.documents.document("users/ann").set(["count": 5])
    await person.plug()
    try await person.waitForState {
      if case .tokenNeeded(let user, _) = $0 { user.uid == "ann" } else { false }
    }
    // The connection is there, and nothing but the token was sent.
    for await state in person.tern.tree.connection where state == .online { break }
    #expect(person.cable.sent(action: "auth") == 1)
    #expect(person.cable.sent(action: "p") == 0)
    #expect(await person.tern.tree.pendingWrites.count == 5)
    #expect(await person.tern.tree.rejectedWrites.isEmpty)

    try await person.auth.signIn(withCustomToken: shop.token("ann", now: Self.now))
    for write in writes { try await write.acknowledged() }
    try await document.acknowledged()
    #expect(person.cable.sent(action: "p") == 5)
    #expect(person.tern.auth.state.user?.uid == "ann")
    #expect(await person.tern.tree.pendingWrites.isEmpty)
    await person.crash()
    try await house.close()
  }

  @Test(
    "R10 a token that ends while its user is connected loses no listener and no write",
    arguments: Setting.storages)
  func expiryWhileConnected(setting: Setting) async throws {
    let (house, shop) = try await house(setting)
    let person = try Person("ann", in: house)
    try await person.auth.signIn(
      withCustomToken: shop.token("ann", now: Self.now, lifetime: -25))
    let heard = Trace()
    let place = person.database.reference(withPath: "users/ann/name")
    heard.observe(.value, of: place)
    try await place.setValue("a")
    try await heard.wait(for: "value a")
    // Clocks may differ by half a minute: five seconds are left.
    house.pass(seconds: 20)
    try await person.waitForState { if case .tokenNeeded = $0 { true } else { false } }
    let write = try await person.tern.tree["users/ann/name"].set("b")
    try await heard.wait(for: "value b")
    #expect(await person.tern.tree.pendingWrites.count == 1)
    try await person.auth.signIn(withCustomToken: shop.token("ann", now: Self.now))
    try await write.acknowledged()
    try await person.tern.tree["users/ann/name"].set("c").acknowledged()
    try await heard.wait(for: "value c")
    #expect(!heard.entries.contains { $0.hasPrefix("cancel") })
    await person.crash()
    try await house.close()
  }

  @Test("R10 a source of tokens is asked when one is refused", arguments: Setting.storages)
  func refreshing(setting: Setting) async throws {
    let (house, shop) = try await house(setting)
    let person = try Person("ann", in: house, online: false)
    let fresh = try shop.token("ann", now: Self.now)
    try await person.auth.signIn(
      withCustomToken: shop.token("ann", now: Self.now, lifetime: -3_600))
    let asked = Trace()
    person.tern.auth.refreshTokens { user in
      asked.add(user.uid)
      return fresh
    }
    let write = try await person.tern.tree["users/ann/name"].set("Ann")
    await person.plug()
    try await write.acknowledged()
    #expect(asked.entries.first == "ann")
    #expect(person.tern.auth.token == fresh)
    await person.crash()
    try await house.close()
  }

  @Test(
    "W18 the id of the current user builds paths", arguments: Setting.storages)
  func currentUserBuildsPaths(setting: Setting) async throws {
    let (house, shop) = try await house(setting)
    let person = try Person("ann", in: house)
    let done = Trace()
    let auth = person.auth
    auth.signIn(withCustomToken: try shop.token("ann", now: Self.now)) { result, error in
      done.add(result?.user.uid ?? "\(String(describing: error))")
    }
    #expect(try await done.wait(for: 1) == ["ann"])
    guard let userID = auth.currentUser?.uid else {
      Issue.record("nobody is signed in")
      return
    }
    let ref = person.database.reference()
    try await ref.child("users").child(userID).setValue(["username": "ann"])
    let snapshot = try await ref.child("users/\(userID)/username").getData()
    #expect(snapshot.value as? String == "ann")
    // Another user's path cannot be written.
    await #expect(throws: (any Error).self) {
      try await ref.child("users/bob/username").setValue("ann")
    }
    auth.signIn(withCustomToken: "no token") { result, error in
      done.add("\(result == nil) \((error as NSError?)?.code ?? 0)")
    }
    #expect(try await done.wait(for: 2).last == "true 17000")
    await person.crash()
    try await house.close()
  }
}
