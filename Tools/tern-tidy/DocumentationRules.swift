/// Everything a module shows to outsiders says what it is.
struct DocumentationRules {
  /// Requirements of protocols, whose documentation their witnesses inherit.
  private let requirements: Set<String>

  /// Those of the language that types here satisfy.
  private static let languageRequirements: Set<String> = [
    "description", "debugDescription", "hash", "encode", "==", "<", ">", "<=", ">=", "~=",
    "makeIterator", "makeAsyncIterator", "next", "id", "errorDescription", "rawValue",
    "startIndex", "endIndex", "index", "allCases", "codingPath", "underestimatedCount",
  ]

  init(_ files: [SourceFile]) {
    requirements = files.reduce(into: Self.languageRequirements) { names, file in
      names.formUnion(Self.requirements(in: file.code))
    }
  }

  func check(_ file: SourceFile) -> [Finding] {
    guard file.area == "Modules" else { return [] }
    return file.code.indices.compactMap { index in
      guard let name = Self.publicName(file.code[index]), !requirements.contains(name),
        !Self.isWitnessedInit(file.code[index]), !isDocumented(file, index)
      else { return nil }
      return Finding(
        file: file.path, line: index + 1, rule: "documentation",
        message: "public \(name) has no ///")
    }
  }

  /// Whether the lines above, past attributes, end in a documentation comment.
  private func isDocumented(_ file: SourceFile, _ index: Int) -> Bool {
    var above = index - 1
    while above >= 0 {
      let line = file.lines[above].drop { $0 == " " }
      if line.hasPrefix("///") { return true }
      guard line.hasPrefix("@") || line.hasPrefix(")") || line.hasPrefix("#if") else {
        return false
      }
      above -= 1
    }
    return false
  }

  /// What is declared `public` or `open` on this line; `nil` for imports and extensions.
  static func publicName(_ line: String) -> String? {
    let words = line.split(whereSeparator: { " \t(:<{".contains($0) })
    guard let access = words.firstIndex(where: { $0 == "public" || $0 == "open" }),
      words[..<access].allSatisfy({ $0.hasPrefix("@") || before.contains($0) })
    else { return nil }
    let rest = words[(access + 1)...]
    for (index, word) in zip(rest.indices, rest) {
      switch word {
      case "import", "extension": return nil
      case "init", "init?", "subscript": return String(word)
      case "func", "var", "let", "struct", "class", "enum", "protocol", "actor", "typealias",
        "associatedtype", "macro", "case":
        guard index + 1 < rest.endIndex else { return nil }
        if word == "class", ["func", "var"].contains(rest[index + 1]) { continue }
        if word == "func", line.contains("func <") || line.contains("func ==") { return "==" }
        return String(rest[index + 1])
      default: continue
      }
    }
    return nil
  }

  private static let before: Set<Substring> = [
    "static", "final", "nonisolated", "override", "mutating", "indirect", "distributed",
  ]

  private static func isWitnessedInit(_ line: String) -> Bool {
    line.contains("init(from decoder") || line.contains("init(rawValue")
      || line.contains("Literal ")
  }

  /// The names that protocols in `code` require.
  private static func requirements(in code: [String]) -> Set<String> {
    var names: Set<String> = []
    var depth = 0
    var protocolDepth: Int?
    for line in code {
      let words = line.split(whereSeparator: { " \t(:<{".contains($0) })
      if protocolDepth == nil, words.contains("protocol"), line.contains("{") {
        protocolDepth = depth
      } else if protocolDepth != nil {
        for (word, name) in zip(words, words.dropFirst())
        where ["func", "var", "associatedtype"].contains(word) {
          names.insert(String(name))
        }
      }
      for byte in line.utf8 {
        if byte == UInt8(ascii: "{") { depth += 1 }
        if byte == UInt8(ascii: "}") { depth -= 1 }
      }
      if let start = protocolDepth, depth <= start { protocolDepth = nil }
    }
    return names
  }
}
