import Foundation
import TernCore
import TernQuery
import Testing

@testable import TernSecurity

@Suite("Proving that rules allow a query") struct ProofTests {
  /// A request by the user `me`.
  static func request(_ key: String = "c/x") -> DocumentRulesRequest {
    let token = DocumentRuleMap([("n", .int(1))])
    let auth = DocumentRuleMap([("uid", .string("a")), ("token", .map(token))])
    return DocumentRulesRequest(
      .list, DocumentKey(unchecked: key), in: "(default)",
      at: DocumentTimestamp(uncheckedMicroseconds: 1_000_000), auth: .map(auth), resource: nil)
  }

  /// Documents that rules may ask for: one.
  static var state: DocumentRulesState {
    DocumentRulesState { key in key.text == "acl/a" ? ["open": true] as DocumentFields : nil }
  }

  static func verdict(
    _ rules: DocumentRules, _ query: DocumentQuery,
    _ state: DocumentRulesState = ProofTests.state
  ) -> DocumentRulesVerdict {
    var budget = DocumentRulesBudget.query
    return rules.prove(query, request(), state, &budget)
  }

  private static func filter(
    _ path: String, _ comparison: DocumentOperator, _ operand: DocumentValue
  ) -> DocumentFilter {
    .where(
      DocumentFieldPath(unchecked: path.split(separator: ".").map(String.init)), comparison, operand
    )
  }

  private static func query(
    _ filter: DocumentFilter? = nil, orders: [DocumentOrder] = [], limit: Int? = nil,
    source: DocumentQuery.Source = .collection(CollectionPath(unchecked: "c"))
  ) -> DocumentQuery {
    .assembled(source, filter: filter, orders: orders, limit: limit.map { (.first, $0) })
  }

  private static func rules(_ condition: String, path: String = "/c/{d}") throws -> DocumentRules {
    try DocumentRules(
      source: """
        rules_version = '2';
        service cloud.firestore { match /databases/{database}/documents {
          match \(path) { allow list: if \(condition); }
        } }
        """)
  }

