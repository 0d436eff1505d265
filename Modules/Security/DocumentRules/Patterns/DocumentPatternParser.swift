/// Reads regular expressions in the syntax of RE2.
///
/// Look-around and back-references are no part of it.
///
/// A recursive descent over the scalars, with groups bounded by
/// ``DocumentRulesLimits/patternDepth``. Messages follow those of RE2.
struct DocumentPatternParser {
  /// The flags that `(?…)` sets, up to the end of the group around.
  private struct Flags {
    var ignoresCase = false
    var isMultiline = false
    var dotMatchesAll = false
    var isUngreedy = false
  }

  private let scalars: [Unicode.Scalar]
  private var index = 0
  private var depth = 0
  /// The flags in force; a group restores those before it.
  private var flags = Flags()
  /// The number of groups that are kept.
  private(set) var groupCount = 0

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  /// Reads the whole pattern.
  mutating func parse() throws(DocumentPatternError) -> DocumentPatternSyntax {
    let syntax = try alternatives()
    if peek != nil { throw fault("unexpected )") }
    return syntax
  }

  private var peek: Unicode.Scalar? { peek(0) }

  private func peek(_ distance: Int) -> Unicode.Scalar? {
    index + distance < scalars.count ? scalars[index + distance] : nil
  }

  private mutating func skip(_ text: String) -> Bool {
    let wanted = Array(text.unicodeScalars)
    guard index + wanted.count <= scalars.count,
      scalars[index..<index + wanted.count].elementsEqual(wanted)
    else { return false }
    index += wanted.count
    return true
  }

  private func fault(_ message: String) -> DocumentPatternError {
    DocumentPatternError(message: message)
  }

  private mutating func alternatives() throws(DocumentPatternError) -> DocumentPatternSyntax {
    var parts = [try sequence()]
    while skip("|") { parts.append(try sequence()) }
    return parts.count == 1 ? parts[0] : .alternatives(parts)
  }

  /// Reads parts up to the end of the alternative. A quantifier behind `\Q…\E` belongs to the last
  /// quoted character.
  private mutating func sequence() throws(DocumentPatternError) -> DocumentPatternSyntax {
    var parts: [DocumentPatternSyntax] = []
    while let scalar = peek, scalar != "|", scalar != ")" {
      if skip("\\Q") {
        parts += quoted()
        if let last = parts.popLast() { parts.append(try quantified(last)) }
      } else if let part = try single() {
        parts.append(try quantified(part))
      }
    }
    return .sequence(parts)
  }

  /// Reads the characters up to `\E`, all of which stand for themselves.
  private mutating func quoted() -> [DocumentPatternSyntax] {
    var parts: [DocumentPatternSyntax] = []
    while let scalar = peek, !skip("\\E") {
      parts.append(character(scalar))
      index += 1
    }
    return parts
  }

  /// Reads the quantifier behind a part, if there is one.
  ///
  /// The flag `U` exchanges the meaning of `*` and `*?`. A second quantifier is an error, as in
  /// RE2.
  private mutating func quantified(
    _ part: DocumentPatternSyntax
  ) throws(DocumentPatternError) -> DocumentPatternSyntax {
    guard let (least, most) = try quantifier() else { return part }
    let isLazy = skip("?")
    let node = DocumentPatternSyntax.repeated(
      part, least: least, most: most, isGreedy: isLazy == flags.isUngreedy)
    let start = index
    if try quantifier() != nil { throw fault("bad repetition operator") }
    index = start
    return node
  }

  /// - Returns: The least and the most repetitions, the latter `nil` for no bound; `nil` when none
  ///   follows.
  private mutating func quantifier() throws(DocumentPatternError) -> (Int, Int?)? {
    if skip("*") { return (0, nil) }
    if skip("+") { return (1, nil) }
    if skip("?") { return (0, 1) }
    guard peek == "{" else { return nil }
    let start = index
    index += 1
    guard let least = try count() else { return literalBrace(start) }
    var most: Int? = least
    if skip(",") { most = peek == "}" ? nil : try count() ?? -1 }
    guard skip("}"), most != -1 else { return literalBrace(start) }
    if let most, most < least { throw fault("bad repetition operator") }
    return (least, most)
  }

  /// A brace that begins no quantifier stands for itself.
  private mutating func literalBrace(_ start: Int) -> (Int, Int?)? {
    index = start
    return nil
  }

