import TernTestKit
import Testing

@testable import TernSync

@Suite("Listens and what the server knows of them")
struct ListenTableTests {
  /// One listen as the model has it, in the order in which they were started.
  private struct Wanted {
    let target: Int
    var state: ListenTable<Int>.State
  }

  @Test("every listen is where its last event has put it", arguments: UInt64(1)...40)
  func model(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var table = ListenTable<Int>()
    var wanted: [Wanted] = []
    var request: UInt64 = 0
    for _ in 0..<200 {
      let target = random.roll(5)
      let index = wanted.firstIndex { $0.target == target }
      // Answers come to any request, also to those whose listen was stopped since.
      let answered = request == 0 ? 0 : UInt64(random.roll(Int(request)) + 1)
      let asked = wanted.firstIndex { $0.state == .sent(request: answered) }
      switch random.roll(7) {
      case 0, 1:
        table.start(target)
        if index == nil { wanted.append(Wanted(target: target, state: .waiting)) }
      case 2:
        let mustTell = index.map { wanted[$0].state != .waiting } ?? false
        #expect(table.stop(target) == mustTell)
        if let index { wanted.remove(at: index) }
      case 3:
        guard let index, wanted[index].state == .waiting else { continue }
        request += 1
        table.sent(target, request: request)
        wanted[index].state = .sent(request: request)
      case 4:
        #expect(table.answered(answered) == asked.map { wanted[$0].target })
        if let asked { wanted[asked].state = .active }
      case 5:
        #expect(table.postponed(answered) == (asked != nil))
        if let asked { wanted[asked].state = .waiting }
      default:
        guard random.roll(4) == 0 else { continue }
        table.disconnected()
        for index in wanted.indices { wanted[index].state = .waiting }
      }
      #expect(table.inOrder == wanted.map(\.target), "seed \(seed)")
      for target in 0..<5 {
        #expect(table.state(of: target) == wanted.first { $0.target == target }?.state)
      }
    }
  }
}
