import TernCore

/// A tree of which nothing is known at, above and below the paths that a request writes: asking for
/// it there is an error.
///
/// A verdict that was reached over it is the same for every request that writes these paths.
struct UnknownSnapshot: RulesSnapshot {
  /// The tree was asked for what is not known.
  struct Unknown: Error {}

  private let base: any RulesSnapshot
  private let paths: [TreePath]

  init(_ paths: [TreePath], over base: any RulesSnapshot) {
    self.base = base
    self.paths = paths.map { $0.namesPriority ? $0.parent ?? .root : $0 }
  }

  private func check(_ path: TreePath) throws(RulesDataError) {
    for known in paths where known.contains(path) || path.contains(known) {
      throw RulesDataError(Unknown())
    }
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
