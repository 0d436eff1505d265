/// Finds declarations by their keywords and bodies by their braces.
struct OutlineParser {
  private struct Scope {
    /// The declaration it is the body of.
    let declaration: Int
    /// Parentheses and brackets that were open when it began.
    let depth: Int
    /// True when declarations in it are part of the outline.
    let isContainer: Bool
  }

  private let tokens: [Token]
  private var declarations: [Outline.Declaration] = []
  private var scopes: [Scope] = []
  private var depth = 0
  /// The declaration that a brace at this depth would belong to.
  private var pending: Int?
  private var index = 0

  init(_ tokens: [Token]) {
    self.tokens = tokens
  }

  mutating func run() -> [Outline.Declaration] {
    while index < tokens.count {
      let token = tokens[index]
      switch token.text {
      case "(", "[": depth += 1
      case ")", "]": depth -= 1
      case "{": open(token)
      case "}": close(token)
      default:
        if token.isWord, depth == 0, scopes.last?.isContainer ?? true { word(token) }
      }
      index += 1
    }
    return declarations
  }

  private mutating func open(_ token: Token) {
    let inherits = depth == 0 && (scopes.last?.isContainer ?? true)
    let owner: Int
    if inherits, let pending {
      owner = pending
    } else {
      declarations.append(
        Outline.Declaration(
          kind: .block, keyword: "", name: "closure", access: nil, modifiers: [],
          start: token.line, line: token.line, end: token.line, parent: container))
      owner = declarations.count - 1
    }
    scopes.append(
      Scope(
        declaration: owner, depth: depth,
        isContainer: inherits && declarations[owner].kind.isContainer))
    depth = 0
    pending = nil
  }

  private mutating func close(_ token: Token) {
    guard let scope = scopes.popLast() else { return }
    declarations[scope.declaration].end = token.line
    depth = scope.depth
    pending = nil
  }

  private var container: Int? { scopes.last { $0.isContainer }?.declaration }

  private mutating func word(_ token: Token) {
    let before = index > 0 ? tokens[index - 1].text : ""
    guard before != ".", before != "#", !Self.keywords.keys.contains(before) || before == "class"
    else { return }
    if Self.statements.contains(token.text) {
      pending = nil
      return
    }
    guard let kind = Self.keywords[token.text], isDeclaration(token) else { return }
    let (start, modifiers) = modifiersBefore()
    let named = name(after: token)
    var declaration = Outline.Declaration(
      kind: kind, keyword: token.text, name: named.name,
      access: Self.levels.first(where: modifiers.contains), modifiers: modifiers, start: start,
      line: token.line, end: token.line, parent: container)
    if kind == .function { declaration.labels = labels(from: named.end) }
    if kind.isContainer { declaration.inherited = inherited(from: named.end) }
    if kind == .function || kind == .plain { declaration.end = lastHeaderLine(from: named.end) }
    declarations.append(declaration)
    pending = kind == .plain ? nil : declarations.count - 1
  }

  /// Words like `init` and `case` also occur in expressions.
  private func isDeclaration(_ token: Token) -> Bool {
    let next = index + 1 < tokens.count ? tokens[index + 1] : nil
    switch token.text {
    case "class":
      // `class func` is a modifier.
      return next.map { !Self.keywords.keys.contains($0.text) && $0.isWord } ?? false
    case "case":
      return scopes.last.map { declarations[$0.declaration].keyword == "enum" } ?? false
    case "init", "subscript": return next.map { "(<?!".contains($0.text) } ?? false
    case "deinit": return next?.text == "{"
    case "import": return false
    case "func": return next != nil
    default: return next?.isWord ?? false
    }
  }

  /// The first line of the attributes and modifiers before the current token, and the modifiers.
  private func modifiersBefore() -> (start: Int, modifiers: Set<String>) {
    var start = tokens[index].line
    var modifiers: Set<String> = []
    var at = index - 1
    while at >= 0 {
      var first = at
      var isArgument = false
      if tokens[at].text == ")" {
        guard let open = opening(of: at), open > 0, tokens[open - 1].isWord else { break }
        first = open - 1
        isArgument = true
      }
      guard tokens[first].isWord else { break }
      if first > 0, tokens[first - 1].text == "@" {
        first -= 1
      } else if Self.modifiers.contains(tokens[first].text) {
        if !isArgument { modifiers.insert(tokens[first].text) }
      } else {
        break
      }
      start = tokens[first].line
      at = first - 1
    }
    return (start, modifiers)
  }

  private func opening(of close: Int) -> Int? {
    var level = 0
    for at in stride(from: close, through: 0, by: -1) {
      if tokens[at].text == ")" { level += 1 }
      if tokens[at].text == "(" {
        level -= 1
        if level == 0 { return at }
      }
    }
    return nil
  }

