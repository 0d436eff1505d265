import TernCore
import TernDocumentAuthority
import TernLedger
import TernQuery
import TernStorage
import TernStorageMemory

/// A database of documents in memory, for measurements.
final class DocumentBench {
  let authority: DocumentAuthority
  private let ledger: EmbeddedLedger
  private var now: Int64 = 1_700_000_000_000_000

  init() throws {
    ledger = try EmbeddedLedger(store: MemoryStore(), uptime: { 0 })
    authority = DocumentAuthority(
      rows: DocumentRows(prefix: [0x20], database: try DocumentDatabase(projectID: "bench")))
  }

  /// Commits, and works out the changes for all watchers.
  ///
  /// - Returns: The commit, and how many were to be told.
  @discardableResult
  func write(
    _ mutations: [DocumentMutation], telling watch: DocumentWatch? = nil
  ) throws -> (decision: DocumentDecision, told: Int) {
    now += 1
    let (authority, time) = (authority, now)
    let outcome = try ledger.decide { snapshot throws(StorageError) in
      let pending = PendingReader(over: snapshot.reader)
      let outcome = try authority.decide(mutations, now: time, in: pending)
      guard case .success(let decision) = outcome else {
        return Decision([], keeping: (outcome, 0))
      }
      let (mutations, record) = try authority.apply(decision, to: pending)
      let deliveries = try watch?.commit(decision, in: pending) ?? []
      let told = deliveries.reduce(0) { $0 + $1.subscribers.count }
      let commit = Commit(mutations: mutations, record: record)
      return Decision([commit], keeping: (outcome, told))
    }.kept
    return (try outcome.0.get(), outcome.1)
  }

  /// Reads as the server does, in the turn that may also commit.
  func read<R>(_ body: (any StoreReader) throws(StorageError) -> R) throws -> R {
    try ledger.decide { snapshot throws(StorageError) in
      Decision([], keeping: try body(snapshot.reader))
    }.kept
  }

  func set(_ key: String, _ fields: DocumentFields) -> DocumentMutation {
    DocumentMutation(DocumentKey(unchecked: key), .set(fields))
  }

  static func fields(_ number: Int64) -> DocumentFields {
    [
      "n": .integer(number), "s": .integer(number % 10), "name": .string("room \(number)"),
      "open": .boolean(number % 2 == 0), "tags": [.integer(number % 7)],
    ]
  }

  /// Makes documents, numbered from 0.
  func fill(_ count: Int) throws {
    for start in stride(from: 0, to: count, by: 100) {
      try write(
        (start..<min(start + 100, count)).map { set("rooms/\($0)", Self.fields(Int64($0))) })
    }
  }

  /// The rows that a query reads.
  func cost(of query: DocumentQuery) throws -> Int { try explain(query).cost.rowsRead }

  private func explain(_ query: DocumentQuery) throws -> DocumentExplanation {
    try read { reader throws(StorageError) in
      try authority.run(query, in: reader) { _ throws(StorageError) in true }
    }.get()
  }

  /// Makes the indexes that a query deserves.
  func makeIndexes(for query: DocumentQuery) throws {
    let explanation = try explain(query)
    let authority = authority
    var isDone = try commit { reader throws(StorageError) in
      try authority.indexes(worth: explanation, in: reader)
    }
    while !isDone {
      isDone = try commit { reader throws(StorageError) in
        try authority.buildIndexes(in: reader)
      }
    }
  }

  /// Commits rows; whether there were none.
  private func commit(
    _ body: (any StoreReader) throws(StorageError) -> [Mutation]
  ) throws -> Bool {
    try ledger.decide { snapshot throws(StorageError) in
      let mutations = try body(snapshot.reader)
      return Decision(
        mutations.isEmpty ? [] : [Commit(mutations: mutations, record: [])],
        keeping: mutations.isEmpty)
    }.kept
  }
}
