import TernCore
import Testing

@testable import TernQuery

@Suite("Document queries")
struct DocumentQueryTests {
  private let cities = DocumentQuery.collection("cities")

  private func reference(_ key: DocumentKey) throws -> DocumentValue {
    .reference(DocumentName(key, in: try DocumentDatabase(projectID: "p")))
  }

  @Test("operators that exclude each other are refused in either order")
  func conflicts() throws {
    let excluded: [(DocumentOperator, DocumentOperator)] = [
      (.notEqual, .notEqual), (.notEqual, .notIn), (.notIn, .notIn), (.notIn, .notEqual),
      (.notIn, .in), (.notIn, .arrayContainsAny), (.in, .notIn), (.arrayContainsAny, .notIn),
    ]
    for (new, existing) in excluded {
      let query = try cities.where("a", existing, existing.takesList ? [1] : 1)
      #expect(throws: DocumentQueryError.conflictingOperators(new, with: existing)) {
        try query.where("b", new, new.takesList ? [1] : 1)
      }
    }
    let either = DocumentFilter.or([.where("a", .notIn, [1]), .where("b", .equal, 1)])
    #expect(throws: DocumentQueryError.notInWithOr) { try cities.filtered(either) }
  }

  @Test("operands must fit their operators", arguments: DocumentOperator.allCases)
  func operands(comparison: DocumentOperator) {
    let pending = DocumentValue.pendingTimestamp(
      .init(localWriteTime: .earliest, replacing: nil))
    #expect(throws: DocumentQueryError.pendingOperand) {
      try cities.where("a", comparison, comparison.takesList ? [pending] : pending)
    }
    if comparison.takesList {
      for operand: DocumentValue in [1, []] {
        #expect(throws: DocumentQueryError.operandNotArray(comparison)) {
          try cities.where("a", comparison, operand)
        }
      }
    }
    if comparison == .lessThan || comparison == .greaterThan {
      #expect(throws: DocumentQueryError.rangeOverNull) {
        try cities.where("a", comparison, .null)
      }
    }
  }

  @Test("the key is compared with references only, and holds no arrays")
  func keyOperands() throws {
    #expect(throws: DocumentQueryError.invalidKeyOperand) { try cities.where(.key, .equal, "SF") }
    #expect(throws: DocumentQueryError.arrayFilterOnKey) {
      try cities.where(.key, .arrayContains, reference("cities/SF"))
    }
    #expect(throws: DocumentQueryError.keyEqualityWithRange) {
      try cities.where("a", .greaterThan, 1).where(.key, .equal, reference("cities/SF"))
    }
    let database = try DocumentDatabase(projectID: "p")
    #expect(try cities.keyOperand("SF", in: database) == reference("cities/SF"))
    #expect(throws: DocumentQueryError.invalidKeyOperand) {
      try cities.keyOperand("a/b", in: database)
    }
    #expect(throws: DocumentQueryError.invalidKeyOperand) {
      try DocumentQuery.group("x").keyOperand("a", in: database)
    }
  }

  @Test("texts stand for documents where the key is compared, alone, in lists and in cursors")
  func keyTexts() throws {
    let database = try DocumentDatabase(projectID: "p")
    let (la, sf) = (try reference("cities/LA"), try reference("cities/SF"))
    #expect(try cities.keyOperand(.array(["LA", sf]), in: database) == .array([la, sf]))
    let filter = DocumentFilter.or([
      .where(.key, .in, ["LA", "SF"]), .and([.where("a", .equal, "LA")]),
    ])
    #expect(
      try cities.resolved(filter, in: database)
        == .or([.where(.key, .in, .array([la, sf])), .and([.where("a", .equal, "LA")])]))
    let ordered = try cities.ordered(by: "a").ordered(by: .key)
    #expect(try ordered.resolved(cursor: ["LA", "SF"], in: database) == ["LA", sf])
    for bad: DocumentValue in ["", "a/b", "..", .array(["LA", ""])] {
      #expect(throws: DocumentQueryError.invalidKeyOperand) {
        try cities.keyOperand(bad, in: database)
      }
    }
    let group = try DocumentQuery.group("cities")
    #expect(try group.keyOperand("x/y/cities/SF", in: database) == reference("x/y/cities/SF"))
    #expect(throws: DocumentQueryError.invalidKeyOperand) {
      try group.keyOperand("SF", in: database)
    }
  }

  @Test("references in filters and cursors lead into the database that is asked")
  func foreignReferences() throws {
    let (own, other) = (
      try DocumentDatabase(projectID: "p"), try DocumentDatabase(projectID: "q")
    )
    let name = DocumentName("cities/SF", in: other)
    let value = DocumentValue.reference(name)
    let refused: [(DocumentFieldPath, DocumentQuery)] = [
      ("a", try cities.where("a", .equal, value)),
      ("a.b", try cities.where("a", .in, [1, ["b": [value]]])),
      (.key, try cities.where(.key, .greaterThan, value)),
      ("a", try cities.ordered(by: "a").starting(at: [value])),
      (.key, try cities.ordered(by: .key).ending(at: [value])),
    ]
    for (path, query) in refused {
      #expect(throws: DocumentQueryError.document(.foreignReference(path, name))) {
        try query.checkReferences(in: own)
      }
      try query.checkReferences(in: other)
    }
  }

  @Test("alternatives, range fields and clauses are limited")
  func limits() throws {
    func list(_ count: Int) -> DocumentValue { .array((0..<count).map { .integer(Int64($0)) }) }
    #expect(throws: DocumentQueryError.tooManyDisjunctions(count: 50, limit: 30)) {
      try cities.where("a", .in, list(5)).where("b", .in, list(10))
    }
    _ = try cities.filtered(.or([.where("a", .in, list(10)), .where("b", .in, list(10))]))
    #expect(throws: DocumentQueryError.tooManyValues(.notIn, count: 11, limit: 10)) {
      try cities.where("a", .notIn, list(11))
    }
    #expect(throws: DocumentQueryError.severalArrayFilters) {
      try cities.where("a", .arrayContains, 1).where("b", .arrayContainsAny, list(2))
    }
    #expect(throws: DocumentQueryError.emptyComposite) { try cities.filtered(.or([])) }
    var query = cities
    for index in 0..<10 {
      query = try query.where(DocumentFieldPath(unchecked: ["f\(index)"]), .lessThan, 1)
    }
    let ten = query
    #expect(throws: DocumentQueryError.tooManyInequalityFields(count: 11, limit: 10)) {
      try ten.where("g", .lessThan, 1)
    }
    var wide = DocumentQuery.collection("a/b/c")
    for _ in 0..<99 { wide = try wide.where("f", .equal, 1) }
    let full = wide
    #expect(throws: DocumentQueryError.tooManyClauses(count: 101, limit: 100)) {
      try full.ordered(by: "f")
    }
  }

  @Test("limits, offsets and cursors are checked")
  func bounds() throws {
    #expect(throws: DocumentQueryError.limitOutOfRange(0)) { try cities.first(0) }
    #expect(throws: DocumentQueryError.offsetOutOfRange(-1)) { try cities.skipping(-1) }
    #expect(throws: DocumentQueryError.limitToLastWithoutOrder) {
      try cities.last(1).checkExecutable()
    }
    #expect(throws: DocumentQueryError.cursorCount(1, orders: 0)) { try cities.starting(at: [1]) }
    let ordered = try cities.ordered(by: "a")
    #expect(throws: DocumentQueryError.cursorCount(0, orders: 1)) { try ordered.starting(at: []) }
    #expect(throws: DocumentQueryError.orderAfterCursor) {
      try ordered.starting(at: [1]).ordered(by: "b")
    }
    #expect(throws: DocumentQueryError.document(.invalidID("a/b/c"))) {
      try DocumentQuery.group("a/b/c")
    }
    let database = try DocumentDatabase(projectID: "p")
    #expect(throws: DocumentQueryError.cursorDocumentMissing("cities/x")) {
      try ordered.starting(at: Document("cities/x", .missing), in: database)
    }
    #expect(throws: DocumentQueryError.cursorFieldMissing("a")) {
      try ordered.starting(at: Document("cities/x", ["b": 1]), in: database)
    }
    let pending = DocumentValue.pendingTimestamp(
      .init(localWriteTime: .earliest, replacing: nil))
    #expect(throws: DocumentQueryError.cursorFieldPending("a")) {
      try ordered.starting(at: Document("cities/x", ["a": pending]), in: database)
    }
  }

  @Test("the order is completed by range fields in path order, then the key")
  func implicitOrder() throws {
    let query = try cities.where("z", .lessThan, 1).where("b", .notEqual, 1)
      .ordered(by: "m", isDescending: true)
    #expect(
      query.normalizedOrders.map(\.path) == ["m", "b", "z", .key])
    #expect(query.normalizedOrders.allSatisfy { $0.isDescending })
    let byKey = try cities.ordered(by: .key).ordered(by: "a")
    #expect(byKey.normalizedOrders.map(\.path) == [.key])
    // A field that is there already, and what comes behind the key, changes nothing: cursors count
    // only what is left.
    #expect(try cities.ordered(by: .key) == byKey)
    let twice = try cities.ordered(by: "a").ordered(by: "a", isDescending: true)
    #expect(try twice == cities.ordered(by: "a"))
    #expect(throws: DocumentQueryError.cursorCount(2, orders: 1)) {
      try twice.starting(at: [1, 2])
    }
    #expect(cities.matchesAll)
  }

  @Test("the last documents are the first of the opposite target")
  func flipped() throws {
    let last = try cities.ordered(by: "a").starting(after: [1]).ending(at: [9]).last(3)
    let first = try cities.ordered(by: "a", isDescending: true)
      .starting(at: [9]).ending(before: [1]).first(3)
    #expect(last.target == first.target)
    #expect(last.target.id == first.target.id)
    #expect(last.id != first.id)
  }

  @Test("conditions joined by AND have one id; values of different kinds have different ones")
  func identity() throws {
    let chained = try cities.where("a", .equal, 1).where("b", .equal, 2)
    let joined = try cities.filtered(.and([.where("a", .equal, 1), .where("b", .equal, 2)]))
    #expect(chained.id == joined.id)
    let operands: [DocumentValue] = [
      1, 1.0, "1", true, .null, [1], ["1"], ["1,1"], ["1", "1"], .bytes([1]), ["a": 1],
      .vector([1]),
      "true", .double(.nan), "a\"", "a\\",
    ]
    let ids = try operands.map { try cities.where("a", .equal, $0).target.id }
    #expect(Set(ids).count == operands.count)
  }

  @Test("alternatives multiply out")
  func disjunctions() throws {
    let filter = DocumentFilter.and([
      .where("a", .in, [1, 2, 3, 4, 5]),
      .or([.where("b", .equal, 2), .where("c", .equal, 3)]),
    ])
    #expect(filter.disjunctionCount == 10)
    #expect(filter.disjunctions().count == 10)
    #expect(filter.disjunctions().allSatisfy { $0.count == 2 && $0[0].comparison == .equal })
  }
}
