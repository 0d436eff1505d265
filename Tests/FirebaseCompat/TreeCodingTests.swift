import Foundation
import Testing

@testable import TernFirebaseCompat

@Suite struct TreeCodingTests {
  private struct Note: Codable, Equatable {
    var at: Date
    var bytes: Data
    var link: URL
    var price: Decimal
    var id: UUID
    var postCount = 3
    var weight = 0.5
    var tags: [String] = []
    var names: [String: Int] = ["camelKey": 1]
    var missing: String?
  }

  private let note = Note(
    at: Date(timeIntervalSince1970: 1_700_000_000.25), bytes: Data([1, 2, 255]),
    link: URL(string: "https://example.com/a")!, price: 12.5,
    id: UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!)

  @Test("values have the form that Firebase's encoder gives them")
  func defaults() throws {
    let members = try #require(try Database.Encoder().encode(note) as? [String: Any])
    #expect(members["at"] as? Double == note.at.timeIntervalSinceReferenceDate)
    #expect(members["bytes"] as? String == "AQL/")
    #expect(members["link"] as? String == "https://example.com/a")
    #expect(members["price"] as? Double == 12.5)
    #expect(members["id"] as? String == "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
    #expect(members["postCount"] as? Int == 3)
    #expect(members["names"] as? [String: Int] == ["camelKey": 1])
    #expect(members["missing"] == nil)
    #expect(try Database.Decoder().decode(Note.self, from: members) == note)
    #expect(try Database.Encoder().encode(7) as? Int == 7)
    #expect(try Database.Encoder().encode(Int8(1)) as? Int == 1)
    #expect(try Database.Encoder().encode(true) as? Bool == true)
    #expect(try Database.Encoder().encode([1, 2]) as? [Int] == [1, 2])
    #expect(throws: EncodingError.self) { try Database.Encoder().encode(Double.nan) }
  }

  @Test("each form of a date is read as it was written")
  func dates() throws {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "yyyy-MM-dd HH:mm"
    let at = Date(timeIntervalSince1970: 1_700_000_040)
    let forms:
      [(FirebaseDataEncoder.DateEncodingStrategy, FirebaseDataDecoder.DateDecodingStrategy, String)] =
        [
          (.deferredToDate, .deferredToDate, "721692840"),
          (.secondsSince1970, .secondsSince1970, "1700000040"),
          (.millisecondsSince1970, .millisecondsSince1970, "1700000040000"),
          (.iso8601, .iso8601, "2023-11-14T22:14:00Z"),
          (.formatted(formatter), .formatted(formatter), "2023-11-14 22:14"),
          (
            .custom { date, encoder in
              var list = encoder.unkeyedContainer()
              try list.encode(date.timeIntervalSince1970)
            },
            .custom { decoder in
              var list = try decoder.unkeyedContainer()
              return Date(timeIntervalSince1970: try list.decode(Double.self))
            }, "1700000040"
          ),
        ]
    for (write, read, text) in forms {
      let encoder = Database.Encoder()
      encoder.dateEncodingStrategy = write
      let value = try encoder.encode(["at": at])
      let written = try #require((value as? [String: Any])?["at"])
      let single = (written as? [Any])?.first ?? written
      #expect((single as? Double).map { "\(Int64($0))" } ?? "\(single)" == text)
      let decoder = Database.Decoder()
      decoder.dateDecodingStrategy = read
      #expect(try decoder.decode([String: Date].self, from: value) == ["at": at])
    }
    let empty = Database.Encoder()
    empty.dateEncodingStrategy = .custom { _, _ in }
    #expect((try empty.encode([at]) as? [[String: Int]])?.first?.isEmpty == true)
  }

