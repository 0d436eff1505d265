import Foundation
import TernFirebaseCompat
import Testing

@Suite struct FirestoreWritingTests {
  @Test("every type comes back as it was written", arguments: Setting.all)
  func values(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try house.firestore("a")
    let reader = try house.firestore("b")
    let time = Timestamp(seconds: 1_700_000_000, nanoseconds: 123_456_000)
    let nothing: String? = nil
    try await db.document("all/1").setData([
      "null": NSNull(), "none": nothing as Any, "yes": true, "no": NSNumber(value: false),
      "one": 1, "big": Int64.max, "small": Int8(1), "half": 0.5, "whole": 1.0,
      "float": Float(0.25), "number": NSNumber(value: 7), "text": "ü", "bytes": Data([0, 255]),
      "time": time, "date": Date(timeIntervalSince1970: 1.5),
      "place": GeoPoint(
        latitude: 37.5, longitude: -122),
      "list": [1, "two", ["three": 3]] as [Any], "vector": FieldValue.vector([1.0, 2.0]),
      "map": ["a.b": ["c": NSNull()]], "ref": db.document("all/2"),
    ])
    let snapshot = try await reader.document("all/1").getDocument(source: .server)
    let data = try #require(snapshot.data())
    #expect(data.count == 20)
    #expect(data["null"] is NSNull)
    #expect(data["none"] is NSNull)
    #expect(data["yes"] as? Bool == true)
    #expect(data["no"] as? Bool == false)
    #expect(data["one"] as? Int == 1)
    #expect(data["big"] as? Int64 == .max)
    #expect(data["small"] as? Int == 1)
    #expect(data["half"] as? Double == 0.5)
    #expect(data["float"] as? Double == 0.25)
    #expect(data["number"] as? NSNumber == 7)
    #expect(data["text"] as? String == "ü")
    #expect(data["bytes"] as? Data == Data([0, 255]))
    #expect(data["time"] as? Timestamp == time)
    #expect((data["date"] as? Timestamp)?.dateValue() == Date(timeIntervalSince1970: 1.5))
    #expect(data["place"] as? GeoPoint == GeoPoint(latitude: 37.5, longitude: -122))
    #expect((data["list"] as? [Any])?.count == 3)
    #expect(data["vector"] as? VectorValue == VectorValue([1, 2]))
    #expect((data["map"] as? [String: [String: Any]])?["a.b"]?["c"] is NSNull)
    #expect(data["ref"] as? DocumentReference == reader.document("all/2"))
    #expect(snapshot.get(FieldPath(["map", "a.b", "c"])) is NSNull)
    #expect(snapshot["place"] as? GeoPoint != nil)
    #expect(snapshot["nowhere"] == nil)
    // What was a boolean is one when it is written again, and a whole double stays a double.
    try await reader.document("all/3").setData(data)
    for name in ["yes", "no"] {
      let found = reader.collection("all").whereField(name, isEqualTo: name == "yes")
      #expect(
        try await found.getDocuments(source: .server).documents.map(\.documentID) == ["1", "3"])
    }
    #expect(
      try await reader.collection("all").whereField("one", isEqualTo: true).getDocuments().isEmpty)
    try await house.close()
  }

  @Test(
    "set, merge, update and delete do what they are called",
    arguments: Setting.storages)
  func verbs(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try house.firestore("a")
    let doc = db.collection("cities").document()
    #expect(doc.documentID.count == 20)
    #expect(doc.parent == db.collection("cities"))
    try await doc.setData(["a": 1, "m": ["x": 1, "y": 1]])
    try await doc.setData(["m": ["x": 2]], merge: true)
    try await doc.setData(["a": 5, "m": ["y": 3, "z": 9]], mergeFields: ["m.y"])
    try await doc.updateData(["m.z": 4, FieldPath(["d.e"]): 5, "a": FieldValue.delete()])
    let data = try #require(try await doc.getDocument(source: .server).data())
    #expect(data.keys.sorted() == ["d.e", "m"])
    #expect(data["m"] as? [String: Int] == ["x": 2, "y": 3, "z": 4])
    try await doc.delete()
    #expect(try await doc.getDocument(source: .server).exists == false)
    await #expect(throws: NSError.self) { try await doc.updateData(["a": 1]) }
    do {
      try await doc.updateData(["a": 1])
    } catch FirestoreErrorCode.notFound {
      #expect(try await doc.getDocument().exists == false)
    }
    let added = try await db.collection("cities").addDocument(data: ["n": 1])
    #expect(try await added.getDocument(source: .server).data()?["n"] as? Int == 1)
    #expect(added.collection("in/side/it").path == added.path + "/in/side/it")
    try await house.close()
  }

  @Test(
    "field values are computed by the server, and estimated here",
    arguments: Setting.storages)
  func fieldValues(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try house.firestore("a")
    let doc = db.document("counters/1")
    try await doc.setData(["n": 1, "d": 0.5, "l": [1, 2]])
    try await doc.updateData([
      "n": FieldValue.increment(Int64(2)), "d": FieldValue.increment(0.25),
      "l": FieldValue.arrayUnion([2, 3]), "at": FieldValue.serverTimestamp(),
    ])
    try await doc.updateData(["l": FieldValue.arrayRemove([1])])
    let data = try #require(try await doc.getDocument(source: .server).data())
    #expect(data["n"] as? Int == 3)
    #expect(data["d"] as? Double == 0.75)
    #expect(data["l"] as? [Int] == [2, 3])
    let time = try #require(data["at"] as? Timestamp)
    try await db.disableNetwork()
    now { doc.updateData(["at": FieldValue.serverTimestamp()]) }
    let pending = try await doc.getDocument(source: .cache)
    #expect(pending.metadata.hasPendingWrites)
    #expect(pending.data()?["at"] is NSNull)
    #expect(pending.data(with: .previous)?["at"] as? Timestamp == time)
    #expect(try #require(pending.data(with: .estimate)?["at"] as? Timestamp) >= time)
    #expect(pending.get("at", serverTimestampBehavior: .previous) as? Timestamp == time)
    try await house.close()
  }

  @Test("a batch is made whole or not at all", arguments: Setting.storages)
  func batches(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try house.firestore("a")
    let (one, two, three) = (db.document("b/1"), db.document("b/2"), db.document("b/3"))
    try await db.batch().setData(["n": 1], forDocument: one).setData(
      ["m": ["x": 1]], forDocument: two, merge: true
    ).setData(["n": 3, "o": 4], forDocument: three, mergeFields: ["n"]).commit()
    #expect(try await db.collection("b").getDocuments(source: .server).count == 3)
    let failing = db.batch().deleteDocument(one).updateData(
      ["n": 1], forDocument: db.document("b/none"))
    await #expect(throws: NSError.self) { try await failing.commit() }
    #expect(try await db.collection("b").getDocuments(source: .server).count == 3)
    try await db.batch().commit()
    #expect(try await three.getDocument(source: .server).data() as? [String: Int] == ["n": 3])
    try await house.close()
  }
}
