import TernCore

/// Walks the rules for one request.
///
/// A judge serves one request and is thrown away. It finds the rules on the way of each path and
/// asks the evaluator for the outcome of each; it never reads the tree itself. The same request
/// judged again gives the same verdict, which explanations rely on.
struct Judge {
  /// The number of children that are listed at a time.
  private static let pageChildren = 256
  /// Up to this many children are looked for by name; listing them is dearer.
  private static let fewChildren = 4
  /// The factor for sparse nodes: with so many times more rules for children than children, each
  /// child's rule is looked up by itself; otherwise both are walked side by side.
  private static let sparseness = 8
  /// The most paths of a request that the id of its denial is made from.
  private static let identifyingPaths = 16

  let rules: CompiledRules
  let caller: RulesCaller
  var evaluator: RuleEvaluator
  /// The rules that were asked, when the caller wants them explained.
  private(set) var asked: AskedRules?
  /// Verdicts of `.write` rules by node, for requests that write several paths.
  private var grants: [TreePath: Bool] = [:]
  /// The nodes whose `.validate` was evaluated, so that paths with common ancestors ask it once.
  private var validated: Set<TreePath> = []
  /// True for requests of several paths. A single path never meets a node twice, and most writes
  /// have one path, so the tables stay empty.
  private var keepsVerdicts = false
  /// The request, from which the id of its denial is made.
  private var requested: (kind: RulesKind, paths: [TreePath]) = (.read, [])

  /// One node on the way from the root to a path.
  private struct Step {
    let node: Int
    /// The number of keys of the path up to here.
    let count: Int

    func path(on way: TreePath) -> TreePath {
      count == way.count ? way : TreePath(unchecked: Array(way.keys[..<count]))
    }
  }

  init(
    rules: TreeRules, caller: RulesCaller, before: any RulesSnapshot, after: any RulesSnapshot,
    isExplaining: Bool
  ) {
    self.rules = rules.compiled
    self.caller = caller
    evaluator = RuleEvaluator(
      rules: rules.compiled, limits: rules.limits, caller: caller, before: before, after: after)
    asked = isExplaining ? AskedRules() : nil
  }

  /// Evaluates the `.read` rules from the root to `path`; one that holds allows the read.
  ///
  /// A rule above `path` sees no query: it grants the whole subtree, whatever is selected. A rule
  /// that exhausts its own steps is false, but an exhausted request ends the walk.
  ///
  /// - Throws: ``RulesDataError`` if the tree cannot be read.
  mutating func read(_ path: TreePath, query: RulesQuery) throws(RulesDataError) -> RulesVerdict {
    requested = (.read, [path])
    for step in walk(to: path) {
      guard let rule = rules.nodes[step.node].read else { continue }
      evaluator.query = step.count == path.count ? query : .none
      let place = RulePlace(step.path(on: path))
      evaluator.move(to: place)
      switch try outcome(of: rule, at: place) {
      case .holds: return .allowed
      case .exhausted(.request, _): return denied(.read, place.path, .exhausted(.request))
      case .fails, .mistaken, .exhausted: continue
      }
    }
    return denied(.read, path, .notGranted)
  }

  /// Evaluates the rules for every path of a write, and validates the proposed tree around them.
  ///
  /// All `.write` rules are asked before the first `.validate`: a client without the right to write
  /// learns nothing about the validity of its data.
  mutating func write(_ paths: [TreePath]) throws(RulesDataError) -> RulesVerdict {
    requested = (.write, paths)
    keepsVerdicts = paths.count > 1
    let nodes = paths.map { $0.namesPriority ? $0.parent ?? $0 : $0 }
    for path in nodes {
      if let denial = try grantDenial(path) { return .denied(denial) }
    }
    for path in nodes {
      if let denial = try validationDenial(path) { return .denied(denial) }
    }
    return .allowed
  }

