import TernCore
import TernQuery

/// Evaluates expressions for all documents that a query can select at once.
///
/// It follows ``DocumentRuleEvaluator`` step by step, over what is known of values in place of
/// values. Everything it concludes holds for every such document.
struct ProofEvaluator {
  typealias Node = DocumentRuleExpression

  /// A parameter or binding of a function that is being evaluated.
  private enum Local {
    case known(ProvenValue)
    /// A binding that nothing has used yet.
    case pending(Node)
  }

  private let functions: [DocumentRuleFunction]
  let request: DocumentRulesRequest
  private let state: DocumentRulesState
  /// Counts results; `nil` for none.
  private let coverage: DocumentRulesCoverage?
  let facts: QueryFacts
  private var locals: [Local] = []
  private var base = 0
  /// The values of the captures of the path, outermost first.
  var captures: [ProvenValue] = []
  var budget: DocumentRulesBudget
  /// The first thing that was not known in the condition that is being evaluated.
  private(set) var doubt: DocumentRuleFault?

  init(
    _ rules: DocumentRules, _ request: DocumentRulesRequest,
    _ state: DocumentRulesState, _ facts: QueryFacts, _ budget: DocumentRulesBudget
  ) {
    functions = rules.functions
    coverage = rules.coverage
    self.request = request
    self.state = state
    self.facts = facts
    self.budget = budget
  }

  /// Evaluates a condition.
  mutating func outcome(of condition: Node) throws(DocumentRuleFault) -> ProvenValue {
    locals.removeAll(keepingCapacity: true)
    base = 0
    doubt = nil
    return try value(condition)
  }

  /// Notes the reason that something is not known.
  mutating func note(_ fault: DocumentRuleFault) { doubt = doubt ?? fault }

  /// Evaluates an expression and counts it.
  ///
  /// - Throws: ``DocumentRuleFault/exhausted`` and nothing else.
  mutating func value(_ node: Node) throws(DocumentRuleFault) -> ProvenValue {
    guard let coverage else { return try evaluate(node) }
    let value = try evaluate(node)
    coverage.count(.init(value), of: node)
    return value
  }

  /// Evaluates an expression; the forms have functions of their own to spare the stack.
  private mutating func evaluate(_ node: Node) throws(DocumentRuleFault) -> ProvenValue {
    try budget.count(node.cost)
    switch node.kind {
    case .constant(let value): return .value(value)
    case .group, .not, .negate, .isType: return try unary(node)
    case .request: return .request
    case .resource: return .document
    case .capture(let index):
      if case .anyValue = captures[index] { note(.nullValue) }
      return captures[index]
    case .local(let index): return try local(index)
    case .member(let base, let name): return try member(name, of: try value(base))
    case .and(let operands): return try chain(operands, ends: false)
    case .or(let operands): return try chain(operands, ends: true)
    case .binary(let operation, let left, let right): return try binary(operation, left, right)
    case .conditional(let condition, let first, let second):
      return try choose(try value(condition), first, second)
    case .function(let number, let arguments): return try call(number, arguments)
    default: return try rare(node)
    }
  }

  private mutating func unary(_ node: Node) throws(DocumentRuleFault) -> ProvenValue {
    let operand = try value(node.operands[0])
    switch node.kind {
    case .isType(_, let type): return try isOf(type, operand)
    case .not:
      return try Self.combine([operand]) { values throws(DocumentRuleFault) in
        guard case .bool(let value) = values[0] else {
          throw .unsupported(received: "! of another type", expected: "!bool")
        }
        return .bool(!value)
      }
    case .negate:
      return try Self.combine([operand]) { values throws(DocumentRuleFault) in
        try DocumentRuleOperations.negated(values[0])
      }
    default: return operand
    }
  }

  private mutating func binary(
    _ operation: DocumentRuleOperator, _ left: Node, _ right: Node
  ) throws(DocumentRuleFault) -> ProvenValue {
    try apply(operation, try value(left), try value(right))
  }

