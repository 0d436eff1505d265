import TernCore

/// Evaluates expressions for one request.
///
/// Source: firestore reference, section 6.4.
///
/// One evaluator serves one operation of a request and keeps no result between conditions. A fault
/// travels as a Swift error up to the nearest `&&`, `||` or statement. Only
/// ``DocumentRuleFault/exhausted`` passes through chains as well, because it ends the request.
/// ``ProofEvaluator`` mirrors this type for queries: a change to one needs the same change to the
/// other.
struct DocumentRuleEvaluator {
  typealias Node = DocumentRuleExpression
  typealias Value = DocumentRuleValue

  /// A parameter or binding of a function that is being evaluated.
  private enum Local {
    case value(Value)
    case fault(DocumentRuleFault)
    /// A binding that nothing has used yet.
    case pending(Node)
  }

  /// The functions of the file; an expression names one by its index.
  private let functions: [DocumentRuleFunction]
  private let request: DocumentRulesRequest
  private let state: DocumentRulesState
  /// Counts results; `nil` for none.
  private let coverage: DocumentRulesCoverage?
  /// The parameters and bindings of all calls on the stack, one frame after another. ``base`` is
  /// where the innermost frame begins.
  private var locals: [Local] = []
  /// The index of the first local of the function that is being evaluated.
  private var base = 0
  /// The values of the captures of the path, outermost first.
  var captures: [Value] = []
  var budget: DocumentRulesBudget

  init(
    _ rules: DocumentRules, _ request: DocumentRulesRequest, _ state: DocumentRulesState,
    _ budget: DocumentRulesBudget
  ) {
    functions = rules.functions
    coverage = rules.coverage
    self.request = request
    self.state = state
    self.budget = budget
  }

  /// Evaluates a condition.
  ///
  /// - Throws: The fault of the condition, or one for a condition that is not a bool.
  mutating func holds(_ condition: Node) throws(DocumentRuleFault) -> Bool {
    locals.removeAll(keepingCapacity: true)
    base = 0
    let value = try value(condition)
    guard case .bool(let result) = value else { throw .notBool(value, in: "if") }
    return result
  }

  /// Evaluates an expression and counts it.
  ///
  /// With coverage, results and faults are counted under a lock; without it, the call adds nothing.
  mutating func value(_ node: Node) throws(DocumentRuleFault) -> Value {
    guard let coverage else { return try evaluate(node) }
    do throws(DocumentRuleFault) {
      let value = try evaluate(node)
      coverage.count(.value(value), of: node)
      return value
    } catch {
      coverage.count(.fault(error), of: node)
      throw error
    }
  }

  /// Evaluates an expression.
  ///
  /// The forms have functions of their own: in a single one, every level of nesting would hold the
  /// operands of all forms on the stack, and threads may have little of it.
  private mutating func evaluate(_ node: Node) throws(DocumentRuleFault) -> Value {
    try budget.count(node.cost)
    switch node.kind {
    case .constant, .request, .resource, .capture: return leaf(node)
    case .local(let index): return try local(index)
    case .group, .not, .negate, .isType: return try unary(node)
    case .member(let base, let name): return try member(name, of: base)
    case .and(let operands): return .bool(try chain(operands, ends: false))
    case .or(let operands): return .bool(try chain(operands, ends: true))
    case .binary(let operation, let left, let right): return try binary(operation, left, right)
    case .conditional: return try conditional(node)
    case .function(let number, let arguments): return try call(number, arguments)
    case .access(let function, let path): return try read(function, path)
    case .list, .map, .path, .index, .slice: return try collection(node)
    default: return try rare(node)
    }
  }

  private func leaf(_ node: Node) -> Value {
    switch node.kind {
    case .constant(let value): value
    case .request: request.value
    case .resource: request.resourceValue
    case .capture(let index): captures[index]
    default: preconditionFailure("an expression of this form has operands")
    }
  }

