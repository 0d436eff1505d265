import TernCore
import TernSync
import TernTransactions
import TernTreeReplica
import Testing

@testable import TernClient

@Suite("The table of transactions")
struct TransactionTableTests {
  private func transaction(_ number: UInt64, at path: TreePath) -> TreeTransaction {
    TreeTransaction(
      id: OperationID(number), path: path, update: { $0 }, appliesLocally: true,
      listener: RegistrationID(number), declared: nil, write: WriteID(number), input: .empty,
      output: .empty)
  }

  @Test("a new transaction behind one on its way looks at that one alone")
  func behindSent() {
    var list = (1...1_000).map { transaction($0, at: "n") }
    list[0].progress.send()
    var seen = 0
    let counted = list.lazy.map { item in
      seen += 1
      return item
    }
    #expect(counted.runnable(at: "n").map(\.count) == nil)
    #expect(seen == 1)
    #expect(list.runnable(at: "m").map(\.count) == 0)
    #expect(list.dropFirst().runnable(at: "")?.count == 999)
  }

  @Test("a transaction is found by its id in steps that grow with the logarithm")
  func lookup() {
    var table = TransactionTable()
    for number in 1...1_000 as ClosedRange<UInt64> where number % 3 != 0 {
      table.list.append(transaction(number, at: "n"))
    }
    for number in 0...1_001 as ClosedRange<UInt64> {
      let expected = table.list.firstIndex { $0.id.number == number }
      #expect(table.index(of: OperationID(number)) == expected)
    }
    var steps = 0
    let count = Array(0..<1_000).sortedPrefixCount { item in
      steps += 1
      return item < 700
    }
    #expect(count == 700 && steps <= 10)
  }
}
