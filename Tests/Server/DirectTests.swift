import TernCore
import TernQuery
import TernSecurity
import TernStorageMemory
import TernTreeWire
import Testing

@testable import TernServer

@Suite("Requests without a session") struct DirectTests {
  /// Sends a request with the credential `token`.
  private func ask(
    _ bench: MachineBench, _ operation: DirectRequest.Operation, as token: String? = nil,
    in namespace: String = "default"
  ) throws -> DirectAnswer? {
    let credential = token.map { Credential(.service, token: $0, isLocal: true) }
    let request = DirectRequest(
      namespace: namespace, isLocal: true, credential: credential, operation)
    try bench.run([.direct(ticket: 1, request)])
    return bench.answers.removeValue(forKey: 1)
  }

  private func names(_ names: String...) -> DirectAnswer {
    .names(names.map { TreeKey(unchecked: $0) })
  }

  private func write(_ path: TreePath, _ node: TreeNode) -> DirectRequest.Operation {
    .write(.set(path, node), expectedHash: nil)
  }

  @Test("a write reaches its listeners, and is read back resolved")
  func writes() throws {
    let bench = try MachineBench()
    bench.now = 5_000
    let timestamp = TreeNode(.serverValue(.timestamp))
    let answer = try ask(bench, write("a/b", ["at": timestamp, "n": 1]))
    #expect(answer == .written(.set("a/b", ["at": 5_000, "n": 1])))
    #expect(try ask(bench, .read("a", .all)) == .node(["b": ["at": 5_000, "n": 1]]))
    let last = try TreeQuery.all.ordered(by: .key).last(1)
    #expect(try ask(bench, .read("a/b", last)) == .node(["n": 1]))
    #expect(try ask(bench, .read("a", .all), in: "other") == .node(.empty))
    #expect(bench.lastCommits.isEmpty, "a read commits nothing")
  }

