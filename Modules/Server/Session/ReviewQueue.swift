import TernCore
import TernDocumentAuthority
import TernQuery
import TernStorage
import TernTreeWire

/// Sessions whose listens are to be judged again, because the requester or the rules have changed.
///
/// As much is done at once as the batch has steps for; the rest in those that follow. Until a
/// listen was judged, nothing is pushed to it.
struct ReviewQueue {
  /// The slots of the sessions, in order.
  private var slots: [Int] = []
  /// Answers that wait until all of these were judged.
  private var answers: [(ticket: UInt64, answer: DirectAnswer)] = []

  /// The steps of judging one listen.
  static let stepsPerReview = 4
  /// The fewest listens that are judged at once.
  private static let leastReviews = 16

  var isEmpty: Bool { slots.isEmpty }

  /// Lets the listens of a session wait to be judged.
  mutating func add(_ session: Session, _ admin: borrowing AdminService) {
    let isNew = session.reviewedCall == nil
    session.listens.beginReview()
    session.reviewedCall = -1
    if let namespace = session.namespace {
      namespace.underReview[session.slot] = admin.call(0, session, namespace)
    }
    if isNew { slots.append(session.slot) }
  }

  /// Judges listens that wait for it.
  mutating func goOn(
    _ sessions: borrowing SessionTable, _ documents: DocumentService, _ batch: inout ServerBatch
  ) throws(StorageError) {
    var least = Self.leastReviews
    while let slot = slots.first, batch.stepsLeft > 0 || least > 0 {
      guard let session = sessions[slot] else {
        slots.removeFirst()
        continue
      }
      let limit = max(least, batch.stepsLeft / Self.stepsPerReview)
      let count = try review(session, limit, documents, &batch)
      batch.spend(count * Self.stepsPerReview)
      least -= count
      if count == 0 {
        session.namespace?.underReview[slot] = nil
        slots.removeFirst()
      }
    }
    guard slots.isEmpty else { return batch.leaveWork() }
    documents.registry.isReviewed = true
    for (ticket, answer) in exchange(&answers, with: []) {
      batch.add(.answer(ticket: ticket, answer))
    }
  }

  /// Answers a request when everything that waits to be judged was judged.
  mutating func answer(_ ticket: UInt64, _ answer: DirectAnswer, _ batch: inout ServerBatch) {
    if slots.isEmpty {
      batch.add(.answer(ticket: ticket, answer))
    } else {
      answers.append((ticket, answer))
    }
  }

  /// - Returns: The number of listens that were judged; 0 when none waits any more.
  private func review(
    _ session: Session, _ limit: Int, _ documents: DocumentService, _ batch: inout ServerBatch
  ) throws(StorageError) -> Int {
    if let call = session.namespace?.underReview[session.slot], session.listens.isUnderReview {
      let groups = session.listens.nextUnderReview(limit).sorted {
        ($0.node.path, $0.query.id) < ($1.node.path, $1.query.id)
      }
      for group in groups { try call.review(group, &batch) }
      if !groups.isEmpty { return groups.count }
    }
    guard let last = session.reviewedCall else { return 0 }
    let rest = session.documents?.calls.values.filter { Int($0.number) > last } ?? []
    guard let call = rest.min(by: { $0.number < $1.number }) else {
      session.reviewedCall = nil
      return 0
    }
    session.reviewedCall = Int(call.number)
    return max(1, try ListenReview(listens: documents.listens).review(call, &batch))
  }
}
