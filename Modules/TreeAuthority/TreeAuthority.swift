package import TernCore
package import TernLedger
package import TernStorage
package import TernTreeRows

/// Decides what a write means on the server: what it replaces, with what, and whether it may.
///
/// It judges form, not permission, and reads no more than a write needs: the cost of a small write
/// does not depend on the size of the tree.
package struct TreeAuthority: Sendable {
  /// The rows of the tree.
  package let rows: TreeRows

  /// The authority over the tree below `rows`.
  package init(rows: TreeRows) {
    self.rows = rows
  }

  /// Checks the limits of a write before anything is read.
  package func check(_ write: TreeWrite) throws(TreeRejection) {
    do throws(TreeError) {
      try write.validate()
      try write.validatePaths(limitBytes: TreeLimits.storedPathBytes)
    } catch {
      throw .invalid(error)
    }
    var left = Self.keyBytes
    for entry in write.assignments
    where !Self.hasRowKeys(of: entry.node, behind: entry.path.byteCount, within: &left) {
      throw .tooManyKeyBytes(limit: Self.keyBytes)
    }
  }

  /// The most bytes of the paths of all values that one write sets, each counted from the root.
  ///
  /// Every row, and every entry of an update in the log, has its whole path: a long path is
  /// multiplied by what is written below it.
  package static let keyBytes = 256 << 20

  /// Returns false as soon as the paths of the rows of a node take more than `left` bytes.
  private static func hasRowKeys(
    of node: TreeNode, behind bytes: Int, within left: inout Int
  ) -> Bool {
    if !node.hasChildren || node.priority != nil { left -= bytes }
    for (key, child) in node.children {
      if left < 0 { return false }
      let path = bytes + key.text.utf8.count + 1
      if !hasRowKeys(of: child, behind: path, within: &left) { return false }
    }
    return left >= 0
  }

  /// Returns `true` if the node at `path` still has `hash`, in the form of any stock client. Reads
  /// only the node, or nothing if `hashes` has it.
  ///
  /// Source: realtime reference, section 7.6.
  ///
  /// - Parameters:
  ///   - limitBytes: The most bytes of rows that are read.
  ///   - hashes: The cached hashes of the tree that `view` shows. The comparison adds to them.
  /// - Returns: `nil` when the node has more bytes.
  package func holds(
    _ hash: String, at path: TreePath, limitBytes: Int = .max,
    in view: borrowing some StoreView & ~Copyable & ~Escapable, knowing hashes: NodeHashes
  ) throws(StorageError) -> Bool? {
    if hash.isEmpty { return try rows.isEmpty(at: path, in: view) }
    if let isHeld = hashes.holds(hash, at: path) { return isHeld }
    guard let node = try rows.node(at: path, limitBytes: limitBytes, in: view) else { return nil }
    return hashes.compare(hash, with: node, at: path)
  }

  /// The write with its server values resolved at the instant `now`, in milliseconds since 1970.
  ///
  /// Only the leaves that increments name are read.
  package func resolve(
    _ write: TreeWrite, now: Int64,
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> TreeWrite {
    var existing: [TreePath: TreeNode] = [:]
    for entry in write.assignments where entry.node.containsServerValues {
      existing[entry.path] = try numbers(for: entry.node, at: entry.path, in: view)
    }
    if existing.isEmpty { return write }
    return write.resolvingServerValues(now: now) { existing[$0] ?? .empty }
  }

  /// The changes that carry out a write without server values, seen by later reads of `reader`.
  ///
  /// - Parameter places: What is known of the tree that `reader` shows; learns from the write.
  /// - Throws: Also ``StorageError/keyTooLong(bytes:)`` and ``StorageError/valueTooLong(bytes:)``
  ///   for a write that no store takes; it changes nothing.
  package func apply(
    _ write: TreeWrite, to reader: PendingReader, knowing places: KnownPaths
  ) throws(StorageError) -> [Mutation] {
    let assignments = write.assignments
    guard assignments.count > 1 else {
      guard let entry = assignments.first else { return [] }
      return try apply(entry, to: reader, places)
    }
    // What is damaged may be met in the middle: nothing counts before all is done.
    let trial = PendingReader(over: reader)
    var mutations: [Mutation] = []
    do throws(StorageError) {
      for entry in assignments { mutations += try apply(entry, to: trial, places) }
    } catch {
      places.forget()
      throw error
    }
    reader.apply(mutations)
    return mutations
  }

  // Inlined, it makes the optimiser of Swift 6.3 fail: "Cannot initialize a nonCopyable type".
  @inline(never)
  private func apply(
    _ entry: TreeMerge.Entry, to reader: PendingReader, _ places: KnownPaths
  ) throws(StorageError) -> [Mutation] {
    if let change = rows.replaceLeaf(entry.path, with: entry.node, knowing: places) {
      try [change].checkLimits()
      reader.apply([change])
      return [change]
    }
    let changes = try rows.overwrite(
      entry.path, with: entry.node, in: Snapshot(reader), knowing: places)
    try changes.checkLimits()
    places.note(entry.node, at: entry.path, in: rows, changes)
    reader.apply(changes)
    return changes
  }

  /// Returns the present numbers of the leaves and priorities that increments in `node` add to.
  private func numbers(
    for node: TreeNode, at path: TreePath,
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> TreeNode {
    var found = TreeNode.empty
    if let scalar = node.scalar, scalar.isIncrement {
      found = try rows.scalar(at: path, in: view).map { TreeNode($0) } ?? .empty
    } else if node.hasChildren {
      var children: [ChildMap.Element] = []
      for (key, child) in node.children {
        let number = try numbers(for: child, at: path.appending(key), in: view)
        if !number.isEmpty { children.append((key, number)) }
      }
      found = TreeNode(children: ChildMap(sorted: children))
    }
    if let priority = node.priority, priority.isIncrement {
      // A priority needs a node to sit on; this one is no number, so nothing is added to it.
      if found.isEmpty { found = TreeNode(.bool(false)) }
      found.setPriority(try rows.scalar(at: path.appending(.priority), in: view))
    }
    return found
  }
}

extension TreeScalar {
  fileprivate var isIncrement: Bool {
    if case .serverValue(.increment) = self { return true }
    return false
  }
}

/// The reason why a write is invalid for every client.
package enum TreeRejection: Error, Hashable, Sendable {
  /// The write breaks a rule of the model.
  case invalid(TreeError)
  /// The paths of the values that it sets take more bytes, each counted from the root.
  case tooManyKeyBytes(limit: Int)
}
