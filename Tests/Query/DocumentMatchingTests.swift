import TernCore
import TernTestKit
import Testing

@testable import TernQuery

@Suite("Document matching")
struct DocumentMatchingTests {
  private let all = DocumentQuery.collection("c")

  /// The ids of the documents a query keeps, each holding one of `values` in field `f`.
  private func ids(_ query: DocumentQuery, _ values: [DocumentValue]) -> [Int] {
    let documents = values.enumerated().map { index, value in
      Document(DocumentKey(unchecked: "c/\(index)"), ["f": value])
    }
    return query.run(over: documents).compactMap { Int($0.key.id) }.sorted()
  }

  @Test("each operator keeps what the reference says")
  func operators() throws {
    let values: [DocumentValue] = [
      .null, .double(.nan), 1, 1.0, 2, "1", [1, 2], [1.0], ["a": 1], true, -0.0,
    ]
    let cases: [(DocumentOperator, DocumentValue, [Int])] = [
      (.equal, 1, [2, 3]), (.equal, .null, [0]), (.equal, .double(.nan), [1]), (.equal, 0, [10]),
      (.equal, ["a": 1.0], [8]), (.equal, [1], [7]),
      (.notEqual, 1, [1, 4, 5, 6, 7, 8, 9, 10]), (.notEqual, .null, Array(1...10)),
      (.notEqual, .double(.nan), Array(2...10)),
      (.lessThan, 2, [1, 2, 3, 10]), (.lessThanOrEqual, 1, [1, 2, 3, 10]),
      (.greaterThan, 1, [4]), (.greaterThanOrEqual, 1, [2, 3, 4]),
      (.greaterThan, .double(.nan), [2, 3, 4, 10]), (.lessThanOrEqual, .null, [0]),
      (.in, [1, "1", .null, .double(.nan)], [2, 3, 5]), (.in, [.null], []),
      (.notIn, [1, "1"], [1, 4, 6, 7, 8, 9, 10]), (.notIn, [1, .null], []),
      (.arrayContains, 1, [6, 7]), (.arrayContains, 2.0, [6]),
      (.arrayContainsAny, [2, "x"], [6]),
    ]
    for (comparison, operand, expected) in cases {
      let query = try all.where("f", comparison, operand)
      #expect(ids(query, values) == expected, "\(comparison.rawValue) \(operand)")
    }
  }

  @Test("a missing field satisfies nothing, not even an order; alternatives need all fields")
  func missing() throws {
    let documents = [Document("c/a", ["x": 1]), Document("c/b", ["f": 1, "x": 1])]
    for comparison in [DocumentOperator.notEqual, .notIn, .equal, .lessThan] {
      let operand: DocumentValue = comparison.takesList ? [7] : 7
      let query = try all.where("f", comparison, operand)
      #expect(!query.run(over: documents).contains { $0.key.id == "a" })
    }
    #expect(try all.ordered(by: "f").run(over: documents).map(\.key.id) == ["b"])
    let either = DocumentFilter.or([.where("f", .greaterThan, 0), .where("x", .equal, 1)])
    #expect(try all.filtered(either).run(over: documents).map(\.key.id) == ["b"])
  }

