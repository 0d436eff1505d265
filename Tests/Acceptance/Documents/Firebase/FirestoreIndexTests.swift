import Foundation
import TernClient
import TernDocumentReplica
import TernQuery
import Testing

@testable import TernFirebaseCompat

@Suite struct FirestoreIndexTests {
  /// Fills two collections, one large and one small, and goes offline.
  private func filled(_ house: House) async throws -> Firestore {
    let db = try house.firestore("a")
    for (collection, count) in [("large", 300), ("small", 50)] {
      let batch = db.batch()
      for index in 0..<count {
        batch.setData(
          ["n": index, "m": index, "k": index], forDocument: db.document("\(collection)/\(index)"))
      }
      try await batch.commit()
      _ = try await db.collection(collection).getDocuments(source: .server)
    }
    try await db.disableNetwork()
    return db
  }

  private func rare(_ db: Firestore, _ collection: String) -> Query {
    db.collection(collection).whereField("n", isEqualTo: 7)
  }

  private func indexes(_ db: Firestore) async throws -> [String] {
    try await db.native().indexes.all.map { "\($0)" }
  }

  /// Runs a query and gives the housekeeping the time it takes.
  private func run(_ query: Query) async throws -> [String] {
    let found = try await query.getDocuments(source: .cache).documents.map(\.documentID)
    let native = try await query.firestore.native()
    while await native.indexes.backfill() > 0 {}
    return found
  }

  @Test(
    "F30 F31 F34 F35 indexes make themselves once that is enabled, for large collections only",
    arguments: Setting.storages)
  func automatic(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await filled(house)
    let manager = try #require(db.persistentCacheIndexManager)

    // Off at first: nothing is made.
    #expect(try await run(rare(db, "large")) == ["7"])
    #expect(try await indexes(db).isEmpty)
    #expect(try await rare(db, "large").explain().hasPrefix("scan"))

    manager.enableIndexAutoCreation()
    #expect(try await run(rare(db, "small")) == ["7"])
    #expect(try await indexes(db).isEmpty)
    #expect(try await run(rare(db, "large")) == ["7"])
    #expect(try await indexes(db).count == 1)
    #expect(try await rare(db, "large").explain().hasPrefix("index"))
    #expect(try await run(rare(db, "large")) == ["7"])

    // Off again: no more are made, those there are used.
    manager.disableIndexAutoCreation()
    let other = db.collection("large").whereField("n", isGreaterThan: 297).whereField(
      "n", isLessThan: 299)
    #expect(try await run(other) == ["298"])
    #expect(try await rare(db, "large").explain().hasPrefix("index"))
    let unseen = db.collection("large").whereField("m", isEqualTo: 7)
    for _ in 1...3 { #expect(try await run(unseen) == ["7"]) }
    #expect(try await indexes(db).count == 1)
    #expect(try await unseen.explain().hasPrefix("scan"))
    // On again, the same query makes one.
    manager.enableIndexAutoCreation()
    #expect(try await run(unseen) == ["7"])
    #expect(try await indexes(db).count == 2)
    manager.disableIndexAutoCreation()
    #expect(try await run(db.collection("large").whereField("k", isEqualTo: 7)) == ["7"])
    #expect(try await indexes(db).count == 2)

    manager.deleteAllIndexes()
    #expect(try await indexes(db).isEmpty)
    #expect(try await run(rare(db, "large")) == ["7"])
    #expect(try await rare(db, "large").explain().hasPrefix("scan"))

    // The choice is made anew at every start.
    manager.enableIndexAutoCreation()
    #expect(try await run(rare(db, "large")) == ["7"])
    let again = try await house.restartFirestore("a")
    try await again.disableNetwork()
    try #require(again.persistentCacheIndexManager).deleteAllIndexes()
    #expect(try await run(rare(again, "large")) == ["7"])
    #expect(try await indexes(again).isEmpty)
    try await house.close()
  }

  @Test(
    "indexes are taken from a configuration, as a text or a stream",
    arguments: Setting.storages)
  func configuration(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await filled(house)
    let json = """
      {"indexes": [{"collectionGroup": "large", "queryScope": "COLLECTION",
        "fields": [{"fieldPath": "n", "order": "ASCENDING"}]}], "fieldOverrides": []}
      """
    try await db.setIndexConfiguration(json)
    #expect(try await indexes(db).count == 1)
    #expect(try await run(rare(db, "large")) == ["7"])
    #expect(try await rare(db, "large").explain().hasPrefix("index"))
    let done = Trace()
    now {
      db.setIndexConfiguration(InputStream(data: Data("{}".utf8))) { error in
        done.add(error == nil ? "done" : "error")
      }
    }
    #expect(try await done.wait(for: 1) == ["done"])
    #expect(try await indexes(db).isEmpty)
    do {
      try await db.setIndexConfiguration("{\"indexes\": 1}")
      Issue.record("this is no configuration")
    } catch let error as NSError {
      let words = "The configuration of indexes is refused: \"indexes\" is not an array"
      #expect(error.localizedDescription == words)
    }
    try await house.close()
  }
}
