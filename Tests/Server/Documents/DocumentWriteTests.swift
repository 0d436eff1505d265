import TernCore
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import Testing

@testable import TernServer

@Suite("Writing documents")
struct DocumentWriteTests {
  private func mark(_ sequence: UInt64, known: UInt64 = 0) -> DocumentWriteHeader {
    DocumentWriteHeader(sequence: sequence, acknowledged: known)
  }

  private func addOne(_ key: DocumentKey) -> DocumentMutation {
    DocumentMutation(
      key, .patch(.empty, mask: .empty),
      transforms: [DocumentFieldTransform("n", .increment(.integer(1)))])
  }

  private func number(_ bench: DocumentBench, _ call: UInt32) throws -> DocumentValue? {
    let answer = try bench.ask(1, call, .get("a/n", mask: nil, .now))
    guard case .success(let responses) = answer, case .document(let found)? = responses.first else {
      return nil
    }
    return found.fields?["n"]
  }

  @Test("a stream of a foreign client acknowledges in order, and ends at a refusal")
  func foreign() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    #expect(try bench.openWrites(1, 1) == nil)
    let first = try bench.write(1, 1, [bench.set("a/b", ["x": 1]), bench.set("a/c", [:])])
    guard case .committed(let version, let results)? = first else {
      Issue.record("\(String(describing: first))")
      return
    }
    #expect(results.map(\.version) == [version, version])
    let exists = DocumentMutation("a/b", .set(.empty), precondition: .exists(false))
    try bench.say(1, 1, .write(DocumentWriteRequest(.writes([exists], nil), token: [1])))
    #expect(bench.end(1, 1)??.code == .alreadyExists)
    // Later messages of the call are ignored.
    try bench.say(1, 1, .write(DocumentWriteRequest(.writes([], nil), token: [1])))
    #expect(bench.take(1).isEmpty)
    #expect(bench.closed.isEmpty)
  }

  @Test("a repeated batch gets the first answer and is not applied again")
  func exactlyOnce() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    #expect(try bench.openWrites(1, 1, stream: 9) == 0)
    let first = try bench.write(1, 1, [addOne("a/n")], mark(1))
    guard case .outcome(let outcome)? = first,
      case .committed(let version, let results) = outcome.verdict
    else {
      Issue.record("\(String(describing: first))")
      return
    }
    #expect(results == [DocumentWriteResult(version: version, transformResults: [1])])
    #expect(try bench.write(1, 1, [addOne("a/n")], mark(1)) == first)
    #expect(bench.lastCommits.isEmpty)
    // Over another link, after a restart of the server, and asked for by number.
    let second = try DocumentBench(store: bench.store, seed: 7)
    second.now = bench.now + 5
    try second.link(1)
    #expect(try second.openWrites(1, 1, stream: 9) == 1)
    #expect(try second.write(1, 1, [addOne("a/n")], mark(1)) == first)
    #expect(try number(second, 2) == 1)
    try second.say(1, 1, .write(DocumentWriteRequest(.outcomes(1...5), token: [1])))
    #expect(
      second.responses(1, 1)
        == [
          .write(
            DocumentWriteResponse(
              .outcomes([outcome]), token: [0, 0, 0, 0, 0, 0, 0, 3]))
        ])
    // Known outcomes are forgotten.
    _ = try second.write(1, 1, [addOne("a/n")], mark(2, known: 1))
    #expect(try number(second, 3) == 2)
    guard case .outcome(let forgotten)? = try second.write(1, 1, [addOne("a/n")], mark(1)),
      case .rejected(let status) = forgotten.verdict
    else {
      Issue.record("an outcome that is known to its writer is forgotten")
      return
    }
    #expect(status.code == .dataLoss)
    #expect(try number(second, 4) == 2)
  }

  @Test("a rejection is an outcome, sent in the stream, which goes on")
  func refusals() throws {
    let bench = try DocumentBench(authorizer: NoSecretDocuments())
    try bench.link(1)
    try bench.openWrites(1, 1, stream: 9)
    let secret = bench.set("secret/x", [:])
    let refused = DocumentWriteOutcome(
      1, .rejected(DocumentStatus(.permissionDenied, "Missing or insufficient permissions.")))
    #expect(try bench.write(1, 1, [bench.set("a/b", [:]), secret], mark(1)) == .outcome(refused))
    #expect(try bench.write(1, 1, [bench.set("a/b", [:]), secret], mark(1)) == .outcome(refused))
    guard case .outcome(let next)? = try bench.write(1, 1, [bench.set("a/c", [:])], mark(2)),
      case .committed = next.verdict
    else {
      Issue.record("the stream goes on")
      return
    }
    let batch = try bench.ask(1, 2, .batchGet(["a/b", "a/c"], mask: nil, .now))
    #expect(try batch.get().map(isFound) == [false, true])
  }

  private func isFound(_ response: DocumentResponse) -> Bool {
    if case .batchGet(let answer) = response { return answer.document?.isFound ?? false }
    return false
  }

  @Test("gaps and other batches under one number are distinguished")
  func misuse() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    try bench.openWrites(1, 1, stream: 9)
    #expect(
      try bench.write(1, 1, [addOne("a/n")], mark(2))
        == .outcome(DocumentWriteOutcome(2, .gap(expected: 1))))
    _ = try bench.write(1, 1, [addOne("a/n")], mark(1))
    guard case .outcome(let other)? = try bench.write(1, 1, [addOne("a/m")], mark(1)),
      case .rejected(let status) = other.verdict
    else {
      Issue.record("another batch is refused")
      return
    }
    #expect(status.code == .invalidArgument)
    #expect(try number(bench, 2) == 1)
  }

  @Test("results that are too large for the ledger lose what can be worked out first")
  func largeResults() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    try bench.openWrites(1, 1, stream: 9)
    let writes = (0..<200).map { addOne(DocumentKey(unchecked: "a/n\($0)")) }
    let first = try bench.write(1, 1, writes, mark(1))
    let again = try bench.write(1, 1, writes, mark(1))
    guard case .outcome(let one)? = first, case .outcome(let two)? = again,
      case .committed(let version, let results) = one.verdict,
      case .committed(let sameVersion, let lessResults) = two.verdict
    else {
      Issue.record("both are answered")
      return
    }
    #expect(version == sameVersion)
    #expect(results.allSatisfy { $0.transformResults == [1] })
    #expect(lessResults.map(\.version) == results.map(\.version))
    #expect(lessResults.allSatisfy { $0.transformResults.isEmpty })
    #expect(bench.lastCommits.isEmpty)
  }

  @Test("outcomes are read back as they were")
  func outcomes() {
    let version = DocumentVersion(microseconds: 77)
    let outcomes: [DocumentOutcome] = [
      .rejected(DocumentStatus(.aborted, "é")), .committed(version, []),
      .committed(
        version,
        [
          DocumentWriteResult(version: nil), DocumentWriteResult(version: version),
          DocumentWriteResult(
            version: DocumentVersion(microseconds: 5), transformResults: [.null, "x"]),
        ]),
    ]
    for outcome in outcomes { #expect(DocumentOutcome(outcome.encode()) == outcome) }
    let long = DocumentOutcome.rejected(
      DocumentStatus(.invalidArgument, String(repeating: "é", count: 5_000)))
    #expect(long.encode().count <= LedgerLimits.outcomeBytes)
    #expect(DocumentOutcome(long.encode()) != nil)
    let many = DocumentOutcome.committed(
      version, Array(repeating: DocumentWriteResult(version: version), count: 5_000))
    #expect(DocumentOutcome(many.encode()) == many)
    // A count of writes that no request has.
    let absurd = [0xD3] + [UInt8](repeating: 0, count: 8) + [0xFF, 0xFF, 0xFF, 0xFF, 0x07]
    for bytes in [[], [0], [0xD1], [0xD4, 99, 0], [0xD1, 1, 2], absurd] as [[UInt8]] {
      #expect(DocumentOutcome(bytes) == nil)
    }
  }

  @Test("a write before its handshake, and a second handshake, end the stream")
  func outOfTurn() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    try bench.send(1, .open(stream: 1, DocumentCallOpening(.write)))
    try bench.say(1, 1, .write(DocumentWriteRequest(.writes([bench.set("a/b", [:])], nil))))
    #expect(bench.end(1, 1)??.code == .invalidArgument)
    try bench.openWrites(1, 2)
    try bench.say(1, 2, .write(DocumentWriteRequest(.handshake(stream: nil))))
    #expect(bench.end(1, 2)??.code == .invalidArgument)
  }

  @Test("a numbered commit outside of a stream happens once as well")
  func numberedCommit() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    let mark = DocumentWriteHeader(stream: 5, sequence: 1)
    let first = try bench.ask(1, 1, .commit([addOne("a/n")], transaction: [], mark))
    let again = try bench.ask(1, 2, .commit([addOne("a/n")], transaction: [], mark))
    #expect(try first.get() == again.get())
    #expect(try number(bench, 3) == 1)
    let gap = DocumentWriteHeader(stream: 5, sequence: 9)
    let late = try bench.ask(1, 4, .commit([addOne("a/n")], transaction: [], gap))
    #expect(throws: DocumentStatus(.outOfRange, "The next number of the stream is 2.")) {
      try late.get()
    }
  }
}

/// Denies everything about documents below `secret`.
struct NoSecretDocuments: DocumentAuthorizer {
  func allows(
    _ access: DocumentAccess, by requester: Requester, now: Int64,
    documents: (DocumentKey) -> Document
  ) -> Bool {
    switch access {
    case .get(let document): document.key.collection.text != "secret"
    case .list(let query): query.collectionID != "secret"
    case .listCollections: false
    case .privileged: true
    case .write(let write): write.before.key.collection.text != "secret"
    }
  }
}
