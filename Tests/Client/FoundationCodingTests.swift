import Foundation
import TernCore
import TernQuery
import Testing

@testable import TernClient

@Suite("Coding Foundation's values")
struct FoundationCodingTests {
  private struct Everything: Codable, Equatable {
    var time: Date
    var bytes: Data
    var address: URL
    var price: Decimal
    var name: UUID
  }

  private struct Stamped: Codable, Equatable {
    @ServerTimestamp var made: Date?
    @ExplicitNull var note: String?
    @DocumentID var id: String?
  }

  private let everything: Everything

  init() throws {
    everything = Everything(
      time: Date(timeIntervalSince1970: 1_760_000_000.125), bytes: Data([0, 1, 254, 255]),
      address: try #require(URL(string: "https://example.com/a?b=c")),
      price: try #require(Decimal(string: "12.34")),
      name: try #require(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8")))
  }

  @Test("in documents: a timestamp, bytes, texts and a double")
  func documents() throws {
    let input = try DocumentEncoder().encode(everything)
    guard case .map(let fields) = input else { throw try #require(nil as (any Error)?) }
    var map = DocumentMap()
    for field in fields { if case .value(let value) = field.input { map[field.name] = value } }
    #expect(
      map == [
        "time": .timestamp(try DocumentTimestamp(seconds: 1_760_000_000, nanoseconds: 125_000_000)),
        "bytes": .bytes([0, 1, 254, 255]), "address": .string("https://example.com/a?b=c"),
        "price": .double(12.34), "name": .string("6BA7B810-9DAD-11D1-80B4-00C04FD430C8"),
      ])
    #expect(try DocumentDecoder().decode(Everything.self, from: map) == everything)
  }

  @Test("in the tree: milliseconds, base64, texts and a number")
  func tree() throws {
    let node = try TreeEncoder().encode(everything)
    #expect(
      node == [
        "time": TreeNode(.integer(1_760_000_000_125)), "bytes": "AAH+/w==",
        "address": "https://example.com/a?b=c", "price": 12.34,
        "name": "6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
      ])
    #expect(try TreeDecoder().decode(Everything.self, from: node) == everything)
  }

  @Test("times before 1970 and with fine digits come back as near as the model has them")
  func times() throws {
    for seconds in [-1.5, -0.000_001, 0, 0.123_456_7, 4_102_444_800.999_9] {
      let time = Date(timeIntervalSince1970: seconds)
      let inTree = try TreeDecoder().decode(Date.self, from: TreeEncoder().encode(time))
      #expect(abs(inTree.timeIntervalSince(time)) <= 0.000_501)
      guard case .value(let value) = try DocumentEncoder().encode(time) else {
        Issue.record("a time is a value")
        return
      }
      let inDocument = try DocumentDecoder().decode(Date.self, from: value)
      #expect(abs(inDocument.timeIntervalSince(time)) <= 0.000_002)
    }
  }

  @Test("a value that cannot be represented is an error that names its place")
  func inexact() throws {
    struct Bill: Encodable { var lines: [String: Decimal] }
    let bill = Bill(lines: ["tax": try #require(Decimal(string: "0.12345678901234567890123"))])
    #expect { try TreeEncoder().encode(bill) } throws: { error in
      "\(error)".hasPrefix("lines.tax: ")
    }
    #expect { try DocumentEncoder().encode(bill) } throws: { error in
      "\(error)".hasPrefix("lines.tax: ")
    }
    #expect(throws: TreeCodingError.self) { try TreeEncoder().encode([UInt64.max]) }
    #expect(throws: DocumentCodingError.self) {
      try DocumentEncoder().encode(Date.distantPast - 1e12)
    }
    let text = "due: true is not a Date"
    #expect(throws: DocumentCodingError.decoding(text)) {
      try DocumentDecoder().decode(
        [String: Date].self, from: ["due": .boolean(true)] as DocumentMap)
    }
  }

  @Test("a server's time, a null that is said and an id that is not written")
  func wrappers() throws {
    guard case .map(let fields) = try DocumentEncoder().encode(Stamped()) else {
      Issue.record("a structure becomes fields")
      return
    }
    #expect(fields.map(\.name) == ["made", "note"])
    #expect(fields.map(\.input) == [.serverTimestamp, .value(.null)])
    let stamped = try TreeEncoder().encode([ServerTimestamp<Date>(wrappedValue: nil)])
    #expect(stamped == ["0": .timestamp])
    #expect(throws: DocumentCodingError.self) {
      try DocumentDecoder().decode(Stamped.self, from: DocumentMap())
    }
    #expect(throws: (any Error).self) { try JSONEncoder().encode(Stamped()) }
  }

  @Test("the id comes from the document, and errors name it", .timeLimit(.minutes(10)))
  func identity() async throws {
    let home = try await Home()
    let tern = try home.documentClient()
    let place = tern.documents.document("stamps/one")
    try await place.set(from: Stamped()).acknowledged()
    let stamped = try await place.get(from: .server).decode(Stamped.self)
    #expect(stamped.id == "one" && stamped.made != nil)
    try await tern.documents.document("stamps/two").set(["id": "mine"])
    let all = try await tern.documents.collection("stamps").get()
    #expect { try all.decode(Stamped.self) } throws: { error in
      "\(error)".hasPrefix("stamps/two: id: ")
    }
    await #expect {
      try await tern.documents.document("none/none").get(from: .server).decode(Stamped.self)
    } throws: { "\($0)" == "none/none: there is no document" }
    let error = await #expect(throws: DocumentsError.self) {
      try await place.set(from: ["n": UInt64.max])
    }
    #expect(error?.description.hasPrefix("stamps/one: n: ") == true)
    #expect(all.documents.map(\.id) == ["one", "two"])
    await tern.close()
  }
}
