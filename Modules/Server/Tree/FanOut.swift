import TernCore
import TernLedger
import TernStorage
import TernTreeAuthority
import TernTreeRows
import TernTreeWire

/// The distribution of one committed write to all listeners.
///
/// Every push is encoded once for all recipients; the listens that cover the write are found along
/// its path, without a look at the others.
///
/// It lives for one write. Three groups of listens are served: those above the base and at it,
/// along the path; those between the base and a written path of a merge; and those below a written
/// path, whose data were replaced as a whole. A write without listeners costs at most one
/// dictionary lookup for each segment of its path.
///
/// The order of pushes is that of paths, so that all servers of a simulation produce the same
/// frames. A group is served at most once for a write, even if several entries of a merge concern
/// it.
struct FanOut {
  private let namespace: Namespace
  private let version: Version
  /// The path of the write; never a priority.
  private let base: TreePath
  /// The assignments of the write, with paths from the root.
  private let entries: [TreeMerge.Entry]
  /// The push for all plain listens at and above the base.
  ///
  /// Its data are those of the whole write, so one frame serves every listen that covers the base.
  /// It is encoded when the first such listen is met.
  private var shared: PushFrame?
  /// The links that the shared push went to; they need nothing more.
  ///
  /// One link may listen at several paths above the base; it gets the shared push once. Pushes with
  /// a tag are not part of this: each tagged listen gets its own.
  private var covered: Set<Int>?
  /// The children that were offered to windows.
  private var offered = 0
  /// The frames that were made, and an eighth of the further listens with a tag that got them.
  private var pushed = 0
  /// The rows that windows may still read anew; `nil` until the first of them has.
  private var rowsLeft: Int?

  /// So many of both are not counted as work: most writes have few.
  ///
  /// At most this many cost about as much as the rest of a small write. Further ones are spent as
  /// steps, so that large windows and many listens do not keep other clients waiting.
  private static let freeSteps = 256

  /// The rows that the windows of one write may read anew, the first one of them aside: a tenth of
  /// a second and more in which the server does nothing else.
  static let reloadRows = 262_144
  /// The rows that every window may read.
  private static let fewRows = 256

  /// Prepares the distribution of a write.
  ///
  /// Hashes and readers learn of the write here, before anything is pushed: the hash of each node
  /// on the path is invalid from now on, and a read beside the executor compares its version with
  /// the recorded one.
  ///
  /// - Parameter write: Resolved, and already among the batch's changes.
  private init(of write: TreeWrite, in namespace: Namespace, _ batch: borrowing ServerBatch) {
    self.namespace = namespace
    version = batch.version
    entries = write.assignments
    base = write.path.namesPriority ? write.path.parent ?? .root : write.path
    for entry in entries { namespace.hashes.forget(entry.path) }
    namespace.recentWrites.record(write, at: version)
  }

  /// Pushes a write, already among the batch's changes, to all listens that may have it.
  ///
  /// Listens that wait to be judged again are judged first.
  ///
  /// A write above a listen that waits for its review could reveal data that the client may not
  /// read any more. Such listens are therefore judged here, and removed if they are denied.
  ///
  /// - Throws: Storage errors other than corruption. A corrupt window ends its own listens and
  ///   nothing else.
  static func deliver(
    _ write: TreeWrite, in namespace: Namespace, _ batch: inout ServerBatch
  ) throws(StorageError) {
    var fanOut = FanOut(of: write, in: namespace, batch)
    if !namespace.underReview.isEmpty {
      for group in fanOut.concernedGroups {
        let count = try namespace.reviewListeners(of: group, &batch)
        batch.spend(count * ReviewQueue.stepsPerReview)
      }
    }
    try fanOut.deliver(to: &batch)
    batch.spend(max(0, fanOut.offered + fanOut.pushed - freeSteps))
  }

  /// Adds all pushes to the batch, in the order of paths.
  ///
  /// Follows the path of the base through the index of listens, and stops where no listen is below.
  private mutating func deliver(to batch: inout ServerBatch) throws(StorageError) {
    if entries.isEmpty { return }
    var node = namespace.listens.root
    try visit(node, entries, &batch)
    for key in base.keys {
      guard let child = node.children[key] else { return }
      node = child
      try visit(node, entries, &batch)
    }
    if !node.children.isEmpty { try descend(from: node, &batch) }
  }

  /// The groups that may be told something, those below the write included.
  ///
  /// The cost is linear in the listens below the base. It is paid only while listens are under
  /// review.
  private var concernedGroups: [ListenGroup] {
    var node = namespace.listens.root
    var groups = node.groups
    for key in base.keys {
      guard let child = node.children[key] else { return groups }
      node = child
      groups += node.groups
    }
    var below = node.sortedChildren
    while let next = below.popLast() {
      groups += next.groups
      below += next.sortedChildren
    }
    return groups
  }

