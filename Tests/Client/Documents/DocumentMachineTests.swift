import TernClient
import TernCore
import TernDocumentReplica
import TernDocumentWire
import TernQuery
import TernStorageMemory
import TernSync
import Testing

@Suite("Machine of documents")
struct DocumentMachineTests {
  private let all = DocumentQuery.collection(CollectionPath(unchecked: "a"))

  /// The numbers of the batches that were sent.
  private func numbers(_ bench: DocumentBench) -> [UInt64] {
    bench.writes.compactMap { request in
      if case .writes(_, let mark?) = request.content { mark.sequence } else { nil }
    }
  }

  private func committed(_ sequence: UInt64, at version: Int64) -> DocumentWriteResponse.Content {
    let version = DocumentVersion(microseconds: version)
    return .outcome(
      DocumentWriteOutcome(
        sequence, .committed(version, [DocumentWriteResult(version: version)])))
  }

  @Test("a write is greeted, numbered, answered, and leaves the queue")
  func plainWrite() throws {
    var bench = try DocumentBench()
    bench.set("1", 1)
    #expect(bench.stored == [1])
    #expect(bench.writes.map(\.content) == [.handshake(stream: 7)])
    bench.answer(.handshake(id: "s", lastSequence: 0))
    #expect(numbers(bench) == [1])
    #expect(bench.writes.last?.token == [9])
    #expect(bench.queue.count == 1)
    bench.answer(committed(1, at: 50))
    #expect(bench.settled == ["1 nil"])
    #expect(bench.queue.count == 0)
  }

  @Test("nothing is sent that is not durable")
  func durableFirst() throws {
    var bench = try DocumentBench()
    bench.diskAnswers = false
    bench.set("1", 1)
    bench.answer(.handshake(id: "s", lastSequence: 0))
    #expect(numbers(bench) == [])
    bench.releaseDisk()
    #expect(numbers(bench) == [1])
  }

