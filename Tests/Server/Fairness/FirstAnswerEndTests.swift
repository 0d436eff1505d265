import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernTransport
import TernTreeWire
import Testing

@testable import TernServer

/// Tests what reads of first answers share, what they hold, and what is left when they end
/// otherwise.
@Suite("Ends of first answers") struct FirstAnswerEndTests: LargeReadTests {
  private var lastValues: TreeQuery { TreeQuery(order: .value, limit: TreeLimit(.last, 300)) }

  /// Listens to the large node from some links, and returns the reads.
  private func begin(
    _ bench: MachineBench, slots: [Int] = [1], _ query: TreeQuery = .all
  ) throws -> [ReadJob] {
    try bench.run(
      slots.map { slot in
        let tag = query.loadsAllData ? nil : Int64(10 * slot)
        return bench.frame(slot, try bench.listen("a/big", query, tag: tag))
      })
    #expect(slots.allSatisfy { bench.take($0).isEmpty })
    return bench.lastReads
  }

  @Test("listens to the same share a read", arguments: [true, false])
  func sharing(isFiltered: Bool) throws {
    let bench = try bench()
    let query = isFiltered ? lastValues : .all
    let jobs = try begin(bench, slots: [1, 2], query)
    try #require(jobs.count == 2)
    try bench.perform([jobs[0]])
    let first = try end(jobs[0], bench)
    try bench.ask(3, bench.put("elsewhere", json("1")))
    try bench.perform([jobs[1]])
    #expect(jobs[0].rows > Self.children && jobs[1].rows == 0)
    let second = try end(jobs[1], bench)
    guard case .put(let one)? = first.first, case .put(let other)? = second.first else {
      throw StorageError.abandoned
    }
    #expect(one.content == other.content && one.content.children.count >= 300)
    #expect(one.tag == (isFiltered ? 10 : nil) && other.tag == (isFiltered ? 20 : nil))
    try bench.ask(3, bench.put("a/big/k399", json("7000")))
    #expect(bench.take(1).count == 1 && bench.take(2).count == 1)
  }

  @Test("a listen that comes while others wait is answered at once with what one of them read")
  func joining() throws {
    let bench = try bench()
    let jobs = try begin(bench, slots: [1, 2])
    try bench.perform([jobs[0]])
    _ = try end(jobs[0], bench)
    #expect(try bench.ask(3, bench.listen("a/big")).count == 2)
    #expect(bench.lastReads.isEmpty)
  }

  @Test("what is shared is not older than the last write below it")
  func staleShare() throws {
    let bench = try bench()
    let jobs = try begin(bench, slots: [1, 2])
    try bench.perform([jobs[0]])
    _ = try end(jobs[0], bench)
    try bench.ask(3, bench.put("a/big/k1", json("9")))
    #expect(bench.take(1).map(\.brief) == ["put a/big/k1 9"])
    try bench.perform([jobs[1]])
    #expect(try end(jobs[1], bench).isEmpty, "it began with what was there before")
    let again = try #require(bench.lastReads.first)
    try bench.perform([again])
    #expect(again.rows > Self.children)
    guard case .put(let push)? = try end(again, bench).first else { throw StorageError.abandoned }
    #expect(push.content.node(at: "k1") == json("9"))
  }

  @Test("a link that ends leaves no read, listen or charge", arguments: [true, false])
  func closing(isLostFirst: Bool) throws {
    let bench = try bench()
    let job = try #require(try begin(bench).first)
    if isLostFirst {
      bench.loseLink(1)
      #expect(job.isCancelled)
    }
    try bench.perform([job])
    try bench.run([.closed(slot: 1)])
    #expect(job.isCancelled)
    try bench.run([.opened(slot: 1, isLocal: true), .read(slot: 1, job)])
    #expect(bench.lastOutputs.isEmpty)
    #expect(try namespace(bench).listens.groupCount == 0)
    #expect(bench.budget.usedBytes(for: .listens) == 0)
  }

  @Test("the end of one of two links leaves the read of the other")
  func closingOne() throws {
    let bench = try bench()
    let jobs = try begin(bench, slots: [1, 2])
    try bench.run([.closed(slot: 1)])
    #expect(jobs[0].isCancelled && !jobs[1].isCancelled)
    try bench.perform([jobs[1]])
    #expect(try end(jobs[1], bench).count == 2)
    #expect(try namespace(bench).listens.groupCount == 1)
  }

  @Test("a listen of a link that is gone is not read")
  func unreachable() throws {
    let bench = try bench()
    bench.loseLink(1)
    try bench.run([bench.frame(1, bench.listen("a/big"))])
    #expect(bench.lastReads.isEmpty && bench.lastOutputs.isEmpty)
  }

