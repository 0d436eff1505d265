import TernCore
import TernTestKit
import Testing

@testable import TernQuery

@Suite("Document results")
struct DocumentResultTests {
  @Test("sums stay whole until they overflow, skip what is no number, and spread NaN")
  func aggregations() throws {
    func compute(_ values: [DocumentValue]) -> [DocumentValue] {
      let documents = values.enumerated().map { index, value in
        Document(DocumentKey(unchecked: "c/\(index)"), ["f": value])
      }
      let wanted: [DocumentAggregation] = [
        .init("n", .count(upTo: nil)), .init("s", .sum("f")), .init("a", .average("f")),
        .init("m", .count(upTo: 1)),
      ]
      return DocumentAggregation.compute(wanted, over: documents)
    }
    #expect(compute([]) == [0, 0, .null, 0])
    #expect(compute([1, 2, "x"]) == [3, 3, 1.5, 1])
    #expect(compute([1, 0.5]) == [2, 1.5, 0.75, 1])
    #expect(compute([.integer(.max), 1]) == [2, 0x1p63, 0x1p62, 1])
    #expect(compute([1, .double(.nan)]) == [2, .double(.nan), .double(.nan), 1])
    // Whether a sum fits depends on nothing but the sum.
    #expect(compute([.integer(.max), 1, -1])[1] == .integer(.max))
    #expect(compute([.integer(.min), -1, .integer(.max), 2])[1] == 0)
    #expect(compute([.integer(.max), .integer(.max), 2])[1] == 0x1p64)
    #expect(compute([.integer(.min), .integer(.min)]) == [2, -0x1p64, -0x1p63, 1])
    #expect(compute([.integer(.max), 1, 0.5, -1])[1] == 0x1p63)
  }

  @Test("one to five aggregations of different names are allowed")
  func aggregationLimits() {
    let one = DocumentAggregation("a", .count(upTo: nil))
    #expect(throws: DocumentQueryError.aggregationCount(0, limit: 5)) {
      try DocumentAggregation.check([])
    }
    #expect(throws: DocumentQueryError.aliasRepeated("a")) {
      try DocumentAggregation.check([one, one])
    }
    #expect(throws: DocumentQueryError.countLimitOutOfRange(0)) {
      try DocumentAggregation.check([.init("a", .count(upTo: 0))])
    }
  }

  @Test("changes come as removals, additions and modifications, in query order")
  func order() throws {
    let query = try DocumentQuery.collection("c").ordered(by: "n")
    let old = [Document("c/a", ["n": 1]), Document("c/b", ["n": 2]), Document("c/c", ["n": 3])]
    let new = [Document("c/c", ["n": 0]), Document("c/d", ["n": 1]), Document("c/b", ["n": 2])]
    let changes = DocumentViewChange.changes(from: old, to: new, of: query)
    #expect(changes.map(\.kind) == [.removed, .added, .modified])
    #expect(changes.map(\.oldIndex) == [0, nil, 2])
    #expect(changes.map(\.newIndex) == [nil, 0, 0])
  }

  @Test("a change of pending writes alone is a change of metadata; of the version alone, none")
  func metadata() {
    let query = DocumentQuery.collection("c")
    let old = Document("c/a", ["n": 1])
    var pending = old
    pending.localWrites = .pending
    var newer = old
    newer.version = DocumentVersion(microseconds: 9)
    #expect(
      DocumentViewChange.changes(from: [old], to: [pending], of: query).map(\.kind) == [.metadata])
    #expect(DocumentViewChange.changes(from: [old], to: [newer], of: query).isEmpty)
  }

  @Test("changes applied in order give the new result", arguments: 1...100 as ClosedRange<UInt64>)
  func replay(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let query = try DocumentQuery.collection("c").ordered(by: "n", isDescending: seed % 2 == 0)
    func randomResult() -> [Document] {
      let documents = (0..<12).map { index in
        Document(
          DocumentKey(unchecked: "c/\(index)"), ["n": .integer(.random(in: 0...5, using: &random))])
      }
      return query.run(over: documents.filter { _ in Bool.random(using: &random) })
    }
    let (old, new) = (randomResult(), randomResult())
    var list = old
    for change in DocumentViewChange.changes(from: old, to: new, of: query) {
      if let index = change.oldIndex {
        #expect(list[index].key == change.document.key, "seed \(seed)")
        list.remove(at: index)
      }
      if let index = change.newIndex { list.insert(change.document, at: index) }
    }
    #expect(list == new, "seed \(seed)")
  }
}
