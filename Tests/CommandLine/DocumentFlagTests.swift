import TernCore
import Testing

@testable import tern

@Suite("flags of document writes") struct DocumentFlagTests {
  private func inputs(_ words: [String]) throws -> [DocumentInput.Field] {
    try parsed(TransformFlags.self, words).get().inputs(plainText).map {
      DocumentInput.Field($0.path.text, $0.input)
    }
  }

  @Test(
    "each flag is its transform",
    arguments: [
      (["--increment", "a=1"], "a", .transform(.increment(.integer(1)))),
      (["--increment", "a.b=-1.5"], "a.b", .transform(.increment(.double(-1.5)))),
      (["--maximum", "a=7"], "a", .transform(.maximum(.integer(7)))),
      (["--minimum", "`x y`=7"], "`x y`", .transform(.minimum(.integer(7)))),
      (
        ["--array-union", #"a=["s", 1]"#], "a",
        .transform(.arrayUnion([.string("s"), .integer(1)]))
      ),
      (["--array-remove", "a=[]"], "a", .transform(.arrayRemove([]))),
      (["--server-time", "t"], "t", .transform(.serverTimestamp)),
      (["--delete", "d.e"], "d.e", .delete),
    ] as [([String], String, DocumentInput)])
  func transforms(words: [String], path: String, input: DocumentInput) throws {
    #expect(try inputs(words) == [DocumentInput.Field(path, input)])
  }

  @Test("flags may be repeated, and come in the order of their kinds")
  func order() throws {
    let words = [
      "--delete", "d", "--server-time", "t", "--increment", "b=1", "--increment", "a=2",
      "--maximum", "c=3",
    ]
    #expect(try inputs(words).map(\.name) == ["b", "a", "c", "t", "d"])
  }

  @Test(
    "a wrong operand names its flag",
    arguments: [
      (["--increment", "a"], "--increment takes field=value, not \"a\""),
      (["--increment", "a=x"], "--increment: not JSON"),
      (["--increment", #"a="1""#], "--increment takes a number"),
      (["--maximum", "a=null"], "--maximum takes a number"),
      (["--minimum", "a=[1]"], "--minimum takes a number"),
      (["--array-union", "a=1"], "--array-union takes an array"),
      (["--array-remove", #"a={"b": 1}"#], "--array-remove takes an array"),
      (["--increment", "=1"], "is no path of a field"), (["--delete", ""], "is no path"),
      (["--server-time", "a..b"], "is no path of a field"), (["--delete", "a b"], "backticks"),
    ])
  func mistakes(words: [String], message: String) {
    let failure = failure { try inputs(words) }
    #expect(failure?.code == .usage)
    #expect(failure?.message.contains(message) == true, "\(String(describing: failure))")
  }

  @Test(
    "conditions of a write",
    arguments: [
      ([], .none), (["--if-exists"], .exists(true)), (["--if-missing"], .exists(false)),
      (
        ["--if-version", "1970-01-01T00:00:01.000002Z"],
        .version(DocumentVersion(microseconds: 1_000_002))
      ),
    ] as [([String], DocumentPrecondition)])
  func conditions(words: [String], expected: DocumentPrecondition) throws {
    let key = try DocumentKey("a/b")
    let write = try parsed(PreconditionFlags.self, words).get().applied(to: .delete(key))
    #expect(write == .delete(key).requiring(expected))
  }

  @Test("a write has one condition, and a version is a time")
  func badConditions() {
    for words in [
      ["--if-exists", "--if-missing"], ["--if-exists", "--if-version", "1970-01-01T00:00:00Z"],
    ] {
      guard case .failure(let complaint) = parsed(PreconditionFlags.self, words) else {
        Issue.record("\(words)")
        continue
      }
      #expect(complaint.text.hasPrefix("only one of --if-exists"))
    }
    for text in ["", "7", "1970-01-01", "1970-01-01T00:00:00", "1970-13-01T00:00:00Z"] {
      let failure = failure {
        try parsed(PreconditionFlags.self, ["--if-version", text]).get()
          .applied(to: .delete(DocumentKey("a/b")))
      }
      #expect(failure?.message == "--if-version \"\(text)\" is no time")
    }
  }

  // MARK: - Placing

  private func placed(
    _ fields: [DocumentInput.Field], _ path: String
  ) throws -> [DocumentInput.Field] {
    fields.placing(.delete, at: try fieldPath(path).names[...])
  }

  @Test("a transform stands at its path, in maps on the way, and the rest stays")
  func placing() throws {
    typealias Field = DocumentInput.Field
    #expect(try placed([], "a") == [Field("a", .delete)])
    #expect(try placed([], "a.b") == [Field("a", .map([Field("b", .delete)]))])
    #expect(
      try placed([Field("a", 1), Field("z", 2)], "a") == [Field("z", 2), Field("a", .delete)])
    let nested = Field("a", .value(["x": 1, "b": 2]))
    let result = try placed([nested, Field("z", 2)], "a.b")
    #expect(result == [Field("z", 2), Field("a", .map([Field("x", 1), Field("b", .delete)]))])
    // What is no map gives way.
    #expect(try placed([Field("a", 1)], "a.b") == [Field("a", .map([Field("b", .delete)]))])
  }

  @Test("two transforms in one map stay both")
  func placingTwice() throws {
    let once = try placed([DocumentInput.Field("m", .value(["k": 1]))], "m.a")
    let twice = once.placing(.transform(.serverTimestamp), at: ["m", "b"])
    #expect(
      twice == [
        .init(
          "m",
          .map([
            .init("k", 1), .init("a", .delete), .init("b", .transform(.serverTimestamp)),
          ]))
      ])
  }

  // MARK: - Paths

  @Test(
    "paths of documents and collections",
    arguments: [
      ("cities/SF", true, false), ("cities", false, true), ("a/b/c", false, true),
      ("a/b/c/d", true, false), ("/cities/SF", true, false), ("", false, false),
      ("a//b", false, false), ("a/.", false, false), ("a/__x__", false, false),
    ])
  func paths(text: String, isDocument: Bool, isCollection: Bool) {
    let asDocument = failure { try documentKey(text) }
    let asCollection = failure { try collectionPath(text) }
    #expect((asDocument == nil) == isDocument, "\(String(describing: asDocument))")
    #expect((asCollection == nil) == isCollection, "\(String(describing: asCollection))")
    for failure in [asDocument, asCollection].compactMap(\.self) {
      #expect(failure.code == .usage && failure.message.contains(text))
    }
    if isCollection { #expect(asDocument?.message.contains("\(text) is a collection") == true) }
  }

  @Test(
    "paths of fields",
    arguments: [
      ("a", ["a"]), ("a.b", ["a", "b"]), ("`a.b`", ["a.b"]), ("`a b`.c", ["a b", "c"]),
      (#"a\.b"#, ["a.b"]), ("__name__", ["__name__"]), ("ä", ["ä"]), ("1", ["1"]),
      ("", nil), (".", nil), ("a.", nil), (".a", nil), ("`a", nil), ("a b", nil), (#"a\"#, nil),
    ] as [(String, [String]?)])
  func fields(text: String, names: [String]?) throws {
    guard let names else {
      #expect(failure { try fieldPath(text) }?.code == .usage)
      return
    }
    #expect(try fieldPath(text).names == names)
    #expect(try fieldPath(text).isKey == (text == "__name__"))
    #expect(try fieldPath(fieldPath(text).text) == fieldPath(text))
  }
}
