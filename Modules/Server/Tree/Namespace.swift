import TernCore
import TernStorage
import TernTreeAuthority
import TernTreeRows
import TernTreeWire

/// One database of the server: a tree below a prefix of the store, and who listens to it.
///
/// It is a class because sessions and listens refer to it. It lives and is used inside the machine
/// only. A transient one serves a single request and has neither members nor listens.
final class Namespace {
  let name: String
  /// The name as the machine's dictionaries have it.
  let key: ExactText
  let authority: TreeAuthority
  let listens = ListenIndex()
  /// The shape of the tree as its writes have shown it.
  ///
  /// It saves reads that find out if a node is a leaf or has children. It is only a hint: whatever
  /// it does not know is read.
  let places = KnownPaths()
  /// The hashes of its large nodes that conditional writes were compared with.
  let hashes: NodeHashes
  /// The paths that were written while reads go on beside the server's executor.
  var recentWrites = RecentWrites()
  /// The sessions, by slot, with listens that wait to be judged again, and their rights since then.
  ///
  /// Empty except after a change of rules or identities. A write checks it before it pushes.
  var underReview: [Int: TreeCall] = [:]
  /// The sessions that have it open, by slot.
  private var members: [Int: Member] = [:]

  /// A session, which has the database itself.
  private struct Member {
    weak var session: Session?
  }

  /// The most listeners of a group that are looked at for one that can be charged with its window.
  ///
  /// Looking at all of them would make a push linear in the listeners even when none can be
  /// charged.
  private static let chargedListeners = 16

  var rows: TreeRows { authority.rows }

  /// The number of sessions that have it open.
  var sessionCount: Int { members.count }

  init(_ name: String, hashes: NodeHashes = NodeHashes()) {
    self.name = name
    self.hashes = hashes
    key = ExactText(name)
    authority = TreeAuthority(rows: TreeRows(prefix: StoreLayout.namespace(name)))
  }

  /// Opens it for a session.
  func add(_ session: Session) { members[session.slot] = Member(session: session) }

  /// Closes it for a session that has ended.
  func remove(_ session: Session) { members[session.slot] = nil }

  /// Returns the charges of clients that listen in a group.
  func charges(of group: ListenGroup) -> [ListenCharge] {
    group.tagged.prefix(Self.chargedListeners).compactMap { members[$0.slot]?.session?.charge }
  }

  /// Ends all listens in a group, and tells their clients the reason.
  ///
  /// Each link gets the notice once; the group may be gone from the index afterwards.
  func end(
    _ group: ListenGroup, _ status: TreeStatus, _ detail: String, _ batch: inout ServerBatch
  ) {
    let slots = group.tagged.map(\.slot) + group.plainSlots
    let notice = TreeServerMessage.listenRevoked(
      group.node.path, group.query, status, detail: detail)
    if !slots.isEmpty { batch.add(.broadcast(slots: slots, notice.encode())) }
    group.forgetWindow()
    for slot in slots {
      if let session = members[slot]?.session { remove(session, from: group) }
    }
  }

  /// Ends a session's listen.
  ///
  /// Removes membership, charge and, if it was the last, the group. Does nothing for a listen that
  /// is gone already.
  func remove(_ session: Session, from group: ListenGroup) {
    group.remove(session.slot)
    if session.listens.contains(group) {
      session.listens.remove(group)
      session.charge.remove(group.listenBytes)
    }
    listens.removeIfEmpty(group)
  }

  /// Judges those listens in a group that wait for it, before something is pushed to them.
  ///
  /// - Returns: The number of listens that were judged.
  func reviewListeners(
    of group: ListenGroup, _ batch: inout ServerBatch
  ) throws(StorageError) -> Int {
    var count = 0
    for slot in group.plainSlots + group.tagged.map(\.slot) {
      guard let call = underReview[slot], call.session.listens.takeUnderReview(group) else {
        continue
      }
      count += 1
      try call.review(group, &batch)
    }
    return count
  }

  /// Returns true when a database can have this name.
  static func isValid(_ name: String, limitBytes: Int) -> Bool {
    let bytes = name.utf8
    return !bytes.isEmpty && bytes.count <= limitBytes && bytes.allSatisfy { $0 >= 0x20 }
  }
}
