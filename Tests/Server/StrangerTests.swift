import TernCore
import TernLedger
import TernSecurity
import TernStorage
import TernTreeWire
import Testing

@testable import TernServer

@Suite("Rejected writes of strangers") struct StrangerTests {
  private func mark(
    _ sequence: UInt64, known: UInt64? = nil, stream: UInt128? = nil
  ) -> WriteHeader {
    WriteHeader(WriteIdempotencyKey(stream: stream, sequence: sequence), acknowledged: known)
  }

  private func rowCount(_ bench: MachineBench) throws -> Int {
    try bench.store.read { snapshot throws(StorageError) in try snapshot.scan().count }
  }

  @Test("twenty thousand of them, each under a number of its own, leave nothing in the store")
  func nothingStays() throws {
    let bench = try MachineBench(authorizer: NoSecrets())
    try bench.open(1)
    let before = try rowCount(bench)
    var stream: UInt128 = 100
    for _ in 0..<40 {
      var inputs: [ServerInput] = []
      for _ in 0..<500 {
        stream += 1
        inputs.append(
          bench.frame(1, try bench.put("secret", json("1"), mark(1, stream: stream))))
      }
      try bench.run(inputs)
      let answers = bench.take(1).compactMap(\.response)
      #expect(answers.count == 500 && answers.allSatisfy { $0.status == .permissionDenied })
    }
    #expect(try rowCount(bench) == before)
    #expect(bench.lastCommits.isEmpty)
  }

  @Test("are numbered all the same: what follows is no gap, and they have outcomes from then on")
  func numbered() throws {
    let bench = try MachineBench(authorizer: NoSecrets())
    try bench.open(1, stream: 9)
    // None of them knows of the answers to those before.
    let answers = try bench.ask(
      1, bench.put("secret", json("1"), mark(1)), bench.put("secret/a", json("1"), mark(2)),
      bench.put("b", json("1"), mark(3)), bench.put("secret", json("2"), mark(4)),
      bench.put("c", json("1"), mark(5)))
    #expect(
      answers.compactMap(\.response?.status)
        == [.permissionDenied, .permissionDenied, .ok, .permissionDenied, .ok])
    let second = try MachineBench(store: bench.store, authorizer: NoSecrets())
    #expect(try second.open(1, stream: 9).lastSequence == 5)
    let outcomes = try second.response(1, .outcomes(stream: nil, first: 1, last: 9))?.outcomes()
    let statuses: [TreeStatus] = [
      .permissionDenied, .permissionDenied, .ok, .permissionDenied, .ok,
    ]
    #expect(outcomes?.map(\.status) == statuses)
  }

  @Test("are rejected afresh when they come again, over this connection or another one")
  func again() throws {
    let bench = try MachineBench(authorizer: NoSecrets())
    try bench.open(1, stream: 9)
    for _ in 0..<2 {
      let answers = try bench.ask(
        1, bench.put("secret", json("1"), mark(1)), bench.put("secret", json("2"), mark(2)))
      #expect(
        answers.compactMap(\.response?.status) == [.permissionDenied, .permissionDenied])
    }
    // Both answers are known to the client, which goes on behind them, on the next connection.
    try bench.run([.closed(slot: 1)])
    #expect(try bench.open(2, stream: 9).lastSequence == 0)
    let next = try bench.put("b", json("1"), mark(3, known: 2))
    #expect(try bench.response(2, next)?.status == .ok)
    #expect(try bench.response(2, next) == TreeResponse(.ok, version: 1))
    // Or one of the answers was lost: what is not known is sent again, in order.
    try bench.open(3, stream: 10)
    #expect(
      try bench.response(3, bench.put("secret", json("1"), mark(1)))?.status == .permissionDenied)
    try bench.run([.closed(slot: 3)])
    try bench.open(4, stream: 10)
    let rest = try bench.ask(
      4, bench.put("secret", json("1"), mark(1)), bench.put("c", json("1"), mark(2)))
    #expect(rest.compactMap(\.response?.status) == [.permissionDenied, .ok])
  }

  @Test("more than are kept in between cost no accepted write its number")
  func many() throws {
    let bench = try MachineBench(authorizer: NoSecrets())
    try bench.open(1, stream: 9)
    for sequence in UInt64(1)...100 {
      let answer = try bench.response(1, bench.put("secret", json("1"), mark(sequence)))
      #expect(answer?.status == .permissionDenied)
    }
    let one = TreeNode(.serverValue(.increment(.integer(1))))
    for _ in 0..<2 {
      #expect(try bench.response(1, bench.put("n", one, mark(101)))?.status == .ok)
    }
    #expect(try bench.get(1, "n") == json("1"))
    #expect(try bench.response(1, bench.put("n", one, mark(100)))?.status == .failed)
    #expect(try bench.get(1, "n") == json("1"))
  }
}