  /// Serves the listens below the base.
  ///
  /// The first loop collects the nodes between the base and each written path: such a node may hold
  /// several entries, and its listens get one push with all of them. The second loop serves what
  /// lies below a written path; there, each entry is a replacement of the whole data.
  private mutating func descend(
    from node: ListenNode, _ batch: inout ServerBatch
  ) throws(StorageError) {
    var between: [(node: ListenNode, entries: [TreeMerge.Entry])] = []
    var positions: [ObjectIdentifier: Int] = [:]
    var below: [(node: ListenNode, entry: TreeMerge.Entry)] = []
    for entry in entries {
      guard let relative = entry.path.relative(to: base) else { continue }
      var place: ListenNode? = node
      for key in relative.keys {
        place = place?.children[key]
        guard let place else { break }
        if let index = positions[ObjectIdentifier(place)] {
          between[index].entries.append(entry)
        } else {
          positions[ObjectIdentifier(place)] = between.count
          between.append((place, [entry]))
        }
      }
      if let place { below.append((place, entry)) }
    }
    for visit in between { try self.visit(visit.node, visit.entries, &batch) }
    for (place, entry) in below {
      for child in place.sortedChildren { try replace(child, with: entry, &batch) }
    }
  }

  /// Serves the listens at a node that holds all of `entries`.
  ///
  /// - Parameter entries: The entries at or below the node, or all entries when the write lies
  ///   below it.
  private mutating func visit(
    _ node: ListenNode, _ entries: [TreeMerge.Entry], _ batch: inout ServerBatch
  ) throws(StorageError) {
    if node.groups.isEmpty { return }
    let whole = entries.first { $0.path == node.path }
    // Worked out once, however many filtered queries there are.
    let relative = entries.compactMap { entry in
      entry.path.relative(to: node.path).map { TreeMerge.Entry(path: $0, node: entry.node) }
    }
    // `recordChange` marks the group as changed also when it has no members: a first answer that is
    // being read for it is out of date.
    for group in node.groups where group.recordChange(at: version) {
      if isOver(group, batch) {
        group.forgetWindow()
      } else if group.window == nil {
        pushPlain(to: group, entries, &batch)
      } else if let whole {
        pushWhole(whole.node, to: group, &batch)
      } else {
        try pushWindow(to: group, relative, &batch)
      }
    }
  }

  /// Serves the listens at and below a node that lies below a replaced path.
  private mutating func replace(
    _ node: ListenNode, with entry: TreeMerge.Entry, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if !node.groups.isEmpty, let relative = node.path.relative(to: entry.path) {
      let value = entry.node.node(at: relative)
      for group in node.groups where group.recordChange(at: version) {
        if isOver(group, batch) {
          group.forgetWindow()
        } else {
          pushWhole(value, to: group, &batch)
        }
      }
    }
    for child in node.sortedChildren { try replace(child, with: entry, &batch) }
  }
}

extension FanOut {
  /// Pushes what was written, to listens to everything.
  ///
  /// A listen at or above the base gets the shared frame. A listen between the base and the written
  /// paths gets a frame with the entries below it alone.
  private mutating func pushPlain(
    to group: ListenGroup, _ entries: [TreeMerge.Entry], _ batch: inout ServerBatch
  ) {
    if group.node.path.contains(base) {
      var frame = shared ?? PushFrame(message(entries, below: base))
      send(&frame, to: group, &batch)
      shared = frame
    } else {
      var frame = PushFrame(message(entries, below: group.node.path))
      send(&frame, to: group, &batch)
    }
  }

  /// Pushes a listen's whole new data.
  ///
  /// A filtered listen is filled again from the new node. When no client's share has memory for
  /// that window, all listens of the group end with a notice.
  private mutating func pushWhole(
    _ node: TreeNode, to group: ListenGroup, _ batch: inout ServerBatch
  ) {
    if group.window != nil { offered += node.children.count }
    let charges = { [namespace] in namespace.charges(of: group) }
    guard let shown = group.load(from: node, chargingOneOf: charges) else {
      return namespace.end(group, .failed, RefusalText.grown, &batch)
    }
    var frame = PushFrame(.put(TreePush(path: group.node.path, shown, version: version)))
    send(&frame, to: group, &batch)
  }

