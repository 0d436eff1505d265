/// A pattern as written.
///
/// The parser's output; ``PatternBuilder`` numbers its characters.
struct PatternSyntax {
  indirect enum Node {
    case one(CharacterClass)
    case sequence([Node])
    case alternatives([Node])
    /// `most` is `nil` when there is no upper bound.
    case repeated(Node, least: Int, most: Int?)
  }

  /// The alternatives at the top; an anchor belongs to the one it stands in.
  var branches: [Node] = []
  /// `^` begins the first branch.
  var isAnchoredAtStart = false
  /// `$` ends the last branch.
  var isAnchoredAtEnd = false
}

/// Reads the documented subset of regular expressions.
///
/// Refused are look-around, references, lazy and possessive quantifiers, `\b`, Unicode classes,
/// empty alternatives, and anchors anywhere but at the two ends. Source: realtime reference, 12.7.
struct PatternParser {
  /// The largest count in `{n}`, that of common engines. A pattern with nested counts meets
  /// ``RulesLimits/patternPositions`` first.
  private static let repetitionLimit = 1_000
  /// The most groups inside each other, which bounds the recursion over the pattern.
  private static let depthLimit = 50

  private let scalars: [Unicode.Scalar]
  /// The byte offset of each scalar, and one more for the end.
  private let offsets: [Int]
  private let ignoresCase: Bool
  private var index = 0
  private var depth = 0

  /// Reads `bytes[range]`; faults name offsets in `bytes`.
  ///
  /// The rules of ``PatternSyntax`` for anchors make `^a|b$` mean "begins with a, or ends with b",
  /// as in JavaScript.
  static func parse(
    _ bytes: [UInt8], _ range: Range<Int>, ignoresCase: Bool
  ) throws(RulesSyntaxError) -> PatternSyntax {
    var parser = PatternParser(bytes, range, ignoresCase: ignoresCase)
    var syntax = PatternSyntax()
    syntax.isAnchoredAtStart = parser.skip("^")
    syntax.branches = try parser.alternatives()
    syntax.isAnchoredAtEnd = parser.skip("$")
    if parser.peek != nil { throw parser.fault("unbalanced ')'") }
    return syntax
  }

  private init(_ bytes: [UInt8], _ range: Range<Int>, ignoresCase: Bool) {
    scalars = Array(String(decoding: bytes[range], as: UTF8.self).unicodeScalars)
    var offset = range.lowerBound
    var offsets: [Int] = []
    for scalar in scalars {
      offsets.append(offset)
      offset += UTF8.width(scalar)
    }
    self.offsets = offsets + [offset]
    self.ignoresCase = ignoresCase
  }

