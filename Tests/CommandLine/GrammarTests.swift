import ArgumentParser
import Testing

@testable import tern

@Suite("command lines") struct GrammarTests {
  private func complaint(_ words: [String]) -> String? {
    do {
      _ = try TernCommand.parseAsRoot(words)
      return nil
    } catch {
      // Help and the version are no mistakes.
      return TernCommand.exitCode(for: error).isSuccess ? nil : TernCommand.message(for: error)
    }
  }

  @Test(
    "lines that are understood",
    arguments: [
      "get a", "get a --server h:1 --json", "get a --timeout 5m", "set a 1", "set a x --text",
      "update a {}", "push a 1", "remove a --yes", "remove a -y", "watch a", "query a --first 3",
      "import a f --key-by id --merge", "export a", "export a f --page-size 0", "ping", "shell",
      "doc get c/d", "doc set c/d {} --merge --if-missing", "doc add c {}", "doc update c/d",
      "doc update c/d --increment n=1", "doc delete c/d --if-exists", "doc query c --count",
      "doc query c --explain --cache f", "doc watch c --group --count 3", "doc collections",
      "doc import f --from-line 7", "doc export / f --flat --page-size 300", "pending --cache f",
      "pending list --cache f --typed", "pending retry d7 --cache f", "pending discard 7 --cache f",
      "pending salvage --cache f --set-aside", "serve", "serve --dev --port 0", "rules check f",
      "rules test f c", "rules explain f c", "auth sign --key k ann", "tokens list",
      "auth sign --key k --administrator", "auth verify --auth-keys k t", "auth inspect t",
      "auth revoke ann --list f", "verify", "verify b1 b2", "verify --cache f", "salvage",
      "config", "config check", "config show --json", "backup d --rate 64KiB", "restore f --at 7",
      "status", "top --interval 1", "bench writes fanout --clients 1 --size 1", "connections",
      "connections list --limit 1000", "connections close a b", "databases delete d --yes",
      "logs -f", "cluster", "cluster step-down", "manual", "tour", "exec -- npm test", "help doc",
      "--version",
    ])
  func understood(line: String) {
    #expect(complaint(line.split(separator: " ").map(String.init)) == nil)
  }

  @Test(
    "lines that ask for what is not there",
    arguments: [
      ("get", "Missing expected argument"), ("get a b", "Unexpected argument"),
      ("get a --timeout 0", "--timeout must be at least 1"), ("get a --timeout x", "--timeout"),
      ("get a --storage lmdb", "--storage needs --cache"), ("set a", "Missing expected argument"),
      ("export a --page-size -1", "page-size"), ("doc get", "Missing expected argument"),
      ("doc query c --explain", "--explain needs --cache"),
      ("doc query c --limit 1 --limit-to-last 1", "only one of --limit"),
      ("doc set c/d {} --if-missing --if-exists", "only one of --if-exists"),
      ("doc export c --page-size 0", "--page-size must be in 1...300"),
      ("doc export c --page-size 301", "--page-size must be in 1...300"),
      ("pending", "--cache is missing"), ("pending send", "--cache is missing"),
      ("pending retry x --cache f", "'x'"), ("pending discard 7", "--cache is missing"),
      ("auth sign --key k", "Give the id of a user"),
      ("auth sign --key k ann --administrator", "Give the id of a user"),
      ("auth sign ann", "--key"), ("auth verify t", "--auth-keys is missing"),
      ("backup d --rate 65535", "--rate must be at least 65536"), ("backup d --rate 1x", "--rate"),
      ("backup d --path p --server h", "give one"), ("restore", "Missing expected argument"),
      ("top --interval 0", "--interval must be at least 1"), ("top --count=-1", "--count"),
      ("bench --clients 0", "from 1 to 256"), ("bench --clients 257", "from 1 to 256"),
      ("bench --size 0", "--size"), ("bench --size 1048577", "--size is at most 1 MiB"),
      ("bench --duration 0", "--duration must be at least 1"), ("bench jumps", "jumps"),
      ("connections list --limit 0", "from 1 to 1000"),
      ("connections list --limit 1001", "from 1 to 1000"), ("connections close", "Missing"),
      ("cluster status --shard -1", "--shard"), ("import a", "Missing expected argument"),
      ("serve --colour", "Unknown option"), ("rules test f", "Missing expected argument"),
    ])
  func mistakes(line: String, message: String) {
    let words = line.split(separator: " ").map(String.init)
    let complaint = complaint(words)
    #expect(complaint?.contains(message) == true, "\(String(describing: complaint))")
  }

  @Test("complaints about units say what one is")
  func units() {
    for (line, advice) in [
      ("get a --timeout x", "; a time is 45, 30s, 10m, 12h or 30d"),
      ("backup d --rate 1x", "; a size is 4096, 64MB or 64MiB"), ("get a --first x", ""),
    ] {
      let words = line.split(separator: " ").map(String.init)
      let text = complaint(words) ?? ""
      #expect(unitAdvice(text.hasSuffix(".") ? String(text.dropLast()) : text) == advice, "\(text)")
    }
  }

  @Test("every command has words about itself, in a line")
  func abstracts() {
    func check(_ command: any ParsableCommand.Type, _ path: String) {
      let abstract = command.configuration.abstract
      #expect(!abstract.isEmpty && abstract.hasSuffix(".") && !abstract.contains("\n"), "\(path)")
      for child in command.configuration.subcommands
        + command.configuration.groupedSubcommands
        .flatMap(\.subcommands)
      {
        check(child, "\(path) \(child._commandName)")
      }
    }
    check(TernCommand.self, "tern")
  }

  @Test("the words that name a command are those before its arguments")
  func verbs() {
    for (words, verbs) in [
      (["get", "a"], ["get"]), (["doc", "get", "get"], ["doc", "get"]), ([], []),
      (["tokens", "list"], ["tokens", "list"]), (["--json", "get"], []), (["x"], []),
    ] {
      #expect(VerbCheck.verbs(in: words) == verbs)
    }
  }

  @Test(
    "the nearest word is one that a slip makes of it",
    arguments: [
      ("get", "get"), ("gte", "get"), ("gett", "get"), ("ge", "get"), ("et", "get"), ("g", nil),
      ("xy", nil), ("status", "status"), ("stat", "status"), ("statusses", "status"),
      ("import-sh", "import-shard"), ("", nil), ("zzzzzz", nil),
    ] as [(String, String?)])
  func nearest(word: String, expected: String?) {
    let known = ["get", "status", "import-shard", "set-aside"]
    #expect(VerbCheck.nearest(to: word, among: known) == expected)
  }
}
