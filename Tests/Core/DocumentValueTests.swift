import TernTestKit
import Testing

@testable import TernCore

@Suite("Document values")
struct DocumentValueTests {
  private func reference(_ key: DocumentKey) throws -> DocumentValue {
    .reference(DocumentName(key, in: try DocumentDatabase(projectID: "p")))
  }

  @Test("all types sort as the reference lists them")
  func order() throws {
    let time = DocumentTimestamp(uncheckedMicroseconds: 5)
    let groups: [[DocumentValue]] = [
      [.null], [false], [true], [.double(.nan)], [.double(-.infinity)], [.integer(.min), -0x1p63],
      [-1, -1.0], [0, 0.0, -0.0], [1, 1.0], [1.5], [.double(0x1p53), .integer(1 << 53)],
      [.integer(1 << 53 + 1)], [.integer(.max)], [0x1p63], [.double(.infinity)],
      [.timestamp(.earliest)], [.timestamp(time)],
      [
        .pendingTimestamp(.init(localWriteTime: .earliest, replacing: nil)),
        .pendingTimestamp(.init(localWriteTime: .earliest, replacing: 7)),
      ],
      [""], ["\0"], ["a"], ["a\0"], ["e\u{301}"], ["é"], ["\u{FFFF}"], ["\u{10000}"],
      [.bytes([])], [.bytes([1])], [.bytes([1, 0])], [.bytes([255])],
      [try reference("a/__id9__")], [try reference("a/__id10__")], [try reference("a/b")],
      [try reference("a/b/c/d")],
      [.geoPoint(try .init(latitude: -90, longitude: 0))],
      [.geoPoint(try .init(latitude: 0, longitude: -1))],
      [.geoPoint(try .init(latitude: 0, longitude: 1))],
      [[]], [[1], [1.0]], [[1, 2]], [[2]], [.vector([])], [.vector([9])], [.vector([1, 2])],
      [[:]], [["a": 1]], [["a": 1, "b": 1]], [["a": 2]], [["b": 0]],
    ]
    for (i, left) in groups.enumerated() {
      for (j, right) in groups.enumerated() {
        for a in left {
          for b in right { #expect(a.compare(b).signum() == (i - j).signum(), "\(a) \(b)") }
        }
      }
    }
  }

  @Test("equality is exact: kinds, signs of zero and bytes of text count")
  func equality() {
    #expect(DocumentValue.integer(1) != .double(1))
    #expect(DocumentValue.double(0) != .double(-0.0))
    #expect(DocumentValue.double(.nan) == .double(-.nan))
    #expect(DocumentValue.string("é") != .string("e\u{301}"))
    #expect(DocumentValue.integer(1).isEquivalent(to: 1.0))
    let fields: DocumentMap = ["é": 1, "e\u{301}": 2]
    #expect(fields.count == 2)
  }

  @Test("order is total and values survive packing", arguments: 1...20 as ClosedRange<UInt64>)
  func randomValues(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let values = (0..<40).map { _ in randomDocumentValue(using: &random) }
    for a in values {
      let packed = PackedValue(a)
      #expect(PackedValue(packed.value) == packed, "seed \(seed)")
      let fields = DocumentFields(["x": a])
      #expect(DocumentFields(validating: fields.bytes) == fields, "seed \(seed)")
      for b in values {
        let order = a.compare(b).signum()
        #expect(order == -b.compare(a).signum(), "seed \(seed): \(a) \(b)")
        if a == b { #expect(order == 0, "seed \(seed)") }
        for c in values where order <= 0 && b.compare(c) <= 0 {
          #expect(a.compare(c) <= 0, "seed \(seed): \(a) \(b) \(c)")
        }
      }
    }
  }

  @Test("damaged bytes are refused, whatever is damaged", arguments: 1...20 as ClosedRange<UInt64>)
  func damage(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let fields = DocumentFields(["a": randomDocumentValue(depth: 3, using: &random), "b": 300])
    for length in 0..<fields.bytes.count {
      #expect(DocumentFields(validating: Array(fields.bytes.prefix(length))) == nil)
    }
    for index in fields.bytes.indices {
      var bytes = fields.bytes
      bytes[index] = UInt8.random(in: 0...255, using: &random)
      // What is accepted can be read to the end.
      _ = DocumentFields(validating: bytes)?.map
    }
  }

  @Test("fields are found by path without reading the others")
  func access() {
    let fields: DocumentFields = ["a": ["b": ["c": 7]], "x.y": "dot", "z": [1, 2]]
    #expect(fields["a.b.c" as DocumentFieldPath] == 7)
    #expect(fields["a.b.d" as DocumentFieldPath] == nil)
    #expect(fields["z.b" as DocumentFieldPath] == nil)
    #expect(fields["x.y" as String] == "dot")
    #expect(fields.map == ["z": [1, 2], "a": ["b": ["c": 7]], "x.y": "dot"])
  }

  @Test("bytes are as documented")
  func bytes() {
    let fields: DocumentFields = ["b": [true], "a": 300]
    let expected: [UInt8] = [
      0xB0, 0x0A, 0x01, 0x61, 0x22, 0x2C, 0x01, 0x01, 0x62, 0x90, 0x01, 0x11,
    ]
    #expect(fields.bytes == expected)
  }

  @Test("sizes count as documented")
  func sizes() throws {
    let document = Document(
      "users/jeff/tasks/my_task_id",
      .found([
        "type": "Personal", "done": false, "priority": 1, "description": "Learn Cloud Firestore",
      ]))
    #expect(document.byteCount == 147)
    #expect(DocumentValue.vector([1, 2]).byteCount == 16 + 26)
    #expect(DocumentValue.bytes([1, 2]).byteCount == 2)
    #expect(try reference("a/b").byteCount == 4 + 16)
  }

  @Test("timestamps are cut to microseconds and keep their range")
  func timestamps() throws {
    let time = try DocumentTimestamp(seconds: -2, nanoseconds: 999_999_999)
    #expect(time.microseconds == -1_000_001)
    #expect(time.seconds == -2)
    #expect(time.nanoseconds == 999_999_000)
    #expect(throws: DocumentError.self) { try DocumentTimestamp(seconds: 253_402_300_800) }
    #expect(throws: DocumentError.latitudeOutOfRange(91)) {
      try DocumentGeoPoint(latitude: 91, longitude: 0)
    }
    #expect(throws: DocumentError.self) { try DocumentGeoPoint(latitude: 0, longitude: .nan) }
  }

  @Test("a pending timestamp shows what was asked for and never nests")
  func pending() {
    let early = DocumentTimestamp(uncheckedMicroseconds: 1)
    let late = DocumentTimestamp(uncheckedMicroseconds: 2)
    let first = DocumentPendingTimestamp(localWriteTime: early, replacing: 7)
    let second = DocumentPendingTimestamp(
      localWriteTime: late, replacing: .pendingTimestamp(first))
    let value: DocumentValue = ["at": .pendingTimestamp(second)]
    #expect(value.displayed(.none) == ["at": .null])
    #expect(value.displayed(.estimate) == ["at": .timestamp(late)])
    #expect(value.displayed(.previous) == ["at": 7])
  }
}
