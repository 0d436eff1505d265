package import TernCore

/// Values at paths, with everything above and below a path at hand.
///
/// Branches without values are pruned, so an empty trie holds nothing at all.
///
/// A value type: copies share unchanged branches until one of them is edited. Paths from the root
/// decide the cost of access; the number of values does not matter.
package struct PathTrie<Value> {
  /// The value at this place.
  package var value: Value?
  /// The subtries by next segment; none of them is empty.
  package private(set) var children: [TreeKey: PathTrie] = [:]

  package init() {}

  /// A trie with one value.
  init(_ value: Value, at path: TreePath) {
    self[path] = value
  }

  package var isEmpty: Bool { value == nil && children.isEmpty }

  /// The next segments in key order.
  package var sortedKeys: [TreeKey] {
    children.count < 2 ? Array(children.keys) : children.keys.sorted()
  }

  /// The value at `path`.
  package subscript(path: TreePath) -> Value? {
    get { subtrie(at: path)?.value }
    set { update(at: path) { $0.value = newValue } }
  }

  /// The part of the trie at and below `path`; `nil` when it is empty.
  package func subtrie(at path: TreePath) -> PathTrie? {
    var here = self
    for key in path.keys {
      guard let next = here.children[key] else { return nil }
      here = next
    }
    return here
  }

  /// Edits what is at and below `path`, and prunes what became empty.
  @discardableResult
  package mutating func update<R>(at path: TreePath, _ body: (inout PathTrie) -> R) -> R {
    update(at: path.keys[...], body)
  }

  private mutating func update<R>(
    at keys: ArraySlice<TreeKey>, _ body: (inout PathTrie) -> R
  ) -> R {
    guard let key = keys.first else { return body(&self) }
    return updateChild(key) { $0.update(at: keys.dropFirst(), body) }
  }

  /// Edits what lies below `key`, and prunes it when it became empty.
  package mutating func updateChild<R>(_ key: TreeKey, _ body: (inout PathTrie) -> R) -> R {
    let result = body(&children[key, default: PathTrie()])
    if children[key]?.isEmpty == true { children[key] = nil }
    return result
  }

  /// Calls `body` with the values from the root to `path`, outermost first, and their depth.
  ///
  /// - Returns: What lies at `path` itself, `nil` when nothing does.
  @discardableResult
  package func walk(to path: TreePath, _ body: (Int, Value) -> Void) -> PathTrie? {
    var here = self
    if let value { body(0, value) }
    for (index, key) in path.keys.enumerated() {
      guard let next = here.children[key] else { return nil }
      here = next
      if let value = here.value { body(index + 1, value) }
    }
    return here
  }

  /// Calls `body` for every value, deepest first, siblings in key order, a priority behind them: it
  /// is only set where something is.
  ///
  /// - Parameter path: What to put before the paths that `body` hears.
  package func visit(below path: TreePath = .root, _ body: (TreePath, Value) -> Void) {
    for key in sortedKeys where !key.isPriority {
      children[key]?.visit(below: path.appending(key), body)
    }
    children[.priority]?.visit(below: path.appending(.priority), body)
    if let value { body(path, value) }
  }
}

extension PathTrie: Sendable where Value: Sendable {}
