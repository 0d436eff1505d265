public import TernCore

/// Security rules for a tree, loaded from a rules file.
///
/// The file is compiled once; a value of this type is immutable and may judge on any thread.
/// Judging is a pure function of the request, the two states of the tree, and the rules.
/// Source: realtime reference, section 12.
public struct TreeRules: Sendable {
  let compiled: CompiledRules
  /// The bounds on judging.
  public let limits: RulesLimits

  /// Compiles the text of a rules file, JSON with comments.
  ///
  /// - Parameters:
  ///   - bytes: UTF-8, at most ``RulesLimits/fileBytes``.
  ///   - limits: How large the file may be, and how much work a decision may cost.
  /// - Throws: ``RulesFileError`` with every problem; one is enough to refuse the whole file.
  public init(
    _ bytes: [UInt8], limits: RulesLimits = .standard
  ) throws(RulesFileError) {
    try self.init(bytes, limits: limits, isStored: false)
  }

  /// Compiles rules that were accepted and stored before.
  ///
  /// Conditions of unknown type, such as `auth.token.admin` alone, were accepted by earlier
  /// versions; they still load from a store, and are false where they are no boolean.
  ///
  /// - Throws: ``RulesFileError`` with every problem.
  package init(stored bytes: [UInt8]) throws(RulesFileError) {
    try self.init(bytes, limits: .standard, isStored: true)
  }

  private init(
    _ bytes: [UInt8], limits: RulesLimits, isStored: Bool
  ) throws(RulesFileError) {
    let source = RulesSource(bytes: bytes)
    let (nodes, program) = try RulesFileBuilder.build(
      source, limits: limits, isStored: isStored)
    compiled = CompiledRules(
      source: source, nodes: nodes, program: program, fingerprint: Fingerprint.of(bytes))
    self.limits = limits
  }

  /// Compiles the text of a rules file, JSON with comments.
  public init(_ text: String, limits: RulesLimits = .standard) throws(RulesFileError) {
    try self.init(Array(text.utf8), limits: limits)
  }

  /// The text of the file.
  public var text: [UInt8] { compiled.source.bytes }

  /// The number of `.read`, `.write` and `.validate` rules.
  public var count: Int { compiled.program.rules.count }

  /// The indexes declared for the children of the node at `path`.
  public func indexes(at path: TreePath) -> [RulesIndex] {
    var node = 0
    for key in path.keys {
      guard let child = compiled.child(key, of: node) else { return [] }
      node = child.node
    }
    return compiled.nodes[node].indexes
  }
}

/// The compiled form of a rules file; shared by all evaluations.
///
/// It is immutable and is a class so that authorizers, judges and evaluators share it without
/// copies of its arrays.
final class CompiledRules: Sendable {
  let source: RulesSource
  /// The nodes of the file; the root is at index 0.
  let nodes: [RuleNode]
  let program: RuleProgram
  /// A checksum of the file, which becomes part of the ids of denials.
  let fingerprint: UInt64
  /// The operation each rule begins with.
  let entries: [Int]

  init(source: RulesSource, nodes: [RuleNode], program: RuleProgram, fingerprint: UInt64) {
    self.source = source
    self.nodes = nodes
    self.program = program
    self.fingerprint = fingerprint
    entries = program.rules.map(\.entry)
  }

  /// The node of the rules for a child, and whether a capture matched it.
  func child(_ key: TreeKey, of node: Int) -> (node: Int, isCaptured: Bool)? {
    // Field by field: copying a node to ask it would cost more than the answer.
    if let child = nodes[node].childIndex[key] { return (child, false) }
    return nodes[node].capture.map { ($0, true) }
  }

  /// Returns the position in the file of a byte of a rule's text.
  func position(of offset: Int, in rule: Int) -> RulesPosition {
    source.position(at: program.rules[rule].text.origin(of: offset))
  }
}

/// A 64-bit FNV-1a sum: names things, protects nothing.
///
/// It is not secret and not collision-resistant; the worst that a collision does is to give two
/// denials one id.
struct Fingerprint {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  static func of(_ bytes: [UInt8]) -> UInt64 {
    var sum = Fingerprint()
    sum.add(bytes)
    return sum.value
  }

  mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }

  /// Adds the eight bytes of a number, the lowest first.
  mutating func add(_ number: UInt64) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      add(CollectionOfOne(UInt8(truncatingIfNeeded: number >> shift)))
    }
  }

  /// Sixteen hexadecimal digits.
  var text: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
