import TernCore
import TernSecurity

/// Rules in either language, told apart by their text: rules for a tree are JSON.
enum LoadedRules {
  case tree(TreeRules)
  case documents(DocumentRules)

  /// The answer of rules to one case.
  struct Answer {
    /// The name of the case.
    let name: String
    /// The expected decision, where the case has one.
    let expected: Bool?
    /// The decision.
    let isAllowed: Bool
    /// The decision and its reasons, in lines.
    let explanation: String
  }

  /// Compiles a rules file; every problem in it is one line of the failure.
  static func load(at path: String) throws -> LoadedRules {
    let source = try fileBytes(at: path)
    guard DocumentRules.recognizes(source) else { return .tree(try RulesFile.rules(at: path)) }
    do {
      return .documents(try DocumentRules(source: source))
    } catch {
      throw Failure(.usage, error.problems.map { "\(path): \($0)" }.joined(separator: "\n"))
    }
  }

  /// The number of rules.
  var count: Int {
    switch self {
    case .tree(let rules): rules.count
    case .documents(let rules): rules.allowCount
    }
  }

  /// The things in the file that are probably meant otherwise, one line each.
  var warnings: [String] {
    switch self {
    case .tree: []
    case .documents(let rules): rules.warnings.map(\.description)
    }
  }

  /// Answers the cases of a file: one object, or a list of them.
  func answers(toCasesAt path: String) throws -> [Answer] {
    switch self {
    case .tree(let rules):
      return try RulesFile.cases(at: path).map { question in
        let explanation = try question.explanation(by: rules)
        return Answer(
          name: question.name, expected: question.isAllowed,
          isAllowed: explanation.verdict.isAllowed, explanation: "\(explanation)")
      }
    case .documents(let rules):
      return try RulesFile.items(at: path).enumerated().map { index, json in
        let question = try DocumentRulesCase(json, number: index + 1)
        let verdict = try question.verdict(by: rules)
        return Answer(
          name: question.name, expected: question.isAllowed, isAllowed: verdict.isAllowed,
          explanation: "\(verdict)")
      }
    }
  }
}
