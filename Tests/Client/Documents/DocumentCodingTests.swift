import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import TernSync
import Testing

@Suite("Coding of documents")
struct DocumentCodingTests {
  private struct City: Codable, Equatable {
    enum Kind: String, Codable { case capital, other }
    struct Mayor: Codable, Equatable { var name: String }
    var name: String
    var people: Int64
    var height: Double
    var isOld: Bool
    var founded: DocumentTimestamp
    var place: DocumentGeoPoint
    var seal: [UInt8]
    var twin: DocumentName
    var kind: Kind
    var tags: [String]
    var mayor: Mayor?
    var notes: [String: DocumentValue]
    var nickname: String?
  }

  private func city() throws -> City {
    City(
      name: "Rome", people: .max, height: 21.5, isOld: true,
      founded: try DocumentTimestamp(seconds: -23_000_000_000, nanoseconds: 5_000),
      place: try DocumentGeoPoint(latitude: 41.9, longitude: 12.5), seal: [0, 255],
      twin: DocumentName(
        try DocumentKey("cities/Paris"), in: try DocumentDatabase(projectID: "demo")),
      kind: .capital, tags: ["a", "b"], mayor: City.Mayor(name: "R"),
      notes: ["mixed": [1, 1.5, "x", .null]], nickname: nil)
  }

  @Test("every value keeps its kind on the way to a document and back")
  func roundTrip() throws {
    let city = try city()
    guard case .map(let fields) = try DocumentEncoder().encode(city) else {
      Issue.record("a structure is a map")
      return
    }
    #expect(!fields.map(\.name).contains("nickname"))
    let map = DocumentMap(
      fields.compactMap { field in value(of: field.input).map { (field.name, $0) } })
    #expect(map["people"] == .integer(.max))
    #expect(map["founded"] == .timestamp(city.founded))
    #expect(map["place"] == .geoPoint(city.place))
    #expect(map["seal"] == .bytes([0, 255]))
    #expect(map["twin"] == .reference(city.twin))
    #expect(map["mayor"] == ["name": "R"])
    #expect(try DocumentDecoder().decode(City.self, from: map) == city)
  }

  /// The value of an input without sentinels.
  private func value(of input: DocumentInput) -> DocumentValue? {
    switch input {
    case .value(let value): value
    case .map(let fields):
      .map(
        DocumentMap(fields.compactMap { field in value(of: field.input).map { (field.name, $0) } }))
    case .array(let elements): .array(elements.compactMap(value))
    case .delete, .transform: nil
    }
  }

  @Test("numbers decode where they fit exactly, and not elsewhere")
  func numbers() throws {
    let decoder = DocumentDecoder()
    #expect(try decoder.decode(Double.self, from: .integer(3)) == 3)
    #expect(try decoder.decode(Int8.self, from: .double(3)) == 3)
    #expect(try decoder.decode([Double].self, from: .vector([1, 2])) == [1, 2])
    #expect(try decoder.decode(Int?.self, from: .null) == nil)
    let misfits: [DocumentValue] = [.integer(300), .double(1.5), .boolean(true), .string("3")]
    for value in misfits {
      #expect(throws: DocumentCodingError.self) { try decoder.decode(UInt8.self, from: value) }
    }
    #expect(throws: DocumentCodingError.self) {
      try decoder.decode(Double.self, from: .integer(.max))
    }
    #expect(throws: DocumentCodingError.self) { try DocumentEncoder().encode(UInt64.max) }
  }

  private struct Visit: Codable {
    var city: DocumentLocation
    var count: Int
  }

  private struct Stamp: Encodable {
    var at = DocumentInput.transform(.serverTimestamp)
    var count = DocumentInput.transform(.increment(.integer(2)))
  }

  @Test("structures are written, merged, updated and read", .timeLimit(.minutes(10)))
  func documents() async throws {
    let home = try await Home()
    let tern = try home.documentClient()
    let documents = tern.documents
    let visit = try await documents.collection("visits")
      .add(from: Visit(city: documents.document("cities/Rome"), count: 1))
    try await visit.set(from: Stamp(), merging: true).acknowledged()
    let read = try await visit.get(from: .server).decode(Visit.self)
    #expect(read.city.path == "cities/Rome")
    #expect(read.count == 3)
    guard case .timestamp = try await visit.get()["at"] else {
      Issue.record("the server has not set the time")
      return
    }
    try await visit.update(from: ["count": 7])
    #expect(try await visit.get(from: .cache)["count"] == 7)
    var batch = documents.batch()
    try batch.set(documents.document("cities/Rome"), from: ["name": "Rome"])
    try await batch.commit().acknowledged()
    #expect(
      try await documents.document("cities/Rome").get(from: .server).decode([String: String].self)
        == ["name": "Rome"])
    #expect(try await documents.document("cities/Oz").get().decode(Visit?.self) == nil)
    await #expect(throws: DocumentsError.self) { try await visit.set(from: 5) }
    await #expect(throws: DocumentCodingError.self) { try await visit.get().decode(City.self) }
    await tern.close()
  }
}
