import TernCore
import TernQuery
import Testing

@testable import tern

@Suite("flags of a query for documents") struct DocumentQueryOptionsTests {
  private func query(
    _ words: [String], _ collection: String = "cities"
  ) throws -> DocumentQuery {
    try DocumentQueryOptions.reading(words[...]).query(collection, plainText)
  }

  private func cities(
    _ build: (DocumentQuery) throws -> DocumentQuery
  ) throws -> DocumentQuery {
    try build(.collection(CollectionPath("cities")))
  }

  @Test(
    "every operator is read",
    arguments: [
      ("<", .lessThan), ("<=", .lessThanOrEqual), ("==", .equal), ("!=", .notEqual),
      (">", .greaterThan), (">=", .greaterThanOrEqual), ("in", .in), ("not-in", .notIn),
      ("array-contains", .arrayContains), ("array-contains-any", .arrayContainsAny),
    ] as [(String, DocumentOperator)])
  func operators(text: String, meaning: DocumentOperator) throws {
    let operand: DocumentValue = meaning.takesList ? [1, "x"] : 1
    let json = meaning.takesList ? #"[1, "x"]"# : "1"
    for words in ["a.b \(text) \(json)", "  a.b   \(text)   \(json) "] {
      let expected = try cities { try $0.where(DocumentFieldPath(["a", "b"]), meaning, operand) }
      #expect(try query(["--where", words]) == expected, "\(words)")
    }
  }