  @Test("rules that came into force meanwhile decide")
  func rules() throws {
    let bench = try bench()
    let job = try #require(try begin(bench).first)
    try bench.perform([job])
    let closed = RulesAuthorizer(try TreeRules(#"{"rules": {"small": {".read": true}}}"#))
    try bench.run([.adopt(ticket: 7, ServerAccess(tree: closed))])
    #expect(try end(job, bench).map(\.brief) == ["permission_denied"])
    #expect(try namespace(bench).listens.groupCount == 0)
    #expect(bench.budget.usedBytes(for: .listens) == 0)
  }

  @Test("the identity of the end decides")
  func signedOut() throws {
    let rules = try TreeRules(#"{"rules": {".read": "auth != null", ".write": true}}"#)
    let bench = try bench(authorizer: RulesAuthorizer(rules))
    let session = try #require(bench.machine.sessions[1])
    session.identity = .administrator
    let job = try #require(try begin(bench).first)
    try bench.perform([job])
    session.identity = .anonymous
    #expect(try end(job, bench).map(\.brief) == ["permission_denied"])
  }

  @Test("the result is charged to its client until it is sent")
  func memory() throws {
    let bench = try bench()
    do {
      let job = try #require(try begin(bench).first)
      #expect(bench.budget.usedBytes(for: .answers) == 0)
      try bench.perform([job])
      guard case .value(let value)? = job.outcome else { throw StorageError.abandoned }
      #expect(bench.budget.usedBytes(for: .answers) == value.bytes && value.bytes > 3_000)
      #expect(try end(job, bench).count == 2)
    }
    #expect(bench.budget.usedBytes(for: .answers) == 0)
    let held = bench.budget.usedBytes(for: .listens)
    try bench.ask(1, .unlisten("a/big", .all, tag: nil))
    #expect(held > 0 && bench.budget.usedBytes(for: .listens) == 0)
  }

  @Test("what is shared stays charged as long as others wait")
  func sharedMemory() throws {
    let bench = try bench()
    var jobs = try begin(bench, slots: [1, 2])
    try bench.perform([jobs[0]])
    _ = try end(jobs[0], bench)
    jobs.removeFirst()
    #expect(bench.budget.usedBytes(for: .answers) > 3_000)
    try bench.run([.closed(slot: 2)])
    jobs = []
    try bench.run([])
    #expect(bench.budget.usedBytes(for: .answers) == 0)
  }

  @Test("a client without memory left is told to try again, and goes on", arguments: [true, false])
  func lackOfMemory(whileReading: Bool) throws {
    let limits = ServerLimits(memoryBytes: 1 << 20, memoryBytesPerAddress: 64 << 10)
    let bench = try bench(options: ServerOptions(limits: limits))
    let room = bench.budget.roomBytes(for: "")
    #expect(bench.budget.charge(room - 2_000, .listens, to: ""))
    let job = try #require(try begin(bench).first)
    try bench.ledger.read { snapshot throws(StorageError) in
      job.run(over: snapshot.reader, at: snapshot.version, slice: whileReading ? 100 : .max)
    }
    #expect((job.rows < Self.children) == whileReading)
    let told = try end(job, bench)
    #expect(told.map(\.response?.status) == [.unavailable])
    #expect(try bench.get(1, "a/big/k7") == json("7"))
    #expect(bench.closed.isEmpty)
    #expect(try namespace(bench).listens.groupCount == 0)
  }

  @Test("a listen that takes more memory than its client may ever hold is rejected for good")
  func overSize() throws {
    let limits = ServerLimits(memoryBytes: 1 << 20, memoryBytesPerAddress: 8 << 10)
    let bench = try bench(options: ServerOptions(limits: limits))
    let job = try #require(try begin(bench).first)
    try bench.ledger.read { snapshot throws(StorageError) in
      job.run(over: snapshot.reader, at: snapshot.version, slice: 100)
    }
    #expect(try end(job, bench).map(\.response?.status) == [.failed])
  }

  @Test("a listen is read at once when too many reads wait")
  func fullQueue() throws {
    let bench = try bench()
    let job = try #require(try begin(bench).first)
    job.reject(.queue)
    #expect(try end(job, bench).map(\.brief).last == "ok")
    #expect(try namespace(bench).listens.groupCount == 1)
    try bench.ask(2, bench.put("a/big/k1", json("10")))
    #expect(bench.take(1).map(\.brief) == ["put a/big/k1 10"])
  }

  @Test("what is read at once because too many reads wait is work")
  func fullQueueCost() throws {
    let bench = try bench()
    bench.portion.steps = BatchPortion.sliceSteps
    let job = try #require(try begin(bench).first)
    job.reject(.queue)
    try bench.run([.read(slot: 1, job), bench.frame(2, .get("b", .all))])
    #expect(bench.take(1).map(\.brief).last == "ok")
    #expect(bench.deferred.count == 1, "others have their turn first")
  }

  @Test("a store that fails for a moment, and damage, are told as such")
  func failures() throws {
    let bench = try bench()
    let job = try #require(try begin(bench).first)
    job.fail(.abandoned)
    #expect(try end(job, bench).map(\.response?.status) == [.unavailable])
    let other = try #require(try begin(bench).first)
    other.fail(.corruptRecord(key: [1]))
    let told = try end(other, bench)
    #expect(told.map(\.response?.status) == [.failed])
    #expect(told.first?.response?.detail == RefusalText.damaged)
    #expect(try namespace(bench).listens.groupCount == 0)
  }

  @Test("a machine that is given up ends its reads")
  func renewal() throws {
    let bench = try bench()
    let jobs = try begin(bench, slots: [1, 2], lastValues)
    bench.machine.endReads()
    #expect(jobs.count == 2 && jobs.allSatisfy(\.isCancelled))
    #expect(try namespace(bench).listens.groupCount == 0)
  }
}
