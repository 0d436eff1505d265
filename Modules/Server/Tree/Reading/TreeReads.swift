import TernLedger
import TernSecurity
import TernStorage
import TernTreeWire

/// A read of a session that goes on beside the server's executor.
struct PendingTreeRead {
  /// The request that is answered with its result.
  enum Purpose {
    /// A one-shot read, and the last commit that was decided when it began.
    case get(TreeRead, since: Version)
    /// A listen, whose first answer it is.
    case listen(TreeListen, ListenGroup)
  }

  /// The number of the request.
  let number: UInt64
  let purpose: Purpose
  let namespace: Namespace
  let job: ReadJob
  /// The number of the read among those of its request.
  let attempt: Int

  /// True when the next read that is out of date is the last one beside the executor.
  var isLast: Bool { attempt >= TreeReads.attempts }

  /// Keeps what is written from now on, as far as it concerns the read.
  fileprivate func begin() {
    switch purpose {
    case .get: namespace.recentWrites.beginReading()
    case .listen(_, let group): group.beginReading()
    }
  }

  /// Forgets what was kept for the read.
  func end() {
    switch purpose {
    case .get: namespace.recentWrites.endReading()
    case .listen(_, let group):
      group.endReading()
      namespace.listens.removeIfEmpty(group)
    }
  }
}

/// Lets reads of sessions go on beside the server's executor.
///
/// A session has one of them at most, and nothing more of its link is decided before that has
/// ended. So its answers keep their order, and memory is bounded by one result a link.
/// Source: Docs/Decisions/0064, 0065.
struct TreeReads {
  let context: ServerContext

  /// The reads of one request that may be out of date at their end, one after the other; then it
  /// is read at once.
  static let attempts = 3

  /// The steps of sending so many bytes of an answer that was made beside the executor are one.
  static let sentBytesPerStep = 4_096

  /// The end of a read.
  enum End {
    /// It has a result.
    case value(any Sendable)
    /// It has none, and this says why.
    case response(TreeResponse)
  }

  /// Lets a read begin once the batch is durable.
  ///
  /// - Parameter body: Reads.
  func begin(
    _ purpose: PendingTreeRead.Purpose, _ call: TreeCall, attempt: Int, _ batch: inout ServerBatch,
    _ body: @escaping ReadJob.Body
  ) {
    let session = call.session
    let charge = ReadCharge(
      context.budget, address: session.address, user: session.identity.userID)
    let job = ReadJob(
      slot: session.slot, address: session.address, holdsLink: true, chargesRows: true, charge,
      body)
    let pending = PendingTreeRead(
      number: call.number, purpose: purpose, namespace: call.namespace, job: job, attempt: attempt)
    pending.begin()
    session.read = pending
    batch.add(job)
  }

  /// Returns the end of a read.
  static func end(of job: ReadJob) -> End {
    switch job.outcome {
    case .value(let value)?: .value(value.value)
    case .rejected(let reason)?: .response(reason.response)
    // Damage is told as such; other failures of a store are those of the moment.
    case .failed(let error)? where error.isCorruption:
      .response(.init(.failed, detail: RefusalText.damaged))
    case .failed?, nil:
      .response(.init(.unavailable, detail: "The data cannot be read now. Try again."))
    }
  }
}
