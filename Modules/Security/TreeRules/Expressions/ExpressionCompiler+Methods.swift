extension ExpressionCompiler {
  /// Emits a method call.
  ///
  /// A snapshot has the methods of snapshots. Every other receiver must be able to be a string,
  /// because no other value has methods.
  ///
  /// - Parameters:
  ///   - method: The method's name as written.
  ///   - receiver: The expression in front of the dot.
  ///   - arguments: The expressions between the parentheses.
  ///   - source: The whole call, for the position of messages and explanations.
  mutating func call(
    _ method: String, of receiver: Expression, with arguments: [Expression],
    for source: Expression
  ) throws(RulesSyntaxError) -> Int {
    if case .variable("query") = receiver.kind {
      throw RulesSyntaxError("query has no methods", at: source.anchor)
    }
    let receiver = try compile(receiver)
    let type = type(of: receiver)
    let call = Call(method: method, receiver: receiver, arguments: arguments, source: source)
    if type.contains(.snapshot) { return try snapshotCall(call) }
    guard Self.isTextMethod(method) else {
      throw RulesSyntaxError("\(type.name) has no method '\(method)'", at: source.anchor)
    }
    try require(receiver, .text, "'\(method)' is a method of strings")
    return try textCall(call)
  }

  /// A call whose receiver is compiled already.
  ///
  /// It groups what every helper below needs, among them the source for messages.
  private struct Call {
    let method: String
    let receiver: Int
    let arguments: [Expression]
    let source: Expression
  }

  /// Emits a method of snapshots. `hasChildren` without arguments is an inspection like `exists`;
  /// with a list it is an operation of its own.
  private mutating func snapshotCall(_ call: Call) throws(RulesSyntaxError) -> Int {
    switch call.method {
    case "child":
      let path = try texts(1, of: call, arePaths: true)[0]
      return emit(.child(call.receiver, path), .snapshot, for: call.source)
    case "hasChild":
      let path = try texts(1, of: call, arePaths: true)[0]
      return emit(.hasChild(call.receiver, path), .bool, for: call.source)
    case "hasChildren" where !call.arguments.isEmpty:
      return try hasChildren(call)
    default:
      guard let inspection = Operation.Inspection(rawValue: call.method) else {
        throw RulesSyntaxError("a snapshot has no method '\(call.method)'", at: call.source.anchor)
      }
      _ = try texts(0, of: call)
      return emit(.inspection(inspection, call.receiver), inspection.result, for: call.source)
    }
  }

  /// Emits `hasChildren([...])`, whose names may be paths such as `a/b`.
  ///
  /// - Throws: A message for an argument that is not a literal list, and for an empty list: the
  ///   live service rejects it as well.
  private mutating func hasChildren(_ call: Call) throws(RulesSyntaxError) -> Int {
    guard call.arguments.count == 1, case .list(let names) = call.arguments[0].kind else {
      throw RulesSyntaxError(
        "hasChildren() takes nothing or one list of names", at: call.source.anchor)
    }
    guard !names.isEmpty else {
      throw RulesSyntaxError("the list of names is empty", at: call.arguments[0].anchor)
    }
    var list: [Int] = []
    for name in names { list.append(try text(name, of: call, isPath: true)) }
    let children = program.add(list: list)
    return emit(.hasChildren(call.receiver, children), .bool, for: call.source)
  }

  /// Emits a method of strings; all arguments must be able to be strings.
  private mutating func textCall(_ call: Call) throws(RulesSyntaxError) -> Int {
    switch call.method {
    case "replace":
      let texts = try texts(2, of: call)
      return emit(.replace(call.receiver, texts[0], texts[1]), .text, for: call.source)
    case "toLowerCase", "toUpperCase":
      _ = try texts(0, of: call)
      let isUpper = call.method == "toUpperCase"
      return emit(.changeCase(call.receiver, isUpper: isUpper), .text, for: call.source)
    case "matches": return try matches(call)
    default:
      guard let test = Operation.TextTest(rawValue: call.method) else {
        throw RulesSyntaxError("a string has no method '\(call.method)'", at: call.source.anchor)
      }
      let text = try texts(1, of: call)[0]
      return emit(.textTest(test, call.receiver, text), .bool, for: call.source)
    }
  }

  /// Emits `matches(/pattern/flags)` and builds the pattern's automaton.
  ///
  /// Only a literal pattern is accepted. Its size is therefore known at load time, and no request
  /// can make the server build one. Two bounds apply: ``RulesLimits/patternPositions`` for this
  /// pattern, ``RulesLimits/patternTableBytes`` for all patterns of the file together.
  private mutating func matches(_ call: Call) throws(RulesSyntaxError) -> Int {
    guard call.arguments.count == 1, case .pattern(let body, let flags) = call.arguments[0].kind
    else { throw RulesSyntaxError("matches() takes one pattern: /.../", at: call.source.anchor) }
    let offset = call.arguments[0].range.lowerBound
    guard flags.isEmpty || flags == "i" else {
      throw RulesSyntaxError("the only flag of a pattern is 'i'", at: offset)
    }
    let syntax = try PatternParser.parse(bytes, body, ignoresCase: flags == "i")
    let pattern = try Pattern(syntax, limit: limits.patternPositions, at: offset)
    let index = program.add(pattern: pattern)
    guard program.patternBytes <= limits.patternTableBytes else {
      throw RulesSyntaxError("the patterns of this file are too large together", at: offset)
    }
    return emit(.matches(call.receiver, index), .bool, for: call.source)
  }

  /// Compiles exactly `count` arguments that have to be strings.
  private mutating func texts(
    _ count: Int, of call: Call, arePaths: Bool = false
  ) throws(RulesSyntaxError) -> [Int] {
    guard call.arguments.count == count else {
      let wanted = ["no argument", "one argument", "two arguments"][count]
      throw RulesSyntaxError("\(call.method)() takes \(wanted)", at: call.source.anchor)
    }
    var list: [Int] = []
    for argument in call.arguments {
      list.append(try text(argument, of: call, isPath: arePaths))
    }
    return list
  }

  /// Compiles one argument. A literal path is split into keys at load time and emitted as
  /// ``Operation/path(_:)``; a computed path is split at each evaluation and costs steps by its
  /// length.
  private mutating func text(
    _ argument: Expression, of call: Call, isPath: Bool
  ) throws(RulesSyntaxError) -> Int {
    if isPath, case .text(let text) = argument.kind {
      return emit(.path(program.add(path: text)), .text, for: argument)
    }
    let operand = try compile(argument)
    try require(operand, .text, "\(call.method)() takes strings")
    return operand
  }
}