  @Test("what is allowed is allowed for every document that can be selected, whatever it holds")
  func soundness() throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["TERN_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1 << 32)
    let count = environment["TERN_PROOF_CASES"].flatMap { Int($0) } ?? 3_000
    var world = ProofWorld(seed: seed)
    var (allowed, compared) = (0, 0)
    for number in 0..<count {
      let source = world.rules()
      guard let rules = try? DocumentRules(source: source) else { continue }
      for _ in 0..<7 {
        let query = world.query()
        let documents = (0..<4).map { world.document($0 == 0 ? "x" : "d\($0)") }
        let state = DocumentRulesState { key in
          Self.state.before(key) ?? documents.first { $0.key == key }?.fields
        }
        guard Self.verdict(rules, query, state).isAllowed else { continue }
        allowed += 1
        let matcher = DocumentMatcher(query)
        for document in documents where matcher.matches(document) {
          compared += 1
          var request = Self.request(document.key.text)
          request.resource = document.fields
          request.query = DocumentRuleValue(request: query)
          var budget = DocumentRulesBudget.query
          let verdict = rules.judge(request, state: state, budget: &budget)
          #expect(
            verdict.isAllowed,
            "seed \(seed), case \(number)\n\(source)\n\(query)\n\(document)\n\(verdict)")
        }
      }
    }
    print(
      "seed \(seed): \(allowed) of \(count * 7) queries allowed, \(compared) documents compared")
    #expect(allowed > count / 10, "seed \(seed)")
    #expect(compared > count / 10, "seed \(seed)")
  }

  @Test("queries that are allowed", arguments: ProofTests.allowedCases)
  func allowed(_ name: String) throws {
    let item = try #require(Self.cases[name])
    let verdict = Self.verdict(try Self.rules(item.rule, path: item.path), item.query)
    #expect(verdict.isAllowed, "\(verdict)")
  }

  @Test("queries that are denied", arguments: ProofTests.deniedCases)
  func denied(_ name: String) throws {
    let item = try #require(Self.cases[name])
    let verdict = Self.verdict(try Self.rules(item.rule, path: item.path), item.query)
    #expect(!verdict.isAllowed, "\(verdict)")
  }

  struct Case: Sendable {
    let rule: String
    let query: DocumentQuery
    var path = "/c/{d}"
    let isAllowed: Bool
  }

  static let allowedCases = cases.filter { $0.value.isAllowed }.keys.sorted()
  static let deniedCases = cases.filter { !$0.value.isAllowed }.keys.sorted()

  private static let owner = "resource.data.owner == request.auth.uid"
  private static let group = DocumentQuery.Source.group("c")

  static let cases: [String: Case] = [
    "owner": Case(rule: owner, query: query(filter("owner", .equal, "a")), isAllowed: true),
    "no filter": Case(rule: owner, query: query(), isAllowed: false),
    "another owner": Case(
      rule: owner, query: query(filter("owner", .equal, "b")), isAllowed: false),
    "one of one": Case(rule: owner, query: query(filter("owner", .in, ["a"])), isAllowed: true),
    "one of two": Case(
      rule: owner, query: query(filter("owner", .in, ["a", "b"])), isAllowed: false),
    "two fields": Case(
      rule: owner + " && resource.data.n == 1", query: query(filter("owner", .equal, "a")),
      isAllowed: false),
    "one side": Case(
      rule: "resource.data.x == 1 || " + owner, query: query(filter("owner", .equal, "a")),
      isAllowed: true),
    "id": Case(rule: "d == 'x'", query: query(), isAllowed: false),
    "document by id": Case(
      rule: "exists(/databases/$(database)/documents/acl/$(d))", query: query(), isAllowed: false),
    "document by field": Case(
      rule: "get(/databases/$(database)/documents/acl/$(resource.data.board)).data.open",
      query: query(filter("board", .equal, "a")), isAllowed: true),
    "closed document by field": Case(
      rule: "get(/databases/$(database)/documents/acl/$(resource.data.board)).data.open",
      query: query(filter("board", .equal, "b")), isAllowed: false),
    "limit": Case(
      rule: "request.query.limit <= 10", query: query(limit: 5), isAllowed: true),
    "large limit": Case(
      rule: "request.query.limit <= 10", query: query(limit: 50), isAllowed: false),
    "no limit": Case(rule: "request.query.limit <= 10", query: query(), isAllowed: false),
    "member": Case(
      rule: "request.auth.uid in resource.data.members",
      query: query(filter("members", .arrayContains, "a")), isAllowed: true),
    "another member": Case(
      rule: "request.auth.uid in resource.data.members",
      query: query(filter("members", .arrayContains, "b")), isAllowed: false),
    "group": Case(
      rule: owner, query: query(filter("owner", .equal, "a"), source: group),
      path: "/{path=**}/c/{d}", isAllowed: true),
    "group without filter": Case(
      rule: owner, query: query(source: group), path: "/{path=**}/c/{d}", isAllowed: false),
    "group by a path": Case(
      rule: "true", query: query(source: group), path: "/p/{x}/c/{d}", isAllowed: false),
    "collection by a path": Case(
      rule: "true", query: query(source: .collection(CollectionPath(unchecked: "p/x1/c"))),
      path: "/p/{x}/c/{d}", isAllowed: true),
    "above": Case(
      rule: "resource.data.age >= 18", query: query(filter("age", .greaterThan, 20)),
      isAllowed: true),
    "above less": Case(
      rule: "resource.data.age >= 18", query: query(filter("age", .greaterThanOrEqual, 10)),
      isAllowed: false),
    "below": Case(
      rule: "resource.data.age >= 18", query: query(filter("age", .lessThan, 30)),
      isAllowed: false),
    "no number is below": Case(
      rule: "resource.data.age < 30", query: query(filter("age", .lessThan, 20)), isAllowed: false),
    "between": Case(
      rule: "resource.data.age < 30",
      query: query(.and([filter("age", .lessThan, 20), filter("age", .greaterThan, 0)])),
      isAllowed: true),
    "status": Case(
      rule: "resource.data.status in ['a', 'b']", query: query(filter("status", .equal, "a")),
      isAllowed: true),
    "two status": Case(
      rule: "resource.data.status in ['a', 'b']", query: query(filter("status", .in, ["a", "c"])),
      isAllowed: false),
    "not": Case(
      rule: "resource.data.status != 'x'", query: query(filter("status", .notEqual, "x")),
      isAllowed: true),
    "not in": Case(
      rule: "resource.data.status != 'x'", query: query(filter("status", .notIn, ["x", "y"])),
      isAllowed: true),
    "not another": Case(
      rule: "resource.data.status != 'x'", query: query(filter("status", .notEqual, "y")),
      isAllowed: false),
    "kinds": Case(
      rule: "resource.data.kind is string", query: query(filter("kind", .in, ["a", 1])),
      isAllowed: false),
    "order": Case(
      rule: "request.query.orderBy['createdAt'] == 'DESC'",
      query: query(orders: [
        DocumentOrder(DocumentFieldPath(unchecked: ["createdAt"]), isDescending: true)
      ]), isAllowed: true),
    "another order": Case(
      rule: "request.query.orderBy['createdAt'] == 'DESC'",
      query: query(orders: [DocumentOrder(DocumentFieldPath(unchecked: ["createdAt"]))]),
      isAllowed: false),
    "either": Case(
      rule: owner + " || resource.data.public == true",
      query: query(.or([filter("owner", .equal, "a"), filter("public", .equal, true)])),
      isAllowed: true),
    "either with a rule for one": Case(
      rule: owner,
      query: query(.or([filter("owner", .equal, "a"), filter("public", .equal, true)])),
      isAllowed: false),
    "integer or not": Case(
      rule: "resource.data.n is int", query: query(filter("n", .equal, 1)), isAllowed: false),
    "number": Case(
      rule: "resource.data.n is number && resource.data.n == 1",
      query: query(filter("n", .equal, 1)), isAllowed: true),
    "resource": Case(rule: "resource == null", query: query(), isAllowed: false),
    "ordered field": Case(
      rule: "'at' in resource.data",
      query: query(orders: [DocumentOrder(DocumentFieldPath(unchecked: ["at"]))]), isAllowed: true),
    "contradiction": Case(
      rule: owner, query: query(.and([filter("n", .equal, 1), filter("n", .equal, 2)])),
      isAllowed: true),
  ]

  @Test(
    "a function that receives a part of the path is evaluated",
    arguments: [
      ("/c/{d}", "d"), ("/c/{d}", "resource.id"), ("/c/{d}", "resource.__name__"),
      ("/c/{d}", "request.path"), ("/{d=**}", "d"),
    ])
  func partsOfPaths(path: String, part: String) throws {
    func rules(_ condition: String) throws -> DocumentRules {
      try DocumentRules(
        source: """
          rules_version = '2';
          service cloud.firestore { match /databases/{database}/documents {
            function isOwnerOrAdmin(user) { return request.auth.uid == user || isAdmin(user); }
            function isAdmin(user) { let own = user; return own == 'x' || request.auth.uid == 'a'; }
            function isOwner(user) { return request.auth.uid == user; }
            match \(path) { allow list: if \(condition); }
          } }
          """)
    }
    let query = Self.query()
    #expect(Self.verdict(try rules("isOwnerOrAdmin(\(part))"), query).isAllowed)
    #expect(!Self.verdict(try rules("isOwner(\(part))"), query).isAllowed)
    #expect(!Self.verdict(try rules("!isOwner(\(part))"), query).isAllowed)
    // A fault of an argument is one of the call.
    #expect(!Self.verdict(try rules("isOwnerOrAdmin(\(part) + 1)"), query).isAllowed)
  }

  @Test("the verdict on a query that names its documents rests on each of them")
  func namedDocuments() throws {
    let rules = try Self.rules("resource.data.public == true")
    let state = DocumentRulesState { _ in ["public": true] as DocumentFields }
    func name(_ id: String) throws -> DocumentValue {
      let database = try DocumentDatabase(projectID: "p")
      return .reference(DocumentName(DocumentKey(unchecked: "c/" + id), in: database))
    }
    func named(_ comparison: DocumentOperator, _ operand: DocumentValue) -> DocumentFilter {
      .where(.key, comparison, operand)
    }
    let (x, y) = (DocumentKey(unchecked: "c/x"), DocumentKey(unchecked: "c/y"))
    let cases: [(DocumentQuery, Set<DocumentKey>)] = [
      (Self.query(named(.equal, try name("x"))), [x]),
      (Self.query(named(.in, .array([try name("x"), try name("y")]))), [x, y]),
      (
        Self.query(
          .or([
            .and([named(.equal, try name("x")), Self.filter("n", .equal, 1)]),
            named(.equal, try name("y")), Self.filter("public", .equal, true),
          ])), [x, y]
      ),
      (Self.query(source: .document(x)), [x]),
      (Self.query(Self.filter("public", .equal, true)), []),
    ]
    for (query, keys) in cases {
      let verdict = Self.verdict(rules, query, state)
      #expect(verdict.isAllowed)
      #expect(Set(verdict.reads) == keys, "\(query.id)")
      #expect(verdict.reads.count == keys.count)
    }
    // A document that the rules ask for as well is named once.
    let asking = try Self.rules("get(/databases/$(database)/documents/c/x).data.public")
    let verdict = Self.verdict(asking, Self.query(named(.equal, try name("x"))), state)
    #expect(verdict.isAllowed && verdict.reads == [x])
    let closed = Self.verdict(rules, cases[1].0, DocumentRulesState { _ in nil })
    #expect(!closed.isAllowed && closed.reads == [x])
  }

  @Test("twenty documents are read for a query, and no more")
  func budget() throws {
    for (count, isAllowed) in [(20, true), (21, false)] {
      let condition = (0..<count).map {
        "get(/databases/$(database)/documents/b/d\($0)).data.n == 1"
      }.joined(separator: " && ")
      let state = DocumentRulesState { _ in ["n": 1] as DocumentFields }
      let verdict = Self.verdict(try Self.rules(condition), Self.query(), state)
      #expect(verdict.isAllowed == isAllowed)
      #expect(verdict.reads.count == 20)
    }
  }
}
