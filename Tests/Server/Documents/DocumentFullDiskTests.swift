import TernCore
import TernDocumentAuthority
import TernDocumentWire
import Testing

@testable import TernServer

@Suite("Documents on a full disk") struct DocumentFullDiskTests {
  private let full = DocumentStatus(
    .resourceExhausted,
    "The server's disk is full. Nothing is stored until it has room again.")
  private let add = DocumentMutation("c/a", .set(["x": .integer(1)]))
  private let delete = DocumentMutation("c/a", .delete)

  @Test("a numbered batch has no outcome: its stream ends, and the batch comes again")
  func numbered() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    try bench.openWrites(1, 1, stream: 7)
    guard case .outcome(let made)? = try bench.write(1, 1, [add], DocumentWriteHeader(sequence: 1))
    else { return #expect(Bool(false), "it is stored") }

    bench.lackSpace(.removals)
    // What was stored is told again, also now.
    #expect(try bench.write(1, 1, [add], DocumentWriteHeader(sequence: 1)) == .outcome(made))
    let second = DocumentWriteRequest(.writes([add, add], DocumentWriteHeader(sequence: 2)))
    try bench.say(1, 1, .write(second))
    #expect(bench.end(1, 1) == .some(full))
    #expect(bench.lastCommits.isEmpty)

    try bench.run([.room])
    #expect(try bench.openWrites(1, 2, stream: 7) == 1)
    let mark = DocumentWriteHeader(sequence: 2)
    guard case .outcome(let later)? = try bench.write(1, 2, [add, add], mark),
      case .committed = later.verdict
    else { return #expect(Bool(false), "it is stored") }
  }

  @Test("calls are rejected with a reason, and what only deletes is done")
  func calls() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    #expect(throws: Never.self) { try bench.ask(1, 1, .commit([add], transaction: [], nil)).get() }
    bench.lackSpace(.removals)
    #expect(try bench.ask(1, 2, .commit([add], transaction: [], nil)) == .failure(full))
    let mark = DocumentWriteHeader(stream: 9, sequence: 1)
    #expect(try bench.ask(1, 3, .commit([add], transaction: [], mark)) == .failure(full))
    #expect(throws: Never.self) { try bench.ask(1, 4, .get("c/a", mask: nil, .now)).get() }
    #expect(throws: Never.self) {
      try bench.ask(1, 5, .commit([delete], transaction: [], nil)).get()
    }
    bench.lackSpace(.none)
    #expect(try bench.ask(1, 6, .commit([delete], transaction: [], nil)) == .failure(full))
  }

  @Test("a link that is ended gets the reason in each of its calls")
  func farewell() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    try bench.openWrites(1, 1, stream: 7)
    let status = DocumentStatus(.unavailable, "the server's disk is full")
    #expect(
      bench.machine.sessions.farewells(.serverStopped("the server's disk is full"))
        == [.send(slot: 1, DocumentServerFrame.end(stream: 1, status).encode())])
  }
}