  private mutating func unary(_ node: Node) throws(DocumentRuleFault) -> Value {
    switch node.kind {
    case .group(let inner): return try value(inner)
    case .negate(let operand): return try DocumentRuleOperations.negated(try value(operand))
    case .isType(let operand, let type): return .bool(try value(operand).isOf(type))
    case .not(let operand):
      let value = try value(operand)
      guard case .bool(let flag) = value else { throw .notBool(value, in: "!") }
      return .bool(!flag)
    default: preconditionFailure("an expression of this form has no single operand")
    }
  }

  /// Evaluates both operands, the left one first. A fault of the left one hides the right one.
  private mutating func binary(
    _ operation: DocumentRuleOperator, _ left: Node, _ right: Node
  ) throws(DocumentRuleFault) -> Value {
    try DocumentRuleOperations.apply(operation, try value(left), try value(right))
  }

  /// Evaluates the condition and then one branch; the other branch is neither evaluated nor
  /// counted.
  private mutating func conditional(_ node: Node) throws(DocumentRuleFault) -> Value {
    guard case .conditional(let condition, let first, let second) = node.kind else {
      preconditionFailure("an expression of this form is no choice")
    }
    let choice = try value(condition)
    guard case .bool(let isFirst) = choice else { throw .notBool(choice, in: "?:") }
    return try value(isFirst ? first : second)
  }

  private mutating func collection(_ node: Node) throws(DocumentRuleFault) -> Value {
    switch node.kind {
    case .list(let items): return .list(try values(items))
    case .map(let entries): return try map(entries)
    case .path(let parts): return try path(parts)
    case .index(let base, let key):
      return try DocumentRuleOperations.element(of: try value(base), at: try value(key))
    default:
      let operands = try values(node.operands)
      return try DocumentRuleOperations.slice(
        of: operands[0], from: operands[1], to: operands[2])
    }
  }

  /// Evaluates the forms that are seldom, or cost enough for one more call.
  private mutating func rare(_ node: Node) throws(DocumentRuleFault) -> Value {
    switch node.kind {
    case .builtin(let function, let arguments):
      return try DocumentRuleFunctions.call(function, try values(arguments))
    case .method(let method, let receiver, let arguments, let pattern):
      return try call(method, of: receiver, arguments, pattern)
    case .name(let name): throw .unknownVariable(name)
    case .call(let name, _): throw .unknownFunction(name)
    case .unknownMethod(let name, let receiver, _):
      let receiver = try value(receiver)
      if case .null = receiver { throw .nullValue }
      throw .unknownFunction(name)
    default: preconditionFailure("an expression of this form is evaluated directly")
    }
  }

  private mutating func values(_ nodes: [Node]) throws(DocumentRuleFault) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(nodes.count)
    for node in nodes { values.append(try value(node)) }
    return values
  }

  /// Evaluates a chain of `&&` or `||`.
  ///
  /// - Parameter ends: The operand that decides the chain, even beside one that is an error.
  private mutating func chain(
    _ operands: [Node], ends: Bool
  ) throws(DocumentRuleFault) -> Bool {
    var fault: DocumentRuleFault?
    for operand in operands {
      do throws(DocumentRuleFault) {
        let value = try value(operand)
        guard case .bool(let result) = value else {
          throw .notBool(value, in: ends ? "||" : "&&")
        }
        if result == ends { return ends }
      } catch {
        // An exhausted budget must not be hidden by a later operand that decides.
        if error == .exhausted { throw error }
        if fault == nil { fault = error }
      }
    }
    if let fault { throw fault }
    return !ends
  }

  /// Returns a member of a value. `request.name` is answered directly, because building all of
  /// `request` to read one member would cost a map for each access; the cost in expressions is the
  /// same.
  private mutating func member(
    _ name: String, of base: Node
  ) throws(DocumentRuleFault) -> Value {
    if case .request = base.kind {
      try budget.count(base.cost)
      guard let value = request.member(name) else { throw .undefinedProperty(name) }
      return value
    }
    return try DocumentRuleOperations.member(name, of: try value(base))
  }

  /// Evaluates a map literal; of entries with one key the last stays.
  private mutating func map(_ entries: [Node.MapEntry]) throws(DocumentRuleFault) -> Value {
    var pairs: [(String, Value)] = []
    for entry in entries {
      let key = try value(entry.key)
      guard case .string(let name) = key else {
        throw .unsupported(received: "a key of type \(key.typeName)", expected: "string")
      }
      pairs.append((name, try value(entry.value)))
    }
    return .map(DocumentRuleMap(pairs))
  }

  private mutating func path(_ parts: [Node.PathPart]) throws(DocumentRuleFault) -> Value {
    var segments: [String] = []
    segments.reserveCapacity(parts.count)
    for part in parts {
      switch part {
      case .literal(let text): segments.append(text)
      case .expression(let node):
        try DocumentRuleOperations.append(try value(node), to: &segments)
      }
    }
    return .path(DocumentRulePath(segments))
  }

  /// Evaluates the receiver, then the arguments, then the method. Methods with a pattern also spend
  /// the budget's pattern steps.
  private mutating func call(
    _ method: DocumentRuleMethod, of receiver: Node, _ arguments: [Node],
    _ pattern: DocumentPattern?
  ) throws(DocumentRuleFault) -> Value {
    let receiver = try value(receiver)
    let arguments = try values(arguments)
    if method.takesPattern {
      return try DocumentRuleTexts.call(
        method, receiver, arguments, pattern, steps: &budget.patternSteps)
    }
    return try DocumentRuleMethodCalls.call(method, receiver, arguments)
  }
}

