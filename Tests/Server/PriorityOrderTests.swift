import TernCore
import TernQuery
import TernSecurity
import TernTreeWire
import Testing

@testable import TernServer

/// Tests updates that set data and the priority of the node that holds them.
@Suite("Priorities in updates") struct PriorityOrderTests {
  private static let before = [
    "null", #"{"x":1}"#, #"{".priority":3,"x":1}"#, #"{".priority":3,".value":1}"#,
    #"{".priority":3,"x":{"y":1}}"#,
  ]

  private static let updates: [[(String, TreeNode)]] = [
    [(".priority", json("5")), ("name", json("1"))],
    [(".priority", json("5")), ("x", .empty)],
    [("x", .empty), ("z", json("1"))],
    [("a", json("1")), ("x", .empty)],
    [("x/y", .empty), ("x/z", json("1"))],
    [(".priority", .empty), ("a", json("1"))],
    [("a/.priority", json("7")), ("a/b", json("1"))],
    [(".priority", json("5"))],
  ]

  /// The node after an update as the Realtime Database clients apply it: entries in path order,
  /// priorities behind them, and only where something is.
  private func expected(_ before: TreeNode, _ update: [(String, TreeNode)]) throws -> TreeNode {
    var node = before
    let entries = try update.map { (path: try TreePath(writable: $0.0), node: $0.1) }
    for entry in entries where entry.path.last != .priority {
      node.setNode(entry.node, at: entry.path)
    }
    for entry in entries where entry.path.last == .priority {
      let owner = try #require(entry.path.parent)
      if !node.node(at: owner).isEmpty { node.setNode(entry.node, at: entry.path) }
    }
    return node
  }

  @Test(
    "what is stored, what listeners apply and what a client's own view shows agree",
    arguments: before)
  func agreement(before: String) throws {
    for update in Self.updates {
      let start = json(before)
      let expected = try expected(start, update)
      for isDeferred in [false, true] {
        let bench = try MachineBench()
        try bench.open(1)
        try bench.open(2)
        _ = try bench.ask(2, bench.put("n", start), bench.listen("n"))
        let merge = try bench.merge("n", update)
        guard case .merge(let path, let entries, _) = merge else { continue }
        if isDeferred {
          _ = try bench.ask(1, .onDisconnectMerge(path, entries))
          try bench.run([.closed(slot: 1)])
        } else {
          _ = try bench.ask(1, merge)
        }
        let note: Comment =
          "\(before) \(update.map { "\($0.0)=\($0.1.json(.export))" }) \(isDeferred)"
        #expect(start.applying(.merge(.root, entries)) == expected, note)
        var seen = TreeNode.empty.setting(start, at: path)
        for message in bench.take(2) {
          switch message {
          case .put(let push): seen.setNode(push.content, at: push.path)
          case .merge(let push): seen.apply(.merge(push.path, push.content))
          default: break
          }
        }
        #expect(seen.node(at: path) == expected, note)
        #expect(try bench.get(2, "n") == expected, note)
      }
    }
  }

  @Test("rules see the priority that is stored")
  func rules() throws {
    let rules = try RulesAuthorizer(
      TreeRules(
        #"""
        {"rules": {"n": {".read": true, ".write": true,
          ".validate": "newData.getPriority() == null || newData.getPriority() == 5"}}}
        """#))
    let bench = try MachineBench(authorizer: rules)
    try bench.open(1)
    let first = try bench.merge("n", [(".priority", json("5")), ("name", json("1"))])
    #expect(try bench.ask(1, first).map(\.brief).last == "ok")
    #expect(try bench.get(1, "n") == json(#"{".priority":5,"name":1}"#))
    let second = try bench.merge("n", [(".priority", json("6")), ("name", json("2"))])
    #expect(try bench.ask(1, second).map(\.brief).last == "permission_denied")
  }
}
