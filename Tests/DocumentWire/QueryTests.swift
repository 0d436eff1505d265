import SwiftProtobuf
import TernCore
import TernQuery
import Testing

@testable import TernDocumentJSON
@testable import TernDocumentWire

@Suite("Queries on the wire")
struct QueryTests {
  private typealias Proto = Google_Firestore_V1_StructuredQuery

  private let root = "projects/p/databases/(default)/documents"

  private func decoded(
    below parent: String? = nil, _ edit: (inout Proto) -> Void
  ) throws(DocumentWireError) -> DocumentQuery? {
    var request = Google_Firestore_V1_RunQueryRequest()
    request.parent = parent ?? root
    request.structuredQuery.from = [.with { $0.collectionID = "c" }]
    edit(&request.structuredQuery)
    guard let bytes: [UInt8] = try? request.serializedBytes() else { return nil }
    guard case .query(let query, .now) = try DocumentRequest.decode(.runQuery, bytes).body else {
      return nil
    }
    return query
  }

  private func refusal(_ edit: (inout Proto) -> Void) -> DocumentWireError? {
    do throws(DocumentWireError) {
      _ = try decoded(edit)
      return nil
    } catch {
      return error
    }
  }

  private func order(_ path: String, _ isDescending: Bool = false) -> Proto.Order {
    .with {
      $0.field.fieldPath = path
      $0.direction = isDescending ? .descending : .ascending
    }
  }

  private func comparison(
    _ path: String, _ op: Proto.FieldFilter.Operator, _ value: Google_Firestore_V1_Value
  ) -> Proto.Filter {
    .with {
      $0.fieldFilter.field.fieldPath = path
      $0.fieldFilter.op = op
      $0.fieldFilter.value = value
    }
  }