  private mutating func rare(_ node: Node) throws(DocumentRuleFault) -> ProvenValue {
    switch node.kind {
    case .access(let function, let path): return try read(function, try value(path))
    case .list(let items):
      return try Self.combine(try values(items)) { values throws(DocumentRuleFault) in .list(values)
      }
    case .map(let entries): return try map(entries)
    case .path(let parts): return try path(parts)
    case .index(let base, let key): return try element(of: try value(base), at: try value(key))
    case .slice(let base, let low, let high):
      let operands = [try value(base), try value(low), try value(high)]
      return try Self.combine(operands) { values throws(DocumentRuleFault) in
        try DocumentRuleOperations.slice(of: values[0], from: values[1], to: values[2])
      }
    case .builtin(.debug, let arguments) where arguments.count == 1: return try value(arguments[0])
    case .builtin(let function, let arguments):
      return try Self.combine(try values(arguments)) { values throws(DocumentRuleFault) in
        try DocumentRuleFunctions.call(function, values)
      }
    case .method(let method, let receiver, let arguments, let pattern):
      return try call(method, of: try value(receiver), try values(arguments), pattern)
    case .name(let name): return .fault(.unknownVariable(name))
    case .call(let name, _): return .fault(.unknownFunction(name))
    case .unknownMethod(let name, let receiver, _):
      _ = try value(receiver)
      return .fault(.unknownFunction(name))
    default: return .anything
    }
  }

  private mutating func values(_ nodes: [Node]) throws(DocumentRuleFault) -> [ProvenValue] {
    var values: [ProvenValue] = []
    values.reserveCapacity(nodes.count)
    for node in nodes { values.append(try value(node)) }
    return values
  }

  /// Evaluates a chain of `&&` or `||`.
  ///
  /// - Parameter ends: The operand that decides the chain, whatever the others are.
  private mutating func chain(
    _ operands: [Node], ends: Bool
  ) throws(DocumentRuleFault) -> ProvenValue {
    var result = ProvenValue.bool(!ends)
    for operand in operands {
      let next = try value(operand)
      if next.truth == ends { return .bool(ends) }
      result = Self.link(result, next, ends: ends)
    }
    return result
  }

  /// The outcomes of two operands of a chain.
  private static func link(
    _ left: ProvenValue, _ right: ProvenValue, ends: Bool
  ) -> ProvenValue {
    guard case .oneOf(let first) = left, case .oneOf(let second) = right else { return .anything }
    var outcomes: [ProvenValue.Outcome] = []
    for one in first {
      for other in second { outcomes.append(link(one, other, ends: ends)) }
    }
    return .outcomes(outcomes)
  }

  private static func link(
    _ left: ProvenValue.Outcome, _ right: ProvenValue.Outcome, ends: Bool
  ) -> ProvenValue.Outcome {
    let sides = [left, right].map { outcome -> ProvenValue.Outcome in
      switch outcome {
      case .value(.bool), .fault: outcome
      case .value(let value): .fault(.notBool(value, in: ends ? "||" : "&&"))
      }
    }
    for case .value(.bool(ends)) in sides { return .value(.bool(ends)) }
    for case .fault(let fault) in sides { return .fault(fault) }
    return .value(.bool(!ends))
  }

  /// Evaluates `?:`. With an undecided condition, both branches are evaluated and their outcomes
  /// joined.
  private mutating func choose(
    _ condition: ProvenValue, _ first: Node, _ second: Node
  ) throws(DocumentRuleFault) -> ProvenValue {
    if let choice = condition.truth { return try value(choice ? first : second) }
    guard case .oneOf(let outcomes) = condition else {
      _ = (try value(first), try value(second))
      return .anything
    }
    var (result, hasFault) = (ProvenValue?.none, false)
    for outcome in outcomes {
      guard case .value(.bool(let choice)) = outcome else {
        hasFault = true
        continue
      }
      let next = try value(choice ? first : second)
      result = result?.joined(next) ?? next
    }
    let fault = ProvenValue.fault(.unsupported(received: "?:", expected: "bool ?:"))
    guard let result else { return fault }
    return hasFault ? result.joined(fault) : result
  }

  /// Tries all combinations of what the operands may be.
  ///
  /// - Returns: The distinct results; ``ProvenValue/anything`` when an operand is not one of few
  ///   values, or there are more than ``ProvenValue/combinationLimit`` combinations.
  static func combine(
    _ operands: [ProvenValue],
    _ body: ([DocumentRuleValue]) throws(DocumentRuleFault) -> DocumentRuleValue
  ) throws(DocumentRuleFault) -> ProvenValue {
    var rows: [[DocumentRuleValue]] = [[]]
    var results: [ProvenValue.Outcome] = []
    for operand in operands {
      guard case .oneOf(let outcomes) = operand,
        rows.count * outcomes.count <= ProvenValue.combinationLimit
      else { return .anything }
      var longer: [[DocumentRuleValue]] = []
      for outcome in outcomes {
        switch outcome {
        case .fault: if !rows.isEmpty { results.append(outcome) }
        case .value(let value): longer += rows.map { $0 + [value] }
        }
      }
      rows = longer
    }
    for row in rows {
      do throws(DocumentRuleFault) {
        results.append(.value(try body(row)))
      } catch {
        if error == .exhausted { throw error }
        results.append(.fault(error))
      }
    }
    return .outcomes(results)
  }