  @Test(
    "a name in backticks may hold whatever an operator is",
    arguments: [
      ("`a == b` == 1", ["a == b"]), ("`is in stock` == 1", ["is in stock"]),
      ("`x < y`.`not-in z` == 1", ["x < y", "not-in z"]), ("a.` in ` == 1", ["a", " in "]),
      (#"`tick \` > here` == 1"#, ["tick ` > here"]), ("``.a == 1", nil), ("`a == 1", nil),
    ] as [(String, [String]?)])
  func quotedNames(words: String, names: [String]?) throws {
    guard let names else {
      #expect(failure { try query(["--where", words]) }?.code == .usage, "\(words)")
      return
    }
    let expected = try cities { try $0.where(DocumentFieldPath(names), .equal, 1) }
    #expect(try query(["--where", words]) == expected)
  }

  @Test(
    "operators in the operand are a part of it",
    arguments: [
      (#"a == "b < c""#, .string("b < c")), (#"a == " in ""#, .string(" in ")),
      (#"a == "x == `y`""#, .string("x == `y`")),
    ] as [(String, DocumentValue)])
  func operands(words: String, operand: DocumentValue) throws {
    let expected = try cities { try $0.where(DocumentFieldPath(["a"]), .equal, operand) }
    #expect(try query(["--where", words]) == expected)
  }

  @Test(
    "what is no condition says what one is",
    arguments: [
      ("a", "is no condition"), ("a==1", "is no condition"), ("a = 1", "is no condition"),
      ("a <> 1", "is no condition"), ("== 1", "is no condition"), ("a ==", "is no condition"),
      ("a == x", "a text needs quotes"), ("a == ", "not JSON"), ("a b == 1", "backticks"),
      ("a..b == 1", "is no path of a field"), (" == 1", "is no path of a field"),
      ("a in 1", "array"), ("a in []", "array"),
      (#"a == {"timestampValue": "now"}"#, "is no timestampValue"),
    ])
  func badConditions(words: String, message: String) {
    let failure = failure { try query(["--where", words]) }
    #expect(failure?.code == .usage, "\(words)")
    #expect(failure?.message.contains(message) == true, "\(String(describing: failure))")
  }

  @Test("all of --where hold, and one of --where-any")
  func alternatives() throws {
    let path = { (name: String) in try DocumentFieldPath([name]) }
    let words = ["--where", "a == 1", "--where-any", "b == 2", "--where-any", "c == 3"]
    let expected = try cities {
      try $0.where(path("a"), .equal, 1).filtered(
        .or([.where(path("b"), .equal, 2), .where(path("c"), .equal, 3)]))
    }
    #expect(try query(words) == expected)
    let one = try cities { try $0.where(path("b"), .equal, 2) }
    #expect(try query(["--where-any", "b == 2"]) == one)
  }

  @Test(
    "orders have a direction or none",
    arguments: [
      ("a", ["a"], false), ("a desc", ["a"], true), ("a asc", ["a"], false),
      ("a DESC", ["a"], true), ("a descending", ["a"], true), ("a.b ascending", ["a", "b"], false),
      (" a  desc ", ["a"], true), ("a desc   ", ["a"], true), ("desc", ["desc"], false),
      ("`x desc`", ["x desc"], false), ("`x y` desc", ["x y"], true),
    ] as [(String, [String], Bool)])
  func orders(words: String, names: [String], isDescending: Bool) throws {
    let expected = try cities {
      try $0.ordered(by: DocumentFieldPath(names), isDescending: isDescending)
    }
    #expect(try query(["--order-by", words]) == expected)
  }

  @Test("orders are taken in the order in which they are given")
  func severalOrders() throws {
    let (a, b) = (try DocumentFieldPath(["a"]), try DocumentFieldPath(["b"]))
    #expect(
      try query(["--order-by", "b desc", "--order-by", "a"])
        == cities { try $0.ordered(by: b, isDescending: true).ordered(by: a) })
  }

  @Test(
    "cursors are values of the orders",
    arguments: [
      (["--start-at", "1"], [.integer(1)], true, nil, true),
      (["--start-after", "[1]"], [.integer(1)], false, nil, true),
      (["--start-at", #"[1, "b"]"#], [.integer(1), .string("b")], true, nil, true),
      (["--end-at", "2.5"], nil, true, [.double(2.5)], true),
      (["--end-before", "null"], nil, true, [.null], false),
      (["--start-at", "1", "--end-before", "[2]"], [.integer(1)], true, [.integer(2)], false),
    ] as [([String], [DocumentValue]?, Bool, [DocumentValue]?, Bool)])
  func cursors(
    words: [String], start: [DocumentValue]?, startsAt: Bool, end: [DocumentValue]?, endsAt: Bool
  ) throws {
    let found = try query(["--order-by", "a", "--order-by", "b"] + words)
    var expected = try cities {
      try $0.ordered(by: DocumentFieldPath(["a"])).ordered(by: DocumentFieldPath(["b"]))
    }
    if let start { expected = try expected.starting(at: start, isInclusive: startsAt) }
    if let end { expected = try expected.ending(at: end, isInclusive: endsAt) }
    #expect(found == expected)
  }

  @Test("texts that are compared with the key name documents")
  func keys() throws {
    let database = DocumentDatabase(unchecked: "demo")
    let sf = DocumentValue.reference(try DocumentName(DocumentKey("cities/SF"), in: database))
    #expect(
      try query(["--where", #"__name__ > "SF""#]) == cities { try $0.where(.key, .greaterThan, sf) }
    )
    #expect(
      try query(["--where", #"__name__ in ["SF"]"#]) == cities { try $0.where(.key, .in, [sf]) })
    #expect(
      try query(["--order-by", "__name__", "--start-at", #""SF""#])
        == cities { try $0.ordered(by: .key).starting(at: [sf], isInclusive: true) })
    let group = try query(["--group", "--where", #"__name__ > "cities/SF""#])
    #expect(try group == DocumentQuery.group("cities").where(.key, .greaterThan, sf))
    for words in [["--where", #"__name__ > "a/b""#], ["--where", "__name__ > 1"]] {
      #expect(failure { try query(words) }?.code == .usage, "\(words)")
    }
  }

  @Test("limits are 1 to 2^31 - 1", arguments: [0, 1, 1 << 31 - 1, 1 << 31, -1])
  func limits(count: Int) throws {
    let isFine = (1..<1 << 31).contains(count)
    let first = failure { try query(["--limit=\(count)"]) }
    let last = failure { try query(["--limit-to-last=\(count)", "--order-by", "a"]) }
    #expect((first == nil) == isFine && (last == nil) == isFine)
    #expect(isFine || first?.code == .usage && last?.code == .usage)
    if isFine { #expect(try query(["--limit", "\(count)"]) == cities { try $0.first(count) }) }
  }

  @Test(
    "what does not go together is told",
    arguments: [
      (["--start-at", "1", "--start-after", "1"], "only one of --start-at and --start-after"),
      (["--end-at", "1", "--end-before", "1"], "only one of --end-at and --end-before"),
      (["--limit", "1", "--limit-to-last", "1"], "only one of --limit and --limit-to-last"),
      (["--limit-to-last", "1"], "order"), (["--start-at", "1"], "add --order-by for each value"),
      (["--order-by", "a", "--start-at", "[1, 2]"], "add --order-by for each value"),
      (["--order-by", "a", "--start-at", "[]"], "add --order-by"), (["--order-by", "a b"], "path"),
      (["--order-by", ""], "path"), (["--where", "a != 1", "--where", "a not-in [1]"], "not-in"),
    ])
  func conflicts(words: [String], message: String) {
    let failure = failure { try query(words) }
    #expect(failure?.code == .usage)
    #expect(failure?.message.contains(message) == true, "\(String(describing: failure))")
  }

  @Test(
    "the place is a collection, or with --group an id",
    arguments: [
      ("cities", [], true), ("cities/SF/parks", [], true), ("cities/SF", [], false),
      ("", [], false), ("cities//x", [], false), ("a/b/c", ["--group"], false),
      ("__a__", ["--group"], false), ("parks", ["--group"], true),
    ] as [(String, [String], Bool)])
  func places(collection: String, words: [String], isFine: Bool) {
    let failure = failure { try query(words, collection) }
    #expect((failure == nil) == isFine, "\(String(describing: failure))")
    if !isFine { #expect(failure?.code == .usage) }
  }
}