  @Test("an answer that was lost is asked for, and nothing is applied twice")
  func lostAnswer() throws {
    var bench = try DocumentBench()
    bench.set("1", 1)
    bench.set("2", 2)
    bench.set("3", 3)
    bench.answer(.handshake(id: "s", lastSequence: 0))
    #expect(numbers(bench) == [1, 2, 3])
    bench.breakLink()
    bench.fire(.connection(.retry))
    #expect(bench.writes.map(\.content) == [.handshake(stream: 7)])
    bench.answer(.handshake(id: "s", lastSequence: 2))
    #expect(bench.writes.last?.content == .outcomes(1...2))
    let version = DocumentVersion(microseconds: 50)
    bench.answer(
      .outcomes([
        DocumentWriteOutcome(1, .committed(version, [DocumentWriteResult(version: version)])),
        DocumentWriteOutcome(2, .rejected(DocumentStatus(.permissionDenied, "no"))),
      ]))
    #expect(
      bench.settled == ["1 nil", "2 Optional(TernCore.DocumentStatus.Code.permissionDenied)"])
    #expect(numbers(bench) == [3])
    // The refused one stays on the device, with its reason.
    #expect(try bench.queue.rejected().map(\.id) == [2])
  }

  @Test("a rejection is told once the device keeps it, and takes back at once what showed")
  func durableRejection() throws {
    var bench = try DocumentBench()
    bench.run { _ = $0.listen(self.all, options: DocumentListenOptions(includesMetadata: true)) }
    bench.set("1", 1)
    bench.answer(.handshake(id: "s", lastSequence: 0))
    bench.diskAnswers = false
    let denial = DocumentStatus(.permissionDenied, "no")
    bench.answer(.outcome(DocumentWriteOutcome(1, .rejected(denial))))
    #expect(bench.snapshots.last?.documents.isEmpty == true)
    #expect(bench.settled.isEmpty, "a crash could still take it back")
    #expect(try bench.queue.rejected().isEmpty)
    bench.releaseDisk()
    #expect(try bench.queue.rejected().count == 1)
    #expect(bench.settled == ["1 Optional(TernCore.DocumentStatus.Code.permissionDenied)"])
  }

  @Test("an outcome that the server has forgotten is kept as such")
  func forgottenOutcome() throws {
    var bench = try DocumentBench()
    bench.set("1", 1)
    bench.answer(.handshake(id: "s", lastSequence: 1))
    bench.answer(.outcomes([]))
    let rejected = try bench.queue.rejected()
    #expect(rejected.count == 1)
    if case .rejected(let reason)? = rejected.first?.state {
      #expect(reason.isOutcomeUnknown)
    }
  }

  @Test("a refusal in the stream concerns one batch, and the stream goes on")
  func refusal() throws {
    var bench = try DocumentBench()
    bench.run { _ = $0.listen(self.all, options: DocumentListenOptions(includesMetadata: true)) }
    bench.set("1", 1)
    bench.set("2", 2)
    bench.answer(.handshake(id: "s", lastSequence: 0))
    bench.answer(
      .outcome(DocumentWriteOutcome(1, .rejected(DocumentStatus(.permissionDenied, "no")))))
    #expect(bench.snapshots.last?.documents.map(\.key.id) == ["2"])
    bench.answer(committed(2, at: 50))
    #expect(bench.settled.count == 2)
    #expect(bench.writeCall != nil)
  }

  @Test("with a server that knows no numbers, the end of the stream refuses the oldest batch")
  func plainServer() throws {
    var bench = try DocumentBench()
    bench.set("1", 1)
    bench.set("2", 2)
    bench.answer(.handshake(id: "s", lastSequence: nil))
    let version = DocumentVersion(microseconds: 50)
    bench.answer(.committed(version, [DocumentWriteResult(version: version)]))
    #expect(bench.settled == ["1 nil"])
    bench.end(bench.writeCall, .permissionDenied)
    #expect(bench.settled.count == 2)
    #expect(bench.queue.count == 1)
  }

  @Test("the end of a stream with trouble refuses nothing, and another is opened after a rest")
  func trouble() throws {
    var bench = try DocumentBench()
    bench.set("1", 1)
    bench.answer(.handshake(id: "s", lastSequence: 0))
    bench.clear()
    bench.end(bench.writeCall, .permissionDenied)
    #expect(bench.settled.isEmpty)
    #expect(bench.timers[.writeRetry] == .zero)
    bench.fire(.writeRetry)
    bench.answer(.handshake(id: "s", lastSequence: 0))
    #expect(numbers(bench) == [1])
    for _ in 1...2 {
      bench.end(bench.writeCall, .resourceExhausted, "the disk is full")
      #expect(bench.timers[.writeRetry].map { $0 >= .seconds(30) } == true)
      bench.fire(.writeRetry)
      bench.answer(.handshake(id: "s", lastSequence: 0))
    }
    #expect(bench.said == ["the disk is full"] && bench.settled.isEmpty)
  }

  @Test("streams that were stopped are opened at once, whatever troubled them before")
  func stopped() throws {
    var bench = try DocumentBench()
    bench.run { _ = $0.listen(self.all, options: DocumentListenOptions()) }
    bench.set("1", 1)
    bench.end(bench.listenCall, .resourceExhausted)
    bench.end(bench.writeCall, .resourceExhausted)
    for timer in [DocumentTimer.listenRetry, .writeRetry] {
      #expect(bench.timers[timer].map { (.seconds(30)...(.seconds(90))).contains($0) } == true)
    }
    bench.run { $0.setNetwork(isEnabled: false) }
    #expect(bench.timers[.listenRetry] == nil && bench.timers[.writeRetry] == nil)
    bench.clear()
    bench.run { $0.setNetwork(isEnabled: true) }
    bench.fire(.connection(.retry))
    #expect(bench.listens.count == 1)
    #expect(bench.writes.map(\.content) == [.handshake(stream: 7)])
  }

  @Test("the rests of a stream: none, then 1 s growing by half to a minute, give or take a half")
  func schedule() {
    var (shortest, middle, longest) = (
      Backoff(limits: DocumentMachine.streamBackoff),
      Backoff(limits: DocumentMachine.streamBackoff),
      Backoff(limits: DocumentMachine.streamBackoff)
    )
    #expect(middle.next(unit: 0.5) == .zero)
    _ = (shortest.next(unit: 0), longest.next(unit: 1))
    var milliseconds = 1_000.0
    for _ in 0..<15 {
      #expect(shortest.next(unit: 0) == .milliseconds(Int64((milliseconds * 0.5).rounded())))
      #expect(middle.next(unit: 0.5) == .milliseconds(Int64(milliseconds.rounded())))
      #expect(longest.next(unit: 1) == .milliseconds(Int64((milliseconds * 1.5).rounded())))
      milliseconds = min(milliseconds * 1.5, 60_000)
    }
    middle.exhaust()
    #expect(middle.next(unit: 0.5) == .seconds(60))
    middle.reset()
    #expect(middle.next(unit: 0.5) == .zero)
  }

  @Test("what was pending is sent by the next run")
  func restart() throws {
    let store = MemoryStore()
    do {
      var bench = try DocumentBench(store: store)
      bench.isReachable = false
      bench.set("1", 1)
      bench.set("2", 2)
    }
    var bench = try DocumentBench(store: store)
    bench.run { _ = $0.listen(self.all, options: DocumentListenOptions()) }
    #expect(bench.snapshots.last?.documents.map(\.key.id) == ["1", "2"])
    bench.answer(.handshake(id: "s", lastSequence: 1))
    bench.answer(.outcomes([]))
    #expect(numbers(bench) == [2])
  }

  @Test("listeners go on after the link broke, from where they were")
  func resumedListen() throws {
    var bench = try DocumentBench()
    bench.run { _ = $0.listen(self.all, options: DocumentListenOptions(includesMetadata: true)) }
    let document = Document(
      DocumentKey(unchecked: "a/1"), .found(["x": 1]), version: DocumentVersion(microseconds: 5))
    bench.tell(
      .target(WatchTargetChange(.added, targets: [2])),
      .changed(document, targets: [2], removed: []),
      .target(WatchTargetChange(.current, targets: [2], resumeToken: [4])),
      .target(WatchTargetChange(.none, readTime: DocumentVersion(microseconds: 9))))
    #expect(bench.snapshots.last?.isFromCache == false)
    bench.breakLink()
    bench.fire(.connection(.retry))
    guard case .add(let target)? = bench.listens.last else {
      Issue.record("the target was not asked for again")
      return
    }
    #expect(target.resume == .token([4]))
    #expect(target.expectedCount == 1)
  }

  @Test("a device that cannot reach its server says so")
  func unreachable() throws {
    var bench = try DocumentBench()
    bench.isReachable = false
    bench.run { _ = $0.get(self.all, from: .serverOrCache) }
    #expect(bench.answers.count == 1)
    bench.run { _ = $0.call(.batchGet([], mask: nil, .now)) }
    #expect(bench.called.isEmpty)
    bench.fire(.connection(.retry))
    #expect(bench.called.count == 1)
  }

  @Test("calls are answered, also with several messages, and fail with their link")
  func calls() throws {
    var bench = try DocumentBench()
    bench.run { _ = $0.call(.batchGet([DocumentKey(unchecked: "a/1")], mask: nil, .now)) }
    bench.run { _ = $0.call(.commit([], transaction: [], nil)) }
    let call = try #require(bench.calls.first?.call)
    let missing = Document(DocumentKey(unchecked: "a/1"), .missing)
    bench.say(
      call,
      .batchGet(DocumentBatchGetAnswer(missing, readTime: DocumentVersion(microseconds: 9))))
    #expect(bench.called.isEmpty)
    bench.breakLink()
    #expect(bench.called.count == 2)
  }

  @Test("a read that waits for the server goes on waiting when another credential is shown")
  func readOverCredentials() throws {
    var bench = try DocumentBench()
    bench.run { _ = $0.get(all, from: .server) }
    bench.run { $0.setCredential("a token") }
    let queue = OpenedQueue(client: 8, origin: 8, nextSequence: 1, rows: [])
    bench.run { _ = $0.switchUser(to: QueueUser("ann"), showing: "another", .success(queue)) }
    #expect(bench.answers.isEmpty)
    bench.breakLink()
    #expect(bench.answers.count == 1)
  }

  @Test("reads under way are made again with another token of the same user, from their beginning")
  func callsOverCredentials() throws {
    var bench = try DocumentBench()
    let key = DocumentKey(unchecked: "a/1")
    let missing = { (time: Int64) in
      let time = DocumentVersion(microseconds: time)
      return DocumentResponse.batchGet(
        DocumentBatchGetAnswer(Document(key, .missing, version: time), readTime: time))
    }
    bench.run { _ = $0.call(.batchGet([key], mask: nil, .now)) }
    bench.run { _ = $0.call(.aggregate(all, [DocumentAggregation("n", .count(upTo: nil))], .now)) }
    bench.run { _ = $0.call(.listCollections(below: nil, DocumentPageRequest(), .now)) }
    bench.run { _ = $0.call(.commit([], transaction: [], nil)) }
    bench.say(try #require(bench.calls.first?.call), missing(7))
    bench.clear()
    bench.run { $0.setCredential("a token") }
    // The outcome of the commit is unknown; the others are asked for again, in their order.
    #expect(bench.called.map { $0.failure?.code } == [.unavailable])
    let methods = bench.calls.map(\.request.method)
    #expect(methods == [.batchGetDocuments, .runAggregationQuery, .listCollectionIDs])
    bench.say(bench.calls[0].call, missing(9))
    bench.end(bench.calls[0].call, nil)
    #expect(bench.called.last == .success([missing(9)]))
    // Without a server they end like others.
    bench.isReachable = false
    bench.run { $0.setCredential("another token") }
    #expect(bench.called.dropFirst(2).map { $0.failure?.code } == [.unavailable, .unavailable])
  }

  @Test("what a link that was left says late about its token says nothing about the next one")
  func lateRefusal() throws {
    var bench = try DocumentBench()
    bench.run { $0.setCredential("old") }
    bench.run { _ = $0.call(.batchGet([DocumentKey(unchecked: "a/1")], mask: nil, .now)) }
    let call = try #require(bench.calls.first?.call)
    let refusal = DocumentServerFrame.end(
      stream: call, DocumentStatus(.unauthenticated, "it is over"))
    bench.run { machine in
      machine.setCredential("new")
      machine.received([refusal.encode()], on: 1)
    }
    #expect(bench.verdicts.isEmpty && bench.called.isEmpty)
    #expect(bench.calls.count == 2)
    bench.end(bench.calls.last?.call, .unauthenticated)
    #expect(bench.verdicts == [.refused("new", reason: "")])
  }

  @Test("what one user asked for is not asked for in the name of the next one")
  func callsOverUsers() throws {
    let begin: (inout DocumentMachine) -> Void = { machine in
      _ = machine.call(.batchGet([DocumentKey(unchecked: "a/1")], mask: nil, .now))
      _ = machine.call(.commit([], transaction: [], nil))
    }
    let leave: (inout DocumentMachine) -> Void = { machine in
      let queue = OpenedQueue(client: 8, origin: 8, nextSequence: 1, rows: [])
      _ = machine.switchUser(to: QueueUser("ann"), showing: "a token", .success(queue))
    }
    var bench = try DocumentBench()
    bench.run(begin)
    #expect(bench.calls.count == 2)
    bench.clear()
    bench.run(leave)
    // The commit may have been made.
    #expect(bench.called.map { $0.failure?.code } == [.unavailable, .cancelled])
    #expect(bench.calls.isEmpty)

    bench = try DocumentBench()
    bench.run { machine in
      begin(&machine)
      leave(&machine)
    }
    #expect(bench.called.map { $0.failure?.code } == [.cancelled, .cancelled])
    #expect(bench.calls.isEmpty)
  }

  @Test("the same token counts once more after the server has rejected it")
  func sameToken() throws {
    var bench = try DocumentBench()
    bench.run { $0.setCredential("token") }
    bench.set("1", 1)
    let refused = try #require(bench.writeCall)
    bench.end(refused, .unauthenticated, "the key is not known yet")
    bench.fire(.writeRetry)
    #expect(bench.writeCall == nil && bench.verdicts.count == 1)
    bench.run { $0.setCredential("token") }
    #expect(bench.writeCall != nil)
    bench.answer(.handshake(id: "s", lastSequence: 0))
    let version = DocumentVersion(microseconds: 1)
    let result = DocumentWriteResult(version: version)
    bench.answer(.outcome(DocumentWriteOutcome(1, .committed(version, [result]))))
    #expect(bench.queue.count == 0)
    // One that counts is not shown again.
    let call = bench.writeCall
    bench.run { $0.setCredential("token") }
    #expect(bench.writeCall == call)
  }

  @Test("calls wait while the next address is tried, and fail once none was reached")
  func severalAddresses() throws {
    for dead: Swift.Set<Int> in [[0], [0, 1]] {
      var bench = try DocumentBench(addressCount: 2)
      bench.deadAddresses = dead
      bench.run { _ = $0.call(.commit([], transaction: [], nil)) }
      #expect(bench.calls.count == (dead == [0] ? 1 : 0))
      #expect(bench.called.map { $0.failure?.code } == (dead == [0] ? [] : [.unavailable]))
    }
  }

  @Test("the end of a link that was left is not taken for that of the next one")
  func endOfTheLinkBefore() throws {
    var bench = try DocumentBench()
    bench.run { _ = $0.get(all, from: .server) }
    bench.run { machine in
      machine.setCredential("a token")
      // The next link is being opened when the first one tells of its end.
      machine.connectionEvent(.linkClosed(1))
    }
    #expect(bench.answers.isEmpty)
    bench.run { _ = $0.call(.commit([], transaction: [], nil)) }
    #expect(bench.calls.count == 1)
  }
}
