import Foundation
import TernCore
import TernQuery
import Testing

@testable import TernFirebaseCompat

@Suite("values of Foundation in the tree") struct TreeFoundationTests {
  private func node(_ value: Any?) throws(DatabaseValueError) -> TreeNode {
    try TreeNode(foundation: value)
  }

  @Test("numbers and booleans keep what they are, whatever their size")
  func scalars() throws {
    let cases: [(Any, TreeScalar)] = [
      (true, .bool(true)), (false, .bool(false)), (NSNumber(value: true), .bool(true)),
      (1, 1), (Int8(5), 5), (Int8(1), 1), (Int8(-1), -1), (Int16(7), 7), (UInt8(200), 200),
      (Int64.min, .integer(.min)), (UInt64(1) << 62, .integer(1 << 62)),
      (UInt64.max, .double(18_446_744_073_709_551_615)), (1.5, .double(1.5)), (1.0, .double(1)),
      (Float(0.5), .double(0.5)), (NSNumber(value: 7), 7), (NSNumber(value: 2.5), .double(2.5)),
      (NSNumber(value: Int8(5)), 5), (NSNumber(value: Int8(-128)), -128),
      (NSNumber(value: UInt64.max), .double(18_446_744_073_709_551_615)), ("x", "x"),
      ("" as NSString, ""),
    ]
    for (value, scalar) in cases {
      #expect(try node(value) == TreeNode(scalar), "\(value) of \(type(of: value))")
    }
  }

  @Test("nothing is nothing, in any number of optionals")
  func nothing() throws {
    let none: Int? = nil
    let wrapped: Int?? = .some(none)
    for value in [nil, NSNull(), none as Any, wrapped as Any, [Any](), [String: Any]()] as [Any?] {
      #expect(try node(value).isEmpty)
    }
    let some: Int?? = 5
    #expect(try node(some as Any) == 5)
    #expect(try node(["a": none as Any, "b": NSNull(), "c": ["d": none as Any]]).isEmpty)
  }

  @Test("export and value are read back as the same node")
  func roundTrip() throws {
    for json in [
      "1", "true", "-1.5", #""x""#, #"{"a":{"b":1,"c":[true,"é"]}}"#,
      #"{".value":1,".priority":"p"}"#,
      #"{"a":{".value":"x",".priority":2.5},".priority":1}"#, #"[null,1,2]"#, #"{"0":1,"5":2}"#,
      "9223372036854775807", #"{"a":{".priority":3,"0":{"x":false}}}"#,
    ] {
      let original = try TreeNode(json: json)
      #expect(try node(original.foundationExport) == original, "\(json)")
      let plain = try TreeNode(json: original.json(.value))
      #expect(try node(original.foundationValue) == plain, "\(json)")
    }
    #expect(TreeNode.empty.foundationValue == nil && TreeNode.empty.foundationExport == nil)
  }

  @Test("what cannot be stored names its place")
  func mistakes() {
    let cases: [(Any, DatabaseValueError)] = [
      (Data(), .unsupportedType("Data", path: "")),
      (["a": ["b": Date()]], .unsupportedType("Date", path: "a/b")),
      ([1, [Data()]], .unsupportedType("Data", path: "1/0")),
      (["a": ["x.y": 1]], .tree(.invalidKey("x.y"), path: "a")),
      (["": 1], .tree(.emptyKey, path: "")),
      ([".value": 1, "b": 2], .valueWithChildren(path: "")),
      (["a": [".value": ["b": 1]]], .valueWithChildren(path: "a")),
      ([".sv": "now"], .unknownServerValue(path: "")),
      (["a": [".sv": ["increment": "1"]]], .unknownServerValue(path: "a")),
      (["a": [".value": 1, ".priority": true]], .invalidPriority(path: "a")),
      (["a": ["b": 1, ".priority": ["x": 1]]], .invalidPriority(path: "a")),
      ([".value": 1, ".priority": Double.nan], .invalidPriority(path: "")),
    ]
    for (value, error) in cases {
      #expect(throws: error, "\(value)") { try node(value) }
      #expect(error.description.contains("(/"))
    }
  }

  @Test("values may nest", arguments: [32, 33])
  func depth(levels: Int) {
    var nested: Any = 1
    for level in 0..<levels { nested = level.isMultiple(of: 2) ? ["m": nested] : [nested] }
    let limit = TreeLimits.pathSegments
    let failure: DatabaseValueError?
    do throws(DatabaseValueError) {
      _ = try node(nested)
      failure = nil
    } catch {
      failure = error
    }
    guard levels > limit else {
      #expect(failure == nil)
      return
    }
    guard case .tree(.tooDeep(limit + 1, limit), _) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }

