import Foundation
import TernCore
import TernFirebaseCompat
import TernQuery
import Testing

/// An invalid query or write gets its named error, and nothing goes over the cable.
@Suite struct FirestoreMisuseTests {
  private static func cause(_ error: any Error) -> FirestoreArgumentError? {
    let error = error as NSError
    guard error.domain == FirestoreErrorDomain,
      error.code == FirestoreErrorCode.invalidArgument.rawValue
    else { return nil }
    return error.userInfo[NSUnderlyingErrorKey] as? FirestoreArgumentError
  }

  private func refusal(_ body: () async throws -> Void) async -> FirestoreArgumentError? {
    do {
      try await body()
      return nil
    } catch {
      return Self.cause(error)
    }
  }

  private func queries(
    _ db: Firestore
  ) -> [(Query, @Sendable (DocumentQueryError) -> Bool)] {
    let cities = db.collection("cities")
    let many = Array(0..<31)
    return [
      (
        cities.whereField("a", isNotEqualTo: 1).whereField("a", isNotEqualTo: 2),
        { if case .conflictingOperators(.notEqual, with: .notEqual) = $0 { true } else { false } }
      ),
      (
        cities.whereField("a", notIn: [1]).whereField("b", in: [2]),
        { if case .conflictingOperators = $0 { true } else { false } }
      ),
      (
        cities.whereField("a", arrayContainsAny: [1]).whereField("b", notIn: [1]),
        { if case .conflictingOperators = $0 { true } else { false } }
      ),
      (cities.whereField("a", in: []), { $0 == .operandNotArray(.in) }),
      (
        cities.whereField("a", in: many),
        { $0 == .tooManyDisjunctions(count: 31, limit: 30) }
      ),
      (
        cities.whereField("a", notIn: Array(0..<11)),
        { $0 == .tooManyValues(.notIn, count: 11, limit: 10) }
      ),
      (
        cities.whereField("a", arrayContains: 1).whereField("b", arrayContains: 2),
        { $0 == .severalArrayFilters }
      ),
      (cities.order(by: "a").start(at: [1]).order(by: "b"), { $0 == .orderAfterCursor }),
      (cities.order(by: "a").start(at: [1, 2]), { $0 == .cursorCount(2, orders: 1) }),
      (cities.limit(to: 0), { $0 == .limitOutOfRange(0) }),
      (cities.limit(toLast: 1), { $0 == .limitToLastWithoutOrder }),
      (cities.whereField(FieldPath.documentID(), isEqualTo: 5), { $0 == .invalidKeyOperand }),
      (
        cities.whereField(FieldPath.documentID(), arrayContains: "x"),
        { $0 == .arrayFilterOnKey }
      ),
      (cities.whereFilter(.orFilter([])), { $0 == .emptyComposite }),
    ]
  }

  @Test("an illegal query gets its named error before any traffic")
  func illegalQueries() async throws {
    let house = try await House(Setting(storage: "memory", transport: "loopback"))
    let db = try house.firestore("a")
    for (index, (query, isExpected)) in queries(db).enumerated() {
      guard case .query(let error)? = await refusal({ _ = try await query.getDocuments() }) else {
        Issue.record("query \(index) is refused")
        continue
      }
      #expect(isExpected(error), "query \(index): \(error)")
      let heard = Trace()
      query.addSnapshotListener { snapshot, error in
        heard.add(snapshot == nil && error.flatMap(Self.cause) != nil ? "refused" : "wrong")
      }
      #expect(try await heard.wait(for: 1) == ["refused"])
    }
    let cities = db.collection("cities")
    let sentinel = cities.whereField("a", isEqualTo: FieldValue.serverTimestamp())
    #expect(
      await refusal { _ = try await sentinel.getDocuments() } == .misplacedFieldValue)
    let dotted = cities.whereField("a..b", isEqualTo: 1)
    #expect(
      await refusal { _ = try await dotted.getDocuments() } == .document(.invalidFieldPath("a..b")))
    #expect(try house.desk("a").cable.received.isEmpty)
    try await house.close()
  }

  @Test("an illegal write gets its named error before any traffic")
  func illegalWrites() async throws {
    let house = try await House(Setting(storage: "memory", transport: "loopback"))
    let db = try house.firestore("a")
    let other = try house.firestore("b")
    let sf = db.document("cities/SF")
    let (a, b) = (try DocumentFieldPath(["a"]), try DocumentFieldPath(["b"]))
    #expect(await refusal { try await sf.setData(["a": [[1]]]) } == .document(.nestedArray(a)))
    #expect(
      await refusal { try await sf.setData(["__a__": 1]) }
        == .document(.reservedFieldName("__a__")))
    #expect(await refusal { try await sf.setData(["": 1]) } == .document(.emptyFieldName))
    #expect(
      await refusal { try await sf.setData(["a": FieldValue.delete()]) }
        == .document(.misplacedDelete(a)))
    #expect(
      await refusal { try await sf.updateData(["a": [FieldValue.increment(Int64(1))]]) }
        == .document(.misplacedTransform(a)))
    #expect(
      await refusal { try await sf.updateData(["a": 1, "a.b": 2]) }
        .map { if case .document(.overlappingFields) = $0 { true } else { false } } == true)
    #expect(
      await refusal { try await sf.setData(["a": 1], mergeFields: ["b"]) }
        == .document(.missingMergeField(b)))
    #expect(
      await refusal { try await sf.setData(["a": ["b": UInt64.max]]) }
        == .numberTooLarge("\(UInt64.max)", field: "a.b"))
    #expect(
      await refusal { try await sf.setData(["a": Setting.all]) }
        == .unsupportedType("Setting", field: "a.0"))
    #expect(
      await refusal { try await sf.setData(["a": [1: 2]]) } == .unsupportedKey("1"))
    let long = String(repeating: "x", count: 1_048_488)
    #expect(
      await refusal { try await sf.setData(["a": long]) }
        .map { if case .document(.valueTooLong) = $0 { true } else { false } } == true)
    var deep: Any = 1
    for _ in 0..<30 { deep = ["m": deep] }
    #expect(
      await refusal { try await sf.setData(["a": deep]) }
        .map { if case .document(.tooDeep) = $0 { true } else { false } } == true)
    #expect(
      await refusal { try await db.document("cities").setData([:]) }
        == .document(.notDocument(path: "cities")))
    #expect(
      await refusal { _ = try await db.collection("a/b").addDocument(data: [:]) } != nil)
    #expect(
      await refusal { try await db.document("cities/..").setData([:]) }
        == .document(.invalidID("..")))
    #expect(
      await refusal { try await db.document("a//b").setData([:]) }
        == .document(.emptySegment(path: "a//b")))
    let batch = db.batch().setData(["a": 1], forDocument: sf).setData(
      ["a": [[]]], forDocument: sf)
    #expect(await refusal { try await batch.commit() } != nil)
    await #expect(throws: NSError.self) { try await batch.commit() }
    // Both are clients of one database: a document of either is one of it.
    try await db.disableNetwork()
    now { sf.setData(["friend": other.document("cities/LA")]) }
    let friend = try await sf.getDocument(source: .cache).get("friend") as? DocumentReference
    #expect(friend == db.document("cities/LA"))
    #expect(try house.desk("a").cable.received.isEmpty)
    try await house.close()
  }
}