  @Test("keys, bytes and numbers that are not finite have the form that is chosen")
  func otherForms() throws {
    let encoder = Database.Encoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.dataEncodingStrategy = .deferredToData
    let members = try #require(try encoder.encode(note) as? [String: Any])
    #expect(members["post_count"] as? Int == 3 && members["postCount"] == nil)
    #expect(members["names"] as? [String: Int] == ["camelKey": 1])
    #expect(members["bytes"] as? [Int] == [1, 2, 255])
    let decoder = Database.Decoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    decoder.dataDecodingStrategy = .deferredToData
    #expect(try decoder.decode(Note.self, from: members) == note)

    encoder.keyEncodingStrategy = .custom { CodingName("x" + ($0.last?.stringValue ?? "")) }
    decoder.keyDecodingStrategy = .custom {
      CodingName(String(($0.last?.stringValue ?? "").dropFirst()))
    }
    let prefixed = try encoder.encode(note)
    #expect((prefixed as? [String: Any])?["xpostCount"] as? Int == 3)
    #expect(try decoder.decode(Note.self, from: prefixed) == note)

    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "+", negativeInfinity: "-", nan: "?")
    #expect(
      try encoder.encode([Double.infinity, -.infinity, .nan]) as? [String] == ["+", "-", "?"])
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "+", negativeInfinity: "-", nan: "?")
    let numbers = try decoder.decode([Double].self, from: ["+", "-", "?", 1.5])
    #expect(numbers[0] == .infinity && numbers[1] == -.infinity && numbers[2].isNaN)
    #expect(numbers[3] == 1.5)
    #expect(throws: DecodingError.self) { try Database.Decoder().decode(Double.self, from: "+") }
  }

  @Test(
    "keys change their spelling",
    arguments: [
      ("postCount", "post_count"), ("aURLText", "a_url_text"), ("plain", "plain"),
      ("_oneTwo_", "_one_two_"), ("x", "x"),
    ])
  func spelling(camel: String, snake: String) {
    #expect(KeyCase.snake(camel) == snake)
    if camel != "aURLText" { #expect(KeyCase.camel(snake) == camel) }
  }

  @Test("types ask for what the coder was given")
  func userInfo() throws {
    struct Asking: Codable, Equatable {
      static let key = CodingUserInfoKey(rawValue: "unit")!
      var text: String
      init(text: String) { self.text = text }
      init(from decoder: any Decoder) throws { text = "\(decoder.userInfo[Self.key] ?? "none")" }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("\(encoder.userInfo[Self.key] ?? "none")")
      }
    }
    let encoder = Database.Encoder()
    encoder.userInfo[Asking.key] = "m"
    #expect(try encoder.encode([Asking(text: "")]) as? [String] == ["m"])
    let decoder = Firestore.Decoder()
    decoder.userInfo[Asking.key] = "km"
    #expect(try decoder.decode([String: Asking].self, from: ["a": 1])["a"]?.text == "km")
  }

  @Test("what the tree does not store is empty, and children by number are read by name too")
  func shapes() throws {
    struct Room: Decodable, Equatable {
      var members: [String: Bool]
      var log: [Int]
      var title: String?
    }
    let room = try Database.Decoder().decode(Room.self, from: NSNull())
    #expect(room == Room(members: [:], log: [], title: nil))
    #expect(
      try Database.Decoder().decode([String: Int].self, from: [NSNull(), 5] as [Any]) == ["1": 5])
    #expect(try Database.Decoder().decode([Int?].self, from: [NSNull(), 5] as [Any]) == [nil, 5])
    struct Named: Decodable { var name: String }
    #expect(throws: DecodingError.self) { try Database.Decoder().decode(Named.self, from: [:]) }
    #expect(throws: DecodingError.self) { try Database.Decoder().decode(Int.self, from: true) }
    #expect(throws: DecodingError.self) { try Database.Decoder().decode(Int8.self, from: 300) }
    #expect(throws: DecodingError.self) { try Database.Decoder().decode(Bool.self, from: 1) }
  }

  @Test("a server timestamp is asked for, written and read in milliseconds")
  func serverTimestamps() async throws {
    struct Event: Codable, Equatable {
      @DatabaseServerTimestamp var at: Date?
      @ServerTimestamp var seen: Date?
    }
    let empty = try #require(try Database.Encoder().encode(Event()) as? [String: Any])
    #expect((empty["at"] as? [String: String]) == [".sv": "timestamp"])
    #expect((empty["seen"] as? [String: String]) == [".sv": "timestamp"])
    let date = Date(timeIntervalSince1970: 1_700_000_000.25)
    let full = Event(at: date, seen: date)
    let members = try #require(try Database.Encoder().encode(full) as? [String: Any])
    #expect(members["at"] as? Int64 == 1_700_000_000_250)
    #expect(members["seen"] as? Int64 == 1_700_000_000_250)
    #expect(try Database.Decoder().decode(Event.self, from: members) == full)
    #expect(try Database.Decoder().decode(Event.self, from: [:]) == Event())

    let server = try await LocalServer()
    let database = server.database()
    let place = database.reference(withPath: "event")
    let answer = Answer<Bool>()
    try place.setValue(from: Event()) { answer.give($0 == nil) }
    #expect(await answer.next() == true)
    let event = try await place.getData().data(as: Event.self)
    #expect(abs(try #require(event.at).timeIntervalSinceNow) < 600 && event.at == event.seen)
    #expect(throws: DatabaseValueError.self) { try place.setValue(from: ["a.b": 1]) }
    await database.app.delete()
    await server.close()
  }
}
