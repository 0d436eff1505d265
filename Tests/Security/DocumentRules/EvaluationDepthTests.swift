import Foundation
import TernCore
import TernQuery
import Testing

@testable import TernSecurity

/// The nesting of evaluations, and the stack that it takes.
@Suite("The depth of evaluations of rules for documents")
struct EvaluationDepthTests {
  /// A chain of calls, each inside of parentheses.
  private func source(calls: Int, parentheses: Int) -> String {
    let (open, close) = (
      String(repeating: "(", count: parentheses), String(repeating: ")", count: parentheses)
    )
    let functions = (0..<calls).map { number in
      let inner = number + 1 < calls ? "f\(number + 1)(x)" : "x == request.auth.uid || x != null"
      return "function f\(number)(x) { return \(open)\(inner)\(close); }"
    }
    return """
      rules_version = '2';
      service cloud.firestore { match /databases/{database}/documents {
      \(functions.joined(separator: "\n"))
      match /a/{b} { allow read: if f0(b); }
      } }
      """
  }

  private func problems(_ source: String) -> [String] {
    do {
      _ = try DocumentRules(source: source)
      return []
    } catch {
      return error.problems.map(\.message)
    }
  }

  @Test("calls and nesting together are bounded when rules are compiled")
  func bound() {
    #expect(problems(source(calls: 20, parentheses: 5)) == [])
    let limit = DocumentRulesLimits.evaluationDepth
    #expect(
      problems(source(calls: 20, parentheses: 45)) == [
        "Evaluation nests more than \(limit) levels, those of called functions included."
      ])
    // Bindings are evaluated where they are used.
    let lets = (1..<19).map { "let v\($0) = ((((((((v\($0 - 1)))))))));" }.joined(separator: " ")
    let chain = """
      service cloud.firestore { match /databases/{database}/documents {
      function f() { let v0 = true; \(lets) return v18; }
      match /a/{b} { allow read: if f(); }
      } }
      """
    #expect(problems(chain).count == 1)
  }

  @Test("the deepest evaluation fits a stack of 1 MiB")
  func stack() throws {
    let rules = try DocumentRules(source: source(calls: 20, parentheses: 6))
    let request = DocumentRulesRequest(
      .get, DocumentKey(unchecked: "a/x"), in: "(default)",
      at: DocumentTimestamp(uncheckedMicroseconds: 1), auth: .null,
      resource: DocumentFields(DocumentMap()))
    let query = DocumentQuery.assembled(
      .collection(CollectionPath(unchecked: "a")), filter: nil, orders: [], limit: nil)
    let results = Results()
    let thread = Thread {
      let state = DocumentRulesState { _ in nil }
      var budget = DocumentRulesBudget.single
      results.judged = rules.judge(request, state: state, budget: &budget).isAllowed
      budget = .query
      _ = rules.prove(query, request, state, &budget)
      results.isProved = true
      results.end.signal()
    }
    thread.stackSize = 1 << 20
    thread.start()
    results.end.wait()
    #expect(results.judged && results.isProved)
  }

  /// The results of the thread, read when it has ended.
  private final class Results: @unchecked Sendable {
    var judged = false
    var isProved = false
    let end = DispatchSemaphore(value: 0)
  }
}
