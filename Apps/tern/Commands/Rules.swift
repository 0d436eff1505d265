import ArgumentParser
import TernCore

/// `tern rules`: what a rules file means, without a server.
struct Rules: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check, test, explain and deploy security rules.",
    discussion: "Rules for the tree are JSON; anything else is read as rules for documents.",
    subcommands: [Check.self, Test.self, Explain.self, Get.self, Deploy.self])

  /// `tern rules check`: whether the file can be used.
  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Compile a rules file; list every problem with its line and column.")

    @Argument(help: "A rules file: JSON with comments, or rules for documents.") var file: String
    @OptionGroup var output: JSONFlag

    func run() async throws {
      let rules = try LoadedRules.load(at: file)
      let count = rules.count == 1 ? "1 rule" : "\(rules.count) rules"
      let warnings = rules.warnings.map { "\n\(file): warning: \($0)" }.joined()
      output.print(
        "\(file): \(count)\(warnings)",
        ["file": .string(file), "rules": .integer(Int64(rules.count))])
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
        For documents: {"get": "users/ann", "auth": {"uid": "ann"}, "documents": {"users/ann": \
        {…}}, "allow": true}; in place of "get": "set" or "update" with "value", or "delete". \
        Exits with 1 when a case fails.
        """)

    @Argument(help: "A rules file.") var file: String
    @Argument(help: "A JSON file: a list of cases.") var cases: String
    @OptionGroup var output: JSONFlag

    func run() async throws {
      let rules = try LoadedRules.load(at: file)
      var (passed, failed) = (0, 0)
      for answer in try rules.answers(toCasesAt: cases) {
        guard let expected = answer.expected else {
          throw Failure(.usage, "\(answer.name): \"allow\" must be true or false")
        }
        let isPassed = answer.isAllowed == expected
        if isPassed { passed += 1 } else { failed += 1 }
        output.print(
          isPassed ? "passed  \(answer.name)" : "failed  \(answer.name)\n\(answer.explanation)",
          [
            "case": .string(answer.name), "passed": .bool(isPassed),
            "explanation": .string(answer.explanation),
          ])
      }
      if !output.json { printLine("\(passed) passed, \(failed) failed") }
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
    @OptionGroup var output: JSONFlag

    func run() async throws {
      let rules = try LoadedRules.load(at: file)
      var denied = 0
      for answer in try rules.answers(toCasesAt: cases) {
        output.print(
          "\(answer.name)\n\(answer.explanation)",
          [
            "case": .string(answer.name), "allowed": .bool(answer.isAllowed),
            "explanation": .string(answer.explanation),
          ])
        if !answer.isAllowed { denied += 1 }
      }
      if denied > 0 { throw Failure(.refused, "\(denied) denied") }
    }
  }
}
