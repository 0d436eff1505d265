import TernCore
import TernTestKit
import Testing

@testable import TernQuery

@Suite("Pages, cursors and limits of documents")
struct DocumentPagingTests {
  private static let values: [DocumentValue] = [
    .null, .double(.nan), 1, 1.0, 2, -0.0, 0, "a", "b", true, [1], ["a": 1], .bytes([1]),
  ]

  private func documents(using random: inout SeededGenerator) -> [Document] {
    (0..<30).map { index in
      var map = DocumentMap()
      for name in ["a", "b"] where random.roll(5) > 0 {
        map[name] = Self.values[random.roll(Self.values.count)]
      }
      let id = random.roll(4) == 0 ? "__id\(index)__" : "\(index)"
      return Document(DocumentKey(unchecked: "c/" + id), DocumentFields(map))
    }.shuffled(using: &random)
  }

  private func query(using random: inout SeededGenerator) throws -> DocumentQuery {
    var query = DocumentQuery.collection("c")
    if random.roll(3) == 0 { query = try query.where("a", .notEqual, .null) }
    if random.roll(4) == 0 { query = try query.where("b", .greaterThanOrEqual, 0) }
    for path: DocumentFieldPath in ["a", "b", .key].shuffled(using: &random).prefix(random.roll(3))
    {
      query = try query.ordered(by: path, isDescending: random.roll(2) == 0)
    }
    return query
  }

  private let database = DocumentDatabase(unchecked: "p")

  @Test("pages behind one another are the whole result", arguments: UInt64(1)...20)
  func pages(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let documents = documents(using: &random)
    let query = try query(using: &random)
    let whole = query.run(over: documents)
    let size = 1 + random.roll(7)
    var (rest, found): (DocumentQuery, [Document]) = (query, [])
    while true {
      let page = Array(rest.run(over: documents).prefix(size))
      guard let last = page.last else { break }
      found += page
      rest = try query.behind(last, after: found.count, in: database)
    }
    #expect(found.map(\.key) == whole.map(\.key), "\(query.id)")
  }

  @Test("a page behind a document keeps the limit of the whole", arguments: UInt64(1)...30)
  func limitedPages(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let documents = documents(using: &random)
    let query = try query(using: &random).first(1 + random.roll(12)).skipping(random.roll(5))
    let whole = query.run(over: documents)
    for count in 1..<max(1, whole.count) {
      let rest = try query.behind(whole[count - 1], after: count, in: database)
      #expect(rest.run(over: documents).map(\.key) == whole.dropFirst(count).map(\.key))
    }
  }

  @Test("a cursor at a document parts the result at it", arguments: UInt64(1)...20)
  func cursors(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let documents = documents(using: &random)
    let query = try query(using: &random)
    let keys = query.run(over: documents).map(\.key)
    for (index, key) in keys.enumerated() {
      let document = try #require(documents.first { $0.key == key })
      func found(_ query: DocumentQuery) -> [DocumentKey] { query.run(over: documents).map(\.key) }
      #expect(found(try query.starting(at: document, in: database)) == Array(keys[index...]))
      #expect(
        found(try query.starting(at: document, in: database, isInclusive: false))
          == Array(keys[(index + 1)...]))
      #expect(found(try query.ending(at: document, in: database)) == Array(keys[...index]))
      #expect(
        found(try query.ending(at: document, in: database, isInclusive: false))
          == Array(keys[..<index]))
    }
  }

  @Test("a target asks for the same documents, from its own front", arguments: UInt64(1)...20)
  func targets(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let documents = documents(using: &random)
    var query = try query(using: &random)
    let count = 1 + random.roll(10)
    let isLast = random.roll(2) == 0
    query = isLast ? try query.last(count) : try query.first(count)
    let asked = DocumentQuery(query.target).run(over: documents)
    let keys = query.run(over: documents).map(\.key)
    #expect(asked.map(\.key) == (isLast ? keys.reversed() : keys), "\(query.id)")
    #expect(DocumentQuery(query.target).target == query.target)
  }

  @Test(
    "the last documents are the end of the result, an offset at that end", arguments: UInt64(1)...15
  )
  func ends(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let documents = documents(using: &random)
    let query = try query(using: &random)
    let keys = query.run(over: documents).map(\.key)
    for count in 1...8 {
      let offset = random.roll(4)
      let first = try query.first(count).skipping(offset).run(over: documents).map(\.key)
      #expect(first == Array(keys.dropFirst(offset).prefix(count)))
      let last = try query.last(count).skipping(offset).run(over: documents).map(\.key)
      #expect(last == Array(keys.dropLast(offset).suffix(count)))
    }
  }

  @Test(
    "limits and offsets at their borders",
    arguments: [
      (-1, false, false), (0, false, true), (1, true, true), (1 << 31 - 1, true, true),
      (1 << 31, false, false),
    ])
  func counts(count: Int, isLimit: Bool, isOffset: Bool) {
    let query = DocumentQuery.collection("c")
    #expect(((try? query.first(count)) != nil) == isLimit)
    #expect(((try? query.last(count)) != nil) == isLimit)
    #expect(((try? query.skipping(count)) != nil) == isOffset)
  }

  @Test("cursors name as many values as there are orders, at most", arguments: 0...3)
  func cursorCounts(count: Int) throws {
    let query = try DocumentQuery.collection("c").ordered(by: "a").ordered(by: "b")
    let values = [DocumentValue](repeating: 1, count: count)
    if 1...2 ~= count {
      #expect(try query.starting(at: values).start?.values == values)
    } else {
      #expect(throws: DocumentQueryError.cursorCount(count, orders: 2)) {
        try query.starting(at: values)
      }
      #expect(throws: DocumentQueryError.cursorCount(count, orders: 2)) {
        try query.ending(before: values)
      }
    }
  }

  @Test("a document is no cursor without what the order names")
  func missing() throws {
    let query = try DocumentQuery.collection("c").ordered(by: "a")
    #expect(throws: DocumentQueryError.cursorDocumentMissing("c/d")) {
      try query.starting(at: Document("c/d", .missing), in: database)
    }
    #expect(throws: DocumentQueryError.cursorFieldMissing("a")) {
      try query.starting(at: Document("c/d", ["b": 1]), in: database)
    }
    let pending = DocumentValue.pendingTimestamp(.init(localWriteTime: .earliest, replacing: 1))
    #expect(throws: DocumentQueryError.cursorFieldPending("a")) {
      try query.ending(at: Document("c/d", ["a": pending]), in: database)
    }
    #expect(throws: DocumentQueryError.orderAfterCursor) {
      try query.starting(at: [1]).ordered(by: "b")
    }
    #expect(throws: DocumentQueryError.pendingOperand) { try query.ending(at: [pending]) }
  }
}
