package import TernCore
package import TernQuery

/// The transactions that are under way, by the ids that clients know them by.
///
/// Nothing is locked: what a transaction has read is validated when it commits, and read-only
/// ones read as of one time. Source: documents reference, section 3.9.
///
/// The state is in memory and belongs to one open database. It ends with the server: an id of a run
/// before is recognized by its checksum alone, and gets ABORTED, which makes its client begin anew.
///
/// A transaction begins with ``begin(_:for:uptime:randomBits:)``, is looked up by
/// ``use(_:uptime:)`` for each read, whose results ``note(_:query:at:in:)`` gathers, and ends with
/// ``finish(_:uptime:)``, ``rollback(_:)``, or ``expire(uptime:)``.
package struct DocumentTransactions: Sendable {
  /// The access mode of a transaction.
  package enum Kind: Hashable, Sendable {
    /// It reads the current version, and commits if its reads are unchanged.
    case readWrite
    /// It reads as of a version, and commits nothing.
    case readOnly(at: DocumentVersion)
  }

  /// The client that has begun a transaction: its address and, when it has proved one, its user.
  package struct Owner: Hashable, Sendable {
    private let address: String
    private let user: String?

    /// The owner with that address and user id; a `nil` user has proved no identity.
    package init(address: String, user: String?) {
      self.address = address
      self.user = user
    }
  }

  /// A transaction under way.
  private struct Open {
    let kind: Kind
    let owner: Owner?
    /// The uptime at its beginning, in milliseconds.
    let began: Int64
    /// The uptime at its last use, in milliseconds.
    var used: Int64
    var reads = DocumentReadSet()
  }

  private let limits: DocumentTransactionLimits
  /// The transactions under way, by id.
  private var open: [[UInt8]: Open] = [:]
  /// The number of transactions under way of each owner that has any.
  private var shares: [Owner: Int] = [:]
  /// The number of reads of all transactions together.
  ///
  /// It equals the sum over ``open``; ``expire(uptime:)`` computes it anew.
  private var readCount = 0
  /// The last transactions that were committed, oldest first.
  ///
  /// A rollback of one of them is answered with ABORTED, as the service does; older ones are taken
  /// for rolled back. At the limit the older half is dropped.
  private var committed: [[UInt8]] = []

  /// No transactions.
  package init(limits: DocumentTransactionLimits = .init()) { self.limits = limits }

  /// The number of transactions under way.
  package var count: Int { open.count }

  /// Begins a transaction.
  ///
  /// - Parameters:
  ///   - owner: The client whose share it counts for; `nil` for none.
  ///   - uptime: Milliseconds on a clock that never jumps.
  ///   - randomBits: Answers 64 random bits.
  /// - Returns: Its id, see ``TransactionID``; RESOURCE_EXHAUSTED when there are too many,
  ///   altogether or of its owner.
  package mutating func begin(
    _ kind: Kind, for owner: Owner? = nil, uptime: Int64, randomBits: () -> UInt64
  ) -> Result<[UInt8], DocumentStatus> {
    // Those that have exceeded their time count until they are next removed: looking for them
    // here would be work for each rejection.
    if let owner, shares[owner, default: 0] >= limits.openOfOwner {
      let text = "A client has at most \(limits.openOfOwner) transactions under way."
      return .failure(DocumentStatus(.resourceExhausted, text))
    }
    if open.count >= limits.open { expire(uptime: uptime) }
    if open.count >= limits.open {
      return .failure(DocumentStatus(.resourceExhausted, "There are too many transactions."))
    }
    let id = TransactionID.make(isReadOnly: kind != .readWrite, randomBits: randomBits)
    open[id] = Open(kind: kind, owner: owner, began: uptime, used: uptime)
    if let owner { shares[owner, default: 0] += 1 }
    return .success(id)
  }

  /// Returns the access mode of a transaction, before it reads.
  ///
  /// - Returns: INVALID_ARGUMENT for a transaction that never was, ABORTED for one that has ended,
  ///   also with an earlier run of the server.
  package mutating func use(_ id: [UInt8], uptime: Int64) -> Result<Kind, DocumentStatus> {
    guard let transaction = open[id] else {
      return .failure(TransactionID.isReadOnly(id) == nil ? Self.unknown : Self.over)
    }
    if limits.isOver(transaction.began, transaction.used, at: uptime) {
      forget(id)
      return .failure(Self.over)
    }
    open[id]?.used = uptime
    return .success(transaction.kind)
  }

  /// The version that a read-only transaction reads at; `nil` for any other.
  package func readOnlyTime(of id: [UInt8]) -> DocumentVersion? {
    guard case .readOnly(let time)? = open[id]?.kind else { return nil }
    return time
  }

  /// Notes what a transaction has read.
  ///
  /// - Parameters:
  ///   - documents: Documents that were read, missing ones included.
  ///   - query: A query that was run.
  ///   - version: The version of the query's read.
  ///   - id: The transaction; nothing is noted for one that only reads, or that has ended.
  /// - Returns: Why it may read no more; the transaction is over then.
  package mutating func note(
    _ documents: [Document] = [], query: DocumentTarget? = nil,
    at version: DocumentVersion = .none, in id: [UInt8]
  ) -> DocumentStatus? {
    guard let before = open[id]?.reads.count, case .readWrite = open[id]?.kind else { return nil }
    for document in documents { open[id]?.reads.note(document) }
    if let query { open[id]?.reads.note(query, at: version) }
    let count = open[id]?.reads.count ?? before
    // A transaction that reads a document twice has noted it once.
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
  /// The transaction is over whatever comes of the commit: a client that retries begins a new one.
  ///
  /// - Returns: What is to be validated; nothing for one that only reads. Fails like
  ///   ``use(_:uptime:)``.
  package mutating func finish(
    _ id: [UInt8], uptime: Int64
  ) -> Result<DocumentReadSet?, DocumentStatus> {
    // Taken before the use, which forgets a transaction that is over.
    let reads = open[id]?.reads
    let used = use(id, uptime: uptime)
    // A transaction that only reads has nothing to try again.
    if case .failure(let status) = used, status.code == .aborted,
      TransactionID.isReadOnly(id) == true
    {
      return .failure(DocumentStatus(.invalidArgument, status.message))
    }
    return used.map { kind in
      forget(id)
      return kind == .readWrite ? reads : nil
    }
  }

  /// Notes that a transaction, which ``finish(_:uptime:)`` has ended, is committed.
  ///
  /// - Parameter id: The id, also of a transaction without writes.
  package mutating func noteCommit(_ id: [UInt8]) {
    if committed.count >= limits.committedKept { committed.removeFirst(committed.count / 2) }
    committed.append(id)
  }

  /// Rolls a transaction back, unless it has ended.
  ///
  /// A rollback of a transaction that has expired or was rolled back succeeds: there is nothing
  /// left to do.
  ///
  /// - Returns: ABORTED for a committed transaction, INVALID_ARGUMENT for one that never was.
  package mutating func rollback(_ id: [UInt8]) -> DocumentStatus? {
    if TransactionID.isReadOnly(id) == nil { return Self.unknown }
    forget(id)
    return committed.contains(id) ? Self.over : nil
  }

  /// Checks the transaction that a new one repeats.
  ///
  /// - Parameter id: Empty when nothing is repeated.
  package static func checkRetried(_ id: [UInt8]) -> DocumentStatus? {
    if id.isEmpty { return nil }
    guard let isReadOnly = TransactionID.isReadOnly(id) else { return unknown }
    return isReadOnly
      ? DocumentStatus(.invalidArgument, "Cannot retry a read-only transaction.") : nil
  }

  /// The client has made the id up, so a retry does not help.
  private static let unknown = DocumentStatus(.invalidArgument, "Invalid transaction.")

  /// The client begins a new transaction and does its work again.
  private static let over = DocumentStatus(
    .aborted, "The referenced transaction has expired or is no longer valid.")

  /// Removes a transaction, its reads, and its share of its owner.
  private mutating func forget(_ id: [UInt8]) {
    guard let ended = open.removeValue(forKey: id) else { return }
    readCount -= ended.reads.count
    guard let owner = ended.owner else { return }
    let left = shares[owner, default: 0] - 1
    shares[owner] = left > 0 ? left : nil
  }

  /// Removes the transactions that have exceeded their time limits.
  ///
  /// - Complexity: O(open transactions). The server calls it now and then, and
  ///   ``begin(_:for:uptime:randomBits:)`` only at the limit.
  package mutating func expire(uptime: Int64) {
    let limits = limits
    open = open.filter { !limits.isOver($0.value.began, $0.value.used, at: uptime) }
    readCount = open.values.reduce(0) { $0 + $1.reads.count }
    shares = [:]
    for transaction in open.values {
      if let owner = transaction.owner { shares[owner, default: 0] += 1 }
    }
  }
}

/// Limits for the duration and the reads of transactions.
///
/// Source: documents reference, sections 3.9 and 9.
///
/// Without them, clients that leave transactions open would fill the server's memory with their
/// reads.
package struct DocumentTransactionLimits: Hashable, Sendable {
  /// The most milliseconds of a transaction.
  package var totalMilliseconds: Int64 = 270_000
  /// The most milliseconds between two uses of a transaction.
  package var idleMilliseconds: Int64 = 60_000
  /// The most open transactions.
  package var open = 10_000
  /// The most open transactions of one owner.
  package var openOfOwner = 1_000
  /// The most documents and queries that one transaction reads.
  package var reads = 20_000
  /// The most reads of all transactions together.
  package var allReads = 1_000_000
  /// The number of committed transactions that are known as such.
  package var committedKept = 1_024

  /// The defaults.
  package init() {}

  /// Returns true for a transaction that has exceeded a limit of time; one of exactly the limit is
  /// valid.
  func isOver(_ began: Int64, _ used: Int64, at uptime: Int64) -> Bool {
    uptime - began > totalMilliseconds || uptime - used > idleMilliseconds
  }
}
