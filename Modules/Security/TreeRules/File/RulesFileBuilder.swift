import TernCore

/// Turns the JSON of a rules file into nodes and a program, and collects every problem on the way.
///
/// The builder lives for one file. It goes on after a mistake, so that the author sees all of them
/// at once; nodes and operations that were built around a mistake are never used. Node 0 is the
/// root, and a node's index is smaller than those of the nodes below it. The recursion follows the
/// file, whose depth ``RulesLimits/fileDepth`` bounds.
struct RulesFileBuilder {
  private let source: RulesSource
  private let limits: RulesLimits
  private var compiler: ExpressionCompiler
  /// All nodes of the file in depth-first order; other parts refer to them by index.
  private(set) var nodes: [RuleNode] = []
  private var problems: [RulesFileIssue] = []

  /// Reads a whole file; one that was stored may have conditions of unknown type.
  ///
  /// - Parameters:
  ///   - source: The bytes of the file.
  ///   - limits: Bounds on the file; a file that exceeds one is rejected like any other mistake.
  ///   - isStored: True for rules that an earlier version accepted, which may contain conditions of
  ///     unknown type.
  /// - Throws: ``RulesFileError`` with every problem, at most ``RulesLimits/problems``.
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

  /// Records a problem; problems beyond ``RulesLimits/problems`` are dropped, because they are
  /// usually echoes of the first ones.
  ///
  /// - Parameters:
  ///   - offset: A byte of the file, not of the decoded text of a rule.
  ///   - rule: The rule or node at fault, `nil` outside of all.
  private mutating func report(_ message: String, at offset: Int, in rule: String?) {
    guard problems.count < limits.problems else { return }
    let position = source.position(at: offset)
    problems.append(RulesFileIssue(position: position, rule: rule, message: message))
  }

  /// Checks the top level, an object with the one member `rules`, and adds the nodes below it.
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
    // Sorted children let validation walk them side by side with the rows of the tree, which come
    // in key order.
    nodes[index].children.sort { $0.key < $1.key }
    nodes[index].validatedChildren = nodes[index].children.filter { nodes[$0.node].hasValidation }
    nodes[index].hasValidation =
      nodes[index].validate != nil || nodes[index].validatesCapture
      || !nodes[index].validatedChildren.isEmpty
    return index
  }

  /// Adds the node of a literal child.
  ///
  /// The name must be a valid key of the tree; one that is not could never match a node, so it is a
  /// mistake in the file. The parser has already rejected a name that occurs twice.
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

  /// Adds the node of `$name`, which stands for every child without a node of its own.
  ///
  /// A node has one capture at most, because a second one could never match. A name must not occur
  /// twice on one way down, because a rule below could not tell the two keys apart.
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

  /// Returns the reason that a name is no key, as the end of a sentence.
  private static func explain(_ error: TreeError) -> String {
    switch error {
    case .emptyKey: "it is empty"
    case .keyTooLong(let count, let limit): "it has \(count) bytes, at most \(limit) are allowed"
    default: ". # $ / [ ] and control characters are not allowed"
    }
  }
}

extension RulesFileBuilder {
  /// Adds a member that begins with a dot: a rule or an index.
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

  /// Compiles one rule and appends it to the program.
  ///
  /// `true` and `false` without quotes are compiled as if they were text, with every byte at the
  /// offset of the literal.
  ///
  /// - Returns: The index of the rule in ``RuleProgram/rules``; `nil` after a mistake, which is
  ///   reported.
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

  /// Adds the declarations of one `.indexOn`: a string, or a list of strings.
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

  /// Adds one index. A path into `.info` is rejected: those nodes exist only on clients.
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
