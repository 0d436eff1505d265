public import TernCore

extension TreeRules {
  /// Judges a read or listen at `path`.
  ///
  /// Some `.read` rule from the root to `path` must hold; rules below play no part.
  /// - Parameters:
  ///   - path: The node read; not below `.info`.
  ///   - query: The query, which the rule at `path` itself may look at.
  ///   - caller: Who asks, and when.
  ///   - tree: The tree as it is.
  /// - Throws: ``RulesDataError`` when `tree` could not be read.
  public func read(
    _ path: TreePath, query: RulesQuery = .none, by caller: RulesCaller,
    in tree: any RulesSnapshot
  ) throws(RulesDataError) -> RulesVerdict {
    var judge = Judge(
      rules: self, caller: caller, before: tree, after: tree, isExplaining: false)
    return try judge.read(path, query: query)
  }

  /// Judges a write to one or several paths.
  ///
  /// Each path needs a `.write` rule that holds from the root to it, and every `.validate` rule on
  /// the way to it and below it must hold wherever `after` has something.
  /// - Parameters:
  ///   - paths: What the request writes; a path that ends in `.priority` counts as its node.
  ///   - caller: Who writes, and when.
  ///   - before: The tree as it is.
  ///   - after: The tree with the whole request applied, server values resolved.
  /// - Throws: ``RulesDataError`` when a tree could not be read.
  public func write(
    _ paths: [TreePath], by caller: RulesCaller, from before: any RulesSnapshot,
    to after: any RulesSnapshot
  ) throws(RulesDataError) -> RulesVerdict {
    var judge = Judge(
      rules: self, caller: caller, before: before, after: after, isExplaining: false)
    return try judge.write(paths)
  }

  /// Judges a read like ``read(_:query:by:in:)`` and tells what every rule said.
  public func explainRead(
    _ path: TreePath, query: RulesQuery = .none, by caller: RulesCaller,
    in tree: any RulesSnapshot
  ) throws(RulesDataError) -> RulesExplanation {
    var judge = Judge(rules: self, caller: caller, before: tree, after: tree, isExplaining: true)
    let verdict = try judge.read(path, query: query)
    return judge.explanation(of: verdict)
  }

  /// Judges a write like ``write(_:by:from:to:)`` and tells what every rule said.
  public func explainWrite(
    _ paths: [TreePath], by caller: RulesCaller, from before: any RulesSnapshot,
    to after: any RulesSnapshot
  ) throws(RulesDataError) -> RulesExplanation {
    var judge = Judge(
      rules: self, caller: caller, before: before, after: after, isExplaining: true)
    let verdict = try judge.write(paths)
    return judge.explanation(of: verdict)
  }
}
