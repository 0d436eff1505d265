package import TernCore
import TernQuery
package import TernStorage
package import TernTreeRows

extension QueryWindow {
  /// Follows a write below the node; returns what changes for those who see the window.
  ///
  /// - Parameters:
  ///   - entries: What was replaced, as paths below the node, never the node itself.
  ///   - path: Where the node is.
  ///   - limitBytes: The most bytes of rows that are read of children that enter the window.
  ///   - view: What is stored after the write.
  /// - Returns: Replaced paths below the node, in the order of an update; a child that leaves the
  ///   window is emptied, one that enters it comes whole. `nil` when these have more bytes.
  /// - Complexity: Independent of the number of children, except when a limited window has run
  ///   out of candidates and is loaded again.
  package mutating func update(
    _ entries: [TreeMerge.Entry], at path: TreePath, of rows: TreeRows, limitBytes: Int = .max,
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> [TreeMerge.Entry]? {
    var moves: [(key: TreeKey, value: TreeSortValue?)] = []
    var changed: [TreeKey] = []
    for entry in entries {
      // A filtered view has no priority of its own.
      guard let key = entry.path.first, !key.isPriority, changed.last != key else { continue }
      changed.append(key)
      if keepsPlace(key, entries) { continue }
      var value = try rows.sortValue(of: path.appending(key), by: query.order, in: view)
      if let found = value, !range.contains(key, found) { value = nil }
      if value != self.value(of: key) { moves.append((key, value)) }
    }
    if moves.isEmpty { return entries.filter { $0.path.first.map(shows) ?? false } }
    return try move(moves, entries, at: path, of: rows, limitBytes: limitBytes, in: view)
  }

  /// Returns `true` if the entries below a child cannot change its position.
  private func keepsPlace(_ key: TreeKey, _ entries: [TreeMerge.Entry]) -> Bool {
    guard value(of: key) != nil else { return false }
    return entries.allSatisfy { entry in
      guard entry.path.first == key else { return true }
      let below = entry.path.dropFirst()
      if below.isRoot || entry.node.isEmpty { return false }
      return switch query.order {
      case .key: true
      case .value: false
      case .priority: !below.namesPriority
      case .child(let path): !path.contains(below) && !below.contains(path)
      }
    }
  }

  private mutating func move(
    _ moves: [(key: TreeKey, value: TreeSortValue?)], _ entries: [TreeMerge.Entry],
    at path: TreePath, of rows: TreeRows, limitBytes: Int,
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> [TreeMerge.Entry]? {
    let isLimited = limit != .max
    let before = isLimited ? Set(shown.map(\.key)) : Set(moves.map(\.key).filter(shows))
    for move in moves { remove(move.key) }
    for move in moves {
      if let value = move.value { offer(Candidate(key: move.key, value: value)) }
    }
    if needsLoading { try reload(path, of: rows, in: view) }
    let after = isLimited ? Set(shown.map(\.key)) : Set(moves.map(\.key).filter(shows))

    var result = entries.filter { entry in
      guard let key = entry.path.first, shows(key) else { return false }
      return !after.contains(key) || before.contains(key)
    }
    for key in before.subtracting(after) {
      result.append(.init(path: TreePath([key]), node: .empty))
    }
    var size = NodeSize()
    for key in after.subtracting(before) {
      guard
        let child = try rows.node(
          at: path.appending(key), limitBytes: limitBytes, size: &size, in: view)
      else { return nil }
      result.append(.init(path: TreePath([key]), node: child))
    }
    return result.sorted { $0.path.isApplied(before: $1.path) }
  }
}