  @Test("say where they look")
  func sources() throws {
    #expect(try decoded { _ in }?.source == .collection(try CollectionPath("c")))
    #expect(
      try decoded(below: root + "/a/b") { _ in }?.source == .collection(try CollectionPath("a/b/c"))
    )
    #expect(try decoded { $0.from[0].allDescendants = true }?.source == .group("c"))
    #expect(try decoded { $0.from = [] }?.source == .all(below: nil, isRecursive: false))
    #expect(
      try decoded(below: root + "/a/b") {
        $0.from[0].collectionID = ""
        $0.from[0].allDescendants = true
      }?.source == .all(below: "a/b", isRecursive: true))
  }

  @Test("of a group below a document keep what lies below it")
  func descendants() throws {
    let query = try #require(
      try decoded(below: root + "/a/b") { $0.from[0].allDescendants = true })
    let keys: [DocumentKey] = ["a/b/c/d", "a/b/x/y/c/d", "a/b0/c/d", "a/a/c/d", "c/d", "b/b/c/d"]
    let documents = keys.map { Document($0, .found(.empty)) }
    #expect(query.run(over: documents).map(\.key) == ["a/b/c/d", "a/b/x/y/c/d"])
    let number = try #require(
      try decoded(below: root + "/a/__id7__") { $0.from[0].allDescendants = true })
    let numbers: [DocumentKey] = ["a/__id7__/c/d", "a/__id8__/c/d", "a/__id10__/c/d", "a/b/c/d"]
    #expect(
      number.run(over: numbers.map { Document($0, .found(.empty)) }).map(\.key)
        == ["a/__id7__/c/d"])
    // Ids that begin like those of numbers, but are none, sort like all others.
    for id in ["__idfoo", "__id", "__id7", "__id7__x", "__id_"] {
      let text = try #require(
        try decoded(below: root + "/a/" + id) { $0.from[0].allDescendants = true })
      let keys = ["a/\(id)/c/d", "a/\(id)0/c/d", "a/\(id)/x/y/c/d", "a/__id7__/c/d", "a/b/c/d"]
      let documents = keys.map { Document(DocumentKey(unchecked: $0), .found(.empty)) }
      #expect(text.run(over: documents).map(\.key.text) == [keys[0], keys[2]], "\(id)")
    }
  }

  @Test("keep order, limits, cursors and selection")
  func clauses() throws {
    let query = try decoded {
      $0.orderBy = [order("a", true), order("__name__", true)]
      $0.limit = Google_Protobuf_Int32Value(3)
      $0.offset = 2
      $0.startAt.values = [.with { $0.integerValue = 9 }]
      $0.startAt.before = true
      $0.endAt.values = [.with { $0.integerValue = 1 }]
      $0.endAt.before = true
      $0.select.fields = [.with { $0.fieldPath = "x.`y z`" }]
    }
    let expected = try DocumentQuery.collection(try CollectionPath("c"))
      .ordered(by: "a", isDescending: true).ordered(by: .key, isDescending: true)
      .starting(at: [9]).ending(before: [1]).first(3).skipping(2)
      .selecting([DocumentFieldPath(["x", "y z"])])
    #expect(query == expected)
  }

  @Test("with bare selections hand out keys")
  func keysOnly() throws {
    let query = try #require(
      try decoded { $0.select.fields = [.with { $0.fieldPath = "__name__" }] })
    #expect(query.selected(from: fields) == .empty)
    #expect(query.selection == [.key])
  }

  @Test("write a filter that is null or no number as what it asks")
  func unary() throws {
    let query = try DocumentQuery.collection(try CollectionPath("c"))
      .where("a", .equal, .null).where("b", .notEqual, .double(.nan))
    let request = DocumentRequest(.query(query, .now), in: sampleDatabase)
    let message = try Google_Firestore_V1_RunQueryRequest(serializedBytes: request.encode())
    let filters = message.structuredQuery.where.compositeFilter.filters
    #expect(message.structuredQuery.where.compositeFilter.op == .and)
    #expect(filters.map(\.unaryFilter.op) == [.isNull, .isNotNan])
    #expect(message.structuredQuery.orderBy.map(\.field.fieldPath) == ["b", "__name__"])
    // The other form asks what is equal to null, and nothing is.
    let other = try decoded {
      $0.where = comparison("a", .equal, .with { $0.nullValue = .nullValue })
    }
    let document = Document("c/a", .found(["a": .null]))
    #expect(try #require(other).run(over: [document]).isEmpty)
  }

  @Test("for the last documents are sent turned around")
  func limitToLast() throws {
    let query = try DocumentQuery.collection(try CollectionPath("c"))
      .ordered(by: "a").starting(at: [1]).ending(before: [9]).last(2)
    let target = WatchTarget(id: 2, subject: .query(query.target))
    let request = DocumentRequest(.listen(.add(target)), in: sampleDatabase)
    let sent = try Google_Firestore_V1_ListenRequest(serializedBytes: request.encode())
      .addTarget.query.structuredQuery
    #expect(sent.orderBy.map(\.direction) == [.descending, .descending])
    #expect(sent.startAt.values.map(\.integerValue) == [9])
    #expect(!sent.startAt.before)
    #expect(sent.endAt.values.map(\.integerValue) == [1])
    #expect(!sent.endAt.before)
    #expect(sent.limit.value == 2)
  }

  @Test("for aggregations demand no fields beyond those asked for")
  func aggregationOrder() throws {
    let query = try DocumentQuery.collection(try CollectionPath("c")).where("a", .greaterThan, 1)
    let request = DocumentRequest(
      .aggregate(query, [.init("n", .count(upTo: nil))], .now), in: sampleDatabase)
    let sent = try Google_Firestore_V1_RunAggregationQueryRequest(
      serializedBytes: request.encode())
    #expect(sent.structuredAggregationQuery.structuredQuery.orderBy.isEmpty)
  }

  @Test("that break a rule are refused with it")
  func refusals() {
    let one = Google_Firestore_V1_Value.with { $0.integerValue = 1 }
    func text(_ edit: (inout Proto) -> Void) -> String? {
      guard let status = refusal(edit)?.status, status.code == .invalidArgument else { return nil }
      return status.message
    }
    #expect(text { $0.limit = Google_Protobuf_Int32Value(-1) } == "limit is negative")
    #expect(text { $0.offset = -1 } == "offset is negative")
    #expect(
      text { $0.startAt.values = [one] } == "Cursor __key__ value is not a document reference.")
    #expect(text { $0.startAt.values = [one, one] } == "Cursor has too many values.")
    #expect(text { $0.where = comparison("a", .in, one) } == "'IN' requires an ArrayValue.")
    #expect(
      text { $0.where = comparison("a", .notIn, .with { $0.arrayValue = .init() }) }
        == "'NOT_IN' requires an non-empty ArrayValue.")
    #expect(
      text {
        $0.where.compositeFilter.op = .and
        $0.where.compositeFilter.filters = [
          comparison("a", .notEqual, one), comparison("b", .notEqual, one),
        ]
      }
        == "Only a single 'NOT_EQUAL', 'NOT_IN', 'IS_NOT_NAN', or 'IS_NOT_NULL' filter allowed per "
        + "query.")
    #expect(text { $0.where.compositeFilter = .init() } == "Unsupported CompositeFilter operator.")
    #expect(
      text { $0.where = comparison("__name__", .equal, one) }
        == "__key__ filter value must be a Key")
    #expect(
      text { $0.where = comparison("a.`__x__`", .equal, one) }
        == "invalid reserved name in field path a.`__x__`")
    #expect(
      text { $0.orderBy = [order("a"), order("a", true)] }
        == "order by clause cannot contain duplicate fields a")
    #expect(
      text { $0.orderBy = [order("__name__"), order("a")] }
        == "order by clause cannot contain more fields after the key")
    #expect(
      text {
        $0.from = []
        $0.orderBy = [order("a")]
      } == "kind is required for all orders except __key__ ascending")
    #expect(text { $0.findNearest = .init() } != nil)
    #expect(refusal { $0.from.append($0.from[0]) }?.status.code == .invalidArgument)
    #expect(refusal { $0.from[0].collectionID = "a/b/c" }?.status.code == .invalidArgument)
    #expect(refusal { $0.where = .init() }?.status.code == .invalidArgument)
    #expect(refusal { $0.orderBy = [.init()] }?.status.code == .invalidArgument)
    #expect(
      refusal { $0.where = comparison("a..b", .equal, one) }
        == .document(.invalidFieldPath("a..b")))
    #expect(
      refusal { $0.where = comparison("a", .unspecified, one) }?.status.code
        == .invalidArgument)
  }

  @Test("with filters of null and of what is no number keep what the service keeps")
  func rawOperands() throws {
    let values: [DocumentValue] = [.null, .double(.nan), 1, .array([.null])]
    let documents = values.enumerated().map {
      Document(DocumentKey(unchecked: "c/\($0.offset)"), .found(["a": $0.element]))
    }
    func kept(
      _ op: Proto.FieldFilter.Operator, _ operands: [Google_Firestore_V1_Value], list: Bool = false
    ) throws -> [String] {
      var value = operands[0]
      if list { value = .with { $0.arrayValue.values = operands } }
      let query = try decoded { $0.where = comparison("a", op, value) }
      return try #require(query).run(over: documents).map(\.key.id).sorted()
    }
    let null = Google_Firestore_V1_Value.with { $0.nullValue = .nullValue }
    let nan = Google_Firestore_V1_Value.with { $0.doubleValue = .nan }
    let one = Google_Firestore_V1_Value.with { $0.integerValue = 1 }
    for op in [Proto.FieldFilter.Operator.equal, .lessThanOrEqual, .greaterThan] {
      #expect(try kept(op, [null]) == [])
      #expect(try kept(op, [nan]) == [])
    }
    #expect(try kept(.notEqual, [null]) == [])
    #expect(try kept(.notEqual, [nan]) == ["1", "2", "3"])
    #expect(try kept(.in, [null, nan, one], list: true) == ["2"])
    #expect(try kept(.notIn, [null, one], list: true) == [])
    #expect(try kept(.notIn, [nan, one], list: true) == ["1", "3"])
    #expect(try kept(.arrayContains, [null]) == [])
    #expect(try kept(.arrayContainsAny, [null], list: true) == [])
  }

  @Test("nested without end are refused")
  func depth() throws {
    var filter = comparison("a", .equal, .with { $0.integerValue = 1 })
    for _ in 0..<60 {
      let inner = filter
      filter = .with {
        $0.compositeFilter.op = .or
        $0.compositeFilter.filters = [inner]
      }
    }
    #expect(refusal { $0.where = filter } == .malformed(.tooDeep))
  }

  @Test("every text of a rule says which one")
  func texts() throws {
    let errors: [DocumentQueryError] = [
      .notInWithOr, .severalArrayFilters, .tooManyDisjunctions(count: 31, limit: 30),
      .cursorDocumentMissing("a/b"), .aliasRepeated("x"), .document(.emptyFieldName),
    ]
    let texts = errors.map { DocumentWireError.query($0).status.message }
    #expect(Set(texts).count == errors.count)
    #expect(texts[2] == "the filters have 31 alternatives, at most 30 are allowed")
  }
}
