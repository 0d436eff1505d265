import TernCore
import TernQuery
import Testing

@testable import tern

@Suite("flags of a query for children") struct TreeQueryOptionsTests {
  private func query(_ words: [String]) throws -> TreeQuery {
    try parsed(QueryOptions.self, words).get().query()
  }

  @Test("orders, ranges and limits are those of a query")
  func queries() throws {
    let all = TreeQuery.all
    let cases: [([String], TreeQuery)] = [
      ([], all), (["--order-by-priority"], try all.ordered(by: .priority)),
      (["--order-by-key"], try all.ordered(by: .key)),
      (["--order-by-value"], try all.ordered(by: .value)),
      (["--order-by-child", "a/b"], try all.ordered(byChild: "a/b")),
      (["--first", "3"], try all.first(3)), (["--last", "3"], try all.last(3)),
      (
        ["--order-by-value", "--start-at", "1", "--end-before", "\"x\""],
        try all.ordered(by: .value).starting(at: .integer(1)).ending(before: .string("x"))
      ),
      (
        ["--order-by-value", "--start-after", "null", "--end-at", "true"],
        try all.ordered(by: .value).starting(after: nil).ending(at: .bool(true))
      ),
      (
        ["--order-by-key", "--equal-to", "\"k\""],
        try all.ordered(by: .key).equal(to: .string("k"))
      ),
      (
        ["--order-by-child", "n", "--equal-to", "null", "--first", "1"],
        try all.ordered(byChild: "n").equal(to: nil).first(1)
      ),
      (["--start-at", "-1.5"], try all.starting(at: .double(-1.5))),
    ]
    for (words, expected) in cases {
      // A value that begins with a dash needs its flag's equals sign.
      let flags = words.contains("-1.5") ? ["--start-at=-1.5"] : words
      #expect(try query(flags) == expected, "\(words)")
    }
  }

  @Test("a range without an end differs from one that ends at null")
  func null() throws {
    let order = ["--order-by-value"]
    let open = try query(order + ["--start-at", "1"])
    #expect(open.end == nil)
    #expect(try query(order + ["--end-at", "null"]).end != nil)
  }

  @Test(
    "what does not go together is told in the words of the flags",
    arguments: [
      (["--order-by-key", "--order-by-value"], "only one order"),
      (["--order-by-child", "a", "--order-by-priority"], "only one order"),
      (["--start-at", "1", "--start-after", "1"], "only one start"),
      (["--start-at", "1", "--equal-to", "1"], "only one start"),
      (["--end-at", "1", "--end-before", "1"], "only one end"),
      (["--end-at", "1", "--equal-to", "1"], "can be given"),
      (["--first", "1", "--last", "1"], "only one of --first and --last"),
      (["--first", "0"], "1..<2^31, not 0"), (["--last", "2147483648"], "not 2147483648"),
      (["--order-by-key", "--start-at", "1"], "bounds of --order-by-key must be strings"),
      (["--order-by-priority", "--start-at", "true"], "priorities"),
      (["--order-by-child", "$key"], "$key has a flag of its own"),
      (["--order-by-child", ""], "--order-by-child needs a path"),
      (["--order-by-child", "a.b"], "a.b"),
      (["--start-at", "{}x"], "--start-at: not JSON"), (["--end-at", "x"], "a text needs quotes"),
      (["--equal-to", "{\"a\": 1}"], "--equal-to takes null, a boolean, a number or a string"),
    ])
  func mistakes(words: [String], message: String) {
    let failure = failure { try query(words) }
    #expect(failure?.code == .usage, "\(words)")
    #expect(failure?.message.contains(message) == true, "\(String(describing: failure))")
  }

  @Test("the ends of the limits belong to them")
  func limits() throws {
    #expect(try query(["--first", "1"]) == TreeQuery.all.first(1))
    #expect(try query(["--last", "2147483647"]) == TreeQuery.all.last(2_147_483_647))
  }

  @Test("a path of a command is a path of the tree")
  func paths() {
    for text in ["", "/", "//", "a", "/a/b/", ".info/connected"] {
      #expect(failure { try path(text) } == nil, "\(text)")
    }
    for text in ["a.b", "a/$b", "#", "a[0]", "a/\u{1}"] {
      let failure = failure { try path(text) }
      #expect(failure?.code == .usage && failure?.message.hasPrefix("path \"\(text)\": ") == true)
    }
  }
}