  @Test("names come in order, a page at a time, and a leaf stands for itself")
  func names() throws {
    let bench = try MachineBench()
    _ = try ask(bench, write("a", ["x": 1, "y": ["deep": 1], "10": 1, "9": 1]))
    #expect(try ask(bench, .names("a", after: nil, limit: nil)) == names("9", "10", "x", "y"))
    #expect(
      try ask(bench, .names("a", after: TreeKey(unchecked: "9"), limit: 2)) == names("10", "x"))
    #expect(try ask(bench, .names("a/x", after: nil, limit: nil)) == .node(1))
    #expect(try ask(bench, .names("b", after: nil, limit: nil)) == .names([]))
  }

  @Test("rules see how many names are asked for, and from where on")
  func limitedNames() throws {
    let rules = try TreeRules(
      """
      {"rules": {"a": {".read": "query.orderByKey && query.limitToFirst <= 10 &&
        (query.startAt == null || query.startAt >= 'm')"}}}
      """)
    let bench = try MachineBench(authorizer: RulesAuthorizer(rules))
    func mayList(after key: String?, _ limit: Int?) throws -> Bool {
      let after = key.map { TreeKey(unchecked: $0) }
      return try ask(bench, .names("a", after: after, limit: limit)) == .names([])
    }
    #expect(try mayList(after: nil, 10))
    #expect(try mayList(after: "m", 10))
    #expect(try !mayList(after: nil, 11))
    #expect(try !mayList(after: nil, nil))
    #expect(try !mayList(after: "l", 1))
  }

  @Test("permission to go on reading is asked for as often as it takes, and judged anew")
  func review() throws {
    let rules = try TreeRules(#"{"rules": {"a": {".read": "now < 2000"}}}"#)
    let bench = try MachineBench(
      options: ServerOptions(
        limits: ServerLimits(rates: RateLimits(requestsPerAddress: 1, burstSeconds: 1))),
      authorizer: RulesAuthorizer(rules), authenticator: OwnerAuthenticator())
    bench.now = 1_999
    for _ in 1...3 { #expect(try ask(bench, .review("a")) == .done) }
    bench.now = 2_000
    #expect(try ask(bench, .review("a"))?.isDenied == true)
    #expect(try ask(bench, .review("a"), as: "owner") == .done)
    guard case .refused(.unauthenticated) = try ask(bench, .review("a"), as: "nobody") else {
      throw MachineBench.BenchError.noGreeting
    }
  }

  @Test("a conditional write over other data shows what is there, to clients that may read it")
  func conditions() throws {
    let rules = try TreeRules(
      #"{"rules": {"open": {".read": true, ".write": true}, "blind": {".write": true}}}"#)
    let bench = try MachineBench(authorizer: RulesAuthorizer(rules))
    let first = TreeWrite.set("open", 1)
    #expect(try ask(bench, .write(first, expectedHash: "")) == .written(first))
    // A condition is a read: without the right to read it is denied, met or not.
    let unseen = DirectRequest.Operation.write(.set("blind", 1), expectedHash: "")
    #expect(try ask(bench, unseen)?.isDenied == true)
    #expect(try ask(bench, write("blind", 1)) == .written(.set("blind", 1)))
    let again = TreeWrite.set("open", 2)
    #expect(try ask(bench, .write(again, expectedHash: "")) == .stale(1))
    #expect(try ask(bench, .write(again, expectedHash: TreeNode(1).hash)) == .written(again))
    let blind = DirectRequest.Operation.write(.set("blind", 2), expectedHash: "")
    #expect(try ask(bench, blind)?.isDenied == true)
  }

  @Test("new names ascend, also within a millisecond and when the clock steps back")
  func pushes() throws {
    let bench = try MachineBench()
    var names: [TreeKey] = []
    for now: Int64 in [1_000, 1_000, 900, 2_000] {
      bench.now = now
      guard case .pushed(let name, _) = try ask(bench, .push("list", TreeNode(.integer(now))))
      else {
        continue
      }
      names.append(name)
    }
    #expect(names.count == 4 && names == names.sorted())
    guard case .node(let list) = try ask(bench, .read("list", .all)) else { return }
    #expect(list.children.map(\.key) == names)
  }

  @Test("what is wrong is refused, and nothing is committed")
  func refusals() throws {
    let bench = try MachineBench(authenticator: OwnerAuthenticator())
    #expect(
      try ask(bench, .read("a", .all), as: "no")
        == .refused(.unauthenticated("This server accepts no credentials.")))
    #expect(
      try ask(bench, .read("a", .all), in: "")
        == .refused(.invalid("There can be no database of that name.")))
    for operation in [write(".info/a", 1), .read(".info", .all)] {
      guard case .refused(.invalid) = try ask(bench, operation) else {
        Issue.record("\(operation) was not refused")
        continue
      }
    }
    #expect(try ask(bench, .readRules) == .refused(.permissionDenied()))
    #expect(bench.lastCommits.isEmpty)
  }

  @Test("rules of a database are in force at once, revoke listens, and outlive the run")
  func rules() throws {
    let store = MemoryStore()
    let bench = try MachineBench(store: store, authenticator: OwnerAuthenticator())
    let open = Array(#"{"rules": {".read": true}}"#.utf8)
    try bench.open(1)
    try bench.ask(1, bench.listen("a"))
    #expect(try ask(bench, .setRules(open, isTrial: true), as: "owner") == .done)
    #expect(try ask(bench, .readRules, as: "owner") != .rules(open))
    #expect(try ask(bench, .setRules(open, isTrial: false), as: "owner") == .done)
    #expect(try ask(bench, .readRules, as: "owner") == .rules(open))
    #expect(try ask(bench, write("a", 1))?.isDenied == true)
    #expect(try ask(bench, write("a", 1), in: "other") == .written(.set("a", 1)))
    _ = bench.take(1)
    let shut = Array(#"{"rules": {}}"#.utf8)
    #expect(try ask(bench, .setRules(shut, isTrial: false), as: "owner") == .done)
    #expect(bench.take(1).map(\.brief) == ["revoked a"])
    let broken = Array(#"{"rules": {".read": "x"}}"#.utf8)
    guard
      case .refused(.invalid(let text)) = try ask(
        bench, .setRules(broken, isTrial: false), as: "owner")
    else { throw MachineBench.BenchError.noGreeting }
    #expect(text.hasPrefix("1:"))
    let next = try MachineBench(store: store, authenticator: OwnerAuthenticator())
    #expect(try ask(next, .read("a", .all))?.isDenied == true)
    #expect(try ask(next, .readRules, as: "owner") == .rules(shut))
    #expect(try ask(next, .databases, as: "owner") == .databases(["other"]))
  }

  @Test("an order without an index is refused, to the owner too")
  func indexes() throws {
    let rules = try TreeRules(#"{"rules": {".read": true, "a": {".indexOn": ["n", ".value"]}}}"#)
    let bench = try MachineBench(
      authorizer: RulesAuthorizer(rules), authenticator: OwnerAuthenticator())
    for (path, order, isFine) in [
      ("a", .child("n"), true), ("a", .value, true), ("a", .child("m"), false), ("b", .key, true),
      ("b", .value, false), ("b", .priority, true),
    ] as [(TreePath, TreeOrder, Bool)] {
      let query = try TreeQuery.all.ordered(by: order).first(1)
      let answer = try ask(bench, .read(path, query), as: "owner")
      if isFine {
        #expect(answer == .node(.empty))
      } else {
        guard case .refused(.invalid(let text)) = answer else {
          Issue.record("\(path) \(order) was answered \(String(describing: answer))")
          continue
        }
        #expect(text.hasPrefix("Index not defined, add \".indexOn\""))
      }
    }
  }
}

extension DirectAnswer {
  /// True when the rules have denied, and named the denial.
  fileprivate var isDenied: Bool {
    if case .refused(.permissionDenied(let refusal)) = self {
      refusal.id?.count == 16
    } else {
      false
    }
  }
}
