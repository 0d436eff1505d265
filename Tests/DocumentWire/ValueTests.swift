import SwiftProtobuf
import TernCore
import TernTestKit
import Testing

@testable import TernDocumentJSON
@testable import TernDocumentWire

@Suite("Values on the wire")
struct ValueTests {
  private func encoded(_ map: DocumentMap) -> [UInt8] {
    DocumentResponse.document(
      Document("a/b", .found(DocumentFields(map)), version: DocumentVersion(microseconds: 1))
    ).encode(sampleNames)
  }

  private func decoded(_ bytes: [UInt8]) throws -> DocumentFields? {
    guard
      case .document(let document) = try DocumentResponse.decode(
        .getDocument, bytes, sampleNames)
    else { return nil }
    return document.fields
  }

  @Test("come back exactly", arguments: UInt64(1)...200)
  func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let map = random.map(depth: 3)
    let back = try #require(try decoded(encoded(map)))
    #expect(back == DocumentFields(map))
    #expect(DocumentFields(validating: back.bytes) == back)
  }

  @Test("are the same to another implementation", arguments: UInt64(1)...100)
  func crossed(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let map = random.map(depth: 3)
    // A dictionary writes the fields in an order of its own.
    let message = try Google_Firestore_V1_Document(serializedBytes: encoded(map))
    #expect(message.fields.count == map.count)
    #expect(try decoded(message.serializedBytes()) == DocumentFields(map))
  }

  @Test(
    "have the bytes of the protocol",
    arguments: [
      (DocumentValue.null, [0x58, 0]), (.boolean(true), [0x08, 1]), (.boolean(false), [0x08, 0]),
      (.integer(0), [0x10, 0]), (.integer(300), [0x10, 0xAC, 0x02]),
      (.double(1), [0x19, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F]), (.string("é"), [0x8A, 1, 2, 0xC3, 0xA9]),
      (.bytes([7]), [0x92, 1, 1, 7]), (.array([]), [0x4A, 0]), (.map([:]), [0x32, 0]),
      (.timestamp(.init(uncheckedMicroseconds: 1_000_001)), [0x52, 5, 8, 1, 0x10, 0xE8, 7]),
      (.map(["a": 1]), [0x32, 9, 10, 7, 10, 1, 0x61, 0x12, 2, 0x10, 1]),
      (.array([.null]), [0x4A, 4, 10, 2, 0x58, 0]),
    ] as [(DocumentValue, [UInt8])])
  func golden(value: DocumentValue, bytes: [UInt8]) throws {
    var writer = ProtoWriter()
    writer.value(1, value)
    #expect(Array(writer.bytes.dropFirst(2)) == bytes)
    var reader = ProtoReader(Array(writer.bytes.dropFirst(2)))
    #expect(try reader.value() == value)
  }

  @Test("of one name keep the last")
  func repeated() throws {
    var writer = ProtoWriter()
    writer.key(1, "a/b", sampleNames)
    for (name, value) in [("b", 1), ("a", 2), ("b", 3), ("a", 4), ("c", 5)] as [(String, Int64)] {
      let entry = writer.begin(2)
      writer.string(1, name)
      writer.value(2, .integer(value))
      writer.end(entry)
    }
    #expect(try decoded(writer.bytes) == ["a": 4, "b": 3, "c": 5])
  }

  @Test("that are vectors travel as maps, and maps like them stay maps")
  func vectors() throws {
    let map: DocumentMap = [
      "v": .vector([1, 2.5]), "e": .vector([]),
      "like": ["__type__": "__vector__", "value": [1]],
      "more": ["__type__": "__vector__", "value": [1.5], "x": 1],
    ]
    let message = try Google_Firestore_V1_Document(serializedBytes: encoded(map))
    #expect(message.fields["v"]?.mapValue.fields["__type__"]?.stringValue == "__vector__")
    #expect(message.fields["v"]?.mapValue.fields["value"]?.arrayValue.values.count == 2)
    #expect(try decoded(encoded(map)) == DocumentFields(map))
    // The fields of a document itself are never one.
    let document: DocumentMap = ["__type__": "__vector__", "value": [1.5]]
    #expect(try decoded(encoded(document)) == DocumentFields(document))
  }

  @Test("lose what is finer than a microsecond, towards the past")
  func times() throws {
    var message = Google_Firestore_V1_Document()
    message.name = "projects/p/databases/(default)/documents/a/b"
    message.fields["t"] = .with {
      $0.timestampValue = .with {
        $0.seconds = -1
        $0.nanos = 999_999_999
      }
    }
    #expect(
      try decoded(message.serializedBytes())
        == ["t": .timestamp(.init(uncheckedMicroseconds: -1))])
  }

  @Test("that are none are refused, with the rule")
  func refusals() throws {
    func status(_ edit: (inout Google_Firestore_V1_Value) -> Void) throws -> DocumentStatus? {
      var message = Google_Firestore_V1_Document()
      message.name = "projects/p/databases/(default)/documents/a/b"
      message.fields["f"] = .with(edit)
      do throws(DocumentWireError) {
        let bytes: [UInt8]
        do { bytes = try message.serializedBytes() } catch { return nil }
        _ = try DocumentResponse.decode(.getDocument, bytes, sampleNames)
        return nil
      } catch {
        return error.status
      }
    }
    #expect(try status { _ in }?.message == ProtoError.untypedValue.rawValue)
    #expect(try status { $0.geoPointValue.latitude = 91 }?.code == .invalidArgument)
    #expect(try status { $0.geoPointValue.longitude = .nan }?.code == .invalidArgument)
    #expect(try status { $0.timestampValue.seconds = .max }?.code == .invalidArgument)
    #expect(try status { $0.timestampValue.nanos = -1 }?.code == .invalidArgument)
    #expect(try status { $0.referenceValue = "a/b" }?.code == .invalidArgument)
    var deep = DocumentValue.null
    for _ in 0..<60 { deep = .map(["a": deep]) }
    #expect(throws: DocumentWireError.malformed(.tooDeep)) {
      try DocumentResponse.decode(.getDocument, encoded(["a": deep]), sampleNames)
    }
  }
}
