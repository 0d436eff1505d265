package import TernCore

/// One atomic group of writes that no server has answered yet.
///
/// Source: documents reference, section 5.3.
package struct DocumentBatch: Hashable, Sendable {
  /// Its place in the queue: larger than that of every earlier batch of any user.
  package let id: UInt64
  /// The user who owns the write; empty without a user.
  package let user: String
  /// The device's clock when it was made.
  package let localWriteTime: DocumentTimestamp
  /// The base values of increments, applied before ``mutations`` are replayed.
  package let baseMutations: [DocumentMutation]
  /// The writes, in order.
  package let mutations: [DocumentMutation]

  /// Describes a batch.
  package init(
    id: UInt64, user: String = "", localWriteTime: DocumentTimestamp,
    baseMutations: [DocumentMutation] = [], mutations: [DocumentMutation]
  ) {
    self.id = id
    self.user = user
    self.localWriteTime = localWriteTime
    self.baseMutations = baseMutations
    self.mutations = mutations
  }

  /// The documents it is about, each once, in the order of the writes.
  package var keys: [DocumentKey] {
    var seen: Set<DocumentKey> = []
    return mutations.map(\.key).filter { seen.insert($0).inserted }
  }
}