  private mutating func count() throws(DocumentPatternError) -> Int? {
    var value: Int?
    while let scalar = peek, ("0"..."9").contains(scalar) {
      value = (value ?? 0) * 10 + Int(scalar.value - 0x30)
      if let value, value > DocumentRulesLimits.patternRepetitions {
        throw fault("bad repetition operator")
      }
      index += 1
    }
    return value
  }

  private func character(_ scalar: Unicode.Scalar) -> DocumentPatternSyntax {
    folded(DocumentPatternClass(scalar))
  }

  private func folded(_ characters: DocumentPatternClass) -> DocumentPatternSyntax {
    var characters = characters
    if flags.ignoresCase { characters.ignoreCase() }
    return .character(characters)
  }

  /// Reads one part; `nil` for a group that only sets flags.
  private mutating func single() throws(DocumentPatternError) -> DocumentPatternSyntax? {
    let scalar = scalars[index]
    index += 1
    switch scalar {
    case "(": return try group()
    case "[": return try bracketed()
    case "\\": return try escaped()
    case ".": return .character(flags.dotMatchesAll ? .any : .dot)
    case "^": return .assertion(flags.isMultiline ? .lineStart : .textStart)
    case "$": return .assertion(flags.isMultiline ? .lineEnd : .textEnd)
    case "*", "+", "?": throw fault("missing argument to repetition operator")
    default: return character(scalar)
    }
  }

  /// Reads a group behind its parenthesis: kept with or without a name, or `(?flags:…)`, which is
  /// not kept.
  private mutating func group() throws(DocumentPatternError) -> DocumentPatternSyntax? {
    depth += 1
    defer { depth -= 1 }
    if depth > DocumentRulesLimits.patternDepth { throw fault("groups nest too deep") }
    let outer = flags
    var number: Int?
    if skip("?P<")
      || (peek == "?" && peek(1) == "<" && peek(2) != "=" && peek(2) != "!" && skip("?<"))
    {
      try groupName()
      groupCount += 1
      number = groupCount
    } else if skip("?") {
      if try setFlags() { return nil }
    } else {
      groupCount += 1
      number = groupCount
    }
    let inner = try alternatives()
    guard skip(")") else { throw fault("missing )") }
    flags = outer
    return number.map { .group($0, inner) } ?? inner
  }

  private mutating func groupName() throws(DocumentPatternError) {
    let start = index
    while let scalar = peek, DocumentPatternClass.word.contains(scalar) { index += 1 }
    guard index > start, skip(">") else { throw fault("invalid group name") }
  }

  /// Reads the flags behind `(?`; true when the group ends with them.
  private mutating func setFlags() throws(DocumentPatternError) -> Bool {
    var value = true
    while let scalar = peek {
      index += 1
      switch scalar {
      case "i": flags.ignoresCase = value
      case "m": flags.isMultiline = value
      case "s": flags.dotMatchesAll = value
      case "U": flags.isUngreedy = value
      case "-" where value: value = false
      case ":": return false
      case ")": return true
      default: throw fault("invalid or unsupported group")
      }
    }
    throw fault("missing )")
  }
}

extension DocumentPatternParser {
  /// Reads what follows a backslash outside of brackets.
  private mutating func escaped() throws(DocumentPatternError) -> DocumentPatternSyntax {
    guard let scalar = peek else { throw fault("trailing \\") }
    switch scalar {
    case "A":
      index += 1
      return .assertion(.textStart)
    case "z":
      index += 1
      return .assertion(.textEnd)
    case "b":
      index += 1
      return .assertion(.wordBoundary)
    case "B":
      index += 1
      return .assertion(.noWordBoundary)
    default: return folded(try characterEscape())
    }
  }

  /// Reads what follows a backslash and stands for characters.
  private mutating func characterEscape() throws(DocumentPatternError) -> DocumentPatternClass {
    guard let scalar = peek else { throw fault("trailing \\") }
    index += 1
    if let shorthand = DocumentPatternClass(shorthand: scalar) { return shorthand }
    switch scalar {
    case "a": return DocumentPatternClass("\u{07}")
    case "f": return DocumentPatternClass("\u{0C}")
    case "n": return DocumentPatternClass("\n")
    case "r": return DocumentPatternClass("\r")
    case "t": return DocumentPatternClass("\t")
    case "v": return DocumentPatternClass("\u{0B}")
    case "x": return try hexadecimal()
    case "p", "P": return try property(isNegated: scalar == "P")
    case "0"..."7": return try octal(scalar)
    case "a"..."z", "A"..."Z", "8", "9": throw fault("invalid escape sequence \\\(scalar)")
    default: return DocumentPatternClass(scalar)
    }
  }

