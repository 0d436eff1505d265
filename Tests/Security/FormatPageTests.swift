import Foundation
import TernCore
import TernSecurity
import Testing

/// The worked example of the format page, as printed there.
@Suite("Format page")
struct FormatPageTests {
  @Test("the worked example is refused with the explanation on the page")
  func workedExample() throws {
    var checkout = URL(filePath: #filePath)
    for _ in 0..<3 { checkout.deleteLastPathComponent() }
    let url = checkout.appending(path: "Docs/Formats/tree-rules.md")
    let page = String(decoding: try Data(contentsOf: url), as: UTF8.self)
    let file = try #require(page.split(separator: "```json\n").last?.split(separator: "```").first)
    let rules = try TreeRules(String(file))
    #expect(rules.indexes(at: "rooms/r/messages") == [.child("at")])

    let before: TreeNode = ["members": ["r": ["bob": true]]]
    let path: TreePath = "rooms/r/messages/m1"
    func explanation(by author: TreeNode, at: TreeNode = 7) throws -> RulesExplanation {
      let caller = RulesCaller(auth: ["uid": "bob"], now: 7)
      let after = before.setting(["by": author, "text": "hi", "at": at], at: path)
      return try rules.explainWrite(
        [path], by: caller, from: TreeNodeSnapshot(before), to: TreeNodeSnapshot(after))
    }
    let found = try explanation(by: "eve").description
    let printed = page.split(separator: "```\n").last { $0.hasPrefix("denied") }
    let expected = try #require(printed).split(separator: "\n").map(String.init)
    let lines = found.split(separator: "\n").map(String.init)
    #expect(Array(lines.dropFirst()) == Array(expected.dropFirst()), "\(found)")
    #expect(lines.first?.hasPrefix(expected[0].split(separator: "[")[0]) == true)
    #expect(try explanation(by: "bob").verdict.isAllowed)
    #expect(try !explanation(by: "bob", at: 8).verdict.isAllowed)
  }
}
