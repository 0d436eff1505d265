import TernCore

/// Evaluates compiled rules against two states of the tree, within a budget.
///
/// One evaluator serves one request. It reads nodes only when a rule asks, and keeps the two
/// shapes of the node the current rule stands at, because most rules look there.
struct RuleEvaluator {
  /// The cost of reading a node, in steps: about that of twenty operations.
  static let readSteps = 20
  /// The cost of a child that is listed to answer about its parent, in steps.
  static let rowSteps = 4

  let rules: CompiledRules
  let limits: RulesLimits
  // What every step looks at is held here, not asked of the rules each time: a reference that is
  // followed is counted up and down again.
  private let operations: [Operation]
  private let lists: [Int]
  private let auth: RuleValue
  private let now: Int64
  /// The tree before and after the request; for reads, both are the same.
  private let before: any RulesSnapshot
  private let after: any RulesSnapshot
  /// The query, when the rule stands at the queried node.
  var query = RulesQuery.none
  /// The keys the captures on the way stand for, outermost first.
  ///
  /// An operation names a capture by its index, so a rule higher up sees only the first of them.
  var captures: [String] = []
  private var here = Place(RulePlace(.root))
  /// The steps the current rule may still take.
  var steps = 0
  /// The steps the request may still take.
  private(set) var requestSteps: Int
  /// The rows of the proposed tree that were charged.
  private var chargedRows: Int
  /// The values met, by operation, when the caller asked for them.
  private(set) var trace: [Int: RuleValue]?

  /// The node of the current rule and what is known about it.
  private struct Place {
    let place: RulePlace
    var before: RulesShape?
    var after: RulesShape?

    init(_ place: RulePlace, after: RulesShape? = nil) {
      self.place = place
      self.after = after
    }

    var path: TreePath { place.path }
  }

  /// The result of one rule.
  enum Outcome {
    case holds
    case fails
    case mistaken(RuleError, operation: Int)
    case exhausted(RulesBudget, operation: Int)
  }

  init(
    rules: CompiledRules, limits: RulesLimits, caller: RulesCaller, before: any RulesSnapshot,
    after: any RulesSnapshot
  ) {
    self.rules = rules
    self.limits = limits
    operations = rules.program.operations
    lists = rules.program.lists
    auth = RuleValue(caller.auth)
    now = caller.now
    self.before = before
    self.after = after
    requestSteps = limits.stepsPerRequest
    chargedRows = after.listedRows
  }

  /// Moves to another node; `data` and `newData` are that node from now on.
  ///
  /// - Parameter proposed: What it would be after the request, if that is known.
  mutating func move(to place: RulePlace, proposed: RulesShape? = nil) {
    here = Place(place, after: proposed)
  }

  /// Returns true when a node would exist at the current path after the request.
  ///
  /// Costs ``readSteps`` of the request even where the shape is known, so that a walk over many
  /// children always ends.
  mutating func isProposed() throws(RulesDataError) -> Bool {
    requestSteps -= Self.readSteps
    if here.after == nil {
      here.after = try after.shape(at: here.path)
      requestSteps -= stepsOfRows()
    }
    if case .some(.absent) = here.after { return false }
    return true
  }

  /// The children a node would have after the request.
  mutating func proposedChildren(
    of path: TreePath, after key: TreeKey?, limit: Int
  ) throws(RulesDataError) -> [RulesChild] {
    let children = try after.children(at: path, after: key, limit: limit)
    requestSteps -= stepsOfRows()
    return children
  }

  /// The steps of the rows that the proposed tree has listed since they were last asked for.
  private mutating func stepsOfRows() -> Int {
    let rows = after.listedRows
    defer { chargedRows = rows }
    return (rows - chargedRows) * Self.rowSteps
  }

  /// Evaluates the rule at an index of the program; a mistake inside makes it false.
  ///
  /// - Throws: The error of the store, which is no verdict: the request fails.
  mutating func outcome(of rule: Int, tracing: Bool) throws(RulesDataError) -> Outcome {
    let allowance = max(0, min(limits.stepsPerRule, requestSteps))
    steps = allowance
    trace = tracing ? [:] : nil
    defer { requestSteps -= allowance - steps }
    do throws(RuleEvaluationError) {
      return try condition(rules.entries[rule]) ? .holds : .fails
    } catch {
      switch error {
      case .mistake(let mistake, let operation): return .mistaken(mistake, operation: operation)
      case .exhausted(.rule, let operation) where allowance < limits.stepsPerRule:
        return .exhausted(.request, operation: operation)
      case .exhausted(let budget, let operation): return .exhausted(budget, operation: operation)
      case .data(let error): throw error
      }
    }
  }

  /// The value of an operation.
  mutating func evaluate(_ index: Int) throws(RuleEvaluationError) -> RuleValue {
    try spend(1, at: index)
    let value = try compute(index)
    if trace != nil { trace?[index] = value }
    return value
  }

