import TernTestKit
import Testing

@testable import TernCore

@Suite("Limits of documents, at their borders")
struct DocumentLimitTests {
  private func failure(_ body: () throws -> Void) -> DocumentError? {
    do { try body() } catch { return error as? DocumentError }
    return nil
  }

  private func xs(_ count: Int) -> String { String(repeating: "x", count: count) }

  @Test("ids have 1,500 bytes", arguments: [1_499, 1_500, 1_501])
  func ids(count: Int) {
    let error = count > 1_500 ? DocumentError.idTooLong(byteCount: count, limit: 1_500) : nil
    // An underscore in front makes the reader look closely; both ways lead to one answer.
    for id in [xs(count), "_" + xs(count - 1), xs(count - 2) + "\u{E9}"] {
      #expect(failure { _ = try DocumentKey("c/" + id) } == error)
      #expect(failure { _ = try CollectionPath(id) } == error)
      #expect(failure { _ = try CollectionPath("c").document(id) } == error)
      #expect(failure { _ = try DocumentKey("c/d").collection(id) } == error)
    }
  }

  @Test("paths have 6 KiB", arguments: [6_143, 6_144, 6_145])
  func paths(count: Int) throws {
    let head = repeatElement(xs(1_000), count: 5).joined(separator: "/") + "/"
    let last = xs(count - head.utf8.count)
    let error = count > 6_144 ? DocumentError.nameTooLong(byteCount: count, limit: 6_144) : nil
    #expect(failure { _ = try DocumentKey(head + last) } == error)
    let collection = try CollectionPath(String(head.dropLast()))
    #expect(failure { _ = try collection.document(last) } == error)
  }

  @Test("paths lead through 100 collections", arguments: [99, 100, 101])
  func depth(count: Int) throws {
    let text = repeatElement("c/d", count: count).joined(separator: "/")
    let error =
      count > 100 ? DocumentError.tooManyCollections(count: count, limit: 100) : nil
    #expect(failure { _ = try DocumentKey(text) } == error)
    #expect(failure { _ = try CollectionPath(String(text.dropLast(2))) } == error)
    let above = try DocumentKey(repeatElement("c/d", count: count - 1).joined(separator: "/"))
    #expect(failure { _ = try above.collection("c") } == error)
  }

  @Test("an id is checked alike alone and in a path", arguments: UInt64(1)...30)
  func agreement(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let parts = [
      "a", "_", "__", ".", "..", "", "__id7__", "__id__", "__x__", "____", "__esc__", "é",
    ]
    for _ in 0..<100 {
      let ids = (0...random.roll(4)).map { _ in parts[random.roll(parts.count)] }
      let isEven = ids.count % 2 == 0
      let isValid = ids.allSatisfy { id in
        !["", ".", "..", "__id__", "__x__"].contains(id)
      }
      let text = ids.joined(separator: "/")
      // An empty id at an end is a slash there, which is dropped.
      if ids.first == "" || ids.last == "" { continue }
      #expect(((try? DocumentKey(text)) != nil) == (isEven && isValid), "\(text)")
      #expect(((try? CollectionPath(text)) != nil) == (!isEven && isValid), "\(text)")
      if isEven, isValid {
        let key = try DocumentKey("/" + text + "/")
        #expect(key.text == text)
        #expect(key.id == ids.last && key.collectionID == ids[ids.count - 2])
        #expect(try key.collection.document(key.id) == key)
        #expect(key.collection.contains(key))
        #expect(key.collection.parent?.text ?? "" == ids.dropLast(2).joined(separator: "/"))
      }
    }
  }

  @Test(
    "ids of databases",
    arguments: [
      ("(default)", true), ("abcd", true), ("abc", false),
      (String(repeating: "a", count: 63), true),
      (String(repeating: "a", count: 64), false), ("1abc", false), ("a-1-", true), ("Abcd", false),
      ("ab_d", false), ("default", true), ("(other)", false), ("", false), ("-abc", false),
    ])
  func databases(id: String, isAllowed: Bool) {
    let error = isAllowed ? nil : DocumentError.invalidDatabaseID(id)
    #expect(failure { _ = try DocumentDatabase(projectID: "p", databaseID: id) } == error)
  }

