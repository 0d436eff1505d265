import TernCore
import TernQuery
import TernTestKit
import Testing

@testable import TernDocumentWire

@Suite("Orders as text")
struct OrderTextTests {
  private func read(_ text: String) throws(DocumentWireError) -> [DocumentOrder] {
    try DocumentOrder.list(text)
  }

  @Test(
    "orders are read",
    arguments: [
      ("", []), ("a", [DocumentOrder("a")]), ("a desc", [DocumentOrder("a", isDescending: true)]),
      ("a asc, b.c DESC", [DocumentOrder("a"), DocumentOrder("b.c", isDescending: true)]),
      ("  a   Desc ,__name__", [DocumentOrder("a", isDescending: true), DocumentOrder(.key)]),
      ("`x y`", [DocumentOrder(DocumentFieldPath(unchecked: ["x y"]))]),
      (
        "`x,y` desc,b",
        [
          DocumentOrder(DocumentFieldPath(unchecked: ["x,y"]), isDescending: true),
          DocumentOrder("b"),
        ]
      ),
      (#"`a\`, b`.c"#, [DocumentOrder(DocumentFieldPath(unchecked: ["a`, b", "c"]))]),
    ] as [(String, [DocumentOrder])])
  func orders(text: String, expected: [DocumentOrder]) throws {
    #expect(try read(text) == expected)
  }

  @Test("names of any characters come back", arguments: UInt64(1)...20)
  func roundTrips(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let names = ["a", "x y", "x,y", "`", "\\", "a desc", ",", " ", "\u{E9}", "1", "a.b", "desc"]
    for _ in 0..<30 {
      var orders: [DocumentOrder] = []
      for _ in 0..<random.roll(4) {
        let names = (0...random.roll(2)).map { _ in names[random.roll(names.count)] }
        let path = DocumentFieldPath(unchecked: names)
        let isDescending = random.roll(2) == 0
        if orders.contains(where: { $0.path == path }) { continue }
        orders.append(DocumentOrder(path, isDescending: isDescending))
      }
      #expect(try read(DocumentOrder.text(orders)) == orders, "\(DocumentOrder.text(orders))")
      let listing = DocumentListing(parent: nil, collectionID: "c", orders: orders)
      let request = DocumentRequest(.list(listing), in: sampleDatabase)
      #expect(try DocumentRequest.decode(.listDocuments, request.encode()) == request)
    }
  }

  @Test(
    "texts that are no orders",
    arguments: [
      " ", "a, ", "a b", "a desc asc", "desc desc desc", "a..b", "1a", "`a",
      "a descending", "a, b, a desc", "__name__, a", "`__x__`",
    ])
  func malformed(text: String) {
    #expect(throws: DocumentWireError.self) { try read(text) }
  }
}