  mutating func spend(_ count: Int, at index: Int) throws(RuleEvaluationError) {
    steps -= count
    if steps < 0 { throw .exhausted(.rule, operation: index) }
  }

  /// The value of an operation that has to be a boolean.
  mutating func condition(_ index: Int) throws(RuleEvaluationError) -> Bool {
    if trace == nil, let verdict = try plainCondition(index) { return verdict }
    guard case .bool(let value) = try evaluate(index) else {
      throw .mistake(.notBoolean, operation: index)
    }
    return value
  }

  /// Evaluates the forms that most rules have, as long as no trace of the values is recorded; `nil`
  /// for everything else, of which nothing was evaluated.
  ///
  /// It spends exactly the steps that the slow way spends, so that a traced repetition of a
  /// judgment reaches the same verdict.
  private mutating func plainCondition(_ index: Int) throws(RuleEvaluationError) -> Bool? {
    switch operations[index] {
    case .all(let operands):
      try spend(1, at: index)
      return try all(operands)
    case .any(let operands):
      try spend(1, at: index)
      return try any(operands)
    case .not(let operand):
      try spend(1, at: index)
      return !(try condition(operand))
    case .inspection(let inspection, let receiver):
      return try plainInspection(inspection, receiver, at: index)
    case .comparison(let operation, let left, let right):
      try spend(1, at: index)
      return try comparison(operation, left, right, at: index)
    case .equality(let left, let right, let isNegated):
      try spend(1, at: index)
      return try equality(left, right, at: index) != isNegated
    default: return nil
    }
  }

  /// Evaluates questions about `data` and `newData` themselves that are answered with yes or no.
  private mutating func plainInspection(
    _ inspection: Operation.Inspection, _ receiver: Int, at index: Int
  ) throws(RuleEvaluationError) -> Bool? {
    let isProposed: Bool
    switch (inspection, operations[receiver]) {
    case (.val, _), (.parent, _), (.getPriority, _): return nil
    case (_, .data): isProposed = false
    case (_, .newData): isProposed = true
    default: return nil
    }
    try spend(1, at: index)
    try spend(1 + Self.readSteps, at: receiver)
    let shape = try shapeHere(isProposed: isProposed, at: receiver)
    switch (inspection, shape) {
    case (.exists, .absent): return false
    case (.exists, _): return true
    case (.hasChildren, .children): return true
    case (.isNumber, .leaf(.integer)), (.isNumber, .leaf(.double)): return true
    case (.isString, .leaf(.string)), (.isBoolean, .leaf(.bool)): return true
    default: return false
    }
  }

  /// The value of an operation that has to be a string.
  mutating func text(_ index: Int) throws(RuleEvaluationError) -> String {
    guard case .text(let value) = try evaluate(index) else {
      throw .mistake(.notString, operation: index)
    }
    return value
  }

  private mutating func compute(_ index: Int) throws(RuleEvaluationError) -> RuleValue {
    switch operations[index] {
    case .constant(let constant): return rules.program.constants[constant]
    case .path(let path): return .text(rules.program.paths[path].text)
    case .auth: return auth
    case .now: return .integer(now)
    case .root: return .snapshot(SnapshotReference(isProposed: false, path: .root))
    case .data:
      return .snapshot(SnapshotReference(isProposed: false, path: here.path, isHere: true))
    case .newData:
      return .snapshot(SnapshotReference(isProposed: true, path: here.path, isHere: true))
    case .capture(let slot): return .text(captures[slot])
    case .query(let member): return query.value(of: member)
    case .not(let operand): return .bool(!(try condition(operand)))
    case .all(let operands): return .bool(try all(operands))
    case .any(let operands): return .bool(try any(operands))
    case .choice(let condition, let then, let otherwise):
      return try evaluate(try self.condition(condition) ? then : otherwise)
    case .inspection(let inspection, let receiver): return try inspect(inspection, receiver)
    case .child(let receiver, let path): return .snapshot(try child(path, of: receiver))
    case .hasChild(let receiver, let path):
      return .bool(try shape(of: try child(path, of: receiver), at: index) != .absent)
    case .hasChildren(let receiver, let names):
      return .bool(try hasChildren(names, receiver, at: index))
    case let operation: return try computeScalar(operation, at: index)
    }
  }

  private mutating func all(_ operands: Range<Int>) throws(RuleEvaluationError) -> Bool {
    for position in operands where !(try condition(lists[position])) { return false }
    return true
  }

  private mutating func any(_ operands: Range<Int>) throws(RuleEvaluationError) -> Bool {
    for position in operands where try condition(lists[position]) { return true }
    return false
  }
}

// Nodes of the tree.
extension RuleEvaluator {
  private mutating func reference(_ index: Int) throws(RuleEvaluationError) -> SnapshotReference {
    guard case .snapshot(let reference) = try evaluate(index) else {
      preconditionFailure("the types of a rule promised a snapshot")
    }
    return reference
  }

