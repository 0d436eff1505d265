import Synchronization
import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import Testing

/// An invalid query or write gets the error that names its rule, and nothing goes over the cable.
/// Source: documents reference, sections 1.2, 1.3, 1.9, 2.3, 3.1 and 3.2.
@Suite struct DocumentBadInputTests {
  private func names(_ count: Int) -> [String] { (1...count).map { "f\($0)" } }

  private func numbers(_ count: Int) -> DocumentValue {
    .array((1...count).map { .integer(Int64($0)) })
  }

  private func queries(_ db: Documents) -> [(DocumentQueryError, DocumentQueryReference)] {
    let c = db.collection("c")
    let ordered = c.order(by: "a")
    let ranges = names(11).reduce(c.queried) { $0.where($1, .greaterThan, 1) }
    let filters = (1...101).reduce(c.queried) { query, _ in query.where("a", .equals, 1) }
    let below = (1...100).reduce(db.collection("c/d/e").queried) { query, _ in
      query.where("a", .equals, 1)
    }
    let either = DocumentFilter.or([.where(.key, .notIn, ["x"]), .where(.key, .equal, "y")])
    return [
      (
        .conflictingOperators(.notEqual, with: .notEqual),
        c.where("a", .notEqual, 1).where("b", .notEqual, 1)
      ),
      (
        .conflictingOperators(.notIn, with: .notEqual),
        c.where("a", .notEqual, 1).where("a", .notIn, [1])
      ),
      (.conflictingOperators(.in, with: .notIn), c.where("a", .notIn, [1]).where("b", .in, [1])),
      (
        .conflictingOperators(.notIn, with: .arrayContainsAny),
        c.where("a", .arrayContainsAny, [1]).where("b", .notIn, [1])
      ),
      (.notInWithOr, c.filtered(either)),
      (.operandNotArray(.in), c.where("a", .in, 1)),
      (.operandNotArray(.notIn), c.where("a", .notIn, [])),
      (.operandNotArray(.arrayContainsAny), c.where("a", .arrayContainsAny, [])),
      (.tooManyValues(.notIn, count: 11, limit: 10), c.where("a", .notIn, numbers(11))),
      (
        .severalArrayFilters,
        c.where("a", .arrayContains, 1).where("b", .arrayContainsAny, [1])
      ),
      (.tooManyDisjunctions(count: 31, limit: 30), c.where("a", .in, numbers(31))),
      (
        .tooManyDisjunctions(count: 50, limit: 30),
        c.where("a", .in, numbers(5)).where("b", .arrayContainsAny, numbers(10))
      ),
      (.tooManyInequalityFields(count: 11, limit: 10), ranges),
      (.tooManyClauses(count: 101, limit: 100), filters),
      (.tooManyClauses(count: 101, limit: 100), below),
      (.emptyComposite, c.filtered(.and([]))),
      (.arrayFilterOnKey, c.where("__name__", .arrayContains, "x")),
      (.invalidKeyOperand, c.where("__name__", .equals, 1)),
      (.invalidKeyOperand, c.where("__name__", .in, ["x", "y/z"])),
      (.keyEqualityWithRange, c.where("a", .lessThan, 1).where("__name__", .equals, "x")),
      (.rangeOverNull, c.where("a", .greaterThan, .null)),
      (.orderAfterCursor, ordered.start(at: 1).order(by: "b")),
      (.cursorCount(2, orders: 1), ordered.end(at: 1, 2)),
      (.cursorCount(1, orders: 0), c.queried.start(at: 1)),
      (.limitOutOfRange(0), c.first(0)),
      (.limitOutOfRange(-1), ordered.last(-1)),
      (.limitToLastWithoutOrder, c.last(1)),
      (.document(.invalidFieldPath("a..b")), c.where("a..b", .equals, 1)),
      (.document(.invalidFieldPath("a[0]")), c.order(by: "a[0]")),
      (.document(.invalidFieldPath("~")), c.where("~", .equals, 1)),
      (.document(.notCollection(path: "c/d")), db.collection("c/d").where("a", .equals, 1)),
      (.document(.invalidID("c/d/e")), db.collectionGroup("c/d/e")),
      (.document(.invalidID("__c__")), db.collectionGroup("__c__")),
    ]
  }

  /// A map that fills a document of a short name up to its limit, and somewhat beyond.
  private func filled(beyond excess: Int) -> DocumentInput {
    // The name takes 20 bytes, each of the three fields' names 2, the document itself 32.
    let rest = 1_048_576 - 20 - 3 * 2 - 32 - 600_000
    return [
      "b": .bytes([UInt8](repeating: 1, count: 600_000)),
      "c": .bytes([UInt8](repeating: 1, count: rest + excess)),
    ]
  }

  private typealias BadWrite = (DocumentError, @Sendable () async throws -> Void)

