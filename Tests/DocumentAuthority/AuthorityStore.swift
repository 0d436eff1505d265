import Foundation
import Testing

@testable import TernCore
@testable import TernDocumentAuthority
@testable import TernLedger
@testable import TernQuery
@testable import TernStorage
@testable import TernStorageLMDB
@testable import TernStorageMemory
@testable import TernStorageSQLite

/// A database of documents in a ledger, with a clock that the test turns.
final class AuthorityStore {
  let ledger: EmbeddedLedger
  let authority: DocumentAuthority
  /// Microseconds since 1970.
  var now: Int64 = 1_700_000_000_000_000

  static let database = try? DocumentDatabase(projectID: "p")

  init(_ store: any OrderedStore = MemoryStore(), database: DocumentDatabase) throws {
    ledger = try EmbeddedLedger(store: store, uptime: { 0 })
    authority = DocumentAuthority(rows: DocumentRows(prefix: [0x20], database: database))
  }

  convenience init(_ store: any OrderedStore = MemoryStore()) throws {
    try self.init(store, database: DocumentDatabase(projectID: "p"))
  }

  /// Commits, or says why not.
  func commit(
    _ mutations: [DocumentMutation], validating reads: DocumentReadSet? = nil
  ) throws -> Result<DocumentDecision, DocumentStatus> {
    now += 1_000
    let time = now
    let authority = authority
    let (results, kept) = try ledger.decide { snapshot throws(StorageError) in
      let pending = PendingReader(over: snapshot.reader)
      let outcome = try authority.decide(
        mutations, validating: reads, now: time, in: pending)
      guard case .success(let decision) = outcome else {
        return Decision([], keeping: outcome)
      }
      let (mutations, record) = try authority.apply(decision, to: pending)
      let commit = Commit(mutations: mutations, record: record)
      return Decision([commit], keeping: outcome)
    }
    for result in results {
      guard case .committed = result else { throw Unexpected(result: result) }
    }
    return kept
  }

  /// Commits what must be accepted.
  @discardableResult
  func write(_ mutations: [DocumentMutation]) throws -> DocumentDecision {
    try commit(mutations).get()
  }

  struct Unexpected: Error { let result: CommitResult }

  /// Reads with a state of the store, in a turn like those a server reads and commits in.
  func read<R>(_ body: (any StoreReader) throws(StorageError) -> R) throws -> R {
    try ledger.decide { snapshot throws(StorageError) in
      Decision([], keeping: try body(snapshot.reader))
    }.kept
  }

  func document(_ key: DocumentKey) throws -> Document {
    try read { reader throws(StorageError) in try authority.document(key, in: reader) }
  }

  func documents(_ query: DocumentQuery) throws -> [Document] {
    try read { reader throws(StorageError) in
      try authority.documents(of: query, in: reader)
    }.get()
  }

  /// The keys of a query's result, and what it took.
  func explain(_ query: DocumentQuery) throws -> (keys: [String], explanation: DocumentExplanation)
  {
    var keys: [String] = []
    let explanation = try read { reader throws(StorageError) in
      try authority.run(query, in: reader) { document throws(StorageError) in
        keys.append(document.key.text)
        return true
      }
    }.get()
    return (keys, explanation)
  }

  /// Begins and builds every index that a query wishes for, whatever it cost.
  func buildIndexes(wishedBy explanation: DocumentExplanation) throws {
    var cost = DocumentCost()
    cost.documentsRead = 1_000_000
    let dear = DocumentExplanation(
      choices: [], cost: cost, returned: 0, skipped: 0, wishes: explanation.wishes)
    let authority = authority
    try commitRows { reader throws(StorageError) in try authority.indexes(worth: dear, in: reader) }
    while try commitRows({ reader throws(StorageError) in try authority.buildIndexes(in: reader) })
    {}
  }

  /// Commits rows, if there are any.
  @discardableResult
  private func commitRows(
    _ body: (any StoreReader) throws(StorageError) -> [Mutation]
  ) throws -> Bool {
    try ledger.decide { snapshot throws(StorageError) in
      let mutations = try body(snapshot.reader)
      let commit = Commit(mutations: mutations, record: [])
      return Decision(mutations.isEmpty ? [] : [commit], keeping: !mutations.isEmpty)
    }.kept
  }

  /// Removes everything.
  func wipe() throws -> DocumentDecision {
    now += 1_000
    let (authority, time) = (authority, now)
    return try ledger.decide { snapshot throws(StorageError) in
      let pending = PendingReader(over: snapshot.reader)
      let (decision, mutations, record) = try authority.wipe(now: time, to: pending)
      return Decision([Commit(mutations: mutations, record: record)], keeping: decision)
    }.kept
  }

  /// Forgets what was too long ago; returns where to go on.
  func sweep(from scope: UInt32, limit: Int) throws -> UInt32 {
    let authority = authority
    return try ledger.decide { snapshot throws(StorageError) in
      let (mutations, next) = try authority.sweep(from: scope, limit: limit, in: snapshot.reader)
      return Decision([Commit(mutations: mutations, record: [])], keeping: next)
    }.kept
  }

  /// Returns the number of the database's rows in the store.
  func rowCounts() throws -> [UInt8: Int] {
    try read { reader throws(StorageError) in
      var counts: [UInt8: Int] = [:]
      for row in try Snapshot(reader).scan(authority.rows.range) {
        counts[row.key[1], default: 0] += 1
      }
      return counts
    }
  }
}

/// One of the stores that hold a server's truth.
struct AuthorityBackend: Sendable, CustomTestStringConvertible {
  let name: String
  let open: @Sendable () throws -> any OrderedStore

  var testDescription: String { name }

  static let memory = AuthorityBackend(name: "memory") { MemoryStore() }
}

func set(
  _ key: DocumentKey, _ fields: DocumentFields,
  precondition: DocumentPrecondition = .none, transforms: [DocumentFieldTransform] = []
) -> DocumentMutation {
  DocumentMutation(key, .set(fields), precondition: precondition, transforms: transforms)
}

func patch(
  _ key: DocumentKey, _ fields: DocumentFields, mask: [DocumentFieldPath],
  precondition: DocumentPrecondition = .exists(true), transforms: [DocumentFieldTransform] = []
) -> DocumentMutation {
  DocumentMutation(
    key, .patch(fields, mask: DocumentFieldMask(mask)), precondition: precondition,
    transforms: transforms)
}

extension AuthorityBackend {
  static let all = [
    memory,
    AuthorityBackend(name: "sqlite") {
      try SQLiteStore(path: temporaryPath(), durability: .relaxed)
    },
    AuthorityBackend(name: "lmdb") { try LMDBStore(path: temporaryPath(), durability: .relaxed) },
  ]
}

private func temporaryPath() -> String {
  temporaryDirectory.appending(path: UUID().uuidString).path
}

private let temporaryDirectory: URL = {
  atexit { try? FileManager.default.removeItem(at: temporaryDirectory) }
  return FileManager.default.temporaryDirectory.appending(path: "tern-authority-\(getpid())")
}()