  private var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard peek == scalar else { return false }
    index += 1
    return true
  }

  /// Creates a fault at a scalar, by default the next one; positions past the end name the end.
  private func fault(_ message: String, at position: Int? = nil) -> RulesSyntaxError {
    RulesSyntaxError(message, at: offsets[min(position ?? index, scalars.count)])
  }

  private mutating func alternatives() throws(RulesSyntaxError) -> [PatternSyntax.Node] {
    var list: [PatternSyntax.Node] = []
    repeat { list.append(try sequence()) } while skip("|")
    return list
  }

  private mutating func sequence() throws(RulesSyntaxError) -> PatternSyntax.Node {
    var items: [PatternSyntax.Node] = []
    while let scalar = peek, scalar != "|", scalar != ")" {
      if scalar == "$", depth == 0, index + 1 == scalars.count { break }
      items.append(try quantified())
    }
    // `^` or `$` alone is a pattern; an alternative without anything is a slip.
    if items.isEmpty, depth > 0 || scalars.allSatisfy({ $0 != "^" && $0 != "$" }) || peek == "|" {
      throw fault("a pattern, group or alternative is empty")
    }
    if items.isEmpty, index > 0, scalars[index - 1] == "|" {
      throw fault("a pattern, group or alternative is empty")
    }
    return .sequence(items)
  }

  /// Parses one character, class or group with its quantifier. A second quantifier would mean
  /// laziness or possession in other dialects, so it is rejected and not ignored.
  private mutating func quantified() throws(RulesSyntaxError) -> PatternSyntax.Node {
    let node = try single()
    let start = index
    guard let (least, most) = try quantifier() else { return node }
    if let scalar = peek, "*+?{".unicodeScalars.contains(scalar) {
      throw fault("a quantifier follows a quantifier; lazy and possessive ones do not exist")
    }
    if let most, most < least { throw fault("the quantifier's bounds are reversed", at: start) }
    return .repeated(node, least: least, most: most)
  }

  /// - Returns: The least and the most repetitions, the latter `nil` without an upper bound; `nil`
  ///   when the next character is no quantifier.
  private mutating func quantifier() throws(RulesSyntaxError) -> (Int, Int?)? {
    if skip("*") { return (0, nil) }
    if skip("+") { return (1, nil) }
    if skip("?") { return (0, 1) }
    let start = index
    guard skip("{") else { return nil }
    let least = try count(from: start)
    var most: Int? = least
    if skip(",") { most = peek == "}" ? nil : try count(from: start) }
    guard skip("}") else { throw fault("expected {n}, {n,} or {n,m}; write \\{ itself", at: start) }
    return (least, most)
  }

  private mutating func count(from start: Int) throws(RulesSyntaxError) -> Int {
    var value: Int?
    while let scalar = peek, ("0"..."9").contains(scalar) {
      value = (value ?? 0) * 10 + Int(scalar.value - 0x30)
      if let value, value > Self.repetitionLimit {
        throw fault("more than \(Self.repetitionLimit) repetitions", at: start)
      }
      index += 1
    }
    guard let value else { throw fault("expected {n}, {n,} or {n,m}; write \\{ itself", at: start) }
    return value
  }

  private mutating func single() throws(RulesSyntaxError) -> PatternSyntax.Node {
    guard let scalar = peek else { throw fault("the pattern ends too early") }
    let start = index
    index += 1
    switch scalar {
    case "(": return try group(from: start)
    case "[": return .one(try bracketed(from: start))
    case "\\": return .one(folded(try escape()))
    case ".": return .one(.dot)
    case "*", "+", "?": throw fault("nothing to repeat", at: start)
    case "{": throw fault("nothing to repeat; write \\{ for the brace itself", at: start)
    case "^": throw fault("'^' stands only at the very start of a pattern", at: start)
    case "$": throw fault("'$' stands only at the very end of a pattern", at: start)
    default: return .one(folded(CharacterClass(scalar)))
    }
  }

  private mutating func group(from start: Int) throws(RulesSyntaxError) -> PatternSyntax.Node {
    if peek == "?" { throw fault("groups that begin with '?' are not supported", at: start) }
    depth += 1
    defer { depth -= 1 }
    if depth > Self.depthLimit { throw fault("more than \(Self.depthLimit) groups", at: start) }
    let list = try alternatives()
    guard skip(")") else { throw fault("the group does not end", at: start) }
    return .alternatives(list)
  }

  private func folded(_ characters: CharacterClass) -> CharacterClass {
    var characters = characters
    characters.ignoresCase = ignoresCase
    return characters
  }
}

extension PatternParser {
  /// The rest of `\x` after the backslash.
  private mutating func escape() throws(RulesSyntaxError) -> CharacterClass {
    let start = index - 1
    guard let scalar = peek else { throw fault("nothing follows the backslash", at: start) }
    index += 1
    if let shorthand = CharacterClass.shorthand(scalar) { return shorthand }
    switch scalar {
    case "t": return CharacterClass("\t")
    case "n": return CharacterClass("\n")
    case "r": return CharacterClass("\r")
    case "f": return CharacterClass("\u{0C}")
    case "v": return CharacterClass("\u{0B}")
    // Letters and digits without a meaning here have one in other dialects, such as `\b` or `\1`.
    // They are rejected, because taking them literally would change what a rule grants.
    case "a"..."z", "A"..."Z", "0"..."9":
      throw fault("the escape '\\\(scalar)' is not supported", at: start)
    default: return CharacterClass(scalar)
    }
  }

  /// The rest of `[...]` after the bracket.
  ///
  /// A hyphen is a range only between two single characters; at either end it is literal. `[]` is
  /// rejected: dialects disagree about it.
  private mutating func bracketed(from start: Int) throws(RulesSyntaxError) -> CharacterClass {
    var result = CharacterClass()
    let isNegated = skip("^")
    if peek == "]" { throw fault("the character class is empty", at: start) }
    while let scalar = peek, scalar != "]" {
      let position = index
      let (low, isSingle) = try classItem()
      guard peek == "-", index + 1 < scalars.count, scalars[index + 1] != "]" else {
        result.insert(low)
        continue
      }
      index += 1
      let (high, isHighSingle) = try classItem()
      guard isSingle, isHighSingle, let from = low.ranges.first, let to = high.ranges.first,
        from.lowerBound <= to.lowerBound
      else { throw fault("the range in the character class is not in order", at: position) }
      result.insert(from.lowerBound...to.lowerBound)
    }
    guard skip("]") else { throw fault("the character class does not end", at: start) }
    result.isNegated = isNegated
    return folded(result)
  }

  /// - Returns: The characters of one item, and true unless it is a shorthand such as `\d`, which
  ///   cannot end a range.
  private mutating func classItem() throws(RulesSyntaxError) -> (CharacterClass, isSingle: Bool) {
    guard let scalar = peek else { throw fault("the character class does not end") }
    index += 1
    guard scalar == "\\" else { return (CharacterClass(scalar), true) }
    let characters = try escape()
    return (characters, CharacterClass.shorthand(scalars[index - 1]) == nil)
  }
}