  /// Reads up to three octal digits; one digit other than 0 alone would be a back-reference.
  private mutating func octal(
    _ first: Unicode.Scalar
  ) throws(DocumentPatternError) -> DocumentPatternClass {
    var value = first.value - 0x30
    var digits = 1
    while digits < 3, let scalar = peek, ("0"..."7").contains(scalar) {
      value = value * 8 + scalar.value - 0x30
      index += 1
      digits += 1
    }
    if first != "0", digits == 1 { throw fault("invalid escape sequence \\\(first)") }
    return DocumentPatternClass([value...value])
  }

  private mutating func hexadecimal() throws(DocumentPatternError) -> DocumentPatternClass {
    var digits = ""
    if skip("{") {
      while let scalar = peek, scalar != "}" {
        digits.unicodeScalars.append(scalar)
        index += 1
      }
      guard skip("}") else { throw fault("invalid escape sequence \\x") }
    } else {
      for _ in 0..<2 {
        guard let scalar = peek else { break }
        digits.unicodeScalars.append(scalar)
        index += 1
      }
      if digits.utf8.count != 2 { throw fault("invalid escape sequence \\x") }
    }
    let isPlain = digits.utf8.allSatisfy { $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }
    guard isPlain, let value = UInt32(digits, radix: 16), value <= 0x10FFFF else {
      throw fault("invalid escape sequence \\x")
    }
    return DocumentPatternClass([value...value])
  }

  /// Reads `\p{Name}`, `\p{^Name}` or `\pN`. Only general categories are known; scripts are not.
  private mutating func property(
    isNegated: Bool
  ) throws(DocumentPatternError) -> DocumentPatternClass {
    var name = ""
    var isNegated = isNegated
    if skip("{") {
      if skip("^") { isNegated.toggle() }
      while let scalar = peek, scalar != "}" {
        name.unicodeScalars.append(scalar)
        index += 1
      }
      guard skip("}") else { throw fault("invalid character class range") }
    } else if let scalar = peek {
      name.unicodeScalars.append(scalar)
      index += 1
    }
    guard let characters = DocumentPatternClass(category: name, isNegated: isNegated) else {
      throw fault("invalid character class range \\p{\(name)}")
    }
    return characters
  }

  /// Reads `[…]` behind its first bracket.
  private mutating func bracketed() throws(DocumentPatternError) -> DocumentPatternSyntax {
    var result = DocumentPatternClass()
    let isNegated = skip("^")
    var isFirst = true
    while isFirst || peek != "]" {
      guard peek != nil else { throw fault("missing ]") }
      isFirst = false
      if skip("[:") {
        try insertPosix(into: &result)
        continue
      }
      let (low, scalar) = try bracketedItem()
      guard let scalar, peek == "-", peek(1) != nil, peek(1) != "]" else {
        result.insert(low)
        continue
      }
      index += 1
      guard case (_, let end?) = try bracketedItem(), scalar <= end else {
        throw fault("invalid character class range")
      }
      result.insert(scalar...end)
    }
    index += 1
    if flags.ignoresCase { result.ignoreCase() }
    result.isNegated = isNegated
    return .character(result)
  }

  /// One item of a bracketed class, with its code when it is a single character.
  private mutating func bracketedItem() throws(DocumentPatternError) -> (
    DocumentPatternClass, UInt32?
  ) {
    guard let scalar = peek else { throw fault("missing ]") }
    index += 1
    guard scalar == "\\" else { return (DocumentPatternClass(scalar), scalar.value) }
    let characters = try characterEscape()
    return (characters, characters.onlyCode)
  }

  private mutating func insertPosix(
    into result: inout DocumentPatternClass
  ) throws(DocumentPatternError) {
    let isNegated = skip("^")
    var name = ""
    while let scalar = peek, scalar != ":", scalar != "]" {
      name.unicodeScalars.append(scalar)
      index += 1
    }
    guard skip(":]"), let ranges = DocumentPatternClass.posix(name) else {
      throw fault("invalid character class range [:\(name):]")
    }
    if isNegated {
      result.insert(outside: ranges)
    } else {
      for range in ranges { result.insert(range) }
    }
  }
}