  @Test(
    "ids of projects",
    arguments: [
      ("p", true), ("", false), ("a/b", false), ("example.com:p", true),
      (String(repeating: "p", count: 128), true), (String(repeating: "p", count: 129), false),
    ])
  func projects(id: String, isAllowed: Bool) {
    let error = isAllowed ? nil : DocumentError.invalidProjectID(id)
    #expect(failure { _ = try DocumentDatabase(projectID: id) } == error)
  }

  @Test("field paths have 1,500 bytes, quotes included", arguments: [1_499, 1_500, 1_501])
  func fieldPaths(count: Int) {
    let error =
      count > 1_500 ? DocumentError.fieldPathTooLong(byteCount: count, limit: 1_500) : nil
    for names in [[xs(count)], ["a", xs(count - 2)], ["1" + xs(count - 3)], ["`" + xs(count - 4)]] {
      #expect(failure { _ = try DocumentFieldPath(names) } == error, "\(names[0].prefix(2))")
    }
    #expect(failure { _ = try DocumentFieldPath(wire: "a." + xs(count - 2)) } == error)
    #expect(failure { _ = try DocumentFieldPath(dotted: xs(count)) } == error)
  }

  @Test("names of any characters read back from the wire's spelling", arguments: UInt64(1)...40)
  func fieldPathTexts(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      let names = (0...random.roll(3)).map { _ in borderText(6, using: &random) }
      if names.contains("") {
        #expect(throws: DocumentError.self) { try DocumentFieldPath(names) }
        continue
      }
      let path = try DocumentFieldPath(names)
      #expect(try DocumentFieldPath(wire: path.text) == path, "\(path.text)")
      #expect(path.parent?.appending(path.last) ?? path == path)
    }
  }

  private func check(_ value: DocumentValue) -> DocumentError? {
    failure { try DocumentMap(CollectionOfOne(("f", value))).check() }
  }

  @Test("strings and bytes are limited, wherever they stand", arguments: [-1, 0, 1])
  func values(excess: Int) {
    let count = DocumentLimits.valueBytes + excess
    let text = DocumentValue.string(xs(count))
    let bytes = DocumentValue.bytes([UInt8](repeating: 0, count: count))
    func error(_ path: DocumentFieldPath) -> DocumentError? {
      excess > 0 ? .valueTooLong(path, byteCount: count, limit: DocumentLimits.valueBytes) : nil
    }
    #expect(check(text) == error("f"))
    #expect(check(bytes) == error("f"))
    #expect(check(["g": text]) == error("f.g"))
    #expect(check([bytes]) == error("f"))
  }

  @Test("vectors have 2,048 dimensions", arguments: [2_047, 2_048, 2_049])
  func vectors(count: Int) {
    let error =
      count > 2_048 ? DocumentError.vectorTooLong("f", count: count, limit: 2_048) : nil
    #expect(check(.vector([Double](repeating: 1, count: count))) == error)
  }

  @Test(
    "vectors have a dimension, and no NaN",
    arguments: [[], [.nan], [1, .nan], [.infinity, 0], [-.infinity]] as [[Double]])
  func vectorNumbers(numbers: [Double]) {
    let isValid = !numbers.isEmpty && !numbers.contains(where: \.isNaN)
    #expect(check(.vector(numbers)) == (isValid ? nil : .invalidVector("f")))
    #expect(check(["g": .vector(numbers)]) == (isValid ? nil : .invalidVector("f.g")))
  }

  @Test("an array that a transform makes is a level, too", arguments: [19, 20, 21])
  func transformedArrays(levels: Int) {
    let path = DocumentFieldPath(unchecked: (0..<levels).map { "n\($0)" })
    for transform in [DocumentTransform.arrayUnion([1]), .arrayRemove([1])] {
      let error = levels <= 20 ? nil : DocumentError.tooDeep(path, limit: 20)
      #expect(failure { try transform.check(at: path) } == error)
    }
  }

  @Test("maps and arrays nest 20 deep; a vector counts as two of them", arguments: [19, 20, 21])
  func nesting(levels: Int) {
    func nested(_ value: DocumentValue, _ levels: Int, alternating: Bool) -> DocumentValue {
      var value = value
      for level in 0..<levels {
        value = alternating && level % 2 == 0 ? [value] : ["m": value]
      }
      return value
    }
    let isAllowed = levels <= 20
    for alternating in [false, true] {
      #expect((check(nested(1, levels, alternating: alternating)) == nil) == isAllowed)
    }
    #expect((check(nested(.vector([1]), levels - 2, alternating: false)) == nil) == isAllowed)
    // The names of a path are the maps around its end.
    let path = DocumentFieldPath(unchecked: (0...levels).map { "n\($0)" })
    let error = isAllowed ? nil : DocumentError.tooDeep(path, limit: 20)
    #expect(failure { try path.checkWritable() } == error)
  }

  @Test(
    "names of fields that cannot be written",
    arguments: [
      ("", .emptyFieldName), ("__x__", .reservedFieldName("__x__")),
      ("____", .reservedFieldName("____")),
      ("__x_", nil), ("_x__", nil), ("___", nil), ("__", nil), ("a.b", nil), ("`", nil),
      (
        String(repeating: "n", count: 1_501), .fieldNameTooLong(byteCount: 1_501, limit: 1_500)
      ),
      (String(repeating: "n", count: 1_500), nil),
    ] as [(String, DocumentError?)])
  func names(name: String, error: DocumentError?) {
    let map = DocumentMap(CollectionOfOne((name, DocumentValue.integer(1))))
    #expect(failure { try map.check() } == error)
    #expect(check([["ok": .map(map)]]) == error)
    #expect(failure { _ = try DocumentMutation.set("c/d", to: [.init(name, 1)]) } == error)
    #expect(
      failure { _ = try DocumentMutation.merge("c/d", with: [.init(name, 1)]) } == error)
  }

  @Test("arrays lie in maps, not in arrays")
  func arrays() {
    #expect(check([[1]]) == .nestedArray("f"))
    #expect(check([["g": [[1]]]]) == .nestedArray("f.g"))
    #expect(check([["g": [1]]]) == nil)
    #expect(check([.vector([1])]) == nil)
  }

  @Test("a document has 1 MiB, name and all", arguments: [-1, 0, 1])
  func documents(excess: Int) throws {
    let key: DocumentKey = "c/d"
    let overhead = Document(key, .found(["f": "", "g": ""])).byteCount
    let count = DocumentLimits.documentBytes - overhead + excess
    let fields: [DocumentInput.Field] = [
      .init("f", .string(xs(count / 2))), .init("g", .string(xs(count - count / 2))),
    ]
    let error =
      excess > 0
      ? DocumentError.documentTooLarge(
        byteCount: DocumentLimits.documentBytes + excess, limit: DocumentLimits.documentBytes) : nil
    #expect(failure { _ = try DocumentMutation.set(key, to: fields) } == error)
    #expect(failure { _ = try DocumentMutation.merge(key, with: fields) } == error)
  }

  @Test("a write has 500 transforms", arguments: [499, 500, 501])
  func transforms(count: Int) {
    let fields = (0..<count).map { DocumentInput.Field("f\($0)", .increment(1)) }
    let error = count > 500 ? DocumentError.tooManyTransforms(count: 501, limit: 500) : nil
    #expect(failure { _ = try DocumentMutation.set("c/d", to: fields) } == error)
    let write = DocumentMutation(
      "c/d", .patch(.empty, mask: .empty),
      transforms: fields.map {
        DocumentFieldTransform(DocumentFieldPath(unchecked: [$0.name]), .serverTimestamp)
      })
    #expect(failure { try write.check() } == error)
  }
}
