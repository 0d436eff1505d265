import TernCore
import Testing

@testable import TernSecurity

/// The size of all regular expressions of a file together.
@Suite("Regular expressions of a file of rules")
struct PatternBudgetTests {
  private func problems(_ count: Int, _ pattern: (Int) -> String) -> [String] {
    let lines = (0..<count).map { "allow get: if 'a'.matches('\(pattern($0))');" }
    let source = """
      service cloud.firestore { match /a/{b} {
      \(lines.joined(separator: "\n"))
      } }
      """
    do {
      _ = try DocumentRules(source: source)
      return []
    } catch {
      return error.problems.map(\.message)
    }
  }

  @Test("many large patterns are a problem, many equal ones are one pattern")
  func budget() {
    let large = { (number: Int) in "(a{99}){90}b{\(number)}" }
    #expect(problems(20, large) == [])
    let found = problems(60, large)
    #expect(
      Set(found) == ["Invalid regular expression: the patterns of the file are too large."])
    #expect(problems(3_000) { _ in "(a{99}){99}" } == [])
  }

  @Test("a text is compiled once, and no more instructions are kept than a file may have")
  func table() throws {
    var table = DocumentPatternTable()
    let first = try table.pattern("(a{99}){90}")
    let size = table.instructions
    #expect(size == first.instructions.count)
    #expect(try table.pattern("(a{99}){90}") === first)
    #expect(table.instructions == size)
    var kept = 1
    for number in 0..<200 where (try? table.pattern("(a{99}){90}b{\(number)}")) != nil { kept += 1 }
    #expect(kept * size <= DocumentRulesLimits.patternInstructionsPerFile)
    #expect(kept > 10)
  }
}
