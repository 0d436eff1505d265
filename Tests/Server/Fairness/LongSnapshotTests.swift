import TernCore
import TernDocumentWire
import TernQuery
import TernSecurity
import TernTransport
import Testing

@testable import TernServer

/// First snapshots of targets that take many rows.
@Suite("Long first snapshots") struct LongSnapshotTests {
  private let slice = BatchPortion(
    linkBytes: 1 << 20, totalBytes: 1 << 20, steps: BatchPortion.sliceSteps, rows: 64)

  private func key(_ number: Int) -> DocumentKey {
    DocumentKey(unchecked: "c/\(1_000 + number)")
  }

  private func bench() throws -> DocumentBench {
    let bench = try DocumentBench()
    for slot in 1...3 { try bench.link(slot) }
    let writes = (0..<300).map { bench.set(key($0), ["n": .integer(Int64($0))]) }
    _ = try bench.ask(3, 1, .commit(writes, transaction: [], nil)).get()
    return bench
  }

  private func commit(_ bench: DocumentBench, _ call: UInt32, _ writes: [DocumentMutation]) throws {
    bench.portion = .unlimited
    _ = try bench.ask(3, call, .commit(writes, transaction: [], nil)).get()
    bench.portion = slice
  }

  /// Returns the documents that a client shows after these changes of its only target.
  private func shown(
    _ changes: [WatchChange], over known: [DocumentKey: Document] = [:]
  ) -> [DocumentKey: Document] {
    var shown = known
    for change in changes {
      switch change {
      case .changed(let document, _, let removed):
        shown[document.key] = removed.isEmpty ? document : nil
      case .deleted(let key, _, _), .removed(let key, _, _): shown[key] = nil
      case .target(let target): if target.kind == .reset { shown = [:] }
      case .filter: break
      }
    }
    return shown
  }

  private func result(
    _ bench: DocumentBench, _ call: UInt32, _ query: DocumentQuery
  ) throws -> [DocumentKey: Document] {
    bench.portion = .unlimited
    let responses = try bench.ask(3, call, .query(query, .now)).get()
    bench.portion = slice
    var documents: [DocumentKey: Document] = [:]
    for case .query(let answer) in responses {
      if let document = answer.document { documents[document.key] = document }
    }
    return documents
  }

  private func queries() throws -> [DocumentQuery] {
    let all = DocumentQuery.collection(try CollectionPath("c"))
    return [
      all, try all.where("n", .greaterThan, 20), try all.ordered(by: "n").first(50),
      try all.ordered(by: "n", isDescending: true).first(40),
    ]
  }

  @Test("what is committed while they are read is told as well, and what follows, once")
  func caughtUp() throws {
    let bench = try bench()
    for (index, query) in try queries().enumerated() {
      let call = UInt32(10 + 100 * index)
      bench.portion = slice
      let first = try bench.listen(1, call, WatchTarget(id: 2, subject: .query(query.target)))
      #expect(first.isEmpty, "nothing is told yet")
      let job = try #require(bench.lastReads.first)
      let early = [bench.set(key(1), ["n": 150]), DocumentMutation(key(45), .delete)]
      try commit(bench, call + 1, early)
      try bench.perform([job])
      try commit(
        bench, call + 2,
        [
          bench.set(key(2), ["n": 299]), DocumentMutation(key(46), .delete),
          bench.set(key(500 + index), ["n": 25]), bench.set(key(298), ["n": 0]),
        ])
      try bench.run([.read(slot: 1, job)])
      let told = bench.changes(1, call)
      let all = try result(bench, call + 3, query)
      #expect(shown(told) == all, "\(query)")
      #expect(told.suffix(2).map(\.brief) == ["current [2]", "snapshot"])
      try commit(bench, call + 4, [bench.set(key(3), ["n": 30])])
      let more = bench.changes(1, call)
      #expect(shown(more, over: all) == (try result(bench, call + 5, query)))
      let told3 = more.filter { change in
        if case .changed(let one, _, _) = change { one.key == key(3) } else { false }
      }
      #expect(told3.count <= 1)
      try bench.send(1, .cancel(stream: call))
    }
  }

  @Test("a listen stream ends for a while when memory has no room for a target's first snapshot")
  func noRoom() throws {
    let bench = try bench()
    let target = WatchTarget(id: 2, subject: .query(try queries()[0].target))
    for (call, reason) in zip(UInt32(10)..., [ReadRejection.memory, .queue]) {
      bench.portion = slice
      #expect(try bench.listen(1, call, target).isEmpty)
      let job = try #require(bench.lastReads.first)
      job.reject(reason)
      try bench.run([.read(slot: 1, job)])
      // The code after which clients take their longest pause.
      #expect(bench.end(1, call)??.code == .resourceExhausted)
    }
    #expect(try bench.listen(1, 12, target).isEmpty)
    let job = try #require(bench.lastReads.first)
    job.reject(.size)
    try bench.run([.read(slot: 1, job)])
    #expect(bench.changes(1, 12).map(\.brief) == ["refuse [2] resourceExhausted"])
  }

