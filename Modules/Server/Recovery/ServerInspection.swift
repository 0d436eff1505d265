import TernCore
import TernDocumentAuthority
public import TernLedger
public import TernStorage
import TernTreeRows

/// The findings about a server's store that is read as a whole.
public struct ServerInspection: Hashable, Sendable {
  /// A sentence for each contradiction, the first 100 of them.
  public private(set) var findings: [String] = []
  /// The number of contradictions.
  public private(set) var findingCount = 0
  /// The number of databases, of both models.
  public internal(set) var databases = 0
  /// The number of documents.
  public internal(set) var documents = 0
  /// The number of commits in the log that were compared with the state.
  public internal(set) var commits = 0

  init() {}

  /// True when nothing contradicts anything.
  public var isWell: Bool { findingCount == 0 }

  private static let mostFindings = 100

  mutating func report(_ finding: String) {
    findingCount += 1
    if findings.count < Self.mostFindings { findings.append(finding) }
  }
}

extension ServerInspection {
  /// Checks a server's store, which no server has open, beyond its checksums: every row of a tree
  /// is one, every index agrees with its documents, and making the commits of the log once more
  /// changes nothing.
  ///
  /// - Complexity: O(*size of the store*); holds the changes of the log in memory.
  public init(of store: any OrderedStore) throws(LedgerError) {
    let ledger = try EmbeddedLedger(store: store) { 0 }
    self = try ledger.read { snapshot throws(StorageError) in
      var inspection = ServerInspection()
      for database in try DatabaseLayout.databases(in: snapshot) {
        inspection.databases += 1
        if database.isDocuments {
          inspection.documents += try DocumentInspection(prefix: database.prefix)
            .verify(in: snapshot.reader) { inspection.report("\(database.name): \($0)") }
        } else {
          try Self.check(database, in: snapshot, &inspection)
        }
      }
      return inspection
    }
    try Self.compareLog(of: ledger, &self)
  }

  /// Reads every row of a tree, and looks for values that have children.
  private static func check(
    _ database: DatabaseLayout.Database, in snapshot: borrowing LedgerSnapshot,
    _ inspection: inout ServerInspection
  ) throws(StorageError) {
    let rows = TreeRows(prefix: database.prefix)
    do throws(StorageError) {
      try rows.writeJSON(of: .root, .export, pieceBytes: 64 << 10, in: snapshot) { _ in true }
    } catch {
      guard error.isCorruption else { throw error }
      inspection.report("\(database.name): \(error)")
    }
  }

  /// Makes the commits of the log on top of the state; any row that changes is a finding.
  private static func compareLog(
    of ledger: EmbeddedLedger, _ inspection: inout ServerInspection
  ) throws(LedgerError) {
    var entries: [LogEntry] = []
    do throws(LedgerError) { entries = try ledger.log(after: 0, limit: .max) } catch {
      guard case .truncated(let first) = error else { throw error }
      entries = try ledger.log(after: first - 1, limit: .max)
    }
    inspection.commits = entries.count
    try ledger.read { [entries] snapshot throws(StorageError) in
      let reader = PendingReader(over: snapshot.reader)
      var documents: [LoggedDocument: Document] = [:]
      for entry in entries {
        if let record = DocumentRecord(entry.record) {
          for document in record.documents {
            documents[LoggedDocument(prefix: record.prefix, key: document.key)] = document
          }
        } else {
          _ = try RestoredStore.mutations(of: entry.record, to: reader)
        }
      }
      for (place, document) in documents {
        let stored = try DocumentAuthority(rows: DocumentRows(prefix: place.prefix))
          .document(place.key, in: snapshot.reader)
        if stored.fields != document.fields {
          inspection.report("\(place.key): the document is not as the log left it")
        }
      }
      try reader.pending.forEachDifference(from: snapshot.reader) { key in
        inspection.report("the row \(hex(key)) is not as the log left it")
      }
    }
  }

  /// A document that a commit of the log has changed.
  private struct LoggedDocument: Hashable {
    let prefix: [UInt8]
    let key: DocumentKey
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