  private mutating func map(
    _ entries: [Node.MapEntry]
  ) throws(DocumentRuleFault) -> ProvenValue {
    var operands: [ProvenValue] = []
    for entry in entries {
      operands.append(try value(entry.key))
      operands.append(try value(entry.value))
    }
    return try Self.combine(operands) { values throws(DocumentRuleFault) in
      var pairs: [(String, DocumentRuleValue)] = []
      for index in stride(from: 0, to: values.count, by: 2) {
        guard case .string(let name) = values[index] else {
          throw .unsupported(received: "a key of another type", expected: "string")
        }
        pairs.append((name, values[index + 1]))
      }
      return .map(DocumentRuleMap(pairs))
    }
  }

  private mutating func path(_ parts: [Node.PathPart]) throws(DocumentRuleFault) -> ProvenValue {
    var operands: [ProvenValue] = []
    for part in parts {
      if case .expression(let node) = part { operands.append(try value(node)) }
    }
    return try Self.combine(operands) { values throws(DocumentRuleFault) in
      var (segments, next) = ([String](), 0)
      for part in parts {
        switch part {
        case .literal(let text): segments.append(text)
        case .expression:
          try DocumentRuleOperations.append(values[next], to: &segments)
          next += 1
        }
      }
      return .path(DocumentRulePath(segments))
    }
  }
}

// Functions and documents.
extension ProofEvaluator {
  private mutating func local(_ index: Int) throws(DocumentRuleFault) -> ProvenValue {
    switch locals[base + index] {
    case .known(let value): return value
    case .pending(let node):
      let value = try value(node)
      locals[base + index] = .known(value)
      return value
    }
  }

  /// Calls a function of the file. An argument that may be a fault makes the call one in that case.
  private mutating func call(
    _ number: Int, _ arguments: [Node]
  ) throws(DocumentRuleFault) -> ProvenValue {
    let function = functions[number]
    var (frame, mayFail) = ([Local](), ProvenValue?.none)
    for argument in arguments {
      let value = try value(argument)
      guard let known = surely(value) else { return .anything }
      if let fault = known.fault { mayFail = .fault(fault) }
      guard let usable = known.value else { return mayFail ?? .anything }
      frame.append(.known(usable))
    }
    for binding in function.bindings { frame.append(.pending(binding)) }
    let (outerBase, outerCount) = (base, locals.count)
    base = outerCount
    locals += frame
    defer {
      locals.removeSubrange(outerCount...)
      base = outerBase
    }
    let result = try value(function.body)
    return mayFail.map { result.joined($0) } ?? result
  }

  /// Splits an argument into what it is when it has a value, and the fault it may be.
  ///
  /// - Returns: `nil` when it may be a fault, and nothing more is known.
  private func surely(
    _ value: ProvenValue
  ) -> (value: ProvenValue?, fault: DocumentRuleFault?)? {
    switch value {
    case .document, .request, .keys, .anyValue: return (value, nil)
    case .field(let path): return facts.exists(path) ? (value, nil) : nil
    case .anything: return nil
    case .oneOf(let outcomes):
      var (values, fault) = ([ProvenValue.Outcome](), DocumentRuleFault?.none)
      for outcome in outcomes {
        switch outcome {
        case .value: values.append(outcome)
        case .fault(let reason): fault = reason
        }
      }
      return (values.isEmpty ? nil : .oneOf(values), fault)
    }
  }

  /// Returns true when a value is no fault for any document.
  func isSure(_ value: ProvenValue) -> Bool {
    guard let known = surely(value) else { return false }
    return known.fault == nil
  }

  /// Reads documents at every path that the argument may be; each counts for the budget.
  private mutating func read(
    _ function: DocumentRuleAccess, _ argument: ProvenValue
  ) throws(DocumentRuleFault) -> ProvenValue {
    let (state, databaseID) = (state, request.databaseID)
    var budget = budget
    let result = try Self.combine([argument]) { values throws(DocumentRuleFault) in
      guard case .path(let path) = values[0], let key = path.documentKey(in: databaseID),
        budget.countRead(of: key)
      else { throw .documentAccess(function, path: "") }
      let fields = function.isAfter ? state.after(key) : state.before(key)
      if function.isExistence { return .bool(fields != nil) }
      guard let fields else { return .null }
      return .map(DocumentRuleMap(DocumentRuleResource(key, fields, in: databaseID)))
    }
    self.budget = budget
    return result
  }
}
