/// The conditions of compilation that are open at a line.
struct ConditionStack {
  private struct Branch {
    var condition: Substring
    /// The conditions of the branches before, all of which are false in this one.
    var refused: [Substring] = []
  }

  private var branches: [Branch] = []

  /// Takes the next line of code.
  mutating func read(_ line: String) {
    let text = line.drop { $0 == " " }
    guard text.hasPrefix("#") else { return }
    let word = text.prefix { $0 != " " }
    let condition = text.dropFirst(word.count).drop { $0 == " " }
    switch word {
    case "#if": branches.append(Branch(condition: condition))
    case "#elseif", "#else":
      guard let last = branches.popLast() else { return }
      branches.append(Branch(condition: condition, refused: last.refused + [last.condition]))
    case "#endif": _ = branches.popLast()
    default: break
    }
  }

  /// Returns true where a module cannot be imported.
  func excludes(_ module: String) -> Bool {
    branches.contains { branch in
      branch.condition == "!canImport(\(module))"
        || branch.refused.contains { $0 == "canImport(\(module))" }
    }
  }
}
