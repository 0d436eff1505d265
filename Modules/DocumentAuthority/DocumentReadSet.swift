package import TernCore
package import TernQuery
import TernStorage

/// The documents and queries that a transaction has read. They must be unchanged when it commits.
///
/// It keeps versions, not documents. The number of entries is limited by
/// ``DocumentTransactionLimits``.
package struct DocumentReadSet: Hashable, Sendable {
  /// A query that was run.
  struct Ran: Hashable {
    /// The query without selection, which says nothing about the documents that it depends on.
    let target: DocumentTarget
    /// The version of the read.
    let version: DocumentVersion
  }

  /// The version each document had; ``DocumentVersion/none`` for those that were missing.
  ///
  /// A document that was deleted and made again has another version, and counts as changed.
  private(set) var documents: [DocumentKey: DocumentVersion] = [:]
  /// Queries in the order in which they were run; the same one may be here twice.
  private(set) var queries: [Ran] = []

  /// Nothing was read.
  package init() {}

  /// Notes a document that was read; the first reading counts.
  ///
  /// A second reading of a document that has changed in between must fail the commit, so the first
  /// version stays.
  package mutating func note(_ document: Document) {
    if documents[document.key] != nil { return }
    documents[document.key] = document.isFound ? document.version : DocumentVersion.none
  }

  /// Notes a query that was run, or aggregated over, as of a version.
  package mutating func note(_ target: DocumentTarget, at version: DocumentVersion) {
    queries.append(Ran(target: target, version: version))
  }

  /// The source and the version of queries that were run.
  fileprivate struct Place: Hashable {
    let source: DocumentQuery.Source
    let version: DocumentVersion
  }

  /// The queries that were run, each once, by what they read.
  fileprivate var targets: [Place: Set<DocumentTarget>] {
    var targets: [Place: Set<DocumentTarget>] = [:]
    for ran in queries {
      let place = Place(source: ran.target.source, version: ran.version)
      targets[place, default: []].insert(ran.target)
    }
    return targets
  }

  /// The number of documents and queries read.
  package var count: Int { documents.count + queries.count }
}

extension DocumentAuthority {
  /// Returns the reason to retry a transaction; `nil` when everything it has read is unchanged.
  ///
  /// A query counts as changed if a document that matched it, or matches it now, has changed since,
  /// even beyond the query's limit.
  func conflict(
    with reads: DocumentReadSet, _ reading: DocumentReading
  ) throws(StorageError) -> DocumentStatus? {
    let stale = DocumentStatus(.aborted, "What the transaction has read has changed.")
    for (key, version) in reads.documents {
      let document = try reading.document(key)
      if (document.isFound ? document.version : .none) != version { return stale }
    }
    // What has changed is read once for all queries over it. A read that lies beyond the kept
    // history, or that takes too much memory to check, counts as changed: the client tries again
    // with newer reads.
    for (place, targets) in reads.targets {
      guard
        case .success(let past) = try PastDocuments.read(place.source, at: place.version, reading)
      else { return stale }
      if past.documents.isEmpty { continue }
      let matchers = targets.map { DocumentMatcher(DocumentQuery($0)) }
      for (key, before) in past.documents {
        let now = try reading.document(key)
        if before.version == now.version, before.state == now.state { continue }
        if matchers.contains(where: { $0.matches(before) || $0.matches(now) }) { return stale }
      }
    }
    return nil
  }
}
