import TernClient
import TernCore
import TernDocumentReplica
import TernDocumentWire
import TernLedger
import TernQuery
import TernSync

// Aggregations, and transactions: each counts once, and that is counted here.

/// A call that is not answered yet.
enum DocumentCallNote {
  /// Something is counted; with the index of the newest moment when that was asked for.
  case aggregate(DocumentQuery, [DocumentAggregation], QueueUser, since: Int)
  /// A transaction reads what it counts in.
  case read(QueueUser)
  /// A transaction commits, for the so-and-so-many-th time.
  case commit(CommitID, [DocumentMutation], attempt: Int, QueueUser)
}

extension SimulatedWorld {
  func aggregate(_ run: DocumentRun) {
    let query = someQuery(run)
    if case .document = query.source { return }
    let aggregations = [
      DocumentAggregation("a", .count(upTo: chance.happens(0.3) ? 2 : nil)),
      DocumentAggregation("b", .sum(DocumentWorkloadSpace.path("n"))),
      DocumentAggregation("c", .average(DocumentWorkloadSpace.path("n"))),
    ]
    trace.note("\(run.name) counts \(query.target.id)")
    run.calls[run.machine.call(.aggregate(query, aggregations, .now))] =
      .aggregate(query, aggregations, run.user, since: documents.moments.count - 1)
  }

  func transact(_ run: DocumentRun) {
    trace.note("\(run.name) tallies")
    let request = DocumentRequest.Body.batchGet([DocumentWorkloadSpace.tally], mask: nil, .now)
    run.calls[run.machine.call(request)] = .read(run.user)
  }

  func called(
    _ id: DocumentCallID, _ result: Result<[DocumentResponse], DocumentStatus>, _ run: DocumentRun
  ) {
    guard let note = run.calls.removeValue(forKey: id) else { return }
    switch (note, result) {
    case (.aggregate(let query, let asked, let user, _), .success(let answers)):
      for case .aggregation(let answer) in answers { check(answer, query, asked, by: user, run) }
    case (.aggregate(let query, _, let user, let since), .failure(let status)):
      let isDenied =
        status.code == .permissionDenied && documents.wasDenied(query, to: user, since: since)
      if !saysNothing(status, to: user, run), !isDenied {
        disagree("\(run.name) counts \(query.target.id): \(status)")
      }
    case (.read, .success(let answers)):
      for case .batchGet(let answer) in answers { commit(answer, run) }
    case (.read(let user), .failure(let status)):
      if !saysNothing(status, to: user, run) {
        disagree("\(run.name) reads the tally: \(status)")
      }
    case (.commit(let id, _, _, _), .success): committed(id, run)
    case (.commit(let id, let writes, let attempt, let user), .failure(let status)):
      notCommitted(id, writes, attempt, user, status, run)
    }
  }

  /// Returns `true` if a call failed because of its user or its connection, whatever it requests.
  private func saysNothing(
    _ status: DocumentStatus, to user: QueueUser, _ run: DocumentRun
  ) -> Bool {
    status.code == .unavailable || status.code == .cancelled && user != run.user
      || tokensEnd(of: user) && status.code == .unauthenticated
  }

  private func check(
    _ answer: DocumentAggregationAnswer, _ query: DocumentQuery, _ asked: [DocumentAggregation],
    by user: QueueUser, _ run: DocumentRun
  ) {
    if !documents.mayRead(query, by: user, at: answer.readTime) {
      disagree("\(run.name) counts \(query.target.id), which \(user.id) may not")
    }
    var counted = query
    counted.requiredFields = DocumentAggregation.requiredFields(of: asked)
    let documents = documents.moment(at: answer.readTime).result(of: counted)
    let values = DocumentAggregation.compute(asked, over: documents)
    let expected = DocumentMap(zip(asked, values).map { ($0.alias, $1) })
    if answer.values?.map != expected {
      disagree(
        """
        \(run.name) counts \(words(answer.values ?? .empty)) in \(query.target.id), \
        expected \(words(DocumentFields(expected)))
        """)
    }
  }

  // MARK: Transactions

  private func commit(_ answer: DocumentBatchGetAnswer, _ run: DocumentRun) {
    guard let document = answer.document else { return }
    let truth = documents.moment(at: answer.readTime).documents[document.key]
    if truth?.fields != document.fields || truth.map({ $0.version != document.version }) == true {
      disagree("\(run.name) reads \(document), at \(answer.readTime) it is \(words(truth))")
    }
    let known = count(in: truth)
    var book = TransactionWriteSet()
    do throws(DocumentStatus) {
      try book.note(document)
      let next = DocumentFields(["n": .integer(known + 1)])
      try book.write(DocumentMutation(document.key, .set(next)))
    } catch {
      disagree("\(run.name) cannot tally: \(error)")
    }
    let stream = UInt128(run.client.bits.next()) << 64 | UInt128(run.client.bits.next())
    let id = CommitID(stream: stream, sequence: 1)
    documents.transactions[id] = .init(user: run.user, mutations: book.commit)
    documents.tally.most += 1
    commit(id, book.commit, attempt: 1, run)
  }

  private func commit(
    _ id: CommitID, _ writes: [DocumentMutation], attempt: Int, _ run: DocumentRun
  ) {
    let mark = DocumentWriteHeader(stream: id.stream, sequence: id.sequence)
    let call = run.machine.call(.commit(writes, transaction: [], mark))
    run.calls[call] = .commit(id, writes, attempt: attempt, run.user)
  }

  private func committed(_ id: CommitID, _ run: DocumentRun) {
    documents.tally.least += 1
    if documents.applied[id] == nil { disagree("\(run.name) takes \(id) for made") }
  }

  private func notCommitted(
    _ id: CommitID, _ writes: [DocumentMutation], _ attempt: Int, _ user: QueueUser,
    _ status: DocumentStatus, _ run: DocumentRun
  ) {
    if saysNothing(status, to: user, run) {
      // The answer may have been lost: retry as the same user, and the commit counts once.
      if attempt < TransactionWriteSet.attemptLimit, !isHealed, user == run.user {
        commit(id, writes, attempt: attempt + 1, run)
      }
      return
    }
    documents.tally.most -= 1
    if documents.applied[id] != nil { disagree("\(run.name) takes \(id) for rejected: \(status)") }
    if !TransactionWriteSet.mayRetry(status) { disagree("\(run.name) tallies: \(status)") }
  }
}
