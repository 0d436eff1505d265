import TernCore

/// Replaces the names in rules by what they stand for, and checks what the form alone does not
/// show: duplicate functions, recursion, the depth of calls, captures, regular expressions.
///
/// It goes on after a problem, so that the author sees all of them. Names that do not exist are no
/// problems: they are faults at run time, as in the service.
struct DocumentRuleResolver {
  typealias Node = DocumentRuleExpression

  /// The names that are visible at one place.
  ///
  /// A value, copied into each block: names declared inside of a block end with it.
  private struct Scope {
    var functions: [ExactText: Int] = [:]
    var captures: [String] = []
    var segments = 0
    /// The parameters and bindings of the function around; the newest is last.
    var locals: [String] = []
  }

  /// A function before its body is resolved.
  ///
  /// A function gets its number before any body is resolved, so functions of one block may call
  /// each other in any order.
  private struct Declaration {
    let syntax: DocumentRulesetSyntax.Function
    var calls: [Int] = []
    var isUsed = false
  }

  /// A problem or warning, at a byte of the source.
  typealias Remark = RulesSyntaxError

  private let source: RulesSource
  private let version: Int
  private var declarations: [Declaration] = []
  /// The functions by their numbers; complete when ``resolve(_:)`` returns.
  private var resolved: [Int: DocumentRuleFunction] = [:]
  private var patterns = DocumentPatternTable()
  /// The function whose body is being resolved.
  private var current: Int?
  private(set) var problems: [Remark] = []
  private(set) var warnings: [Remark] = []

  init(_ source: RulesSource, version: Int) {
    self.source = source
    self.version = version
  }

  /// The resolved functions, in the order of their numbers.
  var compiled: [DocumentRuleFunction] { declarations.indices.compactMap { resolved[$0] } }

  /// Remarks with their positions, in the order of the file, as many as are reported.
  func issues(_ remarks: [Remark]) -> [DocumentRulesIssue] {
    remarks.sorted { $0.offset < $1.offset }.prefix(DocumentRulesLimits.problems).map {
      DocumentRulesIssue($0.message, at: source.position(at: $0.offset))
    }
  }

  /// Resolves a whole file and returns its outermost blocks.
  mutating func resolve(_ syntax: DocumentRulesetSyntax) -> [DocumentRuleMatch] {
    var scope = Scope()
    declare(syntax.functions, in: &scope)
    declare(syntax.serviceFunctions, in: &scope)
    let matches = syntax.matches.map { match($0, in: scope) }
    let lengths = checkCalls()
    if problems.isEmpty { checkHeights(matches, lengths) }
    for declaration in declarations where !declaration.isUsed {
      warnings.append(
        Remark("Unused function: \(declaration.syntax.name).", at: declaration.syntax.offset))
    }
    return matches
  }

  /// Adds functions to a scope, and resolves their bodies there.
  private mutating func declare(
    _ functions: [DocumentRulesetSyntax.Function], in scope: inout Scope
  ) {
    var names: Set<ExactText> = []
    let first = declarations.count
    for function in functions {
      if !names.insert(ExactText(function.name)).inserted {
        problems.append(
          Remark("Duplicate function definition: \(function.name).", at: function.offset))
      }
      scope.functions[ExactText(function.name)] = declarations.count
      declarations.append(Declaration(syntax: function))
    }
    for number in first..<first + functions.count { body(of: number, in: scope) }
  }

  private mutating func body(of number: Int, in scope: Scope) {
    let function = declarations[number].syntax
    var scope = scope
    for name in function.parameters { checkName(name, at: function.offset) }
    scope.locals = function.parameters
    current = number
    defer { current = nil }
    var bindings: [Node] = []
    for binding in function.bindings {
      checkName(binding.name, at: binding.value.offset)
      bindings.append(node(binding.value, in: scope))
      scope.locals.append(binding.name)
    }
    resolved[number] = DocumentRuleFunction(
      name: function.name, parameterCount: function.parameters.count, bindings: bindings,
      body: node(function.body, in: scope))
  }

  private mutating func checkName(_ name: String, at offset: Int) {
    if name == "request" || name == "resource" {
      warnings.append(Remark("Invalid variable name: \(name).", at: offset))
    }
  }

  private mutating func match(
    _ match: DocumentRulesetSyntax.Match, in outer: Scope
  ) -> DocumentRuleMatch {
    var scope = outer
    let segments = match.path.map { segment in
      switch segment {
      case .literal(let text): return DocumentRuleMatch.Segment.literal(text)
      case .capture(let name):
        scope.captures.append(name)
        return .capture(name)
      case .recursive(let name):
        scope.captures.append(name)
        return .recursive(name)
      }
    }
    for name in scope.captures[outer.captures.count...] { checkName(name, at: match.offset) }
    scope.segments += segments.count
    check(segments, in: scope, at: match.offset)
    declare(match.functions, in: &scope)
    let allows = match.allows.map { allow($0, in: scope) }
    return DocumentRuleMatch(
      segments: segments, outerCaptures: outer.captures.count, allows: allows,
      matches: match.matches.map { self.match($0, in: scope) })
  }

