import TernCore
package import TernQuery

/// The initial messages of a new subscription: up to CURRENT, in order.
///
/// A ``DocumentWatch/snapshot(at:in:)`` follows, unless the target was rejected.
package struct WatchOpening {
  /// The watched group; `nil` when the target was rejected or has already ended.
  package let group: WatchGroup?
  /// ADD, and RESET when the client's state is void; or the rejection.
  package let head: [WatchChange]
  /// The documents, their targets being ``WatchChange/anyTarget``.
  package let body: [WatchChange]
  /// Equal for equal bodies, so that each is encoded once.
  package let bodyID: WatchBodyID?
  /// CURRENT.
  package let tail: [WatchChange]
  /// REMOVE when the client wanted no more; it comes behind the snapshot.
  package let end: [WatchChange]

  /// All messages, addressed to a target.
  package func messages(for target: Int32) -> [WatchChange] {
    head + body.map { $0.addressed(to: target) } + tail + end
  }
}

/// The identity of an initial snapshot: its group, its start and its version.
package struct WatchBodyID: Hashable, Sendable {
  enum Start: Hashable {
    case nothing
    /// The client had seen this version.
    case version(DocumentVersion)
  }

  let group: Int
  let start: Start
  let version: DocumentVersion
}

/// The documents and removals that a new subscription receives, without the target's own messages.
struct WatchBody {
  var changes: [WatchChange]
  /// `true` if the client's state is void.
  var isReset = false
  /// `true` if the body exceeds the size limit; it is incomplete then.
  var isTooLarge = false
  /// The possible document counts of a client that has seen all changes up to the start, if known.
  var heldBefore: ClosedRange<Int>?
  /// By how much the number of documents has grown since the start, if known.
  var growth: Int?
}

/// The initial snapshots sent last, for reuse.
struct LastSnapshotCache {
  private var bodies: [WatchBodyID: WatchBody] = [:]
  private var order: [WatchBodyID] = []

  private var changeCount = 0

  /// The most messages that are kept, of all bodies together; they go with the next commit.
  private static let changesKept = 20_000

  subscript(id: WatchBodyID) -> WatchBody? { bodies[id] }

  mutating func remember(_ id: WatchBodyID, _ body: WatchBody) {
    // An empty body counts as well.
    let count = body.changes.count + 1
    guard count <= LastSnapshotCache.changesKept, bodies[id] == nil else { return }
    while changeCount + count > LastSnapshotCache.changesKept, let oldest = order.first {
      changeCount -= (bodies.removeValue(forKey: oldest)?.changes.count ?? 0) + 1
      order.removeFirst()
    }
    bodies[id] = body
    order.append(id)
    changeCount += count
  }

  mutating func removeAll() {
    if order.isEmpty { return }
    bodies = [:]
    order = []
    changeCount = 0
  }
}
