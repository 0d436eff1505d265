import TernClient
import TernCore
import TernQuery
import TernSecurity
import TernServer
import TernServerAssembly
import TernSync
import Testing

@Suite("nodes that follow and serve", .timeLimit(.minutes(2)))
struct FollowerTests {
  private struct Person: Codable {
    var age: Int
    var town: String
  }

  private struct City: Codable {
    var people: Int
  }

  /// A leader, and a node that follows and serves.
  private struct Pair {
    let place = SharedPlace()
    let leader: ServerNode
    let follower: ServerNode

    init(leaseSeconds: Int64 = 10) async throws {
      leader = try await ServerNode(place, "first", follows: true, leaseSeconds: leaseSeconds)
      await leader.events.wait(for: .leading)
      follower = try await ServerNode(place, "second", follows: true, leaseSeconds: leaseSeconds)
      await follower.events.wait(for: .following)
    }

    func stop() async {
      await follower.stop()
      await leader.stop()
    }
  }

  @Test("a write at either node is read at the other, and a client finds its own at once")
  func writes() async throws {
    let pair = try await Pair()
    let (near, far) = (try await pair.leader.client(), try await pair.follower.client())
    for number in 1...20 {
      try await far.tree["far"].set(TreeNode(.integer(Int64(number)))).acknowledged()
      #expect(try await far.tree["far"].get().number == Double(number))
      #expect(try await near.tree["far"].get().number == Double(number))
      try await near.tree["near"].set(TreeNode(.integer(Int64(number)))).acknowledged()
      #expect(try await value(at: far.tree["near"]) { $0.number == Double(number) })
    }
    await near.close()
    await far.close()
    await pair.stop()
  }

  @Test("listeners at a follower are told of writes at the leader, filtered ones as well")
  func listens() async throws {
    let pair = try await Pair()
    let (near, far) = (try await pair.leader.client(), try await pair.follower.client())
    let query = far.tree["scores"].order(byChild: "points").last(2)
    async let best = value(at: query) { $0.children.map(\.name) == ["b", "c"] }
    async let whole = value(at: far.tree["scores"]) { $0.children.count == 3 }
    async let missing = value(at: far.tree["gone"]) { $0.exists }
    try await near.tree["scores"].update(["a/points": 1, "b/points": 2, "c/points": 3])
      .acknowledged()
    try await near.tree.root.update(["gone/x": 1, "kept/y": 2]).acknowledged()
    #expect(try await best)
    #expect(try await whole)
    #expect(try await missing)
    async let removed = value(at: far.tree["gone"]) { !$0.exists }
    try await near.tree["gone"].remove().acknowledged()
    #expect(try await removed)
    await near.close()
    await far.close()
    await pair.stop()
  }

  @Test("documents: listens, writes, counters and transactions at a follower")
  func documents() async throws {
    let pair = try await Pair()
    let (near, far) = (try await pair.leader.client(), try await pair.follower.client())
    let cities = far.documents.collection("cities").order(by: "people")
    async let both = documents(of: cities) { $0 == ["oslo", "rome"] }
    try await near.documents.document("cities/oslo").set(["people": 7]).acknowledged()
    try await far.documents.document("cities/rome").set(["people": 28]).acknowledged()
    #expect(try await both)
    try await far.documents.document("cities/rome").transaction(as: City.self) { city in
      city.people += 1
    }
    #expect(try await far.documents.document("cities/rome").get()["people"] == 29)
    #expect(try await near.documents.document("cities/rome").get()["people"] == 29)
    async let one = documents(of: cities) { $0 == ["rome"] }
    try await near.documents.document("cities/oslo").remove().acknowledged()
    #expect(try await one)
    await near.close()
    await far.close()
    await pair.stop()
  }

  @Test("what takes many rows is read beside the executor of a follower, too")
  func largeReads() async throws {
    let pair = try await Pair()
    let (near, far) = (try await pair.leader.client(), try await pair.follower.client())
    let children = (1...3_000).map { (String($0), TreeNode(.integer(Int64($0)))) }
    try await near.tree["many"].update(Dictionary(uniqueKeysWithValues: children)).acknowledged()
    #expect(try await far.tree["many"].get().children.count == 3_000)
    let last = far.tree["many"].orderByValue().last(1)
    async let listened = value(at: last) { $0.children.first?.number == 9_000 }
    for number in 1...400 {
      try await near.documents.document("many/\(number)").set(from: City(people: number))
    }
    try await near.tree["many/x"].set(9_000).acknowledged()
    #expect(try await listened)
    let query = far.documents.collection("many").order(by: "people")
    async let all = documents(of: query) { $0.count == 400 }
    try await near.documents.waitForPendingWrites()
    #expect(try await all)
    await near.close()
    await far.close()
    await pair.stop()
  }

