import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import Testing

/// The events of listeners and reads without a connection, and after it comes back.
@Suite struct DocumentListeningTests {
  @Test(
    "F16 F18 offline, a listener hears local changes, as from the cache", arguments: Setting.all)
  func localChanges(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    try await house.seed("cities", ["SF": 1])
    let db = try await house.open("a")
    let heard = Trace()
    let listening = heard.listen(db.collection("cities"), metadata: false)
    try await heard.wait(forLast: "[SF {n:1}]")
    try house.unplug("a")
    // The device takes itself for offline a moment later.
    let source = Trace()
    let listeningToSource = source.listen(db.collection("cities"))
    try await source.wait(forLast: "[SF {n:1}] from cache")
    listeningToSource.cancel()
    try await db.document("cities/LA").set(["n": 2])
    try await heard.wait(for: "[LA {n:2} SF {n:1}] from cache pending")
    try await db.document("cities/SF").remove()
    try await heard.wait(forLast: "[LA {n:2}] from cache pending")
    let snapshot = try await db.collection("cities").get()
    #expect(snapshot.metadata.isFromCache)
    #expect(snapshot.documents.allSatisfy { $0.metadata.isFromCache })
    listening.cancel()
    try await house.close()
  }

  @Test(
    "F17 documents, collections and queries are listened to, online and offline",
    arguments: Setting.all, [true, false])
  func kinds(setting: Setting, online: Bool) async throws {
    let house = try await DocumentHouse(setting)
    try await house.seed("cities", ["LA": 4, "SF": 1])
    let db = try await house.open("a")
    let cities = db.collection("cities")
    if !online {
      _ = try await cities.get(from: .server)
      try house.unplug("a")
    }
    let (one, all, few) = (Trace(), Trace(), Trace())
    let group = Trace()
    let listening = [
      one.listen(cities.document("SF")), all.listen(cities),
      few.listen(cities.where("n", .greaterThan, 2)), group.listen(db.collectionGroup("cities")),
    ]
    let source = online ? "" : " from cache"
    try await one.wait(forLast: "SF {n:1}" + source)
    try await all.wait(forLast: "[LA {n:4} SF {n:1}]" + source)
    try await few.wait(forLast: "[LA {n:4}]" + source)
    try await group.wait(forLast: "[LA {n:4} SF {n:1}]" + source)
    try await cities.document("SF").update(["n": 3])
    let ending = online ? "" : " from cache pending"
    try await one.wait(forLast: "SF {n:3}" + ending)
    try await all.wait(forLast: "[LA {n:4} SF {n:3}]" + ending)
    try await few.wait(forLast: "[SF {n:3} LA {n:4}]" + ending)
    try await group.wait(forLast: "[LA {n:4} SF {n:3}]" + ending)
    for task in listening { task.cancel() }
    try await house.close()
  }

  @Test("F24 a document that is cached is read offline from the cache", arguments: Setting.all)
  func offlineDocument(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    try await house.seed("cities", ["SF": 1])
    let db = try await house.open("a")
    _ = try await db.document("cities/SF").get()
    _ = try await db.document("cities/none").get()
    try house.unplug("a")
    for source in [DocumentGetSource.serverOrCache, .cache] {
      let snapshot = try await db.document("cities/SF").get(from: source)
      #expect(snapshot.row == "SF {n:1}")
      #expect(snapshot.metadata.isFromCache)
    }
    // That a document does not exist is known, too.
    #expect(try await !db.document("cities/none").get(from: .cache).exists)
    await #expect(throws: DocumentsError.self) {
      try await db.document("cities/SF").get(from: .server)
    }
    try await house.close()
  }

  @Test(
    "F25 offline, a query without cached documents is empty and no error", arguments: Setting.all)
  func offlineEmpty(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    let db = try await house.open("a", online: false)
    #expect(try await db.collection("cities").get().words == "[] from cache")
    #expect(
      try await db.collection("cities").where("n", .equals, 1).order(by: "m").get().words
        == "[] from cache")
    let heard = Trace()
    let listening = heard.listen(db.collection("cities"))
    #expect(try await heard.wait(for: 1) == ["[] from cache"])
    listening.cancel()
    try await house.close()
  }

  @Test("F27 offline, a query is answered once or listened to", arguments: Setting.all)
  func offlineQueries(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    try await house.seed("cities", ["LA": 4, "NY": 8, "SF": 1])
    let db = try await house.open("a")
    _ = try await db.collection("cities").get()
    try house.unplug("a")
    let query = db.collection("cities").order(by: "n", isDescending: true).first(2)
    #expect(try await query.get().words == "[NY {n:8} LA {n:4}] from cache")
    let heard = Trace()
    let listening = heard.listen(query)
    try await heard.wait(forLast: "[NY {n:8} LA {n:4}] from cache")
    try await db.document("cities/SF").set(["n": 9])
    try await heard.wait(forLast: "[SF {n:9} NY {n:8}] from cache pending")
    listening.cancel()
    try await house.close()
  }

  @Test(
    "F28 a query made offline runs over the cache, and is completed by the server",
    arguments: Setting.all)
  func completed(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    try await house.seed("cities", ["LA": 4, "NY": 8, "SF": 1])
    let db = try await house.open("a")
    _ = try await db.collection("cities").where("n", .lessThan, 5).get()
    try house.unplug("a")
    let again = try await house.restart("a")
    let heard = Trace()
    let listening = heard.listen(again.collection("cities").where("n", .greaterThan, 2))
    #expect(try await heard.wait(for: 1) == ["[LA {n:4}] from cache"])
    try await house.plug("a")
    try await heard.wait(forLast: "[LA {n:4} NY {n:8}]")
    listening.cancel()
    try await house.close()
  }
}
