import Testing

@testable import TernClient

@Suite("The list of writes")
struct WriteListTests {
  private struct Item: Identifiable, Equatable, Sendable {
    let id: UInt64
    var text: String
  }

  @Test("is the sorted list of what was put in, whatever the order", arguments: 1...8)
  func model(seed: UInt64) {
    var state = seed
    func next(_ bound: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % bound
    }
    var list = WriteList<Item>()
    var model: [UInt64: Item] = [:]
    for step in 0..<4_000 {
      let id = next(2) == 0 ? UInt64(step) : next(4_000)
      let item = next(4) == 0 ? nil : Item(id: id, text: "\(step)")
      list[id: id] = item
      model[id] = item
      #expect(list[id: id] == item)
      if step % 500 == 0 {
        let shared = list
        list[id: 5_000] = Item(id: 5_000, text: "new")
        #expect(shared[id: 5_000] == nil && shared.count + 1 == list.count)
        list[id: 5_000] = nil
        #expect(shared == list)
      }
    }
    let sorted = model.values.sorted { $0.id < $1.id }
    #expect(list.count == sorted.count && list.elementsEqual(sorted))
    #expect(list.reversed().elementsEqual(sorted.reversed()))
    for id in model.keys { list[id: id] = nil }
    #expect(list.isEmpty && list.startIndex == list.endIndex)
  }

  @Test("a queue of a hundred thousand is filled and emptied in the order of its ids")
  func queue() {
    var list = WriteList<Item>()
    for id in 1...100_000 as ClosedRange<UInt64> { list[id: id] = Item(id: id, text: "") }
    var seen: WriteList<Item>?
    for id in 1...100_000 as ClosedRange<UInt64> {
      // The test looks at each of them.
      seen = list
      list[id: id] = nil
    }
    #expect(list.isEmpty && seen?.first?.id == 100_000)
  }
}
