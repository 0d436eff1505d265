import TernCore

/// Turns the JSON of a rules file into nodes and a program, and collects every problem on the way.
struct RulesFileBuilder {
  private let source: RulesSource
  private let limits: RulesLimits
  private var compiler: ExpressionCompiler
  private(set) var nodes: [RuleNode] = []
  private var problems: [RulesFileIssue] = []

  /// Reads a whole file; one that was stored may have conditions of unknown type.
  static func build(
    _ source: RulesSource, limits: RulesLimits, isStored: Bool
  ) throws(RulesFileError) -> (nodes: [RuleNode], program: RuleProgram) {
    var builder = RulesFileBuilder(source: source, limits: limits, isStored: isStored)
    do throws(RulesSyntaxError) {
      let file = try RulesFileParser.parse(source.bytes, limits: limits)
      builder.addFile(file)
    } catch {
      builder.report(error.message, at: error.offset, in: nil)
    }
    guard builder.problems.isEmpty else { throw RulesFileError(problems: builder.problems) }
    return (builder.nodes, builder.compiler.program)
  }

  private init(source: RulesSource, limits: RulesLimits, isStored: Bool) {
    self.source = source
    self.limits = limits
    compiler = ExpressionCompiler(limits: limits, acceptsUnknownConditions: isStored)
  }

  private mutating func report(_ message: String, at offset: Int, in rule: String?) {
    guard problems.count < limits.problems else { return }
    let position = source.position(at: offset)
    problems.append(RulesFileIssue(position: position, rule: rule, message: message))
  }

  private mutating func addFile(_ file: RulesJSON) {
    guard case .object(let members) = file.content else {
      return report(
        "a rules file is an object with the one member \"rules\"", at: file.offset, in: nil)
    }
    for member in members where member.name != "rules" {
      report("the only member of a rules file is \"rules\"", at: member.nameOffset, in: nil)
    }
    guard let rules = members.first(where: { $0.name == "rules" }) else {
      return report("the member \"rules\" is missing", at: file.offset, in: nil)
    }
    _ = addNode(rules.value, location: "", captures: [])
  }

  /// Adds a node with everything below it and returns its index.
  private mutating func addNode(_ json: RulesJSON, location: String, captures: [String]) -> Int {
    let index = nodes.count
    nodes.append(RuleNode(location: location.isEmpty ? "/" : location))
    guard case .object(let members) = json.content else {
      report("rules for a place are an object", at: json.offset, in: nodes[index].location)
      return index
    }
    for member in members {
      switch member.name.utf8.first {
      case UInt8(ascii: "."): addRule(member, to: index, captures: captures)
      case UInt8(ascii: "$"):
        addCapture(member, to: index, location: location, captures: captures)
      default: addChild(member, to: index, location: location, captures: captures)
      }
    }
    nodes[index].children.sort { $0.key < $1.key }
    nodes[index].validatedChildren = nodes[index].children.filter { nodes[$0.node].hasValidation }
    nodes[index].hasValidation =
      nodes[index].validate != nil || nodes[index].validatesCapture
      || !nodes[index].validatedChildren.isEmpty
    return index
  }

  private mutating func addChild(
    _ member: RulesJSON.Member, to index: Int, location: String, captures: [String]
  ) {
    let key: TreeKey
    do throws(TreeError) {
      key = try TreeKey(member.name)
    } catch {
      let message = "'\(member.name)' cannot be a key: \(Self.explain(error))"
      return report(message, at: member.nameOffset, in: nodes[index].location)
    }
    let child = addNode(
      member.value, location: location + "/" + member.name, captures: captures)
    nodes[index].children.append((key, child))
    nodes[index].childIndex[key] = child
  }

  private mutating func addCapture(
    _ member: RulesJSON.Member, to index: Int, location: String, captures: [String]
  ) {
    let name = member.name
    let place = nodes[index].location
    if (try? TreeKey(String(name.dropFirst()))) == nil {
      return report("'\(name)' cannot name a key", at: member.nameOffset, in: place)
    }
    if nodes[index].capture != nil {
      return report("a second $name beside the first", at: member.nameOffset, in: place)
    }
    if captures.contains(where: { $0.hasSameBytes(as: name) }) {
      return report("\(name) names a key further up already", at: member.nameOffset, in: place)
    }
    let child = addNode(
      member.value, location: location + "/" + name, captures: captures + [name])
    nodes[index].capture = child
    nodes[index].validatesCapture = nodes[child].hasValidation
  }

  private static func explain(_ error: TreeError) -> String {
    switch error {
    case .emptyKey: "it is empty"
    case .keyTooLong(let count, let limit): "it has \(count) bytes, at most \(limit) are allowed"
    default: ". # $ / [ ] and control characters are not allowed"
    }
  }
}

extension RulesFileBuilder {
  private mutating func addRule(_ member: RulesJSON.Member, to index: Int, captures: [String]) {
    guard let kind = RulesKind(rawValue: member.name) else {
      if member.name == ".indexOn" { return addIndexes(member.value, to: index) }
      let known = ".read, .write, .validate and .indexOn"
      let message = "unknown rule '\(member.name)'; there are \(known)"
      return report(message, at: member.nameOffset, in: nodes[index].location)
    }
    guard let rule = compile(member.value, kind, at: index, captures: captures) else { return }
    switch kind {
    case .read: nodes[index].read = rule
    case .write: nodes[index].write = rule
    case .validate: nodes[index].validate = rule
    }
  }

  private mutating func compile(
    _ json: RulesJSON, _ kind: RulesKind, at index: Int, captures: [String]
  ) -> Int? {
    let location = nodes[index].location
    let name = (location == "/" ? "/" : location + "/") + kind.rawValue
    let text: RulesText
    switch json.content {
    case .text(let written): text = written
    case .bool(let value):
      let bytes = Array("\(value)".utf8)
      text = RulesText(bytes, origins: Array(repeating: json.offset, count: bytes.count + 1))
    case .object, .array, .number, .null:
      report("a rule is an expression in a string, or true, or false", at: json.offset, in: name)
      return nil
    }
    do throws(RulesSyntaxError) {
      let scope = ExpressionCompiler.Scope(kind: kind, captures: captures)
      let entry = try compiler.compile(rule: text.bytes, in: scope)
      compiler.program.rules.append(
        Rule(kind: kind, location: location, text: text, entry: entry))
      return compiler.program.rules.count - 1
    } catch {
      report(error.message, at: text.origin(of: error.offset), in: name)
      return nil
    }
  }

  private mutating func addIndexes(_ json: RulesJSON, to index: Int) {
    let place = nodes[index].location
    let wanted = ".indexOn takes a child's path, \".value\", or a list of these"
    switch json.content {
    case .text(let text): addIndex(text.string, at: json.offset, to: index)
    case .array(let elements):
      for element in elements {
        if case .text(let text) = element.content {
          addIndex(text.string, at: element.offset, to: index)
        } else {
          report(wanted, at: element.offset, in: place)
        }
      }
    case .object, .bool, .number, .null: report(wanted, at: json.offset, in: place)
    }
  }

  private mutating func addIndex(_ text: String, at offset: Int, to index: Int) {
    switch text {
    case ".value": nodes[index].indexes.append(.value)
    // Orders by key and by priority need no index; declaring one is harmless.
    case ".key", ".priority": break
    default:
      guard let path = try? TreePath(text), !path.isRoot, path.first != .info else {
        let message = "'\(text)' is not a child's path"
        return report(message, at: offset, in: nodes[index].location)
      }
      nodes[index].indexes.append(.child(path))
    }
  }
}
