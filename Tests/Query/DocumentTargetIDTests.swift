import TernCore
import Testing

@testable import TernQuery

@Suite("Ids of targets")
struct DocumentTargetIDTests {
  private let cities = DocumentQuery.collection("cities")

  private func expectApart(
    _ queries: [DocumentQuery], _ location: SourceLocation = #_sourceLocation
  ) {
    for (index, left) in queries.enumerated() {
      for right in queries[..<index] where left.target != right.target {
        #expect(
          !left.target.id.hasSameBytes(as: right.target.id), "\(left.target.id)",
          sourceLocation: location)
      }
    }
  }

  @Test("a group and a collection are two targets, whatever they are called")
  func sources() throws {
    expectApart([
      .collection("|cg:x"), try .group("x"), .collection("x"), try .group("|cg:x"),
      .document("x/y"), .collection("x/y/z"), .collection("|alltrue:"), .collection("|allfalse:"),
      .assembled(.all(below: nil, isRecursive: true)),
      .assembled(.all(below: nil, isRecursive: false)),
      .assembled(.all(below: "x/y", isRecursive: true)),
    ])
  }

  @Test("orders are told apart, whatever their fields are called")
  func orders() throws {
    expectApart([
      try cities.ordered(by: "a").ordered(by: "b"), try cities.ordered(by: "aascb"),
      try cities.ordered(by: "a", isDescending: true).ordered(by: "b"),
      try cities.ordered(by: "adescb"),
      try cities.ordered(by: "a").ordered(by: "b", isDescending: true),
      try cities.ordered(by: "a"), try cities.ordered(by: "b").ordered(by: "a"), cities,
    ])
  }

  @Test("a name that looks like a part of an id is none")
  func names() throws {
    expectApart([
      .collection("a|f:b==1"), try DocumentQuery.collection("a").where("b", .equal, 1),
      .collection("a|f:"), .collection("a|f:|ob:__name__asc"), .collection("a"),
      try DocumentQuery.collection("a").first(1), .collection("a|l:1"),
      try DocumentQuery.collection("a|f:|ob:__name__asc").first(1),
    ])
  }

  @Test("filters are told apart by how they are joined")
  func filters() throws {
    func filtered(_ filter: DocumentFilter) throws -> DocumentQuery { try cities.filtered(filter) }
    let (a, b, c): (DocumentFilter, DocumentFilter, DocumentFilter) = (
      .where("a", .equal, 1), .where("b", .equal, 2), .where("c", .equal, 3)
    )
    expectApart([
      try filtered(.and([a, b, c])), try filtered(.or([a, b, c])),
      try filtered(.or([.and([a, b]), c])),
      try filtered(.and([a, .or([b, c])])), try filtered(.and([.or([a, b]), c])),
      try filtered(.where("a", .in, [1, 2])), try filtered(.where("a", .notIn, [1, 2])),
      try filtered(.where("a", .arrayContainsAny, [1, 2])),
      try filtered(.where("a", .arrayContains, 1)),
      try filtered(.where("a", .equal, "1&b==2")), try filtered(.where("a", .equal, [1, 2])),
    ])
  }

  @Test("operands are told apart by their kinds and their bytes")
  func operands() throws {
    let database = try DocumentDatabase(projectID: "p")
    let operands: [DocumentValue] = [
      .null, true, false, 0, 0.0, -0.0, 1, 1.0, "1", "true", "null", .bytes([1]), .bytes([0x11]),
      .double(.nan), .double(.infinity), .double(-.infinity), "inf", "\u{E9}", "e\u{301}", "",
      .timestamp(.init(uncheckedMicroseconds: 1)),
      .timestamp(.init(uncheckedMicroseconds: 1_000_000)),
      .reference(DocumentName("c/d", in: database)), "c/d", [], [[:]], [:], ["a": 1], ["a": "1"],
      ["a": 1, "b": 2], ["a": "1,\"b\":2"], .vector([]), .vector([1]), [1.0],
      .geoPoint(.init(uncheckedLatitude: 1, longitude: 2)), "geo(1.0,2.0)",
    ]
    expectApart(try operands.map { try cities.where("a", .equal, $0) })
  }

  @Test("cursors are told apart by side, values and inclusion")
  func cursors() throws {
    let ordered = try cities.ordered(by: "a").ordered(by: "b")
    expectApart([
      try ordered.starting(at: [1]), try ordered.starting(after: [1]), try ordered.ending(at: [1]),
      try ordered.ending(before: [1]), try ordered.starting(at: [1, 2]),
      try ordered.starting(at: ["1,2"]),
      try ordered.starting(at: [1]).ending(at: [1]), ordered, try ordered.first(1),
      try ordered.skipping(1), try ordered.first(1).skipping(1), try ordered.first(11),
    ])
  }
}
