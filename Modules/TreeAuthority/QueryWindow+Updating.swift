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
    var rest = entries[...]
    while let key = rest.first?.path.first {
      // The entries below one child follow one another.
      let own = rest.prefix { $0.path.first == key }
      rest = rest.dropFirst(own.count)
      // A filtered view has no priority of its own.
      if key.isPriority || keepsPlace(key, own) { continue }
      var value = try rows.sortValue(of: path.appending(key), by: query.order, in: view)
      if let found = value, !range.contains(key, found) { value = nil }
      if value != self.value(of: key) { moves.append((key, value)) }
    }
    if moves.isEmpty { return entries.filter { $0.path.first.map(shows) ?? false } }
    return try move(moves, entries, at: path, of: rows, limitBytes: limitBytes, in: view)
  }

  /// Returns `true` if the entries at and below a child cannot change its position.
  private func keepsPlace(_ key: TreeKey, _ entries: ArraySlice<TreeMerge.Entry>) -> Bool {
    guard value(of: key) != nil else { return false }
    return entries.allSatisfy { entry in
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
    // Whatever moves shifts another child by as many ranks at most: of those that stay, only the
    // ones nearest to the limit may leave or enter.
    let count = limit == .max ? 0 : moves.count
    let before = Set(lastShown(2 * count)).union(moves.lazy.map(\.key).filter(shows))
    for move in moves { remove(move.key) }
    for move in moves {
      if let value = move.value { offer(Candidate(key: move.key, value: value)) }
    }
    if needsLoading { try reload(path, of: rows, in: view) }
    let after = Set(lastShown(count)).union(moves.lazy.map(\.key).filter(shows))
    let entering = after.subtracting(before)

    var result = entries.filter { entry in
      guard let key = entry.path.first else { return false }
      return shows(key) && !entering.contains(key)
    }
    for key in before where !shows(key) {
      result.append(.init(path: TreePath([key]), node: .empty))
    }
    var size = NodeSize()
    for key in entering {
      guard
        let child = try rows.node(
          at: path.appending(key), limitBytes: limitBytes, size: &size, in: view)
      else { return nil }
      result.append(.init(path: TreePath([key]), node: child))
    }
    return result.sorted { $0.path.isApplied(before: $1.path) }
  }
}