  private func places(_ db: Documents) -> [BadWrite] {
    let long = String(repeating: "i", count: 1_501)
    let wide = Array(repeating: String(repeating: "i", count: 1_400), count: 6).joined(
      separator: "/")
    let deep = Array(repeating: "c/d", count: 101).joined(separator: "/")
    func write(_ path: String) -> @Sendable () async throws -> Void {
      { try await db.document(path).set([:]) }
    }
    return [
      (.notDocument(path: "c"), write("c")), (.notDocument(path: ""), write("")),
      (.emptySegment(path: "c//d"), write("c//d")), (.invalidID("."), write("c/.")),
      (.invalidID(".."), write("../d")), (.invalidID("__d__"), write("c/__d__")),
      (.idTooLong(byteCount: 1_501, limit: 1_500), write("c/" + long)),
      (.nameTooLong(byteCount: wide.utf8.count, limit: 6_144), write(wide)),
      (.tooManyCollections(count: 101, limit: 100), write(deep)),
      (.invalidID(""), { try await db.collection("c").document("").set([:]) }),
      (.notCollection(path: "c/d"), { _ = try await db.collection("c/d").add([:]) }),
    ]
  }

  private func contents(_ db: Documents) throws -> [BadWrite] {
    let (a, ab) = (try DocumentFieldPath(["a"]), try DocumentFieldPath(["a", "b"]))
    let document = db.document("c/d")
    func set(_ input: DocumentInput, merging: Bool = false) -> @Sendable () async throws -> Void {
      { try await document.set(["a": input], merging: merging) }
    }
    func update(_ name: String, _ input: DocumentInput) -> @Sendable () async throws -> Void {
      { try await document.update([name: input]) }
    }
    func nested(_ levels: Int) -> DocumentInput {
      (0..<levels).reduce(1) { inner, _ in .map([.init("m", inner)]) }
    }
    let megabyte = [UInt8](repeating: 1, count: 1_048_487)
    let deepest = try DocumentFieldPath(["a"] + Array(repeating: "m", count: 21))
    let longName = String(repeating: "n", count: 1_501)
    let vector = [Double](repeating: 0, count: 2_049)
    return [
      (.nestedArray(a), set([[1]])), (.nestedArray(a), set(.arrayUnion([[1]]))),
      (.misplacedDelete(a), set(.delete)), (.misplacedDelete(ab), update("a", ["b": .delete])),
      (.misplacedDelete(a), set([.delete], merging: true)),
      (.misplacedTransform(a), set([.serverTimestamp])),
      (.misplacedTransform(a), set([["x": .increment(1)]], merging: true)),
      (.reservedFieldName("__b__"), set(["__b__": 1])), (.emptyFieldName, set(["": 1])),
      (.fieldNameTooLong(byteCount: 1_501, limit: 1_500), set(.map([.init(longName, 1)]))),
      (.invalidFieldPath("a..b"), update("a..b", 1)), (.invalidFieldPath("a/b"), update("a/b", 1)),
      (.fieldPathTooLong(byteCount: 1_501, limit: 1_500), update(longName, 1)),
      (.tooDeep(deepest, limit: 20), set(nested(21))),
      (
        .valueTooLong(a, byteCount: 1_048_488, limit: 1_048_487), set(.bytes(megabyte + [1]))
      ),
      (.vectorTooLong(a, count: 2_049, limit: 2_048), set(.vector(vector))),
      (
        .documentTooLarge(byteCount: 1_048_577, limit: 1_048_576),
        set(filled(beyond: 1))
      ),
      (.overlappingFields(a, ab), { try await document.update(["a": 1, "a.b": 2]) }),
      (.overlappingFields(a, a), { try await document.update(["a": 1, "a": 2]) }),
    ]
  }

  @Test("every illegal query is refused by name, however it is run, without any traffic")
  func illegalQueries() async throws {
    let house = try await DocumentHouse(Setting(storage: "memory", transport: "loopback"))
    let traffic = Mutex(0)
    let db = try await house.open("a", tapped: { _ in traffic.withLock { $0 += 1 } })
    for (error, query) in queries(db) {
      let expected = DocumentsError.invalidQuery(error)
      await #expect(throws: expected) { try await query.get() }
      await #expect(throws: expected) { try await query.get(from: .cache) }
      await #expect(throws: expected) { try await query.count() }
      await #expect(throws: expected) { for try await _ in query.snapshots() {} }
    }
    #expect(traffic.withLock { $0 } == 0)
    try await house.close()
  }

  @Test("every illegal write is refused by name, however it is made, without any traffic")
  func illegalWrites() async throws {
    let house = try await DocumentHouse(Setting(storage: "memory", transport: "loopback"))
    let traffic = Mutex(0)
    let db = try await house.open("a", tapped: { _ in traffic.withLock { $0 += 1 } })
    for (error, write) in try places(db) + contents(db) {
      await #expect(throws: DocumentsError.invalid(error)) { try await write() }
    }
    // What is allowed just so.
    await db.goOffline()
    try await db.document("c/d").set(["a": filled(beyond: 0)])
    #expect(await db.queueStatus.pending.count == 1)
    #expect(traffic.withLock { $0 } == 0)
    try await house.close()
  }
}
