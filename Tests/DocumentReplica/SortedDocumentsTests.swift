import TernCore
import TernDocumentReplica
import TernQuery
import TernTestKit
import Testing

@Suite("Sorted documents")
struct SortedDocumentsTests {
  private let query = DocumentQuery.collection(CollectionPath(unchecked: "cities"))

  private func city(_ number: Int, rank: Int64) -> Document {
    Document(
      DocumentKey(unchecked: "cities/\(number)"),
      .found(["rank": .integer(rank)]), version: DocumentVersion(microseconds: 1))
  }

  @Test("positions agree with a sorted array, whatever is put in and taken out")
  func positions() throws {
    let sorted = try query.ordered(by: DocumentFieldPath(dotted: "rank"))
    let ordering = DocumentOrdering(sorted.normalizedOrders)
    var dice = SeededGenerator(seed: 7)
    var documents = SortedDocuments(ordering)
    var model: [Document] = []
    for step in 0..<3_000 {
      if !model.isEmpty, dice.next() % 3 == 0 {
        let index = Int(dice.next() % UInt64(model.count))
        #expect(documents.position(of: model[index]) == index)
        #expect(documents.remove(model[index]) == index)
        #expect(documents.remove(model[index]) == nil)
        model.remove(at: index)
      } else {
        let new = city(step, rank: Int64(dice.next() % 50))
        let index = model.firstIndex { ordering.compare(new, $0) < 0 } ?? model.count
        #expect(documents.insert(new) == index)
        model.insert(new, at: index)
      }
      #expect(documents.count == model.count)
      #expect(documents.first == model.first)
      #expect(documents.last == model.last)
    }
    #expect(Array(documents) == model)
    #expect(documents.indices.map { documents[$0] } == model)
    #expect(Array(SortedDocuments(ordering, sorting: model.shuffled(using: &dice))) == model)
  }

  @Test("a copy keeps what it held")
  func copies() throws {
    let ordering = DocumentOrdering(query.normalizedOrders)
    var documents = SortedDocuments(ordering, sorting: (0..<500).map { city($0, rank: 0) })
    let copy = documents
    for number in 0..<250 { documents.remove(city(number, rank: 0)) }
    #expect(documents.count == 250)
    #expect(Array(copy).count == 500)
    #expect(copy.position(of: city(0, rank: 0)) == 0)
  }
}
