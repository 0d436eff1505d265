import TernCore
import TernQuery
import TernTreeReplica
import Testing

private func text(_ requests: [ListenRequest]) -> [String] {
  requests.map { "/\($0.path) \($0.tag.map { "t\($0)" } ?? "default")" }
}

/// The behaviour of appendix A and sections 4.6 and 5.4 of the realtime reference.
@Suite("Listens and registrations")
struct ReplicaListenTests {
  @Test("a default listen takes over what lies at and below it, and gives it back")
  func shadowing() throws {
    var replica = TreeReplica()
    let first = try TreeQuery.all.first(1)
    let ordered = try TreeQuery.all.ordered(byChild: "n")
    #expect(text(replica.listen(at: "a/b", for: .value).outcome.starts) == ["/a/b default"])
    #expect(text(replica.listen(at: "a", query: first, for: .value).outcome.starts) == ["/a t1"])
    let order = replica.listen(at: "a/z", query: ordered, for: .value)
    #expect(text(order.outcome.starts) == ["/a/z default"])

    let whole = replica.listen(at: "a", for: .value)
    #expect(text(whole.outcome.starts) == ["/a default"])
    #expect(text(whole.outcome.stops) == ["/a t1", "/a/b default", "/a/z default"])
    #expect(replica.listen(at: "a/c", for: .value).outcome.starts.isEmpty)

    let back = replica.unlisten(whole.id)
    #expect(text(back.starts) == ["/a t1", "/a/b default", "/a/c default", "/a/z default"])
    #expect(text(back.stops) == ["/a default"])
    #expect(text(replica.activeListens) == text(back.starts))
  }

  @Test("two orders of all data share one listen")
  func sharedListen() throws {
    var replica = TreeReplica()
    let plain = replica.listen(at: "a", for: .value)
    let other = replica.listen(
      at: "a", query: try TreeQuery.all.ordered(by: .value), for: .value)
    #expect(plain.outcome.starts.count == 1)
    #expect(other.outcome.starts.isEmpty)
    #expect(replica.unlisten(plain.id).stops.isEmpty)
    #expect(text(replica.unlisten(other.id).stops) == ["/a default"])
  }

  @Test("a late push for a tag that has ended is ignored")
  func unknownTag() throws {
    var replica = TreeReplica()
    let query = try TreeQuery.all.first(1)
    let (id, _) = replica.listen(at: "a", query: query, for: .all)
    let tag = try #require(replica.tag(of: query, at: "a"))
    _ = replica.unlisten(id)
    #expect(replica.applyServer(.overwrite("a", ["x": 1]), tag: tag).events.isEmpty)
  }

  @Test("leaving through the default query leaves all queries, but not what is kept in sync")
  func removal() throws {
    var replica = TreeReplica()
    let query = try TreeQuery.all.first(2)
    let one = replica.listen(at: "a", for: .value).id
    let two = replica.listen(at: "a", query: query, for: .childAdded).id
    let below = replica.listen(at: "a/b", for: .value).id
    #expect(replica.keepSynced(true, at: "a").starts.isEmpty)
    #expect(replica.keepSynced(true, at: "a").starts.isEmpty)
    #expect(Set(replica.unlistenAll(at: "a").cancelled) == [one, two])
    #expect(text(replica.activeListens) == ["/a default"])
    let free = replica.keepSynced(false, at: "a")
    #expect(text(free.starts) == ["/a/b default"])
    #expect(text(free.stops) == ["/a default"])
    #expect(text(replica.unlisten(below).stops) == ["/a/b default"])
    #expect(replica.activeListens.isEmpty)
  }

  @Test("leaving one kind of event keeps the others")
  func removalOfKind() throws {
    var replica = TreeReplica()
    let (id, outcome) = replica.listen(at: "a", for: [.value, .childAdded])
    _ = replica.completeListen(outcome.starts[0])
    #expect(replica.unlistenAll(at: "a", for: .value).cancelled.isEmpty)
    let events = replica.applyServer(.overwrite("a", ["x": 1])).events
    #expect(events.map(\.change.kind) == [.added])
    #expect(replica.unlistenAll(at: "a", for: .childAdded).cancelled == [id])
  }

  @Test("a refused listen ends its registrations and nothing else")
  func revoked() throws {
    var replica = TreeReplica()
    let query = try TreeQuery.all.first(2)
    let whole = replica.listen(at: "a", for: .value).id
    let kept = replica.listen(at: "a", query: query, for: .value).id
    let outcome = replica.revokeListen(at: "a", query: .all)
    #expect(outcome.cancelled == [whole])
    #expect(text(outcome.starts) == ["/a t1"])
    #expect(outcome.stops.isEmpty)
    #expect(replica.unlisten(whole).stops.isEmpty)
    #expect(text(replica.unlisten(kept).stops) == ["/a t1"])
  }

  @Test("the hash of a listen is that of the server's data, without pending writes")
  func hash() throws {
    var replica = TreeReplica()
    let request = replica.listen(at: "a", for: .value).outcome.starts[0]
    #expect(replica.hash(for: request).whole.isEmpty)
    _ = replica.applyServer(.overwrite("a", ["x": 1]))
    _ = replica.plan(.set("a/y", 2), now: 0)
    #expect(replica.hash(for: request).whole == "LkoDN24bwRWG2p4jGZoe8M/Acf8=")
    // Asked again, it is remembered; and forgotten as soon as the server says something else.
    #expect(replica.hash(for: request).whole == "LkoDN24bwRWG2p4jGZoe8M/Acf8=")
    let long = TreeNode(.string(String(repeating: "x", count: 2_000)))
    let second: TreeNode = ["x": 1, "z": long]
    _ = replica.applyServer(.overwrite("a/z", long))
    #expect(replica.hash(for: request) == ListenHash(of: second))
    #expect(replica.hash(for: request).ranges == second.compoundHash)
    _ = replica.completeListen(request)
    replica.disconnect()
    #expect(replica.hash(for: request).whole == second.hash)
  }

  @Test("the same hash needs no data: the answer alone completes the view")
  func completedByAnswer() throws {
    var replica = TreeReplica()
    let request = replica.listen(at: "a", for: .value).outcome.starts[0]
    let events = replica.completeListen(request).events
    #expect(events.map(\.change.kind) == [.value])
    #expect(events.first?.isFromCache == false)
    #expect(replica.completeListen(request).events.isEmpty)
  }
}
