package import TernCore
import TernLedger
import TernQuery
package import TernStorage

/// Decides what writes and queries mean on the server.
///
/// It judges form, not permission, and does no more than read: commits are handed out as
/// mutations. Every reader it is given is one state of a store, a batch's own changes included;
/// everything that one call answers is consistent.
///
/// The server calls it on its executor, and reads of queries may run on other threads: it is a
/// value without state of its own. Who may read or write is decided by the rules in `Security`.
package struct DocumentAuthority: Sendable {
  /// The rows of the database.
  package let rows: DocumentRows

  /// The authority over the database below `rows`.
  package init(rows: DocumentRows) { self.rows = rows }

  /// The version of the last commit; ``DocumentVersion/none`` before the first.
  package func lastVersion(in reader: any StoreReader) throws(StorageError) -> DocumentVersion {
    try DocumentReading(rows, reader).state().last
  }

  /// A document as it is; missing at ``DocumentVersion/none`` when there is none.
  package func document(
    _ key: DocumentKey, in reader: any StoreReader
  ) throws(StorageError) -> Document {
    try DocumentReading(rows, reader).document(key)
  }

  /// Documents as they are, in the order asked for, missing ones included.
  package func documents(
    _ keys: [DocumentKey], in reader: any StoreReader
  ) throws(StorageError) -> [Document] {
    let reading = DocumentReading(rows, reader)
    var documents: [Document] = []
    for key in keys { documents.append(try reading.document(key)) }
    return documents
  }

  /// Documents as they were at an earlier version, in the order asked for, missing ones included.
  package func documents(
    _ keys: [DocumentKey], at time: DocumentVersion, in reader: any StoreReader
  ) throws(StorageError) -> Result<[Document], DocumentStatus> {
    let reading = DocumentReading(rows, reader)
    switch try PastDocuments.read(keys, at: time, reading) {
    case .failure(let status): return .failure(status)
    case .success(let past):
      var documents: [Document] = []
      for key in keys {
        if let known = past.documents[key] {
          documents.append(known)
        } else {
          documents.append(try reading.document(key))
        }
      }
      return .success(documents)
    }
  }
}

/// Limits for the work of one request. Source: documents reference, sections 1.9, 3.6 and 9.
package enum DocumentAuthorityLimits {
  /// The most entries a document may have in the indexes of single fields.
  package static let entriesPerDocument = 40_000
  /// The most bytes of all those entries.
  package static let entryBytesPerDocument = 8 * 1_024 * 1_024
  /// The most bytes of the packed fields of a document. Empty maps, which count nothing towards
  /// ``DocumentLimits/documentBytes``, take bytes here; half of what a store takes, for the row
  /// that tells what a document was before holds all of it, and more.
  package static let packedBytes = StorageLimits.valueBytes / 2
  /// The most bytes of all documents that one commit makes, each as it is after each write.
  package static let commitBytes = 64 * 1_024 * 1_024
  /// The most field transforms of one document in one commit.
  package static let transformsPerDocument = 500
  /// For how long is known what documents were before, in microseconds: an hour.
  package static let changeRetention: Int64 = 3_600_000_000
  /// The most changes that are undone to see an earlier state.
  package static let changesUndone = 100_000
  /// The most bytes of documents that are kept in memory to see an earlier state: 64 MiB.
  package static let pastBytes = 64 << 20
}
