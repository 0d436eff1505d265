import TernClient
import TernDocumentReplica

/// The indexes that queries on this device use.
///
/// Automatic creation is off when the program starts.
public final class PersistentCacheIndexManager: Sendable {
  private let firestore: Firestore

  init(_ firestore: Firestore) { self.firestore = firestore }

  /// Makes indexes from now on where queries read many documents for few results.
  public func enableIndexAutoCreation() { change { $0.createsIndexes = true } }

  /// Makes no more indexes by itself; those that exist are used on.
  public func disableIndexAutoCreation() { change { $0.createsIndexes = false } }

  /// Drops all indexes; results stay what they are.
  public func deleteAllIndexes() { change { $0.deleteAllIndexes() } }

  private func change(_ change: @escaping @Sendable (inout DocumentCache) -> Void) {
    firestore.calls.submit { session in session.withReplica { change(&$0.cache) } }
  }
}
