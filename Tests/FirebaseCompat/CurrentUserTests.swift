import Foundation
import Synchronization
import TernAssembly
import TernClient
import TernStandard
import Testing

@testable import TernFirebaseCompat

@Suite struct CurrentUserTests {
  /// Returns a token that names a user; these tests do not verify tokens.
  private static func token(_ user: String) -> String {
    let parts = [#"{"alg":"none"}"#, #"{"sub":"\#(user)","user_id":"\#(user)"}"#, ""]
    return parts.map {
      Data($0.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: "")
    }.joined(separator: ".")
  }

  @Test("W18 the kept user is there at the first read after a start")
  func atOnce() async throws {
    let server = try await LocalServer()
    let first = server.app()
    try await Auth.auth(app: first).signIn(withCustomToken: Self.token("ann"))
    await first.delete()
    for _ in 1...20 {
      let again = server.app(first.name)
      #expect(Auth.auth(app: again).currentUser?.uid == "ann")
      await again.delete()
    }
    await server.close()
  }

  @Test("W18 many reads at once, on every thread there is, are all answered")
  func manyAtOnce() async throws {
    let store = try await Assembler(catalog: .standard).store(fromJSON: #"{"kind": "memory"}"#)
    let native = try ClientAuth(store: store)
    try native.signIn(token: Self.token("ann"))
    let auth = Auth(callbackQueue: DispatchQueue(label: "callbacks")) {
      for _ in 1...100 { await Task.yield() }
      return native
    }
    let users = await withTaskGroup(of: String?.self) { group in
      for _ in 1...64 { group.addTask { auth.currentUser?.uid } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(users == Array(repeating: "ann", count: 64))
  }

  @Test("listeners of tokens hear of a new token of the same user, listeners of users do not")
  func tokens() async throws {
    let store = try await Assembler(catalog: .standard).store(fromJSON: #"{"kind": "memory"}"#)
    let native = try ClientAuth(store: store)
    let auth = Auth(callbackQueue: DispatchQueue(label: "callbacks")) { native }
    let (users, tokens) = (Answer<String>(), Answer<String>())
    auth.addStateDidChangeListener { _, user in users.give(user?.uid ?? "none") }
    let handle = auth.addIDTokenDidChangeListener { _, user in tokens.give(user?.uid ?? "none") }
    #expect(await users.next() == "none")
    #expect(await tokens.next() == "none")
    try await auth.signIn(withCustomToken: Self.token("ann"))
    #expect(await users.next() == "ann")
    #expect(await tokens.next() == "ann")
    let second = Self.token("ann").replacing(".", with: ".", maxReplacements: 1) + "c2ln"
    try await auth.signIn(withCustomToken: second)
    #expect(await tokens.next() == "ann")
    let shown = Answer<String>()
    auth.currentUser?.getIDToken { token, _ in shown.give(token ?? "none") }
    auth.removeIDTokenDidChangeListener(handle)
    try auth.signOut()
    // The same token did not count as a change of user: the next that is heard is the end.
    #expect(await users.next() == "none")
  }

  @Test("a listener of users that was removed hears nothing more, and the others go on")
  func removed() async throws {
    let store = try await Assembler(catalog: .standard).store(fromJSON: #"{"kind": "memory"}"#)
    let native = try ClientAuth(store: store)
    let auth = Auth(callbackQueue: DispatchQueue(label: "callbacks")) { native }
    let heard = Mutex<[String]>([])
    let others = Answer<String>()
    // Listeners are called in the order they were added, on one queue.
    let handle = auth.addStateDidChangeListener { _, user in
      heard.withLock { $0.append(user?.uid ?? "none") }
    }
    auth.addStateDidChangeListener { _, user in others.give(user?.uid ?? "none") }
    #expect(await others.next() == "none")
    auth.removeStateDidChangeListener(handle)
    auth.removeStateDidChangeListener(handle)
    try await auth.signIn(withCustomToken: Self.token("ann"))
    #expect(await others.next() == "ann")
    #expect(heard.withLock { $0 } == ["none"])
  }

  @Test("a sign-in that cannot be read counts as none, and listeners hear so")
  func unreadable() async {
    struct Broken: Error {}
    let auth = Auth(callbackQueue: DispatchQueue(label: "callbacks")) { throw Broken() }
    #expect(auth.currentUser == nil)
    let heard = Answer<String>()
    auth.addStateDidChangeListener { _, user in heard.give(user?.uid ?? "nobody") }
    #expect(await heard.next() == "nobody")
  }

  @Test("a former user that is read late takes no place of a later one")
  func lateState() async throws {
    let store = try await Assembler(catalog: .standard).store(fromJSON: #"{"kind": "memory"}"#)
    let native = try ClientAuth(store: store)
    let auth = Auth(callbackQueue: DispatchQueue(label: "callbacks")) { native }
    try await auth.signIn(withCustomToken: Self.token("ann"))
    let former = native.moment
    try await auth.signIn(withCustomToken: Self.token("bob"))
    auth.take(former, of: native)
    #expect(auth.currentUser?.uid == "bob")
    try auth.signOut()
    auth.take(former, of: native)
    #expect(auth.currentUser == nil)
  }
}