  @Test("placeholders of the server are values and priorities")
  func serverValues() throws {
    let increment = TreeScalar.serverValue(.increment(.integer(2)))
    #expect(try node(ServerValue.timestamp()) == TreeNode(.serverValue(.timestamp)))
    #expect(try node(ServerValue.increment(2)) == TreeNode(increment))
    #expect(
      try node([".value": 1, ".priority": ServerValue.timestamp()])
        == TreeNode(1, priority: .serverValue(.timestamp)))
    #expect(try node(increment.foundation) == TreeNode(increment))
  }

  // MARK: - Data of transactions

  @Test("changes below are seen above, and a value keeps its priority")
  func mutableData() throws {
    var node: TreeNode = ["a": 1]
    node.setPriority(7)
    let data = MutableData(node, key: nil)
    let child = data.childData(byAppendingPath: "x/y")
    child.value = ["z": true]
    #expect(data.hasChild(atPath: "x/y/z") && data.childrenCount == 2 && child.key == "y")
    data.value = 5
    #expect(data.node == TreeNode(5, priority: 7))
    data.priority = nil
    #expect(data.node == 5)
    data.value = [".value": 6, ".priority": "p"]
    #expect(data.node == TreeNode(6, priority: "p") && data.error == nil)
    data.value = nil
    #expect(data.node.isEmpty && data.value == nil && !data.hasChildren())
  }

  @Test("the first mistake of a transaction is kept, and changes nothing")
  func mutableMistakes() {
    let data = MutableData(5, key: nil)
    data.value = Data()
    data.priority = true
    #expect(data.error == .unsupportedType("Data", path: "") && data.node == 5)
    let bad = data.childData(byAppendingPath: "a.b")
    bad.value = 1
    #expect(bad.childData(byAppendingPath: "c").node.isEmpty && !bad.hasChildren())
    #expect(bad.children.allObjects.isEmpty && data.node == 5)
    guard case .invalid(let error) = TransactionResult.success(withValue: data).verdict else {
      Issue.record("a mistake was written")
      return
    }
    #expect(error == .unsupportedType("Data", path: ""))
  }
}

@Suite("values of Foundation in documents") struct DocumentFoundationTests {
  private let database = DocumentDatabase(unchecked: "p")

  private func value(_ value: Any) throws(FirestoreArgumentError) -> DocumentValue {
    try DocumentValue(foundation: value, in: database)
  }

  @Test("numbers and booleans keep what they are, whatever their size")
  func scalars() throws {
    let cases: [(Any, DocumentValue)] = [
      (true, .boolean(true)), (NSNumber(value: false), .boolean(false)), (1, 1), (Int8(5), 5),
      (Int8(1), 1), (UInt8(255), 255), (Int64.max, .integer(.max)), (1.0, .double(1)),
      (Float(0.5), .double(0.5)), (NSNumber(value: 7), 7), (NSNumber(value: 1.5), .double(1.5)),
      (NSNumber(value: Int8(5)), 5), (NSNumber(value: Int8(-3)), -3), ("é", "é"), (NSNull(), .null),
      (Data([1, 2]), .bytes([1, 2])), ([1, "a"], .array([1, "a"])),
      (["a": ["b": 1]], ["a": ["b": 1]]),
      (
        GeoPoint(latitude: 1, longitude: 2),
        .geoPoint(DocumentGeoPoint(uncheckedLatitude: 1, longitude: 2))
      ),
      (VectorValue([1, 2]), .vector([1, 2])),
      (
        Timestamp(seconds: 1, nanoseconds: 1_999),
        .timestamp(DocumentTimestamp(uncheckedMicroseconds: 1_000_001))
      ),
      (
        Date(timeIntervalSince1970: -0.5),
        .timestamp(DocumentTimestamp(uncheckedMicroseconds: -500_000))
      ),
    ]
    for (foundation, expected) in cases {
      #expect(try value(foundation) == expected, "\(foundation) of \(type(of: foundation))")
    }
    let none: Int? = nil
    #expect(try value(none as Any) == .null)
    #expect(try value(Int??(5) as Any) == 5)
  }

