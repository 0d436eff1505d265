import ArgumentParser
import TernSecurity

/// `tern rules`: what a rules file means, without a server.
struct Rules: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check, test and explain a file of security rules.",
    subcommands: [Check.self, Test.self, Explain.self])

  /// `tern rules check`: whether the file can be used.
  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Compile a rules file; list every problem with its line and column.")

    @Argument(help: "A rules file, JSON with comments.") var file: String

    func run() async throws {
      let rules = try RulesFile.rules(at: file)
      printLine("\(file): \(rules.count == 1 ? "1 rule" : "\(rules.count) rules")")
    }
  }

  /// `tern rules test`: whether the file does what its author wants.
  struct Test: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Ask a rules file a list of questions and compare the answers.",
      discussion: """
        A case is an object: {"name": "owner reads", "read": "users/ann", "auth": {"uid": "ann"}, \
        "data": {…}, "allow": true}. In place of "read": "write" with "value", or "update" with \
        "values"; beside "read", "query": {"orderBy": "score", "limitToLast": 5}. \
        Exits with 1 when a case fails.
        """)

    @Argument(help: "A rules file.") var file: String
    @Argument(help: "A JSON file: a list of cases.") var cases: String

    func run() async throws {
      let rules = try RulesFile.rules(at: file)
      var (passed, failed) = (0, 0)
      for question in try RulesFile.cases(at: cases) {
        guard let wanted = question.isAllowed else {
          throw Failure(.usage, "\(question.name): \"allow\" must be true or false")
        }
        let explanation = try question.explanation(by: rules)
        if explanation.verdict.isAllowed == wanted {
          passed += 1
          printLine("passed  \(question.name)")
        } else {
          failed += 1
          printLine("failed  \(question.name)\n\(explanation)")
        }
      }
      printLine("\(passed) passed, \(failed) failed")
      if failed > 0 { throw Failure(.failed, "\(failed) of \(passed + failed) cases failed") }
    }
  }

  /// `tern rules explain`: which rule decided, and on what.
  struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show which rules were asked, what they said, and on what values.",
      discussion: "Exits with 4 when a case is denied.")

    @Argument(help: "A rules file.") var file: String
    @Argument(help: "A JSON file: a case, or a list of them.") var cases: String

    func run() async throws {
      let rules = try RulesFile.rules(at: file)
      var denied = 0
      for question in try RulesFile.cases(at: cases) {
        let explanation = try question.explanation(by: rules)
        printLine("\(question.name)\n\(explanation)")
        if !explanation.verdict.isAllowed { denied += 1 }
      }
      if denied > 0 { throw Failure(.refused, "\(denied) denied") }
    }
  }
}
