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
struct LastSnapshotCache {
  /// The most bytes of one database's bodies together.
  static let bytesKept = 4 << 20

  private var bodies: [WatchBodyID: (body: WatchBody, bytes: Int)] = [:]
  private var groups: [Int: [WatchBodyID]] = [:]
  /// The oldest first; some may be gone.
  private var order: ArraySlice<WatchBodyID> = []
  /// The bytes of all bodies.
  private(set) var byteCount = 0

  /// The number of bodies.
  var count: Int { bodies.count }

  subscript(id: WatchBodyID) -> WatchBody? { bodies[id]?.body }

  mutating func remember(_ id: WatchBodyID, _ body: WatchBody) {
    let bytes = body.byteCount
    guard bytes <= Self.bytesKept, bodies[id] == nil else { return }
    while byteCount + bytes > Self.bytesKept, let oldest = order.popFirst() { drop(oldest) }
    bodies[id] = (body, bytes)
    groups[id.group, default: []].append(id)
    order.append(id)
    byteCount += bytes
    if order.count > 2 * bodies.count + 16 { order = order.filter { bodies[$0] != nil }[...] }
  }

  /// Forgets the bodies of a group that nothing watches any more.
  mutating func removeAll(of group: Int) {
    for id in groups.removeValue(forKey: group) ?? [] { drop(id) }
  }

  mutating func removeAll() {
    if order.isEmpty { return }
    self = LastSnapshotCache()
  }

  private mutating func drop(_ id: WatchBodyID) {
    guard let (_, bytes) = bodies.removeValue(forKey: id) else { return }
    byteCount -= bytes
    // The oldest of all is the first of its group.
    if let index = groups[id.group]?.firstIndex(of: id) { groups[id.group]?.remove(at: index) }
    if groups[id.group]?.isEmpty == true { groups[id.group] = nil }
  }
}