  /// The declared name, and the index of the token behind it.
  private func name(after token: Token) -> (name: String, end: Int) {
    if ["init", "deinit", "subscript"].contains(token.text) { return (token.text, index + 1) }
    var end = index + 1
    var name = ""
    if end < tokens.count, !tokens[end].isWord {
      // An operator, up to its parameters; `<` may also begin generic parameters.
      while end < tokens.count, tokens[end].text != "(", !tokens[end].isWord {
        if !name.isEmpty, tokens[end].isSpaced { break }
        name += tokens[end].text
        end += 1
      }
      if name.count > 1, name.hasSuffix("<"), end < tokens.count, tokens[end].isWord {
        name.removeLast()
      }
      return (name, end)
    }
    while end < tokens.count, tokens[end].isWord {
      name = tokens[end].text
      end += 1
      guard end + 1 < tokens.count, tokens[end].text == ".", tokens[end + 1].isWord,
        token.text == "extension"
      else { break }
      end += 1
    }
    return (name.replacing("`", with: ""), end)
  }

  /// Skips `<...>` and returns the index behind it.
  private func afterGenerics(_ start: Int) -> Int {
    guard start < tokens.count, tokens[start].text == "<" else { return start }
    var (at, level) = (start, 0)
    while at < tokens.count {
      if tokens[at].text == "<" { level += 1 }
      if tokens[at].text == ">", tokens[at - 1].text != "-" { level -= 1 }
      at += 1
      if level == 0 { break }
    }
    return at
  }

  private func labels(from start: Int) -> String {
    var at = start
    while at < tokens.count, "?!".contains(tokens[at].text) { at += 1 }
    at = afterGenerics(at)
    guard at < tokens.count, tokens[at].text == "(" else { return "" }
    var (level, text, expectsLabel) = (0, "", true)
    while at < tokens.count {
      let token = tokens[at]
      switch token.text {
      case "(", "[", "{", "<": level += 1
      case ")", "]", "}": level -= 1
      case ">" where tokens[at - 1].text != "-": level -= 1
      case "," where level == 1: expectsLabel = true
      default:
        if level == 1, expectsLabel, token.isWord, tokens[at - 1].text != "@" {
          text += token.text + ":"
          expectsLabel = false
        }
      }
      if level == 0 { break }
      at += 1
    }
    return "(" + text + ")"
  }

  private func inherited(from start: Int) -> [String] {
    var at = afterGenerics(start)
    guard at < tokens.count, tokens[at].text == ":" else { return [] }
    var (names, level) = ([String](), 0)
    while at < tokens.count, tokens[at].text != "{", tokens[at].text != "where" {
      let token = tokens[at]
      if token.text == "<" || token.text == "(" { level += 1 }
      if token.text == ">" || token.text == ")" { level -= 1 }
      let isLast = at + 1 >= tokens.count || tokens[at + 1].text != "."
      if level == 0, token.isWord, isLast { names.append(token.text) }
      at += 1
    }
    return names
  }

  /// The last line of a parameter list, for functions without a body.
  private func lastHeaderLine(from start: Int) -> Int {
    var (at, level) = (start, 0)
    while at < tokens.count {
      if tokens[at].text == "(" { level += 1 }
      if tokens[at].text == ")" {
        level -= 1
        if level == 0 { return tokens[at].line }
      }
      if level == 0, tokens[at].isWord || "{}=".contains(tokens[at].text) { break }
      at += 1
    }
    return tokens[max(start - 1, 0)].line
  }

  private static let keywords: [String: Outline.Kind] = [
    "struct": .type, "class": .type, "enum": .type, "actor": .type, "extension": .extension,
    "protocol": .protocol, "func": .function, "init": .function, "deinit": .function,
    "subscript": .function, "var": .property, "let": .property, "case": .plain,
    "typealias": .plain, "associatedtype": .plain, "macro": .plain, "import": .plain,
  ]

  /// Statements of a main file whose braces are no body of a declaration above.
  private static let statements: Set<String> = [
    "do", "for", "while", "if", "guard", "switch", "repeat", "defer",
  ]

  private static let levels = ["public", "open", "package", "internal", "fileprivate", "private"]

  private static let modifiers: Set<String> = Set(levels).union([
    "static", "class", "final", "override", "mutating", "nonmutating", "nonisolated", "isolated",
    "convenience", "required", "borrowing", "consuming", "indirect", "prefix", "postfix", "infix",
    "lazy", "weak", "unowned", "distributed", "dynamic", "optional", "unsafe", "safe", "rethrows",
  ])
}
