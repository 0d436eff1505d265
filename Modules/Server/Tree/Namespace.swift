import TernCore
import TernStorage
import TernTreeAuthority
import TernTreeRows

/// One database of the server: a tree below a prefix of the store, and who listens to it.
final class Namespace {
  let name: String
  /// The name as the machine's dictionaries have it.
  let key: ExactText
  let authority: TreeAuthority
  let listens = ListenIndex()
  /// The shape of the tree as its writes have shown it.
  let places = KnownPaths()
  /// The hashes of its large nodes that conditional writes were compared with.
  let hashes: NodeHashes
  /// The paths that were written while reads go on beside the server's executor.
  var recentWrites = RecentWrites()
  /// The sessions, by slot, with listens that wait to be judged again, and their rights since then.
  var underReview: [Int: TreeCall] = [:]
  /// The sessions that have it open.
  var sessionCount = 0

  var rows: TreeRows { authority.rows }

  init(_ name: String, hashes: NodeHashes = NodeHashes()) {
    self.name = name
    self.hashes = hashes
    key = ExactText(name)
    authority = TreeAuthority(rows: TreeRows(prefix: StoreLayout.namespace(name)))
  }

  /// Ends a session's listen.
  func remove(_ session: Session, from group: ListenGroup) {
    group.remove(session.slot)
    if session.listens.contains(group) {
      session.listens.remove(group)
      session.charge.remove(group.listenBytes)
    }
    listens.removeIfEmpty(group)
  }

  /// Judges those listens in a group that wait for it, before something is pushed to them.
  func reviewListeners(
    of group: ListenGroup, _ batch: inout ServerBatch
  ) throws(StorageError) {
    for slot in group.plainSlots + group.tagged.map(\.slot) {
      guard let call = underReview[slot], call.session.listens.takeUnderReview(group) else {
        continue
      }
      try call.review(group, &batch)
    }
  }

  /// Returns true when a database can have this name.
  static func isValid(_ name: String, limitBytes: Int) -> Bool {
    let bytes = name.utf8
    return !bytes.isEmpty && bytes.count <= limitBytes && bytes.allSatisfy { $0 >= 0x20 }
  }
}
