import TernCore
import TernQuery
import TernStorageMemory
import TernTreeReplica
import Testing

/// The messages of a server for a listen that was taken back.
@Suite("Data that comes late")
struct LateDataTests {
  private let store = MemoryStore()

  private func replica() throws -> TreeReplica {
    TreeReplica(cache: try TreeCache(store: store, prefix: [1]))
  }

  /// Begins to listen and takes the server's answer.
  private func listen(
    _ replica: inout TreeReplica, at path: TreePath, query: TreeQuery = .all, to node: TreeNode
  ) -> RegistrationID {
    let (id, outcome) = replica.listen(at: path, query: query, for: .value)
    for request in outcome.starts {
      _ = replica.hash(for: request)
      _ = replica.applyServer(.overwrite(path, node), tag: request.tag)
      _ = replica.completeListen(request)
    }
    return id
  }

  /// Ends a listener and tells the server.
  private func unlisten(_ replica: inout TreeReplica, _ id: RegistrationID) {
    for request in replica.unlisten(id).stops { replica.stopSent(request) }
  }

  @Test("it is no answer to the next listen", arguments: [TreePath("a"), "a/b"])
  func noAnswer(ended: TreePath) throws {
    var replica = TreeReplica()
    let first = listen(&replica, at: ended, to: .empty)
    unlisten(&replica, first)
    let request = replica.listen(at: "a/b", for: .value).outcome.starts[0]
    #expect(replica.hash(for: request).whole.isEmpty)

    // It was there before the stop reached the server, and gone before the listen did.
    _ = replica.applyServer(.overwrite("a/b", 1))
    replica.stopAnswered(ListenRequest(path: ended, query: .all, tag: nil))
    _ = replica.completeListen(request)
    #expect(replica.value(at: "a/b") == .empty)
  }

  @Test("a listen that starts again under its tag is not answered by it either")
  func taggedAgain() throws {
    var replica = TreeReplica()
    let query = try TreeQuery.all.first(2)
    _ = listen(&replica, at: "a", query: query, to: .empty)
    let cover = replica.listen(at: "a", for: .value)
    for request in cover.outcome.stops { replica.stopSent(request) }
    let again = replica.unlisten(cover.id).starts[0]
    #expect(replica.hash(for: again).whole.isEmpty)

    _ = replica.applyServer(.overwrite("a", ["x": 1]), tag: again.tag)
    replica.stopAnswered(again)
    _ = replica.completeListen(again)
    #expect(replica.value(at: "a", query: query) == .empty)
  }

  @Test("parts of it leave a window out of date until its own listen is answered")
  func partsOfUnknownChildren() throws {
    var replica = TreeReplica()
    let query = try TreeQuery.all.ordered(by: .value).starting(at: .integer(1))
    _ = listen(&replica, at: "l", query: query, to: .empty)
    let cover = replica.listen(at: "l", for: .value)
    for request in cover.outcome.stops { replica.stopSent(request) }
    let again = replica.unlisten(cover.id).starts[0]
    _ = replica.hash(for: again)

    _ = replica.applyServer(.overwrite("l/a/b", 1))
    #expect(replica.state(at: "l", query: query)?.isLive == false)
    replica.stopAnswered(again)
    _ = replica.applyServer(.overwrite("l", ["a": ["b": 1]]), tag: again.tag)
    _ = replica.completeListen(again)
    #expect(replica.state(at: "l", query: query)?.isLive == true)
    #expect(replica.value(at: "l", query: query) == ["a": ["b": 1]])
  }

  @Test("what comes after the answer to the stop is of the new listen")
  func answerAfterStop() throws {
    var replica = TreeReplica()
    let first = listen(&replica, at: "a", to: .empty)
    unlisten(&replica, first)
    let request = replica.listen(at: "a", for: .value).outcome.starts[0]
    #expect(replica.hash(for: request).whole.isEmpty)
    replica.stopAnswered(request)
    _ = replica.applyServer(.overwrite("a", 2))
    _ = replica.completeListen(request)
    #expect(replica.value(at: "a") == 2)
  }

  @Test("ranges replace parts of what the client announced, not of what came since")
  func rangesOverAnnounced() throws {
    var replica = try replica()
    let first = listen(&replica, at: "l", to: ["a": 1, "b": 1])
    unlisten(&replica, first)
    let request = replica.listen(at: "l", for: .value).outcome.starts[0]
    #expect(replica.hash(for: request) == ListenHash(of: ["a": 1, "b": 1]))

    // Until the stop, `a` was 2 for a while.
    _ = replica.applyServer(.overwrite("l/a", 2))
    replica.stopAnswered(request)
    let range = TreeRangeMerge(start: "a", end: nil, node: ["b": 5])
    _ = replica.applyServer(.rangeMerge("l", [range]))
    _ = replica.completeListen(request)
    #expect(replica.value(at: "l") == ["a": 1, "b": 5])
  }

  @Test("ranges for a listen that has ended change nothing, in views below and in the cache")
  func rangesForNobody() throws {
    var replica = try replica()
    let first = listen(&replica, at: "l", to: ["a": ["x": 1, "y": 1]])
    unlisten(&replica, first)
    _ = listen(&replica, at: "l/a", to: ["x": 1, "y": 1])
    let range = TreeRangeMerge(start: "a/x", end: nil, node: ["a": ["y": 2]])
    _ = replica.applyServer(.rangeMerge("l", [range]))
    #expect(replica.value(at: "l/a") == ["x": 1, "y": 1])
    #expect(replica.cachedValue(at: "l") == ["a": ["x": 1, "y": 1]])
  }

  @Test("a window is kept whole while another listen is to take it over")
  func coveredWindow() throws {
    var replica = try replica()
    let query = try TreeQuery.all.first(3)
    _ = listen(&replica, at: "l", query: query, to: ["b": 1])
    _ = listen(&replica, at: "l/a", to: .empty)
    let tag = replica.tag(of: query, at: "l")
    for request in replica.listen(at: "l", for: .value).outcome.stops { replica.stopSent(request) }

    // One write, pushed to both listens before they were stopped.
    _ = replica.applyServer(.overwrite("l/a", 2))
    _ = replica.applyServer(.merge("l", [.init(path: "a", node: 2)]), tag: tag)
    try replica.commitCache()
    var next = try self.replica()
    #expect(next.cachedValue(at: "l", query: query) == ["a": 2, "b": 1])
  }
}
