package import TernCore
package import TernQuery

/// The transactions that are under way, by the ids that clients know them by.
///
/// Nothing is locked: what a transaction has read is validated when it commits, and read-only
/// ones read as of one time. Source: documents reference, section 3.9.
package struct DocumentTransactions: Sendable {
  /// What a transaction may do.
  package enum Kind: Hashable, Sendable {
    /// It reads what there is, and commits if that is still so.
    case readWrite
    /// It reads as of a time, and has nothing to commit.
    case readOnly(at: DocumentVersion)
  }

  private struct Open {
    let kind: Kind
    let began: Int64
    var used: Int64
    var reads = DocumentReadSet()
  }

  private let limits: DocumentTransactionLimits
  private var open: [[UInt8]: Open] = [:]
  /// What all of them have read.
  private var readCount = 0

  /// No transactions.
  package init(limits: DocumentTransactionLimits = .init()) { self.limits = limits }

  /// The number of transactions under way.
  package var count: Int { open.count }

  /// Begins a transaction.
  ///
  /// - Parameters:
  ///   - uptime: Milliseconds on a clock that never jumps.
  ///   - randomBits: Answers 64 random bits.
  /// - Returns: Its id, 16 bytes; RESOURCE_EXHAUSTED when there are too many.
  package mutating func begin(
    _ kind: Kind, uptime: Int64, randomBits: () -> UInt64
  ) -> Result<[UInt8], DocumentStatus> {
    if open.count >= limits.open { expire(uptime: uptime) }
    if open.count >= limits.open {
      return .failure(DocumentStatus(.resourceExhausted, "There are too many transactions."))
    }
    var id: [UInt8] = []
    for _ in 0..<2 { OrderedBytes.appendBigEndian(randomBits(), to: &id) }
    open[id] = Open(kind: kind, began: uptime, used: uptime)
    return .success(id)
  }

  /// What a transaction may do, before it reads.
  ///
  /// - Returns: INVALID_ARGUMENT for one that is not known, ABORTED for one that took too long.
  package mutating func use(_ id: [UInt8], uptime: Int64) -> Result<Kind, DocumentStatus> {
    guard let transaction = open[id] else {
      return .failure(DocumentStatus(.invalidArgument, "There is no such transaction."))
    }
    if limits.isOver(transaction.began, transaction.used, at: uptime) {
      forget(id)
      return .failure(DocumentStatus(.aborted, "The transaction took too long."))
    }
    open[id]?.used = uptime
    return .success(transaction.kind)
  }

  /// Notes what a transaction has read.
  ///
  /// - Returns: Why it may read no more; the transaction is over then.
  package mutating func note(
    _ documents: [Document] = [], query: DocumentTarget? = nil,
    at version: DocumentVersion = .none, in id: [UInt8]
  ) -> DocumentStatus? {
    guard let before = open[id]?.reads.count, case .readWrite = open[id]?.kind else { return nil }
    for document in documents { open[id]?.reads.note(document) }
    if let query { open[id]?.reads.note(query, at: version) }
    let count = open[id]?.reads.count ?? before
    readCount += count - before
    if count <= limits.reads, readCount <= limits.allReads { return nil }
    forget(id)
    let text =
      count > limits.reads
      ? "A transaction reads at most \(limits.reads) documents and queries."
      : "The transactions under way have read \(limits.allReads) documents and queries."
    return DocumentStatus(.resourceExhausted, text)
  }

  /// Ends a transaction that is to be committed.
  ///
  /// - Returns: What is to be validated; nothing for one that only reads. Fails like
  ///   ``use(_:uptime:)``.
  package mutating func finish(
    _ id: [UInt8], uptime: Int64
  ) -> Result<DocumentReadSet?, DocumentStatus> {
    let reads = open[id]?.reads
    return use(id, uptime: uptime).map { kind in
      forget(id)
      return kind == .readWrite ? reads : nil
    }
  }

  /// Ends a transaction without a commit; one that is not known is over already.
  package mutating func rollback(_ id: [UInt8]) { forget(id) }

  private mutating func forget(_ id: [UInt8]) {
    readCount -= open.removeValue(forKey: id)?.reads.count ?? 0
  }

  /// Forgets transactions that took too long.
  package mutating func expire(uptime: Int64) {
    let limits = limits
    open = open.filter { !limits.isOver($0.value.began, $0.value.used, at: uptime) }
    readCount = open.values.reduce(0) { $0 + $1.reads.count }
  }
}

/// How long transactions may take, and how much they may read.
///
/// Source: documents reference, sections 3.9 and 9.
package struct DocumentTransactionLimits: Hashable, Sendable {
  /// The most milliseconds of a transaction.
  package var totalMilliseconds: Int64 = 270_000
  /// The most milliseconds between two uses of it.
  package var idleMilliseconds: Int64 = 60_000
  /// The most transactions under way.
  package var open = 10_000
  /// The most documents and queries one of them reads.
  package var reads = 20_000
  /// The most that all of them together have read.
  package var allReads = 1_000_000

  /// The defaults.
  package init() {}

  func isOver(_ began: Int64, _ used: Int64, at uptime: Int64) -> Bool {
    uptime - began > totalMilliseconds || uptime - used > idleMilliseconds
  }
}
