import TernCore
import TernQuery
import Testing

@testable import tern

@Suite("lines of a shell") struct ShellCommandTests {
  @Test(
    "each word is its command",
    arguments: [
      ("", .nothing), ("   ", .nothing), ("set a 1", .set("a", 1)), ("  set   a   1", .set("a", 1)),
      ("set a/b {\"c\": [1, 2]}", .set("a/b", ["c": ["0": 1, "1": 2]])),
      (#"update a {"b/c": 1, "d": null}"#, .update("a", ["b/c": 1, "d": .empty])),
      ("push a true", .push("a", TreeNode(.bool(true)))), ("remove a", .remove("a")),
      ("get /", .get("/")), ("watch a/b", .watch("a/b")), ("unwatch a", .unwatch("a")),
      ("pending", .pending), ("offline", .offline), ("online", .online), ("settle", .settle),
      ("help", .help), ("?", .help), ("exit", .exit), ("quit", .exit),
      ("doc get c/d", .document(.get("c/d"))),
    ] as [(String, ShellCommand)])
  func commands(line: String, command: ShellCommand) throws {
    #expect(try ShellCommand(line) == command)
  }

  @Test(
    "what is no command says why",
    arguments: [
      ("set", "set needs a path"), ("set a", "set needs a path and a JSON value"),
      ("set a x", "a text needs quotes"), ("set a {", "not JSON"), ("set a {\".x\": 1}", ".x"),
      ("update a 1", "update takes a JSON object"), ("update a {}x", "not JSON"),
      ("update a {\"b\": 1, \"b\": 2}", "update: b comes twice"),
      ("update a {\"b\": {\"x.y\": 1}}", "update: b: "), ("push", "push needs a path"),
      ("remove", "remove needs a path"), ("get", "get needs a path"),
      ("remove my key", "remove takes a path and nothing else"), ("get a b c", "nothing else"),
      ("watch a b", "nothing else"), ("unwatch a b", "nothing else"),
      ("SET a 1", "no command 'SET'"), ("x", "no command 'x'; see: help"),
      ("remvoe a", "did you mean remove?"), ("doc", "no command 'doc '"),
    ])
  func mistakes(line: String, message: String) {
    let failure = failure { try ShellCommand(line) }
    #expect(failure?.code == .usage)
    #expect(failure?.message.contains(message) == true, "\(String(describing: failure))")
  }

  @Test("every word of the help is a command")
  func help() {
    for line in ShellCommand.helpText.split(separator: "\n") {
      for column in line.split(separator: "   ") {
        let word = column.trimmed.prefix { $0 != " " && $0 != "," }
        let failure = failure { try ShellCommand(String(word)) }
        // It may want more words, but it is known.
        #expect(failure?.message.contains("no command '\(word)'; ") != true, "\(column)")
      }
    }
  }

  @Test(
    "each word behind doc is its command",
    arguments: [
      ("doc get c/d", .get("c/d")), ("doc  get  c/d ", .get("c/d")),
      ("doc delete c/d", .delete("c/d")), ("doc unwatch c", .unwatch("c")),
      ("doc collections", .collections("/")), ("doc collections c/d", .collections("c/d")),
      (#"doc set c/d {"a": 1}"#, .set("c/d", fields: #"{"a": 1}"#, isMerge: false)),
      (#"doc set --merge c/d '{"a": 1}'"#, .set("c/d", fields: #"{"a": 1}"#, isMerge: true)),
      (#"doc update c/d  '{"a":  1}' "#, .update("c/d", fields: #"{"a":  1}"#)),
      ("doc query c", .query(["c"])),
      (
        #"doc query c --where 'a == "x y"' --limit 3"#,
        .query(["c", "--where", #"a == "x y""#, "--limit", "3"])
      ),
      (#"doc watch c --where "a == 1""#, .watch(["c", "--where", "a == 1"])),
      (#"doc query c '' a'b 'c"#, .query(["c", "", "ab c"])),
    ] as [(String, ShellDocumentCommand)])
  func documents(line: String, command: ShellDocumentCommand) throws {
    #expect(try ShellCommand(line) == .document(command))
  }

  @Test(
    "what is no command about documents says why",
    arguments: [
      ("doc get", "doc get needs a path"), ("doc get a/b c", "doc get needs a path"),
      ("doc set", "doc set needs a path and a JSON object"),
      ("doc set --merge c/d", "doc set needs a path and a JSON object"),
      ("doc update c/d", "doc update needs a path and a JSON object"),
      ("doc query", "doc query needs a path"), ("doc query --limit 1", "doc query needs a path"),
      ("doc watch 'c", "a quote is not closed"), ("doc query c \"a", "a quote is not closed"),
      ("doc fly", "no command 'doc fly'; see: help"), ("doc delete", "doc delete needs a path"),
    ])
  func documentMistakes(line: String, message: String) {
    let failure = failure { try ShellCommand(line) }
    #expect(failure?.code == .usage)
    #expect(failure?.message == message, "\(String(describing: failure))")
  }

  @Test("quotes around JSON are taken off in pairs only")
  func quotes() {
    for (text, plain) in [
      ("'1'", "1"), ("  '1'  ", "1"), ("''", ""), ("'", "'"), ("'1", "'1"), ("1'", "1'"),
      ("\"1\"", "\"1\""), ("'a' 'b'", "a' 'b"), ("", ""), ("{}", "{}"),
    ] {
      #expect(unquoted(text) == plain, "\(text)")
    }
  }

  @Test("flags of a shell's query are those of the command, mistakes as well")
  func flags() throws {
    let options = try DocumentQueryOptions.reading(["--limit", "3", "--order-by", "a"])
    #expect(options.limit == 3 && options.orderBy == ["a"])
    for flags in [["--limit"], ["--limit", "x"], ["--colour"], ["extra"]] {
      let failure = failure { try DocumentQueryOptions.reading(flags[...]) }
      #expect(failure?.code == .usage, "\(flags)")
    }
  }
}
