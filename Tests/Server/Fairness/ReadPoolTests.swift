import Dispatch
import Synchronization
import TernCore
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernStorageMemory
import TernTransport
import TernTransportLoopback
import Testing

@testable import TernServer

/// Reads beside the executor share their threads by what they cost.
@Suite("Reads beside the executor") struct ReadPoolTests {
  private let ledger: EmbeddedLedger
  private let budget = MemoryBudget(limitBytes: 1 << 30)

  init() throws { ledger = try EmbeddedLedger(store: MemoryStore()) { 0 } }

  private func pool(_ reads: Int = 1, uptime: @escaping @Sendable () -> Int64 = { 0 }) -> ReadPool {
    var limits = ServerLimits()
    limits.reads = reads
    return ReadPool(ledger, limits, uptime: uptime)
  }

  /// A read of so many rows, which begins when `gate` lets it.
  private func job(
    _ address: String, rows: Int, after gate: DispatchSemaphore? = nil
  ) -> ReadJob {
    ReadJob(slot: 0, address: address, ReadCharge(budget, address: address, user: nil)) {
      reader, _ throws(StorageError) in
      gate?.wait()
      for _ in 0..<rows { _ = try Snapshot(reader).get([1]) }
      return LongReadValue(value: rows, bytes: 8)
    }
  }

  @Test("a short read is not delayed by the long ones of another address", .timeLimit(.minutes(5)))
  func fairness() async throws {
    let pool = pool()
    let gate = DispatchSemaphore(value: 0)
    let (ends, continuation) = AsyncStream<String>.makeStream()
    let deliver: ReadPool.Delivery = { continuation.yield($0.address) }
    pool.begin([job("a", rows: 200_000, after: gate)], deliver: deliver)
    pool.begin((0..<20).map { _ in job("a", rows: 200_000) }, deliver: deliver)
    pool.begin([job("b", rows: 3 * ReadPool.sliceRows)], deliver: deliver)
    gate.signal()
    #expect(await ends.first { _ in true } == "b")
    await pool.endAll()
    #expect(pool.count == 0)
  }

  @Test("all reads come to an end, each once", .timeLimit(.minutes(5)))
  func completeness() async throws {
    let pool = pool(2)
    let (ends, continuation) = AsyncStream<ReadJob>.makeStream()
    let jobs = (0..<200).map { job("\($0 % 30)", rows: 1 + $0 * 97 % 9_000) }
    pool.begin(jobs) { continuation.yield($0) }
    var seen: Set<ObjectIdentifier> = []
    for await job in ends {
      #expect(seen.insert(ObjectIdentifier(job)).inserted)
      guard case .value(let value)? = job.outcome else {
        Issue.record("a read without a result")
        break
      }
      #expect(job.rows == value.value as? Int)
      if seen.count == jobs.count { break }
    }
    #expect(pool.count == 0)
  }

  @Test("no more wait for an address than its limit, and none when the server ends")
  func limits() async throws {
    let pool = pool()
    let gate = DispatchSemaphore(value: 0)
    let rejected = Mutex<[DocumentStatus.Code]>([])
    let deliver: ReadPool.Delivery = { job in
      if case .rejected(let reason)? = job.outcome {
        rejected.withLock { $0.append(reason.status.code) }
      }
    }
    pool.begin([job("a", rows: 1, after: gate)], deliver: deliver)
    let most = ReadPool.waitingPerAddress
    pool.begin((0..<most + 5).map { _ in job("a", rows: 1) }, deliver: deliver)
    #expect(rejected.withLock { $0 } == Array(repeating: .unavailable, count: 6))
    pool.begin([job("b", rows: 1)], deliver: deliver)
    #expect(rejected.withLock { $0.count } == 6)
    gate.signal()
    await pool.endAll()
    pool.begin([job("c", rows: 1)], deliver: deliver)
    #expect(rejected.withLock { $0.count } == 7)
  }

  @Test("a read is charged with its rows and the pages of its snapshot while it goes on")
  func rowsAreCharged() throws {
    let store = MemoryStore()
    try store.write { transaction throws(StorageError) in
      for number in 0..<4_000 {
        try transaction.put(
          [UInt8](repeating: 1, count: 1_000), for: [UInt8(number >> 8), UInt8(number & 255)])
      }
    }
    let job = ReadJob(
      slot: 0, address: "a", chargesRows: true, ReadCharge(budget, address: "a", user: nil)
    ) { reader, _ throws(StorageError) in
      let rows = try Snapshot(reader).scan()
      return LongReadValue(value: rows.count, bytes: 500)
    }
    var most = 0
    try store.read { snapshot throws(StorageError) in
      job.run(over: snapshot.reader, at: 1, slice: 256) { _ in
        most = max(most, budget.usedBytes(for: .answers))
        return true
      }
    }
    // A thousand bytes of value each, what keeps them, and two mebibytes of pages.
    #expect(most > 4_000 * 1_200 + ReadJob.snapshotBytes && most < 4_000 * 1_500 + (2 << 20))
    #expect(budget.usedBytes(for: .answers) == 500)
  }

  @Test("a read that takes too long ends", .timeLimit(.minutes(5)))
  func overdue() async throws {
    let clock = Mutex<Int64>(0)
    let pool = pool {
      clock.withLock { time in
        time += ReadPool.readMilliseconds / 4
        return time
      }
    }
    let (ends, continuation) = AsyncStream<ReadJob>.makeStream()
    pool.begin([job("a", rows: .max)]) { continuation.yield($0) }
    let job = try #require(await ends.first { _ in true })
    guard case .rejected(let reason)? = job.outcome else { throw StorageError.abandoned }
    #expect(reason.status.code == .deadlineExceeded)
  }

  @Test("a server answers a burst of costly queries, and others too", .timeLimit(.minutes(10)))
  func burst() async throws {
    let transport = LoopbackTransport()
    let server = try await TernServer(
      ledger: ledger, on: transport, documentAuthorizer: AllowAll())
    try await server.listen(on: transport)
    let (costly, modest) = (
      try await RawDocumentClient.connect(transport),
      try await RawDocumentClient.connect(transport)
    )
    let fields: DocumentFields = ["n": 1]
    let writes = (0..<500).map {
      DocumentMutation(DocumentKey(unchecked: "c/\($0)"), .set(fields))
    }
    modest.call(1, .commit(writes, transaction: [], nil))
    while case .message? = await modest.next() {}
    let sum = [DocumentAggregation("n", .sum("n"))]
    let all = DocumentQuery.collection(try CollectionPath("c"))
    for call in 1...200 as ClosedRange<UInt32> { costly.call(call, .aggregate(all, sum, .now)) }
    for call in 2...50 as ClosedRange<UInt32> {
      modest.call(call, .get("c/7", mask: nil, .now))
      guard case .answer(call, _)? = await modest.next() else {
        Issue.record("no answer to call \(call)")
        break
      }
    }
    var answers = 0
    while answers < 200, let frame = await costly.next() {
      guard case .message(_, let bytes) = frame,
        case .aggregation(let answer) = try DocumentResponse.decode(
          .runAggregationQuery, bytes, DocumentNames(benchDatabase))
      else { continue }
      #expect(answer.values?["n"] == 500)
      answers += 1
    }
    #expect(answers == 200)
    await server.stop()
  }
}
