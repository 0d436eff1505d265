import TernCore
import TernDocumentReplica
public import TernQuery

/// The indexes of the documents on this device. Source: documents reference, section 5.11.
///
/// They change how fast queries are answered here, never their results.
public struct DocumentIndexes: Sendable {
  let session: DocumentSession

  /// Makes indexes by itself where queries read many documents for few results, until the end of
  /// the program; ``ClientOptions/createsDocumentIndexes`` says how it begins.
  public func createAutomatically(_ isOn: Bool) async {
    await session.withReplica { $0.cache.createsIndexes = isOn }
  }

  /// The indexes there are, also those that are still being filled.
  public var all: [DocumentIndex] {
    get async { await session.withReplica { $0.cache.allIndexes } }
  }

  /// True when every index is filled, so that queries use it.
  public var areComplete: Bool {
    get async { await session.withReplica { $0.cache.areIndexesComplete } }
  }

  /// Makes exactly these indexes; others are deleted. They are filled little by little.
  ///
  /// - Throws: `DocumentIndexError` for more than 200 indexes, or one of more than 100 fields, with
  ///   nothing changed.
  public func set(_ indexes: [DocumentIndex]) async throws(DocumentIndexError) {
    let result = await session.withReplica { replica in
      Result { () throws(DocumentIndexError) in try replica.cache.configure(indexes) }
    }
    try result.get()
  }

  /// Makes exactly the indexes that a configuration names, in the form of `firestore.indexes.json`.
  ///
  /// - Throws: `DocumentIndexError`, with nothing changed.
  public func set(json: String) async throws(DocumentIndexError) {
    let result = await session.withReplica { replica in
      Result { () throws(DocumentIndexError) in try replica.cache.setIndexes(json) }
    }
    try result.get()
  }

  /// Drops all indexes.
  public func deleteAll() async {
    await session.withReplica { $0.cache.deleteAllIndexes() }
  }

  /// Indexes documents that no index holds yet.
  ///
  /// - Returns: How many were indexed; 0 when nothing is left to do.
  public func backfill(limit: Int = 500) async -> Int {
    await session.withReplica { $0.cache.backfillIndexes(limit: limit) }
  }
}
