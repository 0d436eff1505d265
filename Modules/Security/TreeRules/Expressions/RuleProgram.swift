import TernCore

/// All expressions of a rules file, compiled into flat arrays that evaluation only reads.
///
/// The arrays only grow while the file is compiled, and never change afterwards. An ``Operation``
/// refers to the arrays by index: to ``operations`` for operands, and to ``constants``, ``paths``,
/// ``texts``, ``lists`` or ``patterns`` for what was computed at load time. ``ranges`` has one
/// element for each operation; evaluation does not touch it, only explanations do.
struct RuleProgram: Sendable {
  private(set) var operations: [Operation] = []
  /// For each operation the part of its rule's text it was written as.
  private(set) var ranges: [Range<Int>] = []
  private(set) var constants: [RuleValue] = []
  private(set) var paths: [RulePath] = []
  private(set) var texts: [String] = []
  /// The operands of `&&`, `||` and `hasChildren([...])`, one run after another; operations name a
  /// run by its range.
  private(set) var lists: [Int] = []
  private(set) var patterns: [Pattern] = []
  /// Every rule, in the order of the file.
  var rules: [Rule] = []
  /// The sum of ``Pattern/tableBytes`` over all patterns, held against
  /// ``RulesLimits/patternTableBytes``.
  private(set) var patternBytes = 0

  mutating func append(_ operation: Operation, range: Range<Int>) -> Int {
    operations.append(operation)
    ranges.append(range)
    return operations.count - 1
  }

  mutating func add(constant: RuleValue) -> Int {
    constants.append(constant)
    return constants.count - 1
  }

  /// Parses a literal path and returns its index.
  mutating func add(path text: String) -> Int {
    paths.append(RulePath(text))
    return paths.count - 1
  }

  mutating func add(text: String) -> Int {
    texts.append(text)
    return texts.count - 1
  }

  /// Appends a run of operand indices and returns its range.
  mutating func add(list: [Int]) -> Range<Int> {
    lists += list
    return lists.count - list.count..<lists.count
  }

  mutating func add(pattern: Pattern) -> Int {
    patterns.append(pattern)
    patternBytes += pattern.tableBytes
    return patterns.count - 1
  }
}

/// The kind of a rule.
public enum RulesKind: String, Hashable, Sendable {
  /// Grants reads and listens.
  case read = ".read"
  /// Grants writes.
  case write = ".write"
  /// Validates the new value of a node.
  case validate = ".validate"
}

/// One compiled rule.
struct Rule: Sendable {
  let kind: RulesKind
  /// The location among the rules, such as `/users/$uid`.
  let location: String
  /// The expression as written, with the place of each byte in the file.
  let text: RulesText
  /// The operation whose value is the verdict.
  let entry: Int
}

/// A path given to `child()`: keys that may include some that no node can have.
///
/// An impossible key (empty keys excepted, which are skipped) does not make a rule false by itself:
/// the node is absent, and `parent()` may lead back to nodes that can exist.
struct RulePath: Sendable {
  let text: String
  let keys: [TreeKey]
  /// The number of keys before the first impossible one.
  let possibleCount: Int

  init(_ text: String) {
    self.text = text
    keys = text.utf8.split(separator: UInt8(ascii: "/")).map {
      TreeKey(unchecked: String(Substring($0)))
    }
    possibleCount = keys.firstIndex { (try? TreeKey($0.text)) == nil } ?? keys.count
  }

  var isPossible: Bool { possibleCount == keys.count }
}
