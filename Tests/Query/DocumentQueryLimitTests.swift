import TernCore
import Testing

@testable import TernQuery

@Suite("Limits of document queries, at their borders")
struct DocumentQueryLimitTests {
  private let all = DocumentQuery.collection("c")

  private func list(_ count: Int) -> DocumentValue {
    .array((0..<count).map { .integer(Int64($0)) })
  }

  private func failure(_ body: () throws -> DocumentQuery) -> DocumentQueryError? {
    do { _ = try body() } catch { return error as? DocumentQueryError }
    return nil
  }

  @Test("a query has 30 alternatives", arguments: [29, 30, 31])
  func alternatives(count: Int) {
    let error =
      count > 30 ? DocumentQueryError.tooManyDisjunctions(count: count, limit: 30) : nil
    #expect(failure { try all.where("a", .in, list(count)) } == error)
    #expect(
      failure {
        try all.where("a", .arrayContainsAny, list(count))
      } == error)
    let equals = (0..<count).map { DocumentFilter.where("a", .equal, .integer(Int64($0))) }
    #expect(failure { try all.filtered(.or(equals)) } == error)
    let nested = DocumentFilter.or([.where("b", .in, list(count - 1)), .where("c", .equal, 1)])
    #expect(failure { try all.filtered(nested) } == error)
  }

  @Test("alternatives of an AND multiply", arguments: [(5, 6, true), (6, 5, true), (4, 8, false)])
  func products(left: Int, right: Int, isAllowed: Bool) {
    let error = failure {
      try all.where("a", .in, list(left)).where("b", .in, list(right))
    }
    #expect(
      error == (isAllowed ? nil : .tooManyDisjunctions(count: left * right, limit: 30)))
  }

  @Test("a product beyond all numbers is too many, and costs nothing")
  func overflow() {
    let factor = DocumentFilter.where("a", .in, list(1_000))
    let error = failure {
      try all.filtered(.and([DocumentFilter](repeating: factor, count: 30)))
    }
    #expect(error == .tooManyDisjunctions(count: .max, limit: 30))
  }

  @Test("not-in takes ten values", arguments: [9, 10, 11])
  func notIn(count: Int) {
    let error =
      count > 10 ? DocumentQueryError.tooManyValues(.notIn, count: count, limit: 10) : nil
    #expect(failure { try all.where("a", .notIn, list(count)) } == error)
  }

  @Test("ten fields have ranges", arguments: [9, 10, 11])
  func ranges(count: Int) {
    let filters = (0..<count).map { index in
      DocumentFilter.where(DocumentFieldPath(unchecked: ["f\(index)"]), .greaterThan, 0)
    }
    let error =
      count > 10 ? DocumentQueryError.tooManyInequalityFields(count: count, limit: 10) : nil
    #expect(failure { try all.filtered(.and(filters)) } == error)
    // Two ranges over one field are one.
    let twice = filters + filters.prefix(1)
    #expect(failure { try all.filtered(.and(twice)) } == error)
  }

  @Test("filters and orders are 100 together", arguments: [99, 100, 101])
  func clauses(count: Int) throws {
    var query = all
    for index in 0..<60 {
      query = try query.where(DocumentFieldPath(unchecked: ["f\(index)"]), .equal, 1)
    }
    for index in 0..<count - 61 {
      query = try query.ordered(by: DocumentFieldPath(unchecked: ["o\(index)"]))
    }
    let error = count > 100 ? DocumentQueryError.tooManyClauses(count: count, limit: 100) : nil
    #expect(failure { try query.ordered(by: "last") } == error)
    #expect(failure { try query.where("last", .equal, 1) } == error)
  }

  @Test("a parent is a clause", arguments: [99, 100])
  func parents(count: Int) throws {
    var query = DocumentQuery.collection("a/b/c")
    for index in 0..<count - 1 {
      query = try query.ordered(by: DocumentFieldPath(unchecked: ["o\(index)"]))
    }
    let error = count > 99 ? DocumentQueryError.tooManyClauses(count: 101, limit: 100) : nil
    #expect(failure { try query.ordered(by: "last") } == error)
  }

  @Test("one to five aggregations", arguments: 0...6)
  func aggregations(count: Int) {
    let wanted = (0..<count).map { DocumentAggregation("a\($0)", .count(upTo: $0 + 1)) }
    if 1...5 ~= count {
      #expect(throws: Never.self) { try DocumentAggregation.check(wanted) }
    } else {
      #expect(throws: DocumentQueryError.aggregationCount(count, limit: 5)) {
        try DocumentAggregation.check(wanted)
      }
    }
  }

  @Test("names of aggregations are compared by their bytes, bounds are positive")
  func aliases() {
    func check(_ names: String...) throws {
      try DocumentAggregation.check(names.map { DocumentAggregation($0, .sum("f")) })
    }
    #expect(throws: Never.self) { try check("\u{E9}", "e\u{301}", "a") }
    #expect(throws: DocumentQueryError.aliasRepeated("a")) { try check("a", "b", "a") }
    for bound in [0, -1, Int.min] {
      #expect(throws: DocumentQueryError.countLimitOutOfRange(bound)) {
        try DocumentAggregation.check([.init("n", .count(upTo: bound))])
      }
    }
    #expect(throws: Never.self) { try DocumentAggregation.check([.init("n", .count(upTo: 1))]) }
  }

  @Test(
    "ids of groups",
    arguments: [
      ("c", true), ("", false), ("a/b", false), ("a/b/c", false), ("..", false), ("__x__", false),
      ("__id7__", true), ("é", true),
    ])
  func groups(id: String, isAllowed: Bool) {
    #expect(((try? DocumentQuery.group(id)) != nil) == isAllowed)
  }

  @Test("composites of one, and of their own kind, are taken apart")
  func flattening() {
    let (a, b, c): (DocumentFilter, DocumentFilter, DocumentFilter) = (
      .where("a", .equal, 1), .where("b", .equal, 2), .where("c", .equal, 3)
    )
    #expect(DocumentFilter.and([a]).flattened == a)
    #expect(DocumentFilter.or([.and([.or([a])])]).flattened == a)
    #expect(DocumentFilter.and([.and([a, b]), c]).flattened == .and([a, b, c]))
    #expect(DocumentFilter.or([.or([a, .or([b])]), c]).flattened == .or([a, b, c]))
    #expect(DocumentFilter.and([.or([a, b]), c]).flattened == .and([.or([a, b]), c]))
    #expect(DocumentFilter.or([]).flattened == .or([]), "the filter that keeps nothing stays")
    let deep = DocumentFilter.and([.or([a, .and([b, .and([c])])])])
    #expect(deep.flattened.flattened == deep.flattened)
    for filter in [DocumentFilter.and([a]), .or([.and([.and([a])])])] {
      #expect(throws: DocumentQueryError.emptyComposite) {
        try all.filtered(.and([filter, .or([])]))
      }
    }
  }
}