  @Test("a client that comes back is told what it has missed, and how many documents there are")
  func resumed() throws {
    let bench = try bench()
    let all = DocumentQuery.collection(try CollectionPath("c"))
    let target = WatchTarget(id: 2, subject: .query(all.target))
    _ = try bench.listen(2, 10, target)
    let first = try bench.listen(1, 10, target)
    let known = shown(first)
    let token = try #require(
      first.compactMap { if case .target(let change) = $0 { change.resumeToken } else { nil } }.last
    )
    try bench.send(1, .cancel(stream: 10))
    try commit(bench, 2, (0..<100).map { bench.set(key($0), ["n": 1]) })
    let resumed = WatchTarget(
      id: 2, subject: .query(all.target), resume: .token(token), expectedCount: 299)
    bench.portion = slice
    #expect(try bench.listen(1, 12, resumed).isEmpty)
    _ = bench.take(2)
    var (jobs, rounds, told) = (bench.lastReads, 0, [WatchChange]())
    while told.isEmpty, rounds < 5 {
      try bench.perform(jobs)
      try commit(bench, UInt32(20 + rounds), [bench.set(key(200 + rounds), ["n": 2])])
      try bench.run(jobs.map { .read(slot: 1, $0) })
      told = bench.changes(1, 12)
      jobs = bench.lastReads
      rounds += 1
    }
    #expect(shown(told, over: known) == (try result(bench, 40, all)))
    let counts = told.compactMap { if case .filter(_, let count, _) = $0 { count } else { nil } }
    #expect(counts == [300])
    #expect(told.suffix(2).map(\.brief) == ["current [2]", "snapshot"])
  }

  @Test("a target whose documents change fast gets its first snapshot, or its stream an end")
  func busy() throws {
    let bench = try bench()
    let all = DocumentQuery.collection(try CollectionPath("c"))
    let future = WatchTarget.Resume.readTime(DocumentVersion(microseconds: 1 << 57))
    let targets = [
      WatchTarget(id: 2, subject: .query(all.target)),
      WatchTarget(
        id: 2, subject: .query(try all.ordered(by: "n").first(200).target), resume: future),
    ]
    for (index, target) in targets.enumerated() {
      let call = UInt32(10 + 50 * index)
      bench.portion = slice
      let first = try bench.listen(1, call, target)
      #expect(first.isEmpty, "\(first.map(\.brief))")
      var (jobs, rounds, told) = (bench.lastReads, 0, [WatchChange]())
      while told.isEmpty, !jobs.isEmpty, rounds < 8 {
        try bench.perform(jobs)
        let value = DocumentValue.integer(Int64(rounds + 10 * index))
        try commit(
          bench, call + UInt32(1 + rounds), (0..<100).map { bench.set(key($0), ["n": value]) })
        try bench.run(jobs.map { .read(slot: 1, $0) })
        told = bench.changes(1, call)
        jobs = bench.lastReads
        rounds += 1
      }
      #expect((2...4).contains(rounds), "\(rounds) readings")
      #expect(told.suffix(2).map(\.brief) == ["current [2]", "snapshot"])
      if index == 0 { #expect(shown(told) == (try result(bench, call + 40, all))) }
      try bench.send(1, .cancel(stream: call))
    }
  }

  @Test("one read serves all that wait for the same, and is given up when none does")
  func shared() throws {
    let bench = try bench()
    bench.portion = slice
    let all = DocumentQuery.collection(try CollectionPath("c"))
    let target = WatchTarget(id: 2, subject: .query(all.target))
    _ = try bench.listen(1, 10, target)
    let first = try #require(bench.lastReads.first)
    _ = try bench.listen(2, 10, target)
    let second = try #require(bench.lastReads.first)
    try bench.perform([first])
    try bench.run([.read(slot: 1, first)])
    #expect(second.isCancelled)
    #expect(bench.changes(1, 10).count == 303)
    try bench.run(bench.lastShared)
    #expect(bench.changes(2, 10).count == 303)
    try bench.run([.read(slot: 2, second)])
    #expect(bench.take(2).isEmpty)
    let registry = bench.machine.documents.registry
    #expect(registry.used.allSatisfy { $0.prefetches.count == 0 })
    try commit(bench, 30, [bench.set(key(1), ["n": 7])])
    for slot in [1, 2] { #expect(bench.changes(slot, 10).count == 2) }

    let other = WatchTarget(id: 3, subject: .query(try all.where("n", .greaterThan, 5).target))
    let add = DocumentRequest(.listen(.add(other)), in: benchDatabase)
    try bench.send(1, .message(stream: 10, add.encode()))
    let third = try #require(bench.lastReads.first)
    let remove = DocumentRequest(.listen(.remove(3)), in: benchDatabase)
    try bench.send(1, .message(stream: 10, remove.encode()))
    #expect(third.isCancelled)
    #expect(registry.used.allSatisfy { $0.prefetches.count == 0 })
    #expect(bench.changes(1, 10).map(\.brief) == ["remove [3]"])
  }

  @Test("rules that deny it meanwhile end a target before anything is told")
  func denied() throws {
    let bench = try bench()
    bench.portion = slice
    let all = DocumentQuery.collection(try CollectionPath("c"))
    _ = try bench.listen(1, 10, WatchTarget(id: 2, subject: .query(all.target)))
    let jobs = bench.lastReads
    try bench.run([.adopt(ticket: 2, ServerAccess(documents: AllowAdministrators()))])
    try bench.perform(jobs)
    try bench.run(jobs.map { .read(slot: 1, $0) })
    #expect(bench.changes(1, 10).map(\.brief) == ["refuse [2] permissionDenied"])
  }
}
