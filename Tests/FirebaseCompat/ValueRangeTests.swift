import Foundation
import TernCore
import Testing

@testable import TernFirebaseCompat

@Suite("Values outside of their range", .timeLimit(.minutes(10)))
struct ValueRangeTests {
  private struct Place: Codable {
    var point: GeoPoint?
    var time: Timestamp?
  }

  private static func json(_ text: String) throws -> Place {
    try JSONDecoder().decode(Place.self, from: Data(text.utf8))
  }

  @Test(
    "what a decoder is given is checked",
    arguments: [
      #"{"point": {"latitude": 91, "longitude": 0}}"#,
      #"{"point": {"latitude": 0, "longitude": -181}}"#,
      #"{"time": {"seconds": 300000000000, "nanoseconds": 0}}"#,
      #"{"time": {"seconds": 10000000000000, "nanoseconds": 0}}"#,
      #"{"time": {"seconds": 0, "nanoseconds": -1}}"#,
    ])
  func decoding(text: String) throws {
    #expect(throws: DecodingError.self) { try Self.json(text) }
  }

  @Test("what is in range is decoded as it was encoded")
  func roundTrip() throws {
    let place = Place(
      point: GeoPoint(latitude: -90, longitude: 180),
      time: Timestamp(seconds: 253_402_300_799, nanoseconds: 999_999_999))
    let again = try JSONDecoder().decode(Place.self, from: JSONEncoder().encode(place))
    #expect(again.point == place.point && again.time == place.time)
  }

  @Test(
    "a date that no document can hold is an error, and the queue opens again",
    arguments: [
      Double.infinity, -.infinity, .nan, 300_000_000_000, 1e13,
    ])
  func dates(seconds: Double) async throws {
    let server = try await LocalServer()
    let db = server.firestore()
    let name = db.app.name
    try await db.disableNetwork()
    await #expect(throws: NSError.self) {
      try await db.document("a/1").setData(["t": Date(timeIntervalSince1970: seconds)])
    }
    db.document("a/2").setData(["n": 1]) { _ in }
    #expect(try await db.document("a/2").getDocument(source: .cache).exists)
    await db.app.delete()
    let again = Firestore.firestore(app: server.app(name))
    try await again.waitForPendingWrites()
    #expect(try await again.collection("a").getDocuments().documents.map(\.documentID) == ["2"])
    await again.app.delete()
    await server.close()
  }

  @Test(
    "no write holds a time or a point that was taken over unchecked",
    arguments: [
      DocumentValue.timestamp(DocumentTimestamp(uncheckedMicroseconds: 300_000_000_000_000_000)),
      .timestamp(DocumentTimestamp(uncheckedMicroseconds: .min)),
      .geoPoint(DocumentGeoPoint(uncheckedLatitude: 91, longitude: 0)),
      .geoPoint(DocumentGeoPoint(uncheckedLatitude: 0, longitude: .nan)),
    ])
  func values(value: DocumentValue) throws {
    let key = try DocumentKey("a/1")
    let inputs: [DocumentInput] = [
      .value(value), .array([.value(value)]), .transform(.arrayUnion([value])),
    ]
    for input in inputs {
      #expect(throws: DocumentError.self) { try DocumentMutation.set(key, to: [.init("v", input)]) }
    }
  }
}