  @Test("a query that a leader would make an index for ends no session at a follower")
  func indexes() async throws {
    let pair = try await Pair()
    let (near, far) = (try await pair.leader.client(), try await pair.follower.client())
    for number in 1...500 {
      try await near.documents.document("people/\(number)").set(
        from: Person(age: number, town: number <= 250 ? "oslo" : "rome"))
    }
    try await near.documents.waitForPendingWrites()
    let rare = far.documents.collection("people").where("town", .equals, "oslo")
      .where("age", .greaterThanOrEqual, 250).order(by: "age").first(3)
    for _ in 1...3 { #expect(try await rare.count() == 1) }
    #expect(!pair.follower.events.hasStoodByAgain)
    await near.close()
    await far.close()
    await pair.stop()
  }

  @Test("what a client of a follower leaves for its end happens once it has ended")
  func disconnect() async throws {
    let pair = try await Pair()
    let (near, far) = (try await pair.leader.client(), try await pair.follower.client())
    try await far.tree["here"].onDisconnect.set(false)
    try await far.tree["here"].set(true).acknowledged()
    #expect(try await near.tree["here"].get().bool == true)
    async let gone = value(at: near.tree["here"]) { $0.bool == false }
    await far.close()
    #expect(try await gone)
    await near.close()
    await pair.stop()
  }

  @Test("the leader ends: a follower leads, and its clients go on with what they wrote meanwhile")
  func handOver() async throws {
    let pair = try await Pair()
    let far = try await pair.follower.client()
    try await far.tree["n"].set(1).acknowledged()
    await pair.leader.stop()
    let write = try await far.tree["n"].increment(by: 1)
    await pair.follower.events.wait(for: .leading)
    try await write.acknowledged()
    #expect(try await far.tree["n"].get().number == 2)
    await far.close()
    await pair.follower.stop()
  }

  @Test("a leader that loses the log follows the next one, and serves")
  func changeOfParts() async throws {
    let pair = try await Pair(leaseSeconds: 3)
    let near = try await pair.leader.client()
    try await near.tree["n"].set(1).acknowledged()
    pair.place.cut("first", true)
    await pair.follower.events.wait(for: .leading)
    pair.place.cut("first", false)
    await pair.leader.events.wait(for: .following)
    try await near.tree["n"].increment(by: 1).acknowledged()
    #expect(try await near.tree["n"].get().number == 2)
    let far = try await pair.follower.client()
    #expect(try await far.tree["n"].get().number == 2)
    await far.close()
    await near.close()
    await pair.stop()
  }

  @Test("requests without a session: writes at a follower, rules at it and at the leader")
  func direct() async throws {
    let pair = try await Pair()
    let (leader, follower) = (pair.leader.server.server, pair.follower.server.server)
    let place = try TreePath("a/b")
    let written = await follower.answer(to: .write(.set(place, 5), expectedHash: nil))
    #expect(written == .written(.set(place, 5)))
    #expect(await follower.answer(to: .read(place, .all)) == .node(5))
    #expect(await leader.answer(to: .read(place, .all)) == .node(5))
    let far = try await pair.follower.client()
    async let denied: Void = far.tree["a"].listenUntilEnd()
    try await far.tree["a/c"].set(1).acknowledged()
    // Rules that come by way of the follower hold at both, and end what they do not allow.
    let rules = Array(#"{"rules": {"open": {".read": true, ".write": true}}}"#.utf8)
    #expect(await follower.answer(to: .setRules(rules, isTrial: false), asOwner: true) == .done)
    await denied
    for server in [leader, follower] {
      guard case .refused(.permissionDenied) = await server.answer(to: .read(place, .all)) else {
        Issue.record("the rules do not hold")
        continue
      }
    }
    try await far.tree["open"].set(1).acknowledged()
    await far.close()
    await pair.stop()
  }

  /// Returns true once a listener sees a value.
  private func value(
    at place: some TreeQuerying & Sendable, _ isWanted: @Sendable (TreeSnapshot) -> Bool
  ) async throws -> Bool {
    for try await snapshot in place.values() where isWanted(snapshot) { return true }
    return false
  }

  /// Returns true once a query has these results.
  private func documents(
    of query: DocumentQueryReference, _ isWanted: @Sendable ([String]) -> Bool
  ) async throws -> Bool {
    for try await snapshot in query.snapshots() where isWanted(snapshot.documents.map(\.id)) {
      return true
    }
    return false
  }
}

extension TernServer {
  /// Answers a request of an administrator's program on this machine, or of an anonymous one.
  fileprivate func answer(
    to operation: DirectRequest.Operation, asOwner isOwner: Bool = false
  ) async -> DirectAnswer {
    await withCheckedContinuation { continuation in
      let request = DirectRequest(
        namespace: "default", isLocal: true, address: "loopback",
        credential: isOwner ? Credential(.user, token: "owner", isLocal: true) : nil, operation)
      ask(request) { continuation.resume(returning: $0) }
    }
  }
}

extension TreeReference {
  /// Listens until the server ends the listen.
  fileprivate func listenUntilEnd() async {
    do { for try await _ in values() {} } catch {}
  }
}
