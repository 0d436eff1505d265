import TernCore

/// A tree of which nothing is known at, above and below the paths that a request writes: asking for
/// it there is an error.
///
/// A verdict that was reached over it is the same for every request that writes these paths.
///
/// ``RulesAuthorizer`` uses it for the preliminary verdict on a write whose data are not known yet:
/// a denial over unknown data is final and costs no read of hidden data; an error only means that
/// the data decide.
struct UnknownSnapshot: RulesSnapshot {
  /// The tree was asked for what is not known.
  struct Unknown: Error {}

  /// The keys that lead to the unknown nodes.
  ///
  /// A node of a trie over the written paths, shared by copies of the snapshot and never changed
  /// after `init`.
  private final class Way {
    var isUnknown = false
    var below: [TreeKey: Way] = [:]
  }

  private let base: any RulesSnapshot
  private let ways = Way()

  /// - Parameters:
  ///   - paths: The written paths; `.priority` at the end counts as its node.
  ///   - base: The tree as it is, for everything beside those paths.
  init(_ paths: [TreePath], over base: any RulesSnapshot) {
    self.base = base
    for path in paths {
      var way = ways
      for key in path.keys where !key.isPriority {
        let next = way.below[key] ?? Way()
        way.below[key] = next
        way = next
      }
      way.isUnknown = true
    }
  }

  /// Throws if a node is on the way to an unknown node, is unknown, or lies below an unknown one.
  /// Its shape depends on the write in all three cases.
  private func check(_ path: TreePath) throws(RulesDataError) {
    var way = ways
    for key in path.keys {
      if way.isUnknown { break }
      guard let next = way.below[key] else { return }
      way = next
    }
    if way.isUnknown || !way.below.isEmpty { throw RulesDataError(Unknown()) }
  }

  func shape(at path: TreePath) throws(RulesDataError) -> RulesShape {
    try check(path)
    return try base.shape(at: path)
  }

  func priority(at path: TreePath) throws(RulesDataError) -> TreeScalar? {
    try check(path)
    return try base.priority(at: path)
  }

  func children(
    at path: TreePath, after key: TreeKey?, limit: Int
  ) throws(RulesDataError) -> [RulesChild] {
    try check(path)
    return try base.children(at: path, after: key, limit: limit)
  }
}