extension DocumentRuleEvaluator {
  /// The value of a parameter or binding; a binding is evaluated when it is first used.
  ///
  /// The result of a binding is kept, a fault too: a binding that is used twice is evaluated and
  /// counted once.
  private mutating func local(_ index: Int) throws(DocumentRuleFault) -> Value {
    switch locals[base + index] {
    case .value(let value): return value
    case .fault(let fault): throw fault
    case .pending(let node):
      do throws(DocumentRuleFault) {
        let value = try value(node)
        locals[base + index] = .value(value)
        return value
      } catch {
        locals[base + index] = .fault(error)
        throw error
      }
    }
  }

  /// Calls a function of the file in a frame of its own.
  ///
  /// Arguments are evaluated before the call, so a fault in one ends the call; bindings wait for
  /// their first use. The resolver has excluded recursion.
  private mutating func call(
    _ number: Int, _ arguments: [Node]
  ) throws(DocumentRuleFault) -> Value {
    let function = functions[number]
    var frame: [Local] = []
    frame.reserveCapacity(arguments.count + function.bindings.count)
    for argument in arguments { frame.append(.value(try value(argument))) }
    for binding in function.bindings { frame.append(.pending(binding)) }
    let (outerBase, outerCount) = (base, locals.count)
    base = outerCount
    locals += frame
    // The frame is removed on faults as well: a chain around the call goes on after them.
    defer {
      locals.removeSubrange(outerCount...)
      base = outerBase
    }
    return try value(function.body)
  }

  /// Reads a document for `get` and its sisters.
  private mutating func read(
    _ function: DocumentRuleAccess, _ path: Node
  ) throws(DocumentRuleFault) -> Value {
    try read(function, at: try value(path))
  }

  /// Reads a document or its existence.
  ///
  /// A path of another database, an invalid path, and a document beyond the limit of reads are the
  /// same fault. A missing document is `null` for `get` and false for `exists`, and it counts as a
  /// read: the verdict depends on it.
  private mutating func read(
    _ function: DocumentRuleAccess, at argument: Value
  ) throws(DocumentRuleFault) -> Value {
    guard case .path(let path) = argument else {
      throw .unsupported(
        received: "\(function.rawValue)(\(argument.typeName))",
        expected: "\(function.rawValue)(path)")
    }
    guard let key = path.documentKey(in: request.databaseID), budget.countRead(of: key) else {
      let text = String(
        decoding: path.text.utf8.prefix(DocumentRulesLimits.printedPathBytes), as: UTF8.self)
      throw .documentAccess(function, path: text)
    }
    let fields = function.isAfter ? state.after(key) : state.before(key)
    if function.isExistence { return .bool(fields != nil) }
    guard let fields else { return .null }
    return .map(DocumentRuleMap(DocumentRuleResource(key, fields, in: request.databaseID)))
  }
}
