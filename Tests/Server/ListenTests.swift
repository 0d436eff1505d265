import TernCore
import TernQuery
import TernSecurity
import TernTreeWire
import Testing

@testable import TernServer

struct ListenTests {
  let bench: MachineBench

  init() throws {
    bench = try MachineBench()
    try bench.open(1)
    try bench.open(2)
  }

  @Test("data come before the answer, pushes before the ack")
  func order() throws {
    #expect(try bench.ask(1, bench.put("a/b", json("1"))).map(\.brief) == ["ok"])
    #expect(try bench.ask(1, bench.listen("a")).map(\.brief) == [#"put a {"b":1}"#, "ok"])
    #expect(
      try bench.ask(1, bench.put("a/b", json("2")), bench.listen("a/b")).map(\.brief)
        == ["put a/b 2", "ok", "put a/b 2", "ok"])
    _ = try bench.ask(2, bench.put("a/c", json("3")))
    #expect(bench.take(1).map(\.brief) == ["put a/c 3"])
  }

  @Test("a listen of a batch gets its own data, not those of one that has ended in it")
  func endedInTheBatch() throws {
    for (path, value) in [("a", "1"), ("b", "2"), ("c", "3")] {
      try bench.ask(1, bench.put(path, json(value)))
    }
    for _ in 0..<20 {
      let requests = try ["a", "b", "c", "b", "a"].flatMap { path in
        [try bench.listen(path), .unlisten(try TreePath(path), .all, tag: nil)]
      }
      try bench.run(requests.map { bench.frame(2, $0) })
      let told = bench.take(2).map(\.brief).filter { $0 != "ok" }
      #expect(told == ["put a 1", "put b 2", "put c 3", "put b 2", "put a 1"])
    }
  }

  @Test("pushes and acks tell the version of their commit")
  func versions() throws {
    _ = try bench.ask(1, bench.listen("a"))
    let messages = try bench.ask(1, bench.put("a", json("1")), bench.put("a", json("2")))
    let versions = messages.map { message -> UInt64? in
      switch message {
      case .put(let push): push.version
      case .response(_, let response): response.version
      default: nil
      }
    }
    #expect(versions == [1, 1, 2, 2])
  }

  @Test("a query whose order has no index is served with a warning")
  func missingIndex() throws {
    let rules = try TreeRules(
      #"""
      {"rules": {
        ".read": true, ".write": true,
        "scores": {".indexOn": ["points", "team/name"], "$game": {".indexOn": ".value"}}
      }}
      """#)
    let bench = try MachineBench(authorizer: RulesAuthorizer(rules))
    try bench.open(1)
    _ = try bench.ask(1, bench.put("scores/a", json(#"{"points":1}"#)))
    func warnings(_ path: String, _ query: TreeQuery) throws -> [String]? {
      try bench.response(1, bench.listen(path, query, tag: 7))?.warnings
    }
    let points = try TreeQuery.all.ordered(byChild: "points")
    let values = try TreeQuery.all.ordered(by: .value).first(1)
    #expect(try warnings("scores", points.first(1)) == [])
    #expect(try warnings("scores", .all.ordered(byChild: "team/name").last(1)) == [])
    #expect(try warnings("scores", .all.ordered(byChild: "team").last(1)) == ["no_index"])
    #expect(try warnings("scores", values) == ["no_index"])
    #expect(try warnings("scores/a", values) == [])
    #expect(try warnings("scores/a/b", values) == ["no_index"])
    // All children are wanted, or they lie in the right order: there is nothing to look for.
    #expect(try warnings("other", points) == [])
    #expect(try warnings("other", .all.ordered(by: .key).first(1)) == [])
    #expect(try warnings("other", .all.first(1)) == [])
  }

  @Test("the length of a path is that of the whole path, whatever the database is called")
  func longPaths() throws {
    let longest = TreeLimits.storedPathBytes
    let name = String(repeating: "n", count: 128)
    try bench.run([
      .opened(slot: 9, isLocal: true),
      .frame(slot: 9, TreeClientMessage.open(TreeOpening(namespace: name)).encode()),
    ])
    _ = bench.take(9)
    func path(_ bytes: Int) -> String {
      String((0..<bytes).map { $0 % 500 == 499 ? "/" : "k" })
    }
    for slot in [1, 9] {
      // The slash before the first segment counts, too.
      let fits = try bench.ask(
        slot, bench.put(path(longest - 1), json("1")), .get(TreePath(path(longest - 1)), .all))
      #expect(fits.map(\.brief) == ["ok", "ok"])
      let above = path(longest - 1)
      let parent = String(above[..<(above.lastIndex(of: "/") ?? above.endIndex)])
      let tooLong = try bench.ask(
        slot, bench.put(path(longest), json("1")),
        bench.put(parent, json("{\"\(String(repeating: "k", count: 600))\":1}")),
        .get(TreePath(path(longest)), .all), bench.listen(path(longest)))
      #expect(tooLong.map(\.brief) == ["failed", "failed", "failed", "failed"])
      #expect(tooLong.last?.response?.detail.contains("3584") == true)
    }
  }

  @Test("the right hash spares the data")
  func hashes() throws {
    _ = try bench.ask(1, bench.put("a", json(#"{"x":1}"#)))
    let known = try bench.listen("a", hash: "LkoDN24bwRWG2p4jGZoe8M/Acf8=")
    #expect(try bench.ask(1, known).map(\.brief) == ["ok"])
    #expect(try bench.ask(2, bench.listen("nothing")).map(\.brief) == ["ok"])
    #expect(
      try bench.ask(2, bench.listen("nothing", hash: "x")).map(\.brief) == [
        "put nothing null", "ok",
      ])
  }

  @Test("a hash that many ask for is right again after every change")
  func rememberedHash() throws {
    var value: TreeNode = ["x": 1, "y": ["z": 2]]
    _ = try bench.ask(1, bench.put("a/b", value))
    let query = try TreeQuery.all.ordered(by: .key).first(1)
    _ = try bench.ask(1, bench.listen("a/b"), bench.listen("a/b", query, tag: 1))
    func changes(_ request: TreeRequest, to next: TreeNode) throws {
      let before = value
      value = next
      _ = try bench.ask(1, request)
      for slot in [2, 3] {
        if slot == 3 { try bench.open(3) }
        _ = bench.take(slot)
        for (path, old, new) in [
          ("a/b", before, value), ("a/b/y", before.node(at: "y"), value.node(at: "y")),
        ] {
          let stale = try bench.ask(slot, bench.listen(path, hash: old.hash)).map(\.brief)
          #expect(stale == (old == new ? ["ok"] : ["put \(path) \(new.json(.export))", "ok"]))
          #expect(try bench.ask(slot, bench.listen(path, hash: new.hash)).map(\.brief) == ["ok"])
        }
        let first = try bench.ask(
          slot, bench.listen("a/b", query, tag: 2, hash: query.window(of: value).hash))
        #expect(first.map(\.brief) == ["ok"])
      }
      try bench.run([.closed(slot: 3)])
      _ = bench.take(1)
      _ = bench.take(2)
    }
    try changes(bench.put("a/b/x", 5), to: ["x": 5, "y": ["z": 2]])
    try changes(bench.put("a/b/y/z", 6), to: ["x": 5, "y": ["z": 6]])
    try changes(
      bench.merge("a", [("b/x", 7), ("b/y/w", 8), ("c", 1)]), to: ["x": 7, "y": ["w": 8, "z": 6]])
    try changes(bench.put("a", ["b": ["x": 1]]), to: ["x": 1])
    try changes(bench.put("a/b/.priority", 3), to: (["x": 1] as TreeNode).withPriority(3))
  }

  @Test("a range that differs is all that is sent")
  func rangeMerges() throws {
    var node = TreeNode.empty
    for index in 0..<300 {
      node.setNode(
        TreeNode(.string("value number \(index)")),
        at: TreePath([try TreeKey("k\(index)")]))
    }
    _ = try bench.ask(1, bench.put("big", node))
    let hash = node.hash
    let compound = node.compoundHash
    _ = try bench.ask(1, bench.put("big/k7", json("7")))
    let listen = TreeListen(path: TreePath("big"), hash: hash, compoundHash: compound)
    #expect(try bench.ask(2, .listen(listen)).map(\.brief) == ["ranges big 1", "ok"])
  }

  @Test("listens below a write get their part, each frame is encoded once")
  func below() throws {
    for slot in 3...6 { try bench.open(slot) }
    for slot in 3...6 { _ = try bench.ask(slot, bench.listen("a/b")) }
    _ = try bench.ask(1, bench.listen("a"))
    _ = try bench.ask(2, bench.put("a", json(#"{"b":{"c":1},"d":2}"#)))
    #expect(bench.take(1).map(\.brief) == [#"put a {"b":{"c":1},"d":2}"#])
    for slot in 3...6 { #expect(bench.take(slot).map(\.brief) == [#"put a/b {"c":1}"#]) }
    #expect(bench.lastOutputs.count == 3)
    _ = try bench.ask(
      2,
      .merge(
        .root,
        try TreeMerge([
          .init(path: TreePath("a/b/c"), node: json("5")),
          .init(path: TreePath("a/b/e"), node: json("6")),
          .init(path: TreePath("z"), node: json("7")),
        ]), .none))
    #expect(bench.take(1).map(\.brief) == ["merge a b/c=5 b/e=6"])
    #expect(bench.take(3).map(\.brief) == ["merge a/b c=5 e=6"])
  }

  @Test("a priority is pushed as what it is")
  func priorities() throws {
    _ = try bench.ask(1, bench.put("a", json("1")), bench.listen("a"))
    _ = try bench.ask(2, bench.put("a/.priority", json("3")))
    #expect(bench.take(1).map(\.brief) == ["put a/.priority 3"])
    #expect(try bench.get(1, "a") == json(#"{".value":1,".priority":3}"#))
  }

  @Test("a filtered listen sees its window move")
  func window() throws {
    let query = try TreeQuery.all.ordered(by: .child("eta")).ending(at: .integer(900)).first(2)
    _ = try bench.ask(
      1, bench.put("fleet", json(#"{"a":{"eta":100},"b":{"eta":200},"z":{"eta":950}}"#)))
    #expect(
      try bench.ask(1, bench.listen("fleet", query, tag: 4)).map(\.brief)
        == [#"put fleet {"a":{"eta":100},"b":{"eta":200}} #4"#, "ok"])
    _ = try bench.ask(2, bench.put("fleet/c", json(#"{"eta":50}"#)))
    #expect(bench.take(1).map(\.brief) == [#"merge fleet b=null c={"eta":50} #4"#])
    _ = try bench.ask(2, bench.put("fleet/c", .empty))
    #expect(bench.take(1).map(\.brief) == [#"merge fleet b={"eta":200} c=null #4"#])
    _ = try bench.ask(2, bench.put("fleet/a/eta", json("150")))
    #expect(bench.take(1).map(\.brief) == ["put fleet/a/eta 150 #4"])
    _ = try bench.ask(2, bench.put("fleet/z/name", json("9")))
    #expect(bench.take(1).isEmpty)
    _ = try bench.ask(2, bench.put("fleet", json(#"{"q":{"eta":1}}"#)))
    #expect(bench.take(1).map(\.brief) == [#"put fleet {"q":{"eta":1}} #4"#])
  }

  @Test("an ended listen hears nothing more, and leaves nothing behind")
  func unlisten() throws {
    _ = try bench.ask(1, bench.listen("a/b/c"))
    _ = try bench.ask(1, .unlisten(TreePath("a/b/c"), .all, tag: nil))
    _ = try bench.ask(2, bench.put("a", json("1")))
    #expect(bench.take(1).isEmpty)
    #expect(bench.machine.tree.namespaces["default"]?.listens.root.sortedChildren.isEmpty == true)
  }

  @Test("databases of one server do not see each other")
  func namespaces() throws {
    try bench.open(3, namespace: "other")
    _ = try bench.ask(3, bench.listen("a"))
    _ = try bench.ask(1, bench.put("a", json("1")))
    #expect(bench.take(3).isEmpty)
    #expect(try bench.get(3, "") == .empty)
  }

  @Test("a get reads by query")
  func get() throws {
    _ = try bench.ask(1, bench.put("s", json(#"{"a":3,"b":1,"c":2}"#)))
    let query = try TreeQuery.all.ordered(by: .value).last(2)
    #expect(try bench.get(2, "s", query) == json(#"{"a":3,"c":2}"#))
    #expect(try bench.get(2, "s/a") == json("3"))
  }
}