  @Test("what cannot be stored is told with its field, and ends no program")
  func mistakes() {
    final class Other {}
    let far = FirestoreArgumentError.document(
      .timestampOutOfRange(seconds: .max, nanoseconds: 0))
    let past = FirestoreArgumentError.document(
      .timestampOutOfRange(seconds: .min, nanoseconds: 0))
    let cases: [(Any, FirestoreArgumentError)] = [
      (UInt64.max, .numberTooLarge("18446744073709551615", field: "")),
      (NSNumber(value: UInt64.max), .numberTooLarge("18446744073709551615", field: "")),
      (["a": ["b": UInt64.max]], .numberTooLarge("18446744073709551615", field: "a.b")),
      (["a": [1, Other()]], .unsupportedType("Other", field: "a.1")),
      ([1: 2] as [AnyHashable: Any], .unsupportedKey("1")),
      (FieldValue.delete(), .misplacedFieldValue),
      ([FieldValue.serverTimestamp()], .misplacedFieldValue),
      (Date(timeIntervalSince1970: .infinity), far), (Date(timeIntervalSince1970: .nan), far),
      (Date(timeIntervalSince1970: -.infinity), past), (Date(timeIntervalSince1970: 1e300), far),
    ]
    for (foundation, error) in cases {
      #expect(throws: error, "\(foundation)") { try value(foundation) }
      #expect(!error.text.isEmpty)
    }
  }

  @Test(
    "values nest to a limit, and one more is an error",
    arguments: [19, 20, 21, 22, 23])
  func depth(levels: Int) {
    var nested: Any = 1
    for _ in 0..<levels { nested = ["m": nested] }
    let failure: FirestoreArgumentError?
    do throws(FirestoreArgumentError) {
      _ = try DocumentInput.fields(["f": nested], in: database)
      failure = nil
    } catch {
      failure = error
    }
    #expect((failure == nil) == (levels <= DocumentLimits.depth + 1), "\(levels)")
  }

  @Test("values of the array transforms are plain ones")
  func fieldValues() {
    guard case .transform(.arrayUnion(let values)) = FieldValue.arrayUnion([1, "a", ["b": 2]]).kind
    else {
      Issue.record("no union")
      return
    }
    #expect(values == [1, "a", ["b": 2]])
    guard case .invalid(.misplacedFieldValue) = FieldValue.arrayRemove([FieldValue.delete()]).kind
    else {
      Issue.record("a sentinel in an array")
      return
    }
  }

  // MARK: - Times and codes

  @Test("times sort by seconds, then nanoseconds, and dates come back")
  func timestamps() {
    let times = [(-1, 0), (-1, 999_999_999), (0, 0), (0, 1), (1, 0)].map {
      Timestamp(seconds: $0.0, nanoseconds: $0.1)
    }
    for (one, other) in zip(times, times.dropFirst()) {
      #expect(one < other && one.compare(other) == .orderedAscending)
      #expect(other.compare(one) == .orderedDescending && one.compare(one) == .orderedSame)
    }
    for seconds in [0, 0.5, -0.25, 1_700_000_000.125, -62_135_596_800, 253_402_300_799] {
      let date = Date(timeIntervalSince1970: seconds)
      #expect(Timestamp(date: date).dateValue() == date)
      #expect(Timestamp(exactly: date) == Timestamp(date: date))
    }
    for seconds in [Double.nan, .infinity, -.infinity, 1e300, 253_402_300_800, -62_135_596_801] {
      #expect(Timestamp(exactly: Date(timeIntervalSince1970: seconds)) == nil, "\(seconds)")
    }
  }

  @Test("codes of errors are the numbers of the wire", arguments: FirestoreErrorCode.Code.allCases)
  func codes(code: FirestoreErrorCode.Code) {
    let error = code.error("words")
    #expect(error.domain == FirestoreErrorDomain && error.code == code.rawValue)
    #expect(FirestoreErrorCode(error)?.code == code && error.localizedDescription == "words")
    #expect(code ~= error && FirestoreErrorCode(code) ~= error)
    #expect(FirestoreErrorCode(NSError(domain: "other", code: code.rawValue)) == nil)
    if code != .OK {
      #expect(DocumentStatus.Code(rawValue: code.rawValue) != nil)
    }
  }

  @Test("paths of fields are names joined by dots, or a list of names")
  func paths() throws {
    #expect(try DocumentFieldPath.named("a.b").names == ["a", "b"])
    #expect(try DocumentFieldPath.named(FieldPath(["a.b", "c"])).names == ["a.b", "c"])
    #expect(try DocumentFieldPath.named(FieldPath.documentID()).isKey)
    #expect(FieldPath(["a"]) == FieldPath(["a"]) && FieldPath(["a"]) != FieldPath(["b"]))
    for bad in ["", ".", "a..b", "a.", "a/b", "a[0]", "a*", "~a"] {
      #expect(throws: FirestoreArgumentError.self, "\(bad)") { try DocumentFieldPath.named(bad) }
    }
    #expect(throws: FirestoreArgumentError.self) { try DocumentFieldPath.named(FieldPath([])) }
    #expect(throws: FirestoreArgumentError.unsupportedKey("7")) { try DocumentFieldPath.named(7) }
  }
}