  private mutating func child(
    _ path: Int, of receiver: Int
  ) throws(RuleEvaluationError) -> SnapshotReference {
    var reference = try reference(receiver)
    let added: RulePath
    if case .path(let literal) = operations[path] {
      added = rules.program.paths[literal]
      if trace != nil { trace?[path] = .text(added.text) }
    } else {
      let text = try text(path)
      try spend(text.utf8.count / 4, at: path)
      added = RulePath(text)
    }
    if added.keys.isEmpty { return reference }
    if reference.isPossible {
      let possible = reference.path.count + added.possibleCount
      reference.possibleCount = added.isPossible ? .max : possible
    }
    reference.path = reference.path.appending(TreePath(unchecked: added.keys))
    reference.isHere = false
    return reference
  }

  private mutating func hasChildren(
    _ names: Range<Int>, _ receiver: Int, at index: Int
  ) throws(RuleEvaluationError) -> Bool {
    // Every name is evaluated before any node is read, so that a mistake in one always shows.
    var children: [SnapshotReference] = []
    for position in names {
      children.append(try child(lists[position], of: receiver))
    }
    for child in children where try shape(of: child, at: index) == .absent { return false }
    return true
  }

  private mutating func inspect(
    _ inspection: Operation.Inspection, _ receiver: Int
  ) throws(RuleEvaluationError) -> RuleValue {
    if let shape = try shapeOfVariable(receiver, for: inspection) {
      return answer(inspection, shape)
    }
    var reference = try reference(receiver)
    switch inspection {
    case .parent:
      guard let parent = reference.path.parent else {
        throw .mistake(.noParent, operation: receiver)
      }
      reference.path = parent
      reference.isHere = false
      return .snapshot(reference)
    case .getPriority: return try priority(of: reference, at: receiver)
    case .val, .exists, .hasChildren, .isNumber, .isString, .isBoolean: break
    }
    return answer(inspection, try shape(of: reference, at: receiver))
  }

  /// The short way for `data` and `newData` themselves, which most rules ask about.
  private mutating func shapeOfVariable(
    _ receiver: Int, for inspection: Operation.Inspection
  ) throws(RuleEvaluationError) -> RulesShape? {
    guard trace == nil, inspection != .parent, inspection != .getPriority else { return nil }
    let isProposed: Bool
    switch operations[receiver] {
    case .data: isProposed = false
    case .newData: isProposed = true
    default: return nil
    }
    try spend(1 + Self.readSteps, at: receiver)
    return try shapeHere(isProposed: isProposed, at: receiver)
  }

  private func answer(_ inspection: Operation.Inspection, _ shape: RulesShape) -> RuleValue {
    switch (inspection, shape) {
    case (.val, .absent): return .null
    case (.val, .leaf(let scalar)): return RuleValue(scalar)
    case (.val, .children): return .object
    case (.exists, _): return .bool(shape != .absent)
    case (.hasChildren, .children): return .bool(true)
    case (.isNumber, .leaf(.integer)), (.isNumber, .leaf(.double)): return .bool(true)
    case (.isString, .leaf(.string)), (.isBoolean, .leaf(.bool)): return .bool(true)
    default: return .bool(false)
    }
  }

  private mutating func shape(
    of reference: SnapshotReference, at index: Int
  ) throws(RuleEvaluationError) -> RulesShape {
    // A path that no node can have is absent without a read: it must not reach the store, whose
    // keys are checked.
    guard reference.isPossible, reference.path.count <= TreeLimits.depth else { return .absent }
    try spend(Self.readSteps, at: index)
    if reference.isHere { return try shapeHere(isProposed: reference.isProposed, at: index) }
    return try shape(at: reference.path, isProposed: reference.isProposed, at: index)
  }

  private mutating func priority(
    of reference: SnapshotReference, at index: Int
  ) throws(RuleEvaluationError) -> RuleValue {
    guard reference.isPossible, reference.path.count <= TreeLimits.depth else { return .null }
    try spend(Self.readSteps, at: index)
    let priority: TreeScalar?
    do throws(RulesDataError) {
      priority = try (reference.isProposed ? after : before).priority(at: reference.path)
    } catch {
      throw .data(error)
    }
    if reference.isProposed { try spend(stepsOfRows(), at: index) }
    return priority.map(RuleValue.init) ?? .null
  }

  private mutating func shapeHere(
    isProposed: Bool, at index: Int
  ) throws(RuleEvaluationError) -> RulesShape {
    if let known = isProposed ? here.after : here.before { return known }
    let shape = try shape(at: here.path, isProposed: isProposed, at: index)
    if isProposed { here.after = shape } else { here.before = shape }
    return shape
  }

  private mutating func shape(
    at path: TreePath, isProposed: Bool, at index: Int
  ) throws(RuleEvaluationError) -> RulesShape {
    let shape: RulesShape
    do throws(RulesDataError) {
      shape = try (isProposed ? after : before).shape(at: path)
    } catch {
      throw .data(error)
    }
    if isProposed { try spend(stepsOfRows(), at: index) }
    return shape
  }
}
