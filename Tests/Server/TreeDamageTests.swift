import TernCore
import TernLedger
import TernQuery
import TernStorage
import TernTreeWire
import Testing

@testable import TernServer

@Suite("Damaged rows of a tree")
struct TreeDamageTests {
  private let folder = ServerStore.Folder()

  /// A server whose rows below `bad` cannot be read, and two clients of it.
  private func bench(_ kind: ServerStore) throws -> (MachineBench, DamagedStore) {
    let store = DamagedStore(try kind.open(in: folder))
    let bench = try MachineBench(store: store, ledgerOptions: LedgerOptions(journalRows: 0))
    for slot in 1...2 { try bench.open(slot, stream: UInt128(slot)) }
    try bench.ask(1, bench.put("good/n", 1), bench.put("bad/n", 1), bench.put("bad/m/x", 1))
    let name = Array("bad".utf8)
    let count = try store.damage { key in
      key.indices.contains { key[$0...].starts(with: name) }
    }
    #expect(count > 0)
    return (bench, store)
  }

  private func statuses(_ bench: MachineBench, _ slot: Int) -> [TreeStatus] {
    bench.take(slot).compactMap { $0.response?.status }
  }

  @Test(
    "the write that meets damage is refused, and those beside it are made",
    arguments: ServerStore.allCases)
  func batch(kind: ServerStore) throws {
    let (bench, store) = try bench(kind)
    defer { store.close() }
    let stamp = { (sequence: UInt64) in WriteHeader(WriteIdempotencyKey(sequence: sequence)) }
    let increment = json(#"{".sv":{"increment":1}}"#)
    try bench.run([
      bench.frame(1, try bench.put("good/n", increment, stamp(1))),
      bench.frame(1, try bench.put("bad/n", increment, stamp(2))),
      bench.frame(1, try bench.put("good/n", increment, stamp(3))),
      bench.frame(2, try bench.put("good/n", increment, stamp(1))),
      // The first part could be made; it is not, for both are one write.
      bench.frame(2, try bench.merge("/", [("good/k", 1), ("bad/n", increment)])),
    ])
    #expect(statuses(bench, 1) == [.ok, .failed, .ok])
    #expect(statuses(bench, 2) == [.ok, .failed])
    #expect(try bench.get(1, "good") == ["n": 4])
    // A repeat is told the same, also when the rows can be read again.
    store.mend()
    try bench.ask(1, bench.put("bad/n", increment, stamp(2)))
    #expect(try bench.response(1, bench.put("bad/n", increment, stamp(2)))?.status == .failed)
    #expect(try bench.get(1, "bad/n") == TreeNode(.integer(1)))
  }
}
