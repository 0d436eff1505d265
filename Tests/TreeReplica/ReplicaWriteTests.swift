import TernCore
import TernQuery
import TernTreeReplica
import Testing

private func text(_ events: [TreeEvent]) -> [String] {
  events.map { event in
    let change = event.change
    guard change.kind != .value else {
      return "/\(event.path) value \(change.node.json(.export))"
    }
    let previous = change.previousKey.map { " after \($0)" } ?? ""
    return "/\(event.path) \(change.kind) \(change.key?.text ?? "")\(previous)"
  }
}

/// Traces of appendix A of the realtime reference.
@Suite("Local writes")
struct ReplicaWriteTests {
  /// A2.
  @Test("a window shrinks until the server sends the next child")
  func filteredWindow() throws {
    var replica = TreeReplica()
    let query = try TreeQuery.all.ordered(byChild: "eta").ending(at: 900).first(2)
    let request = replica.listen(at: "fleet", query: query, for: .all).outcome.starts[0]
    let data: TreeNode = ["a": ["eta": 100], "b": ["eta": 200]]
    let first = replica.applyServer(.overwrite("fleet", data), tag: request.tag)
    #expect(first.events.map(\.change.kind) == [.added, .added, .value])
    _ = replica.completeListen(request)

    let set = replica.plan(.set("fleet/c", ["eta": 50]), now: 0)
    #expect(
      text(set.outcome.events) == [
        "/fleet removed b", "/fleet added c", #"/fleet value {"a":{"eta":100},"c":{"eta":50}}"#,
      ])
    let merge = [("b", TreeNode.empty), ("c", ["eta": 50])].map {
      TreeMerge.Entry(path: TreePath(unchecked: [TreeKey(unchecked: $0.0)]), node: $0.1)
    }
    #expect(replica.applyServer(.merge("fleet", merge), tag: request.tag).events.isEmpty)
    #expect(replica.acknowledge(set.id, .accepted).events.isEmpty)

    let remove = replica.plan(.set("fleet/c", .empty), now: 0)
    #expect(
      text(remove.outcome.events) == ["/fleet removed c", #"/fleet value {"a":{"eta":100}}"#])
    let moved = replica.applyServer(.overwrite("fleet/a/eta", 150), tag: request.tag)
    #expect(
      text(moved.events) == [
        "/fleet moved a", "/fleet changed a", #"/fleet value {"a":{"eta":150}}"#,
      ])
  }

  /// A4.
  @Test("one update reaches the deepest listeners first")
  func deepestFirst() throws {
    var replica = TreeReplica()
    let limited = try TreeQuery.all.first(9)
    for path in ["a/b", "a/z", ""] as [TreePath] { _ = replica.listen(at: path, for: .value) }
    _ = replica.listen(at: "a", query: limited, for: .value)
    _ = replica.applyServer(.overwrite("", ["a": ["b": ["k": 1], "z": ["q": ["n": 1]]]]))
    let merge = try TreeMerge(
      [("a/b/k", 2), ("a/z/q/n", 5), ("c", 3)].map {
        TreeMerge.Entry(path: try path($0.0), node: TreeNode(TreeScalar.integer($0.1)))
      })
    let events = replica.plan(.merge("", merge), now: 0).outcome.events
    #expect(events.map(\.path.text) == ["a/b", "a/z", "a", ""])
  }

  /// A5.
  @Test("children written before any data came are known, the whole is not")
  func writeBeforeData() throws {
    var replica = TreeReplica()
    _ = replica.listen(at: "s", for: .all)
    #expect(text(replica.plan(.set("s/k", 1), now: 0).outcome.events) == ["/s added k"])
    let set = replica.plan(.set("s", ["k": 2, "m": 3]), now: 0).outcome
    #expect(
      text(set.events) == ["/s added m after k", "/s changed k", #"/s value {"k":2,"m":3}"#])
    #expect(replica.applyServer(.overwrite("s", ["k": 0, "z": 9])).events.isEmpty)
  }

  /// A6.
  @Test("server values are estimated from what is known, and replaced by what the server made")
  func serverValues() throws {
    var replica = TreeReplica()
    let request = replica.listen(at: "s", for: .value).outcome.starts[0]
    _ = replica.applyServer(.overwrite("s", ["m": 3]))
    _ = replica.completeListen(request)
    let increment = TreeNode(TreeScalar.serverValue(.increment(.integer(2))))
    let write = replica.plan(.set("s/m", increment), now: 0)
    #expect(text(write.outcome.events) == [#"/s value {"m":5}"#])
    #expect(write.outcome.events.allSatisfy { !$0.pending.isEmpty } as Bool)
    let pushed = replica.applyServer(.overwrite("s/m", 15)).events
    let acked = replica.acknowledge(write.id, .accepted).events
    #expect(text(pushed + acked) == [#"/s value {"m":15}"#])
    let missing = replica.plan(.set("s/n", increment), now: 0).outcome
    #expect(text(missing.events) == [#"/s value {"m":15,"n":2}"#])
  }

  @Test("a rejected write is undone with inverse events")
  func rejected() throws {
    var replica = TreeReplica()
    _ = replica.listen(at: "s", for: .all)
    _ = replica.applyServer(.overwrite("s", ["a": 1, "b": 2]))
    let write = replica.plan(.set("s", ["b": 3, "c": 4]), now: 0)
    #expect(
      text(replica.acknowledge(write.id, .rejected).events) == [
        "/s removed c", "/s added a", "/s changed b after a", #"/s value {"a":1,"b":2}"#,
      ])
    #expect(replica.acknowledge(write.id, .rejected).events.isEmpty)
  }

  @Test("an ack before the data of a listen does not bring the past back")
  func ackBeforeData() throws {
    var replica = TreeReplica()
    let write = replica.plan(.set("s", ["a": 1]), now: 0)
    let request = replica.listen(at: "s", for: .value).outcome.starts[0]
    #expect(replica.acknowledge(write.id, .accepted).events.isEmpty)
    #expect(replica.hash(for: request).whole.isEmpty)
    #expect(replica.applyServer(.overwrite("s", ["a": 1])).events.isEmpty)
    #expect(replica.completeListen(request).events.isEmpty)
  }

  @Test("transactions see hidden writes, listeners do not")
  func hiddenWrites() throws {
    var replica = TreeReplica()
    _ = replica.listen(at: "n", for: .value)
    _ = replica.applyServer(.overwrite("n", 1))
    let hidden = replica.plan(.set("n", 2), isVisible: false, now: 0)
    #expect(hidden.outcome.events.isEmpty)
    #expect(replica.transactionInput(at: "n") == 2)
    #expect(replica.transactionInput(at: "n", excluding: [hidden.id]) == 1)
    #expect(replica.transactionInput(at: "m") == nil)
    let again = replica.plan(.set("n", 3), replacing: hidden.id, now: 0)
    #expect(text(again.outcome.events) == ["/n value 3"])
    #expect(replica.transactionInput(at: "n", excluding: [again.id]) == 1)
  }

  @Test("a read overlays pending writes and disturbs no listener")
  func oneShotRead() throws {
    var replica = TreeReplica()
    _ = replica.listen(at: "s", query: try TreeQuery.all.first(1), for: .all)
    _ = replica.plan(.set("s/b", 5), now: 0)
    let answer = replica.applyRead(["a": 1, "b": 2], at: "s")
    #expect(answer == ["a": 1, "b": 5])
    #expect(replica.value(at: "s") == nil)
  }
}