  /// Pushes what changes in a filtered listen.
  ///
  /// The update may read rows: a child that leaves a limited window is replaced by the next one
  /// from the store. Four outcomes end the group's listens: corrupt rows, rows that are more than
  /// one push may read, more rows than the windows of one write may read anew, and a window that no
  /// share has memory for. The write itself is not affected by any of them.
  ///
  /// - Parameter relative: The entries of the write, counted from the node of the listen.
  private mutating func pushWindow(
    to group: ListenGroup, _ relative: [TreeMerge.Entry], _ batch: inout ServerBatch
  ) throws(StorageError) {
    let path = group.node.path
    let (rows, limit) = (namespace.rows, batch.pushes.readBytes)
    offered += relative.count
    let before = batch.counted.rows
    let most = rowsLeft.map { max($0, Self.fewRows) } ?? .max
    let outcome: [TreeMerge.Entry]??
    do throws(StorageError) {
      outcome = try batch.counted.read(atMost: most, nil) { reader throws(StorageError) in
        try group.update { window throws(StorageError) in
          try window.update(relative, at: path, of: rows, limitBytes: limit, in: Snapshot(reader))
        }
      }
    } catch {
      guard error.isCorruption else { throw error }
      // Their data cannot be read any more; the write itself stands.
      return namespace.end(group, .failed, RefusalText.damaged, &batch)
    }
    let count = batch.counted.rows - before
    if count > Self.fewRows { rowsLeft = rowsLeft.map { $0 - count } ?? Self.reloadRows }
    guard let found = outcome else {
      return namespace.end(group, .unavailable, RefusalText.overtaken, &batch)
    }
    guard let changes = found else {
      return namespace.end(group, .tooBig, RefusalText.tooLong, &batch)
    }
    guard group.chargeWindow(orTo: namespace.charges(of: group)) else {
      return namespace.end(group, .failed, RefusalText.grown, &batch)
    }
    if changes.isEmpty { return }
    let absolute = changes.map {
      TreeMerge.Entry(path: path.appending($0.path), node: $0.node)
    }
    var frame = PushFrame(message(absolute, below: path))
    send(&frame, to: group, &batch)
  }

  /// Returns the message that carries entries.
  ///
  /// A single entry travels as `put`, several as one `merge`, so that a client applies them
  /// together.
  private func message(_ entries: [TreeMerge.Entry], below path: TreePath) -> TreeServerMessage {
    if entries.count == 1, let entry = entries.first {
      return .put(TreePush(path: entry.path, entry.node, version: version))
    }
    let merge = TreeMerge(
      unchecked: entries.compactMap { entry in
        entry.path.relative(to: path).map { TreeMerge.Entry(path: $0, node: entry.node) }
      })
    return .merge(TreePush(path: path, merge, version: version))
  }

  /// Sends a push to a group.
  ///
  /// Sends to tagged listens first, then to plain ones in one broadcast. Links whose pushes exceed
  /// the bounds of the batch are left out, because they are being closed.
  private mutating func send(
    _ frame: inout PushFrame, to group: ListenGroup, _ batch: inout ServerBatch
  ) {
    pushed += 1 + group.tagged.count / 8
    sendTagged(&frame, to: group, &batch)
    if group.plainSlots.isEmpty { return }
    let slots = covered.map { covered in group.plainSlots.filter { !covered.contains($0) } }
    let others = batch.admit(
      slots ?? group.plainSlots, toPushOf: frame.plain.count, isNew: &frame.isNew)
    batch.metrics.treeEvents += others.count
    if !others.isEmpty { batch.add(.broadcast(slots: others, frame.plain)) }
    // A client that got the shared push has all of the change; it is only worth remembering when
    // there may be other listens further down the path.
    if group.node.path.contains(base), !group.node.children.isEmpty {
      covered = (covered ?? []).union(others)
    }
  }

  /// Sends a push to the listens with a tag; a long frame once for all that use the same one.
  ///
  /// Short frames go out one by one from the frame's cache. Long ones are grouped by tag, so that
  /// at most one copy for each tag is in memory, and each copy is counted once.
  private func sendTagged(
    _ frame: inout PushFrame, to group: ListenGroup, _ batch: inout ServerBatch
  ) {
    guard frame.isLong || batch.pushes.hasEnded else {
      for listener in group.tagged {
        batch.add(.send(slot: listener.slot, frame.frame(tag: listener.tag)))
      }
      batch.metrics.treeEvents += group.tagged.count
      return
    }
    var slots: [Int64: [Int]] = [:]
    for listener in group.tagged { slots[listener.tag, default: []].append(listener.slot) }
    for tag in slots.keys.sorted() {
      var isNew = true
      let recipients = batch.admit(
        slots[tag] ?? [], toPushOf: frame.byteCount(tag: tag), isNew: &isNew)
      if recipients.isEmpty { continue }
      let bytes = frame.frame(tag: tag)
      batch.metrics.treeEvents += recipients.count
      batch.add(
        recipients.count == 1
          ? .send(slot: recipients[0], bytes) : .broadcast(slots: recipients, bytes))
    }
  }

  /// Returns true when nothing more is sent to any listener of a group in this batch.
  private func isOver(_ group: ListenGroup, _ batch: borrowing ServerBatch) -> Bool {
    guard batch.pushes.hasEnded else { return false }
    let pushes = batch.pushes
    return group.plainSlots.allSatisfy { pushes.hasEnded($0) }
      && group.tagged.allSatisfy { pushes.hasEnded($0.slot) }
  }
}
