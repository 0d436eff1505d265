public import TernCore

/// Security rules for a tree, loaded from a rules file.
///
/// The file is compiled once; a value of this type is immutable and may judge on any thread.
/// Judging is a pure function of the request, the two states of the tree, and the rules.
/// Source: realtime reference, section 12.
public struct TreeRules: Sendable {
  let source: RulesSource
  let nodes: [RuleNode]
  let program: RuleProgram
  let fingerprint: UInt64
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
    source = RulesSource(bytes: bytes)
    (nodes, program) = try RulesFileBuilder.build(source, limits: limits)
    fingerprint = Fingerprint.of(bytes)
    self.limits = limits
  }

  /// Compiles the text of a rules file, JSON with comments.
  public init(_ text: String, limits: RulesLimits = .standard) throws(RulesFileError) {
    try self.init(Array(text.utf8), limits: limits)
  }

  /// The number of `.read`, `.write` and `.validate` rules.
  public var count: Int { program.rules.count }

  /// The indexes declared for the children of the node at `path`.
  public func indexes(at path: TreePath) -> [RulesIndex] {
    var node = 0
    for key in path.keys {
      guard let child = nodes[node].child(key) else { return [] }
      node = child.node
    }
    return nodes[node].indexes
  }

  /// Where a byte of a rule's text stands in the file.
  func position(of offset: Int, in rule: Int) -> RulesPosition {
    source.position(at: program.rules[rule].text.origin(of: offset))
  }
}

/// A 64-bit FNV-1a sum: names things, protects nothing.
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