  private mutating func check(
    _ segments: [DocumentRuleMatch.Segment], in scope: Scope, at offset: Int
  ) {
    let recursive = segments.indices.filter {
      if case .recursive = segments[$0] { true } else { false }
    }
    if recursive.count > 1 {
      problems.append(Remark("A path has more than one recursive wildcard.", at: offset))
    }
    if version == 1, recursive.contains(where: { $0 != segments.count - 1 }) {
      problems.append(
        Remark("In version 1 a recursive wildcard stands only at the end of a path.", at: offset))
    }
    if scope.captures.count > DocumentRulesLimits.captures {
      problems.append(
        Remark("A path has more than \(DocumentRulesLimits.captures) captures.", at: offset))
    }
    if scope.segments > DocumentRulesLimits.pathSegments {
      problems.append(
        Remark("A path has more than \(DocumentRulesLimits.pathSegments) segments.", at: offset))
    }
  }

  private mutating func allow(
    _ allow: DocumentRulesetSyntax.Allow, in scope: Scope
  ) -> DocumentRuleAllow {
    let condition = allow.condition.map { node($0, in: scope) }
    return DocumentRuleAllow(
      methods: allow.methods.reduce(into: []) { $0.formUnion(DocumentRuleMethods(name: $1)) },
      condition: condition, position: source.position(at: allow.offset),
      conditionPosition: source.position(at: condition?.offset ?? allow.offset))
  }

  /// Reports recursion, and chains of calls that are too long.
  ///
  /// - Returns: The number of functions on the longest chain from each.
  private mutating func checkCalls() -> [Int: Int] {
    // The number of functions on the longest chain from each, once known.
    var lengths: [Int: Int] = [:]
    var remarks: [Remark] = []
    func visit(_ number: Int, _ chain: [Int]) -> Int {
      if let length = lengths[number], chain.count + length <= DocumentRulesLimits.callDepth {
        return length
      }
      let function = declarations[number].syntax
      if chain.contains(number) {
        remarks.append(Remark("Recursive call is not allowed.", at: function.offset))
        return 1
      }
      if chain.count >= DocumentRulesLimits.callDepth {
        let names = chain.map { declarations[$0].syntax.name }.joined(separator: "->")
        let limit = DocumentRulesLimits.callDepth - 1
        remarks.append(
          Remark(
            "Maximum allowed call depth of \(limit) is reached for [\(names)] call stack.",
            at: function.offset))
        return 1
      }
      var longest = 0
      for callee in declarations[number].calls where remarks.isEmpty {
        longest = max(longest, visit(callee, chain + [number]))
      }
      lengths[number] = longest + 1
      return longest + 1
    }
    for number in declarations.indices where remarks.isEmpty { _ = visit(number, []) }
    problems += remarks
    return lengths
  }

  /// Reports functions and conditions whose evaluation nests too deeply.
  ///
  /// Functions are added by the length of their chains of calls, so that every callee comes before
  /// its callers.
  private mutating func checkHeights(_ matches: [DocumentRuleMatch], _ lengths: [Int: Int]) {
    var heights = DocumentRuleHeights()
    let limit = DocumentRulesLimits.evaluationDepth
    let message = "Evaluation nests more than \(limit) levels, those of called functions included."
    for number in declarations.indices.sorted(by: {
      lengths[$0, default: 0] < lengths[$1, default: 0]
    }) {
      guard let function = resolved[number] else { continue }
      if heights.add(function, number: number) <= limit { continue }
      problems.append(Remark(message, at: declarations[number].syntax.offset))
      return
    }
    var blocks = matches
    while let block = blocks.popLast() {
      blocks += block.matches
      for case let condition? in block.allows.map(\.condition)
      where heights.height(of: condition) > limit {
        problems.append(Remark(message, at: condition.offset))
      }
    }
  }
}

extension DocumentRuleResolver {
  private mutating func nodes(_ list: [Node], in scope: Scope) -> [Node] {
    list.map { node($0, in: scope) }
  }