  /// The nodes of the rules from the root to `path`; sets the captures on the way.
  ///
  /// The walk stops where the rules have no node for a key: nothing below can apply.
  private mutating func walk(to path: TreePath) -> [Step] {
    evaluator.captures.removeAll(keepingCapacity: true)
    var node = 0
    var steps = [Step(node: 0, count: 0)]
    steps.reserveCapacity(path.count + 1)
    for (index, key) in path.keys.enumerated() {
      guard let child = rules.child(key, of: node) else { break }
      if child.isCaptured { evaluator.captures.append(key.text) }
      node = child.node
      steps.append(Step(node: node, count: index + 1))
    }
    return steps
  }

  /// Evaluates a rule where the evaluator stands, and keeps the outcome for an explanation.
  private mutating func outcome(
    of rule: Int, at place: RulePlace
  ) throws(RulesDataError) -> RuleEvaluator.Outcome {
    let outcome = try evaluator.outcome(of: rule, tracing: asked != nil)
    if asked != nil {
      asked?.add(
        AskedRules.Entry(
          rule: rule, outcome: outcome, path: place.path, trace: evaluator.trace ?? [:]))
    }
    return outcome
  }

  func denied(_ kind: RulesKind, _ path: TreePath, _ reason: RulesDenial.Reason) -> RulesVerdict {
    .denied(denial(kind, path, reason))
  }

  private func denial(
    _ kind: RulesKind, _ path: TreePath, _ reason: RulesDenial.Reason
  ) -> RulesDenial {
    RulesDenial(id: denialID, kind: kind, path: path, reason: reason)
  }

  /// The id of a denial, made from what the client knows: the rule that denied, and the node where
  /// it did, depend on data that the client may not read, and a digest could be searched for them.
  private var denialID: String {
    var sum = Fingerprint()
    sum.add(rules.fingerprint)
    sum.add(UInt64(bitPattern: caller.now))
    sum.add(requested.kind.rawValue.utf8)
    sum.add(UInt64(requested.paths.count))
    for path in requested.paths.prefix(Self.identifyingPaths) {
      sum.add(path.text.utf8)
      sum.add(CollectionOfOne(0))
    }
    return sum.text
  }
}

// Writes.
extension Judge {
  /// Returns the denial of a path without a granting `.write` rule; `nil` when one grants.
  ///
  /// Verdicts at shared ancestors are reused. This is sound because a verdict depends only on the
  /// node and on the two states of the tree, which are the same for all paths of the request.
  private mutating func grantDenial(_ path: TreePath) throws(RulesDataError) -> RulesDenial? {
    for step in walk(to: path) {
      guard let rule = rules.nodes[step.node].write else { continue }
      let here = step.path(on: path)
      if keepsVerdicts, let isGranted = grants[here] {
        if isGranted { return nil }
        continue
      }
      let place = RulePlace(here)
      evaluator.move(to: place)
      let outcome = try outcome(of: rule, at: place)
      switch outcome {
      case .holds:
        if keepsVerdicts { grants[here] = true }
        return nil
      case .exhausted(.request, _): return denial(.write, here, .exhausted(.request))
      case .fails, .mistaken, .exhausted:
        if keepsVerdicts { grants[here] = false }
      }
    }
    return denial(.write, path, .notGranted)
  }

  /// Checks `.validate` from the root to `path` and below it, wherever something is proposed.
  ///
  /// An ancestor is checked only if it has a `.validate` itself. Below the path, the walk goes on
  /// only if the rules reach as far as the path.
  private mutating func validationDenial(_ path: TreePath) throws(RulesDataError) -> RulesDenial? {
    let steps = walk(to: path)
    for (index, step) in steps.enumerated() where rules.nodes[step.node].hasValidation {
      let isTarget = step.count == path.count
      guard isTarget || rules.nodes[step.node].validate != nil else { continue }
      let place = RulePlace(step.path(on: path))
      evaluator.move(to: place)
      if let denial = try invalidity(of: step.node, at: place) { return denial }
      guard isTarget, index == steps.count - 1 else { continue }
      if let denial = try invalidityBelow(step.node, path) { return denial }
    }
    return nil
  }

