import Foundation
import TernFirebaseCompat
import Testing

@Suite struct FirestoreQueryTests {
  private func filled(_ house: House) async throws -> Firestore {
    let db = try house.firestore("a")
    let batch = db.batch()
    let cities: [(String, [String: Any])] = [
      ("BJ", ["n": 5, "state": NSNull(), "tags": ["old", "big"]]),
      ("DC", ["n": 3, "state": "DC", "tags": ["old"]]),
      ("LA", ["n": 4, "state": "CA", "tags": ["big"]]),
      ("SF", ["n": 1, "state": "CA", "tags": ["hills"]]),
      ("TOK", ["n": 2, "tags": [Any]()]),
    ]
    for (id, data) in cities {
      batch.setData(data, forDocument: db.document("cities/\(id)"))
    }
    batch.setData(["n": 10], forDocument: db.document("cities/SF/landmarks/bridge"))
    batch.setData(["n": 11], forDocument: db.document("cities/BJ/landmarks/wall"))
    try await batch.commit()
    return db
  }

  private func ids(_ query: Query, _ source: FirestoreSource) async throws -> [String] {
    try await query.getDocuments(source: source).documents.map(\.documentID)
  }

  private func table(_ db: Firestore) -> [(Query, [String])] {
    let cities = db.collection("cities")
    let (key, n) = (FieldPath.documentID(), cities.order(by: "n"))
    return [
      (cities.whereField("state", isEqualTo: "CA"), ["LA", "SF"]),
      (cities.whereField("state", isEqualTo: NSNull()), ["BJ"]),
      (cities.whereField("state", isNotEqualTo: "CA"), ["DC"]),
      (cities.whereField("n", isLessThan: 3), ["SF", "TOK"]),
      (cities.whereField(FieldPath(["n"]), isLessThanOrEqualTo: 3), ["SF", "TOK", "DC"]),
      (cities.whereField("n", isGreaterThan: 4), ["BJ"]),
      (cities.whereField("n", isGreaterThanOrEqualTo: 4), ["LA", "BJ"]),
      (cities.whereField("tags", arrayContains: "big"), ["BJ", "LA"]),
      (cities.whereField("tags", arrayContainsAny: ["hills", "old"]), ["BJ", "DC", "SF"]),
      (cities.whereField("n", in: [1, 5, 9]), ["BJ", "SF"]),
      (cities.whereField("n", notIn: [1, 2, 3]), ["LA", "BJ"]),
      (cities.whereField(key, in: ["SF", "LA"]), ["LA", "SF"]),
      (cities.whereField(key, isGreaterThan: "DC").limit(to: 2), ["LA", "SF"]),
      (cities.whereField(key, isEqualTo: db.document("cities/TOK")), ["TOK"]),
      (
        cities.whereFilter(
          .orFilter([
            .whereField("state", isEqualTo: "DC"),
            .andFilter([
              .whereField("state", isEqualTo: "CA"), .whereField("n", isGreaterThan: 2),
            ]),
          ])), ["DC", "LA"]
      ),
      (cities.order(by: "n", descending: true).limit(to: 2), ["BJ", "LA"]),
      (n.limit(toLast: 2), ["LA", "BJ"]),
      (n.start(at: [3]), ["DC", "LA", "BJ"]),
      (n.start(after: [3]).end(before: [5]), ["LA"]),
      (n.end(at: [2]), ["SF", "TOK"]),
      (cities.order(by: key).start(at: ["SF"]), ["SF", "TOK"]),
      (db.collectionGroup("landmarks").order(by: "n"), ["bridge", "wall"]),
      (
        db.collectionGroup("landmarks").whereField(key, isEqualTo: "cities/BJ/landmarks/wall"),
        ["wall"]
      ),
    ]
  }

  @Test(
    "F22 every operator, order, limit and cursor, online and offline",
    arguments: Setting.storages)
  func operators(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await filled(house)
    for (index, (query, expected)) in table(db).enumerated() {
      #expect(try await ids(query, .server) == expected, "query \(index)")
      #expect(try await ids(query, .cache) == expected, "query \(index), cached")
    }
    try await db.disableNetwork()
    for (index, (query, expected)) in table(db).enumerated() {
      #expect(try await ids(query, .default) == expected, "query \(index), offline")
    }
    #expect(table(db).map(\.0) == table(db).map(\.0))
    try await house.close()
  }

  @Test("a result is continued at a document", arguments: Setting.storages)
  func documentCursors(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await filled(house)
    let order = db.collection("cities").order(by: "n")
    let all = try await order.getDocuments(source: .server).documents
    #expect(all.map(\.documentID) == ["SF", "TOK", "DC", "LA", "BJ"])
    #expect(try await ids(order.start(atDocument: all[3]), .server) == ["LA", "BJ"])
    #expect(try await ids(order.start(afterDocument: all[3]), .server) == ["BJ"])
    #expect(try await ids(order.end(atDocument: all[1]), .server) == ["SF", "TOK"])
    #expect(try await ids(order.end(beforeDocument: all[1]), .server) == ["SF"])
    let missing = try await db.document("cities/none").getDocument(source: .server)
    await #expect(throws: NSError.self) {
      _ = try await order.start(atDocument: missing).getDocuments()
    }
    try await house.close()
  }

  @Test("the server counts, adds and averages", arguments: Setting.storages)
  func aggregates(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await filled(house)
    let cities = db.collection("cities")
    let count = try await cities.whereField("state", isEqualTo: "CA").count.getAggregation(
      source: .server)
    #expect(count.count == 2)
    let numbers = try await cities.aggregate([
      .count(), .sum("n"), .average("n"),
    ]).getAggregation(source: .server)
    #expect(numbers.count == 5)
    #expect(numbers.get(.sum("n")) as? Int == 15)
    #expect(numbers.get(.average("n")) as? Double == 3)
    #expect(numbers.get(.sum("other")) == nil)
    // All see only documents that have all the fields.
    let none = try await cities.aggregate([.count(), .average(FieldPath(["none"]))])
      .getAggregation(source: .server)
    #expect(none.count == 0)
    #expect(none.get(.average("none")) is NSNull)
    let heard = Trace()
    cities.count.getAggregation(source: .server) { snapshot, error in
      heard.add("\(snapshot?.count ?? -1) \(error == nil)")
    }
    #expect(try await heard.wait(for: 1) == ["5 true"])
    await #expect(throws: NSError.self) {
      _ = try await cities.aggregate([]).getAggregation(source: .server)
    }
    try await db.disableNetwork()
    do {
      _ = try await cities.count.getAggregation(source: .server)
      Issue.record("nobody counts offline")
    } catch let error as NSError {
      #expect(error.code == FirestoreErrorCode.unavailable.rawValue)
    }
    try await house.close()
  }

  @Test("snapshots come as a sequence", arguments: Setting.storages)
  func sequences(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await filled(house)
    now { db.document("cities/NEW").setData(["n": 6]) }
    for try await snapshot in db.collection("cities").snapshots where snapshot.count == 6 { break }
    for try await snapshot in db.document("cities/NEW").snapshots where snapshot.exists { break }
    await #expect(throws: NSError.self) {
      for try await _ in db.collection("cities").limit(to: -1).snapshots {}
    }
    try await house.close()
  }
}
