import Foundation
import TernFirebaseCompat
import Testing

private struct City: Codable, Equatable {
  @DocumentID var id: String?
  @DocumentID var reference: DocumentReference?
  var name: String
  var state: String?
  @ExplicitNull var country: String?
  @ServerTimestamp var updated: Timestamp?
  @ServerTimestamp var founded: Date?
  var place: GeoPoint
  var flag: Data
  var site: URL?
  var vector: VectorValue
  var twin: DocumentReference
  var tags: [String: [Int]]
}

@Suite struct FirestoreCodingTests {
  private func city(_ db: Firestore) -> City {
    City(
      id: "ignored", reference: nil, name: "San Francisco", state: nil, country: nil, updated: nil,
      founded: Date(timeIntervalSince1970: -5_000_000_000),
      place: GeoPoint(latitude: 37.7, longitude: -122.4), flag: Data([1, 2]),
      site: URL(string: "https://example.com/sf"), vector: VectorValue([0.5]),
      twin: db.document("cities/OSA"), tags: ["a": [1, 2]])
  }

  @Test("values are written and read as they are", arguments: Setting.storages)
  func roundTrip(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try house.firestore("a")
    let heard = Trace()
    let doc = try db.collection("cities").addDocument(from: city(db)) { error in
      heard.add(error == nil ? "written" : "\(String(describing: error))")
    }
    #expect(try await heard.wait(for: 1) == ["written"])
    let snapshot = try await doc.getDocument(source: .server)
    let data = try #require(snapshot.data())
    #expect(data["id"] == nil && data["reference"] == nil && data["state"] == nil)
    #expect(data["country"] is NSNull)
    #expect(data["updated"] is Timestamp)
    #expect(data["twin"] as? DocumentReference == db.document("cities/OSA"))
    let read = try snapshot.data(as: City.self)
    #expect(read.id == doc.documentID)
    #expect(read.reference == doc)
    #expect(read.updated == data["updated"] as? Timestamp)
    var expected = city(db)
    expected.id = doc.documentID
    expected.reference = doc
    expected.updated = read.updated
    #expect(read == expected)
    try await house.close()
  }

  @Test("coding by hand, merging, batches, transactions and faults", arguments: Setting.storages)
  func byHand(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try house.firestore("a")
    let fields = try Firestore.Encoder().encode(city(db))
    #expect(fields["updated"] is FieldValue)
    #expect(fields["twin"] as? DocumentReference == db.document("cities/OSA"))
    #expect(fields["place"] as? GeoPoint == city(db).place)
    struct Name: Codable, Equatable { var name: String }
    #expect(
      try Firestore.Decoder().decode(Name.self, from: ["name": "x"]) == Name(name: "x"))
    let doc = db.document("cities/SF")
    try await doc.setData(fields)
    try doc.setData(from: Name(name: "Frisco"), merge: true)
    #expect(try await doc.getDocument(as: City.self).name == "Frisco")
    let batch = db.batch()
    try batch.setData(from: Name(name: "Batch"), forDocument: db.document("cities/B"))
    try await batch.commit()
    _ = try await db.runTransaction { transaction, errorPointer in
      do {
        try transaction.setData(from: Name(name: "T"), forDocument: db.document("cities/T"))
      } catch let error as NSError {
        errorPointer?.pointee = error
      }
      return nil
    }
    let names = try await db.collection("cities").getDocuments(source: .server).documents.map {
      try $0.data(as: Name.self).name
    }
    #expect(names == ["Batch", "Frisco", "T"])
    let missing = try await db.document("cities/none").getDocument(source: .server)
    #expect(try missing.data(as: Name?.self) == nil)
    #expect(throws: DecodingError.self) { try missing.data(as: Name.self) }
    struct Wrong: Decodable { var name: Int }
    let snapshot = try await doc.getDocument()
    #expect(throws: DecodingError.self) { try snapshot.data(as: Wrong.self) }
    struct Conflict: Codable { @DocumentID var name: String? }
    #expect(throws: FirestoreDecodingError.fieldNameConflict("name")) {
      try snapshot.data(as: Conflict.self)
    }
    #expect(throws: EncodingError.self) { try doc.setData(from: [1, 2]) }
    try await house.close()
  }
}