  /// Replaces the names in an expression.
  private mutating func node(_ expression: Node, in scope: Scope) -> Node {
    let kind: Node.Kind
    switch expression.kind {
    case .constant, .request, .resource, .capture, .local, .function, .builtin, .access, .method:
      return expression
    case .list(let items): return folded(nodes(items, in: scope), expression)
    case .map(let entries):
      kind = .map(
        entries.map {
          Node.MapEntry(key: node($0.key, in: scope), value: node($0.value, in: scope))
        })
    case .path(let parts): return path(parts, expression, in: scope)
    case .group(let inner): kind = .group(node(inner, in: scope))
    case .member(let base, let name): kind = .member(node(base, in: scope), name)
    case .index(let base, let key):
      kind = .index(node(base, in: scope), node(key, in: scope))
    case .slice(let base, let low, let high):
      kind = .slice(node(base, in: scope), node(low, in: scope), node(high, in: scope))
    case .not(let operand): kind = .not(node(operand, in: scope))
    case .negate(let operand): kind = .negate(node(operand, in: scope))
    case .and(let operands): kind = .and(nodes(operands, in: scope))
    case .or(let operands): kind = .or(nodes(operands, in: scope))
    case .conditional(let condition, let first, let second):
      kind = .conditional(
        node(condition, in: scope), node(first, in: scope), node(second, in: scope))
    case .binary(let operation, let left, let right):
      kind = .binary(operation, node(left, in: scope), node(right, in: scope))
    case .isType(let operand, let type): kind = .isType(node(operand, in: scope), type)
    case .name(let name): kind = variable(name, in: scope) ?? .name(name)
    case .call(let name, let arguments): kind = call(name, arguments, in: scope)
    case .unknownMethod(let name, let receiver, let arguments):
      kind = method(name, receiver, arguments, in: scope)
    }
    return remade(expression, as: kind)
  }

  private func remade(_ expression: Node, as kind: Node.Kind, cost: Int? = nil) -> Node {
    Node(
      kind, at: expression.offset, end: expression.end, depth: expression.depth,
      cost: cost ?? expression.cost)
  }

  /// A list, as a constant where all of its elements are.
  ///
  /// The cost stays that of all elements, so that folding changes no limit.
  private func folded(_ items: [Node], _ expression: Node) -> Node {
    var values: [DocumentRuleValue] = []
    var cost = expression.cost
    for item in items {
      guard case .constant(let value) = item.kind else {
        return remade(expression, as: .list(items))
      }
      values.append(value)
      cost += item.cost
    }
    return remade(expression, as: .constant(.list(values)), cost: cost)
  }

  private mutating func path(
    _ parts: [Node.PathPart], _ expression: Node, in scope: Scope
  ) -> Node {
    var literals: [String] = []
    let parts = parts.map { part in
      switch part {
      case .literal(let text):
        literals.append(text)
        return part
      case .expression(let inner): return .expression(node(inner, in: scope))
      }
    }
    if literals.count == parts.count {
      return remade(expression, as: .constant(.path(DocumentRulePath(literals))))
    }
    return remade(expression, as: .path(parts))
  }

  /// Finds a variable: the innermost local first, then the innermost capture, then `request` and
  /// `resource`.
  private func variable(_ name: String, in scope: Scope) -> Node.Kind? {
    if let index = scope.locals.lastIndex(where: { $0.hasSameBytes(as: name) }) {
      return .local(index)
    }
    if let index = scope.captures.lastIndex(where: { $0.hasSameBytes(as: name) }) {
      return .capture(index)
    }
    return name == "request" ? .request : name == "resource" ? .resource : nil
  }

  /// Resolves a call: functions of the file hide the built-in ones of the same name.
  private mutating func call(
    _ name: String, _ arguments: [Node], in scope: Scope
  ) -> Node.Kind {
    let arguments = nodes(arguments, in: scope)
    if let number = scope.functions[ExactText(name)] {
      guard declarations[number].syntax.parameters.count == arguments.count else {
        return .call(name, arguments)
      }
      declarations[number].isUsed = true
      if let current { declarations[current].calls.append(number) }
      return .function(number, arguments)
    }
    if let access = DocumentRuleAccess(rawValue: name), arguments.count == 1 {
      return .access(access, arguments[0])
    }
    if let builtin = DocumentRuleBuiltin(rawValue: name), builtin.arity == arguments.count {
      return .builtin(builtin, arguments)
    }
    return .call(name, arguments)
  }

  private mutating func method(
    _ name: String, _ receiver: Node, _ arguments: [Node], in scope: Scope
  ) -> Node.Kind {
    let resolvedArguments = nodes(arguments, in: scope)
    if case .name(let namespace) = receiver.kind, variable(namespace, in: scope) == nil,
      DocumentRuleBuiltin.namespaces.contains(namespace)
    {
      let full = namespace + "." + name
      if let builtin = DocumentRuleBuiltin(rawValue: full), builtin.arity == arguments.count {
        return .builtin(builtin, resolvedArguments)
      }
      return .call(full, resolvedArguments)
    }
    let resolvedReceiver = node(receiver, in: scope)
    guard let method = DocumentRuleMethod(rawValue: name) else {
      return .unknownMethod(name, resolvedReceiver, resolvedArguments)
    }
    var pattern: DocumentPattern?
    if method.takesPattern, let first = arguments.first,
      case .constant(.string(let text)) = first.kind
    {
      do {
        pattern = try patterns.pattern(text)
      } catch {
        problems.append(
          Remark("Invalid regular expression: \(error.message).", at: first.offset))
      }
    }
    return .method(method, resolvedReceiver, resolvedArguments, pattern)
  }
}
