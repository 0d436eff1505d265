import TernKit
import Testing

@Suite("Values", .timeLimit(.minutes(10)))
struct ValueTests {
  @Test("the values of variables stand in queries of both models where literals do")
  func operands() async throws {
    let home = try await Home()
    let tern = try await home.open()
    let (country, people, time) = ("NO", 700, Date(timeIntervalSince1970: 1_760_000_000.5))
    let cities = tern.documents.collection("cities")
    try await cities.document("oslo").set(from: City(country: "NO", people: 700, changed: time))
    try await cities.document("rome").set(
      from: City(country: "IT", people: 2_800, changed: time.addingTimeInterval(60)))
    let queries: [DocumentQueryReference] = [
      cities.where("country", .equals, country), cities.where("people", .lessThanOrEqual, people),
      cities.where("people", .lessThan, Double(people) + 0.5),
      cities.where("country", .in, [country, "SE"]), cities.where("changed", .equals, time),
      cities.where("changed", .lessThan, time.addingTimeInterval(1)),
      cities.where("changed", .greaterThan, Date.distantPast).first(1),
    ]
    for query in queries {
      #expect(try await query.get().documents.map(\.id) == ["oslo"])
    }
    #expect(try await cities.where("changed", .lessThan, Date.distantFuture).get().count == 2)

    let tree = tern.tree["cities"]
    for (id, city) in [("oslo", (people, time)), ("rome", (2_800, time.addingTimeInterval(60)))] {
      try await tree[id]["people"].set(from: city.0)
      try await tree[id]["changed"].set(from: city.1)
    }
    let selected: [TreeQueryReference] = [
      tree.order(byChild: "people").equal(to: people),
      tree.order(byChild: "people").end(at: people),
      tree.order(byChild: "people").end(before: people + 1),
      tree.order(byChild: "changed").equal(to: time), tree.orderByKey().end(at: "oslo"),
    ]
    for query in selected {
      #expect(try await query.get().children.map(\.name) == ["oslo"])
    }
    for query in [
      tree.order(byChild: "people").start(after: people), tree.orderByKey().start(at: "p"),
    ] {
      #expect(try await query.get().children.map(\.name) == ["rome"])
    }
    await tern.close()
  }

  @Test("values describe themselves as they are written")
  func texts() async throws {
    let home = try await Home()
    let tern = try await home.open()
    await tern.goOffline()
    try await tern.tree["a/b"].set("x")
    try await tern.tree["a"].update(["c": 1, "d/e": .empty])
    let pending = await tern.tree.pendingWrites
    #expect(pending.map(\.description) == [#"/a/b: "x""#, #"/a: {"c":1,"d/e":null}"#])
    #expect(pending.last?.json() == #"{"c":1,"d/e":null}"#)
    try await tern.documents.document("c/d").set(["n": 1])
    let snapshot = try await tern.documents.document("c/d").get(from: .cache)
    #expect("\(snapshot); \(snapshot.metadata)" == #"c/d: {"n":1}; from cache, pending"#)
    try await tern.documents.document("c/d").remove()
    let batches = await tern.documents.queueStatus
    #expect(batches.pending.map(\.description) == ["set c/d", "delete c/d"])
    #expect("\(batches)" == "2 pending, 0 rejected")
    #expect("\(TreeScalar.string("x"))" == #""x""# && TreeScalar.double(2.5).json() == "2.5")
    #expect("\(try JSONValue(parsing: #"{ "a" : [ 1 ] }"#))" == #"{"a":[1]}"#)
    #expect("\(AuthState.signedOut)" == "signed out")
    await tern.close()
  }

  private struct City: Codable {
    var country: String
    var people: Int
    var changed: Date
  }
}
