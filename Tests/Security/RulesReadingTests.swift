import TernCore
import TernQuery
import TernSecurity
import Testing

/// Reads. Source: realtime reference, sections 12.2 and 12.4.
@Suite("Rules of reading")
struct RulesReadingTests {
  @Test("without rules nothing is readable, with a grant everything below is")
  func cascade() throws {
    #expect(try !RulesWorld("{}").reads("a"))
    let world = try RulesWorld(
      #"{"open": {".read": true, "inner": {".read": false}}, "x": {"y": {".read": true}}}"#)
    #expect(try world.reads("open"))
    #expect(try world.reads("open/inner/deep"))
    #expect(try !world.reads("x"), "rules are not filters")
    #expect(try world.reads("x/y"))
    #expect(try !world.reads(.root))
  }

  @Test("a literal child hides the capture beside it")
  func literals() throws {
    let world = try RulesWorld(
      #"{"users": {"$uid": {".read": "$uid == auth.uid"}, "admin": {"x": {".read": true}}}}"#)
    #expect(try world.reads("users/bob", as: ["uid": "bob"]))
    #expect(try !world.reads("users/eve", as: ["uid": "bob"]))
    #expect(try !world.reads("users/admin", as: ["uid": "admin"]))
    #expect(try world.reads("users/admin/x"))
  }

  @Test("several captures keep their keys apart")
  func captures() throws {
    let world = try RulesWorld(
      #"{"$a": {"x": {"$b": {"$c": {".read": "$a == '1' && $b == '2' && $c == '3'"}}}}}"#)
    #expect(try world.reads("1/x/2/3"))
    #expect(try world.reads("1/x/2/3/4"))
    #expect(try !world.reads("1/x/2"))
    #expect(try !world.reads("1/x/3/2"))
  }

  @Test("'data' is the node of the rule, 'root' the whole tree")
  func places() throws {
    let world = try RulesWorld(
      #"{"rooms": {".read": "data.child('open').val() == true", "$r": {".read": "root.child('members/' + $r).hasChild(auth.uid)"}}}"#,
      tree: ["rooms": ["r1": "x"], "members": ["r1": ["bob": true]]])
    #expect(try world.reads("rooms/r1", as: ["uid": "bob"]))
    #expect(try !world.reads("rooms/r1", as: ["uid": "eve"]))
    #expect(try !world.reads("rooms/r1"), "a missing uid is an error, not a member")
    #expect(try !world.reads("rooms", as: ["uid": "bob"]))
  }

  @Test("a mistake in one rule leaves the others their say")
  func mistakes() throws {
    let world = try RulesWorld(
      #"{".read": "auth.none.length > 1 || true", "a": {".read": true}}"#)
    #expect(try !world.reads(.root))
    #expect(try world.reads("a"))
  }

  @Test("the query is seen by the rule of the queried node only")
  func query() throws {
    let world = try RulesWorld(
      #"{".read": "query.limitToFirst == 5", "a": {".read": "query.limitToFirst <= 10 && query.orderByChild == 'n/m'"}}"#
    )
    var query = RulesQuery(order: .child("n/m"))
    query.firstLimit = 5
    #expect(try world.reads("a", query: query))
    #expect(try world.reads(.root, query: query))
    #expect(try !world.reads("a"))
    query.order = .key
    #expect(try !world.reads("a", query: query), "the root's rule does not see it")
  }

  @Test("a tree query becomes what rules see")
  func conversion() throws {
    let world = try RulesWorld(
      #"{"k": {".read": "query.orderByKey && !query.orderByPriority && query.equalTo == null"}, "v": {".read": "query.orderByValue && query.startAt == 2 && query.endAt == 4 && query.equalTo == null && query.limitToLast == 3"}, "e": {".read": "query.orderByChild == 'a/b' && query.equalTo == 'x'"}, "p": {".read": "query.orderByPriority && !query.orderByKey && query.limitToFirst == 2"}}"#
    )
    #expect(try world.reads("k", query: RulesQuery(.all)))
    let values = try TreeQuery.all.ordered(by: .value).starting(at: 2).ending(at: 4).last(3)
    #expect(try world.reads("v", query: RulesQuery(values)))
    let equal = try TreeQuery.all.ordered(by: .child("a/b")).equal(to: "x")
    #expect(try world.reads("e", query: RulesQuery(equal)))
    #expect(try world.reads("p", query: RulesQuery(try TreeQuery.all.first(2))))
  }

  @Test("indexes do not grant")
  func indexes() throws {
    #expect(try !RulesWorld(#"{".indexOn": ["a"]}"#).reads("a"))
  }

  @Test("claims are a tree of their own, with lists and any name")
  func claims() throws {
    let auth: JSONValue = [
      "uid": "b",
      "token": [
        "email": "b@x.org", "https://x.org/role": "admin", "length": 3, "empty": [:],
        "firebase": ["sign_in_provider": "custom", "identities": ["x.org": ["17", "18"]]],
      ],
    ]
    for (rule, expected) in [
      ("auth.token.firebase.sign_in_provider == 'custom'", "true"),
      ("auth['token']['firebase'].sign_in_provider == 'custom'", "true"),
      ("auth.token['https://x.org/role'] == 'admin'", "true"),
      ("auth.token.firebase.identities['x.org'][0] == '17'", "true"),
      ("auth.token.firebase.identities['x.org'][2] == null", "true"),
      ("auth.token.firebase.identities['x.org']['1'] == '18'", "true"),
      ("auth.token.length == 3", "true"), ("auth.token.empty != null", "true"),
      ("auth.uid.length == 1", "true"), ("auth.uid.none == null", "true"),
      ("auth.none.none.none == null", "true"), ("auth == auth", "error"),
      ("auth[null] == 1", "invalid"), ("auth[auth.none] == null", "error"),
      ("auth.token['em' + 'ail'].endsWith('org')", "true"),
    ] {
      #expect(try verdict(rule, auth: auth) == expected, "\(rule)")
    }
    #expect(try verdict("auth.foo.bar == null") == "true", "through null")
  }
}
