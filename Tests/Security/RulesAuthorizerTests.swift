import Synchronization
import TernCore
import TernQuery
import TernSecurity
import Testing

/// Rules behind the server's protocol.
@Suite("Rules as an authorizer")
struct RulesAuthorizerTests {
  private let rules = """
    {"rules": {
      "notes": {"$uid": {
        ".read": "auth.uid === $uid",
        ".write": "auth.uid === $uid && auth.token.role == 'author' && auth.provider == 'custom'",
        ".validate": "newData.hasChildren(['t', 'n'])",
        "t": {".validate": "newData.val() <= now"}
      }},
      "list": {".read": "query.limitToLast <= 2", ".indexOn": "n"}
    }}
    """

  private func requester(_ identity: Identity) -> Requester {
    Requester(identity, isLocal: false, namespace: "default")
  }

  private let bob = Identity.user(id: "bob", claims: ["role": "author"])

  @Test("rules see the identity that an administrator acts for as described, member by member")
  func impersonated() throws {
    let rules = try TreeRules(
      #"""
      {"rules": {"jobs": {".read": "auth.isServer === true && auth.provider === null"},
        "mine": {"$uid": {".read": "auth.uid === $uid"}}}}
      """#)
    let authorizer = RulesAuthorizer(rules)
    func may(_ path: TreePath, _ auth: JSONValue) -> Bool {
      authorizer.mayRead(path, .all, by: requester(.impersonated(auth)), now: 5) { _ in .empty }
    }
    #expect(may("jobs", ["isServer": true]))
    #expect(!may("jobs", ["isServer": false]) && !may("jobs", ["uid": "ann"]))
    #expect(may("mine/ann", ["uid": "ann"]) && !may("mine/ann", ["isServer": true]))
    let stored = Identity.impersonated(["isServer": true, "uid": "ann"])
    #expect(Identity(json: stored.json) == stored)
    #expect(stored.userID == "ann")
  }

  @Test("reads follow the rules, administrators pass")
  func reads() throws {
    let authorizer = RulesAuthorizer(try TreeRules(rules))
    func may(_ path: TreePath, _ identity: Identity, _ query: TreeQuery = .all) -> Bool {
      authorizer.mayRead(path, query, by: requester(identity), now: 5) { _ in .empty }
    }
    #expect(may("notes/bob", bob) && may("notes/bob/t", bob))
    #expect(!may("notes/eve", bob) && !may("notes", bob) && !may("notes/bob", .anonymous))
    #expect(may("notes", .administrator) && may(.root, .administrator))
    #expect(may("list", .anonymous, try TreeQuery.all.last(2)))
    #expect(!may("list", .anonymous, try TreeQuery.all.last(3)) && !may("list", .anonymous))
  }

  @Test("writes are judged on the tree they would make, and denials are logged")
  func writes() throws {
    let denials = Mutex<[RulesDenial]>([])
    let authorizer = RulesAuthorizer(try TreeRules(rules)) { explanation in
      guard case .denied(let denial) = explanation.verdict else { return }
      denials.withLock { $0.append(denial) }
    }
    let tree: TreeNode = ["notes": ["bob": ["t": 1, "n": 1]]]
    func may(_ path: TreePath, _ node: TreeNode, _ identity: Identity) -> Bool {
      authorizer.mayWrite(
        [.init(path: path, node: node)], by: requester(identity), now: 5
      ) { tree.node(at: $0) }
    }
    #expect(may("notes/bob/n", 7, bob) && may("notes/bob", ["t": 5, "n": 1], bob))
    #expect(may("notes/bob", .empty, bob) && may("notes/eve/x", 1, .administrator))
    #expect(denials.withLock { $0.isEmpty })
    #expect(!may("notes/bob/n", .empty, bob), "a needed child is gone")
    #expect(!may("notes/bob/t", 6, bob), "from the future")
    #expect(!may("notes/bob/n", 7, .user(id: "bob", claims: [:])), "not an author")
    #expect(!may("notes/eve/n", 7, bob) && !may("notes/bob/n", 7, .anonymous))
    let kinds = denials.withLock { $0.map(\.kind) }
    #expect(kinds == [.validate, .validate, .write, .write, .write])
  }
}