  /// Checks the `.validate` of one node, to which the evaluator has moved.
  private mutating func invalidity(
    of node: Int, at place: RulePlace
  ) throws(RulesDataError) -> RulesDenial? {
    guard let rule = rules.nodes[node].validate else { return nil }
    guard !keepsVerdicts || validated.insert(place.path).inserted else { return nil }
    guard try evaluator.isProposed() else { return nil }
    switch try outcome(of: rule, at: place) {
    case .holds: return nil
    case .exhausted(let budget, _): return denial(.validate, place.path, .exhausted(budget))
    case .fails, .mistaken:
      return denial(.validate, place.path, .invalid(rules.position(of: 0, in: rule)))
    }
  }

  /// Checks what lies below a proposed node.
  ///
  /// With few literal children and no capture, each child is looked up by name. Otherwise, the
  /// children are listed: rows and literal children are both sorted, so they are walked side by
  /// side; for far more rules than children a lookup for each child is cheaper. A node with a full
  /// page of children and no capture goes back to lookups by name, because the number of rules is
  /// bounded and the number of children is not.
  private mutating func invalidityBelow(
    _ node: Int, _ path: TreePath
  ) throws(RulesDataError) -> RulesDenial? {
    let children = rules.nodes[node].validatedChildren
    let hasCapture = rules.nodes[node].validatesCapture
    guard hasCapture || children.count > Self.fewChildren else {
      return try invalidity(ofLiterals: children, below: path)
    }
    let literals = rules.nodes[node].children
    var nextLiteral = 0
    var last: TreeKey?
    while true {
      let page = try evaluator.proposedChildren(of: path, after: last, limit: Self.pageChildren)
      if page.count == Self.pageChildren, !hasCapture {
        return try invalidity(ofLiterals: children, below: path)
      }
      let isSparse = page.count * Self.sparseness < literals.count
      for child in page {
        let found: (node: Int, isCaptured: Bool)?
        if isSparse {
          found = rules.child(child.key, of: node)
        } else {
          // Both are in the order of keys.
          while nextLiteral < literals.count, literals[nextLiteral].key < child.key {
            nextLiteral += 1
          }
          if nextLiteral < literals.count, literals[nextLiteral].key == child.key {
            found = (literals[nextLiteral].node, false)
          } else {
            found = rules.nodes[node].capture.map { ($0, true) }
          }
        }
        guard let match = found, rules.nodes[match.node].hasValidation else { continue }
        // The captures of the way are complete here, because the rules reach down to `path`; the
        // child adds one for the time of its own subtree.
        if match.isCaptured { evaluator.captures.append(child.key.text) }
        let place = RulePlace(child.key, below: path)
        let denial = try invalidity(of: match.node, at: place, child.shape)
        if match.isCaptured { evaluator.captures.removeLast() }
        if let denial { return denial }
      }
      guard page.count == Self.pageChildren else { return nil }
      last = page.last?.key
    }
  }

  /// Looks for a few children by name instead of listing all there are.
  ///
  /// - Parameters:
  ///   - node: The node of the rules.
  ///   - place: The node of the tree.
  ///   - shape: The proposed shape where a listing told it; `nil` reads it.
  private mutating func invalidity(
    ofLiterals children: [(key: TreeKey, node: Int)], below path: TreePath
  ) throws(RulesDataError) -> RulesDenial? {
    for child in children {
      let place = RulePlace(child.key, below: path)
      if let denial = try invalidity(of: child.node, at: place, nil) {
        return denial
      }
    }
    return nil
  }

  /// Checks a node that may be proposed, and what lies below it.
  private mutating func invalidity(
    of node: Int, at place: RulePlace, _ shape: RulesShape?
  ) throws(RulesDataError) -> RulesDenial? {
    guard evaluator.requestSteps > 0 else {
      return denial(.validate, place.path, .exhausted(.request))
    }
    evaluator.move(to: place, proposed: shape)
    guard try evaluator.isProposed() else { return nil }
    if let denial = try invalidity(of: node, at: place) { return denial }
    let hasMore = rules.nodes[node].validatesCapture || !rules.nodes[node].validatedChildren.isEmpty
    return hasMore ? try invalidityBelow(node, place.path) : nil
  }
}
