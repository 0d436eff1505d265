import TernCore
package import TernQuery

/// The initial messages of a new subscription: up to CURRENT, in order.
///
/// A ``DocumentWatch/snapshot(at:in:)`` follows, unless the target was rejected.
///
/// The caller sends the parts in their order, and between them what it charges or checks.
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
///
/// Two bodies with the same identity are equal, as the state of a version never changes.
package struct WatchBodyID: Hashable, Sendable {
  enum Start: Hashable {
    /// The client holds nothing, or nothing that counts.
    case nothing
    /// The client had seen this version.
    case version(DocumentVersion)

    /// Returns true if the changes since this start contain those since another one.
    ///
    /// A start in the future is as of the newest version, whichever that is at the time.
    func covers(_ other: Start) -> Bool {
      switch (self, other) {
      case (.version(let version), .version(let later)): version <= later
      case (.nothing, .nothing): true
      case (.nothing, .version), (.version, .nothing): false
      }
    }
  }

  /// The serial of the group, which is not used again.
  let group: Int
  let start: Start
  /// The version of the state that it was read in.
  let version: DocumentVersion
}

/// The documents and removals that a new subscription receives, without the target's own messages.
///
/// A body depends on group, start and state, and on nothing of the subscriber.
struct WatchBody {
  /// The messages; those about documents are in the order of the result, or of keys.
  var changes: [WatchChange]
  /// `true` if the client's state is void.
  var isReset = false
  /// `true` if the body exceeds the size limit; it is incomplete then.
  var isTooLarge = false
  /// The possible document counts of a client that has seen all changes up to the start, if known.
  var heldBefore: ClosedRange<Int>?
  /// By how much the number of documents has grown since the start, if known.
  var growth: Int?

  /// About the bytes of memory that it takes; an empty one counts as well.
  var byteCount: Int { changes.reduce(Self.changeBytes) { $0 + Self.changeBytes + $1.byteCount } }

  /// The bytes of a message without its document.
  private static let changeBytes = 256
}

extension WatchChange {
  /// The bytes of what it carries.
  fileprivate var byteCount: Int {
    switch self {
    case .changed(let document, _, _): document.byteCountStored
    case .filter(_, _, let unchanged): unchanged?.bitmap.count ?? 0
    case .deleted(let key, _, _), .removed(let key, _, _): key.text.utf8.count
    case .target: 0
    }
  }
}

/// The initial snapshots sent last, for the next subscribers of their groups.
///
/// One goes with its group, with the next commit, or when there are too many bytes of them.
///
/// Many clients open the same target after a restart or a deployment. The first one's snapshot
/// serves the others, as long as nothing is committed.
struct LastSnapshotCache {
  /// The most bytes of one database's bodies together.
  ///
  /// A larger body is not kept.
  static let bytesKept = 4 << 20

  /// The bodies, with the bytes that each is counted for.
  private var bodies: [WatchBodyID: (body: WatchBody, bytes: Int)] = [:]
  /// The bodies of each group, oldest first.
  private var groups: [Int: [WatchBodyID]] = [:]
  /// The oldest first; some may be gone.
  private var order: ArraySlice<WatchBodyID> = []
  /// The bytes of all bodies.
  private(set) var byteCount = 0

  /// The number of bodies.
  var count: Int { bodies.count }

  subscript(id: WatchBodyID) -> WatchBody? { bodies[id]?.body }

  /// Keeps a body, and drops the oldest ones that it takes the place of.
  mutating func remember(_ id: WatchBodyID, _ body: WatchBody) {
    let bytes = body.byteCount
    guard bytes <= Self.bytesKept, bodies[id] == nil else { return }
    while byteCount + bytes > Self.bytesKept, let oldest = order.popFirst() { drop(oldest) }
    bodies[id] = (body, bytes)
    groups[id.group, default: []].append(id)
    order.append(id)
    byteCount += bytes
    // Bodies that went with their groups leave their names behind; they are swept once they are the
    // most.
    if order.count > 2 * bodies.count + 16 { order = order.filter { bodies[$0] != nil }[...] }
  }

  /// Forgets the bodies of a group that nothing watches any more.
  mutating func removeAll(of group: Int) {
    for id in groups.removeValue(forKey: group) ?? [] { drop(id) }
  }

  /// Forgets all bodies. Every commit calls it, and mostly there is nothing to forget.
  mutating func removeAll() {
    if order.isEmpty { return }
    self = LastSnapshotCache()
  }

  /// Forgets one body. The name may stay in ``order``.
  private mutating func drop(_ id: WatchBodyID) {
    guard let (_, bytes) = bodies.removeValue(forKey: id) else { return }
    byteCount -= bytes
    // The oldest of all is the first of its group.
    if let index = groups[id.group]?.firstIndex(of: id) { groups[id.group]?.remove(at: index) }
    if groups[id.group]?.isEmpty == true { groups[id.group] = nil }
  }
}