  @Test("collections keep their own documents, groups those at any depth")
  func sources() throws {
    let documents = [
      Document("c/1", [:]), Document("c/1/c/2", [:]), Document("d/1/c/3", [:]),
      Document("xc/4", [:]), Document("c/5/d/6", [:]),
    ]
    #expect(all.run(over: documents).map(\.key) == ["c/1"])
    #expect(
      try DocumentQuery.group("c").run(over: documents).map(\.key)
        == ["c/1", "c/1/c/2", "d/1/c/3"])
    #expect(DocumentQuery.document("c/5/d/6").run(over: documents).map(\.key) == ["c/5/d/6"])
  }

  @Test("keys are compared as keys")
  func keys() throws {
    let database = try DocumentDatabase(projectID: "p")
    let documents = ["a", "b", "c"].map { Document(DocumentKey(unchecked: "c/" + $0), [:]) }
    let b = try all.keyOperand("b", in: database)
    let cases: [(DocumentOperator, DocumentValue, [String])] = [
      (.equal, b, ["b"]), (.lessThan, b, ["a"]), (.greaterThanOrEqual, b, ["b", "c"]),
      (.in, [b], ["b"]), (.notIn, [b], ["a", "c"]), (.notEqual, b, ["a", "c"]),
    ]
    for (comparison, operand, expected) in cases {
      let query = try all.where(.key, comparison, operand)
      #expect(query.run(over: documents).map(\.key.id) == expected)
    }
    let after = try all.ordered(by: .key).starting(after: [b])
    #expect(after.run(over: documents).map(\.key.id) == ["c"])
  }

  @Test("cursors, limits from both ends, and offsets")
  func windows() throws {
    var random = SeededGenerator(seed: 7)
    let documents = (0..<20).map { index in
      Document(
        DocumentKey(unchecked: "c/\(index)"),
        ["n": .integer(Int64(index / 2)), "i": .integer(Int64(index))])
    }.shuffled(using: &random)
    func numbers(_ query: DocumentQuery) -> [Int64] {
      query.run(over: documents).compactMap {
        DocumentNumber($0.fields?["i"]).map { Int64($0.double) }
      }
    }
    let ordered = try all.ordered(by: "n").ordered(by: "i")
    #expect(numbers(try ordered.first(3)) == [0, 1, 2])
    #expect(numbers(try ordered.last(3)) == [17, 18, 19])
    #expect(numbers(try ordered.first(3).skipping(2)) == [2, 3, 4])
    #expect(numbers(try ordered.starting(at: [8])) == [16, 17, 18, 19])
    #expect(numbers(try ordered.starting(after: [8]).first(1)) == [18])
    #expect(numbers(try ordered.starting(at: [3, 7]).ending(before: [4, 9])) == [7, 8])
    let descending = try all.ordered(by: "n", isDescending: true)
    #expect(numbers(try descending.ending(at: [9])).count == 2)
    #expect(numbers(try descending.starting(after: [1]).last(1)) == [0])
    let database = try DocumentDatabase(projectID: "p")
    let seven = try #require(documents.first { $0.key.id == "7" })
    let from = try descending.starting(at: seven, in: database, isInclusive: false).first(2)
    #expect(numbers(from) == [6, 5])
  }

  @Test("a limited selection is the sorted result, cut", arguments: 1...50 as ClosedRange<UInt64>)
  func selection(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let documents = (0..<60).map { index in
      Document(
        DocumentKey(unchecked: "c/\(index)"),
        [
          "f": .integer(.random(in: 0...9, using: &random)),
          "g": .double(.random(in: 0...1, using: &random)),
        ])
    }
    let whole = try all.ordered(by: "f", isDescending: random.next() % 2 == 0)
    let count = Int.random(in: 1...70, using: &random)
    let sorted = whole.run(over: documents)
    #expect(
      try whole.first(count).run(over: documents) == Array(sorted.prefix(count)), "seed \(seed)")
    #expect(
      try whole.last(count).run(over: documents) == Array(sorted.suffix(count)), "seed \(seed)")
  }

  @Test("alternatives written out find the same", arguments: 1...50 as ClosedRange<UInt64>)
  func disjunctiveForm(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let filter = randomFilter(depth: 3, using: &random)
    let written = DocumentFilter.or(
      filter.disjunctions().map { .and($0.map(DocumentFilter.field)) })
    for _ in 0..<50 {
      let document = Document(
        "c/x",
        [
          "a": .integer(.random(in: 0...2, using: &random)),
          "b": .integer(.random(in: 0...2, using: &random)),
        ])
      let (key, fields) = (document.key, document.fields ?? .empty)
      let whole = Condition(filter).holds(key: key.text.utf8.span, fields: fields.bytes.span)
      let parts = Condition(written).holds(key: key.text.utf8.span, fields: fields.bytes.span)
      #expect(whole == parts, "seed \(seed)")
    }
  }

  private func randomFilter(depth: Int, using random: inout SeededGenerator) -> DocumentFilter {
    let path: DocumentFieldPath = random.next() % 2 == 0 ? "a" : "b"
    switch Int.random(in: 0..<(depth > 0 ? 4 : 2), using: &random) {
    case 0: return .where(path, .equal, .integer(.random(in: 0...2, using: &random)))
    case 1: return .where(path, .in, [0, .integer(.random(in: 1...2, using: &random))])
    case 2: return .and((0..<2).map { _ in randomFilter(depth: depth - 1, using: &random) })
    default: return .or((0..<2).map { _ in randomFilter(depth: depth - 1, using: &random) })
    }
  }

  @Test("a selection of fields leaves the rest out")
  func projection() {
    let fields: DocumentFields = ["a": ["b": 1, "c": 2], "d": 3]
    #expect(all.selecting(["a.b", "z"]).selected(from: fields) == ["a": ["b": 1]])
    #expect(all.selecting([]).selected(from: fields) == [:])
  }

  @Test("an empty alternative empties a conjunction before anything is multiplied")
  func emptyMember() {
    let values = (0..<30).map { DocumentValue.integer(Int64($0)) }
    let lists = (0..<12).map { number in
      DocumentFilter.field(
        DocumentFieldFilter(
          DocumentFieldPath(unchecked: ["f\(number)"]), .in, .array(values)))
    }
    // 30 to the power of 12 alternatives, if they were made.
    for filter in [
      DocumentFilter.and(lists + [.or([])]), .and([.or([])] + lists),
      .or([.and(lists + [.and([.or([])])])]),
    ] {
      #expect(filter.disjunctionCount == 0)
      #expect(filter.disjunctions().isEmpty)
      #expect(filter.disjunctions(expandingArrays: true).isEmpty)
    }
  }
}
