import TernCore
package import TernQuery

/// What somebody is told who begins to watch: the messages up to CURRENT, in order.
///
/// A ``DocumentWatch/snapshot(at:in:)`` follows, unless the target was refused.
package struct WatchOpening {
  /// What is watched; `nil` when the target was refused or is over already.
  package let group: WatchGroup?
  /// ADD, and RESET when what the client holds is void; or the refusal.
  package let head: [WatchChange]
  /// The documents, their targets being ``WatchChange/anyTarget``.
  package let body: [WatchChange]
  /// Equal for equal bodies, so that each is encoded once.
  package let bodyID: WatchBodyID?
  /// CURRENT, and REMOVE when the client wanted no more.
  package let tail: [WatchChange]

  /// All messages, addressed to a target.
  package func messages(for target: Int32) -> [WatchChange] {
    head + body.map { $0.addressed(to: target) } + tail
  }
}

/// What was told to somebody who began to watch: of which group, and as of when.
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

/// What is told to somebody who begins to watch, apart from the target itself.
struct WatchBody {
  var changes: [WatchChange]
  /// Whether what the client holds is void.
  var isReset = false
  /// Whether it is more than may be told; it is not whole then.
  var isTooLarge = false
  /// How many documents a client can hold that saw all up to the start, where that is known.
  var heldBefore: ClosedRange<Int>?
}

/// The last things that were told to those who began to watch.
struct WatchMemory {
  private var bodies: [WatchBodyID: WatchBody] = [:]
  private var order: [WatchBodyID] = []

  private var changeCount = 0

  /// The most messages that are kept, of all bodies together; they go with the next commit.
  private static let changesKept = 20_000

  subscript(id: WatchBodyID) -> WatchBody? { bodies[id] }

  mutating func remember(_ id: WatchBodyID, _ body: WatchBody) {
    // An empty body counts as well.
    let count = body.changes.count + 1
    guard count <= WatchMemory.changesKept, bodies[id] == nil else { return }
    while changeCount + count > WatchMemory.changesKept, let oldest = order.first {
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
