import Testing

@testable import tern_tidy

/// Breaches that were planted one at a time and not found by an earlier version of the rules.
@Suite("tidy: probes") struct ProbeTests {
  private let lines = String(repeating: "    work()\n", count: 70)

  @Test("a property and a closure of more than 70 lines are too long")
  func bodies() {
    let texts = [
      "struct S {\n  var long: Int {\n\(lines)  }\n}\n": "long has 72 lines, at most 70",
      "struct S {\n  let long = start {\n\(lines)  }\n}\n": "long has 72 lines, at most 70",
      "start(first: {\n\(lines)})\n": "closure has 72 lines, at most 70",
      "do {\n\(lines)} catch {}\n": "closure has 72 lines, at most 70",
      "struct S {\n  var short = 1 {\n    didSet {\n\(lines)    }\n  }\n}\n":
        "short has 74 lines, at most 70",
    ]
    for (text, message) in texts {
      #expect(LengthRules.check(file("Tests/A.swift", text)).map(\.message) == [message])
    }
  }

  @Test("a type is measured over all its extensions, without the types in it")
  func types() {
    let half = String(repeating: "  var x: Int { 1 }\n", count: 299)
    let first = file("Modules/Core/A.swift", "struct S {\n\(half)}\n")
    let second = file("Modules/Core/B.swift", "extension S {\n\(half)}\n")
    #expect(LengthRules.checkTypes([first, second]).map(\.amount) == [602])
    let elsewhere = file("Modules/Query/B.swift", "extension S {\n\(half)}\n")
    #expect(LengthRules.checkTypes([first, elsewhere]) == [])
    let nested = file("Modules/Core/B.swift", "extension S {\n  struct T {\n\(half)}\n}\n")
    #expect(LengthRules.checkTypes([first, nested]) == [])
  }

  @Test(
    "clocks, randomness, queues and output of the surroundings",
    arguments: [
      "let a = Foundation.Date()", "let a = Date.now", "let a = ContinuousClock.now",
      "let a = ContinuousClock().now", "var a = SystemRandomNumberGenerator()",
      "let a = b.shuffled()", "b.shuffle()", "let a = b.randomElement()",
      "DispatchQueue.global().async {}", "print(a)", "Swift.print(a)", "debugPrint(a)",
      "usleep(10)", "queue.asyncAfter(deadline: a) {}",
    ])
  func surroundings(text: String) {
    #expect(CallRules.check(file("Modules/Core/A.swift", text)).map(\.rule) == ["banned-call"])
    #expect(CallRules.check(file("Apps/tern/A.swift", text)) == [])
  }

  @Test(
    "members of the same names, and calls that name a generator",
    arguments: [
      "log.print(a)", "func print(_ a: Int) {}", "b.shuffled(using: &generator)",
      "b.randomElement(using: &generator)", "let a: Bool = try !print", "calendar.Date()",
    ])
  func members(text: String) {
    #expect(CallRules.check(file("Modules/Core/A.swift", text)) == [])
  }

  @Test(
    "try!, as! and x! in programs",
    arguments: [
      "let a = try! b()", "let a = b as! C", "let a = b!", "let a = b()!", "let a = b[0]!.c",
      "var a: String!",
    ], ["Modules/Core", "Apps/tern", "Tools/bench"])
  func traps(text: String, folder: String) {
    let file = file(folder + "/A.swift", text)
    #expect((CallRules.check(file) + SafetyRules.check(file)).count == 1)
  }

  @Test(
    "a negation is no force unwrap",
    arguments: ["if !a, a != b {}", "let a = try !b()", "f(!a)", "let a = b as? C", "x.map(!)"])
  func negations(text: String) {
    let file = file("Modules/Core/A.swift", text)
    #expect(CallRules.check(file) + SafetyRules.check(file) == [])
  }

  @Test(
    "a switched-off check has its proof beside it",
    arguments: [
      ("final class A: @unchecked Sendable {}", 1),
      ("/// An A.\nfinal class A: @unchecked Sendable {}", 1),
      ("nonisolated(unsafe) static var a = 1", 1),
      (
        "/// An A.\n///\n/// `@unchecked Sendable` is sound because of its lock.\n@safe\nfinal class A: @unchecked Sendable {}",
        0
      ),
      ("// It is sound because it never changes.\nnonisolated(unsafe) let a = 1", 0),
      ("span.f(unchecked: 1)", 0),
    ])
  func proofs(text: String, count: Int) {
    #expect(SafetyRules.check(file("Modules/Core/A.swift", text)).count == count)
  }

  @Test(
    "declarations newer than the platforms",
    arguments: [
      "let a: InlineArray<4, Int>", "var a: [4 of Int]", "for await a in Observations({ b }) {}",
      "Task.immediate {}", "let a = b.utf8Span", "let a = b.utf8.span", "f(\"c\".utf8.span)",
    ])
  func platforms(text: String) {
    #expect(CallRules.check(file("Modules/Core/A.swift", text)).map(\.rule) == ["platform"])
  }

  @Test("the columns must not see each other through a module in between")
  func columns() {
    let rules = ImportRules(
      manifest: manifest([
        ("TernCore", []), ("TernHelper", ["TernCore"]), ("TernSync", ["TernHelper"]),
      ]))
    #expect(
      rules.checkManifest().map(\.message) == [
        "TernSync: TernSync is floor: it knows no value, and so not TernCore (through TernHelper)"
      ])
  }

  @Test("a dependency that no file imports is found, one on a program is not")
  func unused() {
    var targets = manifest([
      ("TernCore", []), ("TernStorage", []), ("TernQuery", ["TernCore", "TernStorage"]),
    ]).targets
    targets.append(
      Manifest.Target(
        name: "tern", path: "Apps/tern", dependencies: [], isSystemLibrary: false, isProgram: true))
    targets.append(
      Manifest.Target(
        name: "TernEndToEndTests", path: "Tests/EndToEnd", dependencies: ["tern"],
        isSystemLibrary: false))
    let rules = ImportRules(manifest: Manifest(targets: targets))
    let files = [
      file("Modules/Query/A.swift", "import TernCore"),
      file("Tests/EndToEnd/A.swift", "import Testing"),
    ]
    #expect(rules.checkUse(of: files).map(\.subject) == ["TernQuery->TernStorage"])
  }

  @Test("a library has something public")
  func products() {
    var manifest = manifest([("TernCore", []), ("TernQuery", [])])
    manifest.libraries = ["TernCore", "TernQuery"].map { Manifest.Library(name: $0, targets: [$0]) }
    let files = [
      file("Modules/Core/A.swift", "package struct A {}"),
      file("Modules/Query/A.swift", "public struct A {}"),
    ]
    let findings = ImportRules(manifest: manifest).checkProducts(files)
    #expect(findings.map(\.subject) == ["TernCore"])
  }

  @Test("a comment of more than 100 columns is too wide")
  func width() {
    let text = "// " + String(repeating: "é", count: 97)
    #expect(CommentRules.checkWidth(file("Tests/A.swift", text)) == [])
    #expect(CommentRules.checkWidth(file("Tests/A.swift", text + "é")).count == 1)
    #expect(CommentRules.checkWidth(file("Tests/A.swift", "let a = \"\(text)\"")) == [])
  }

  @Test("a summary is no question, a process no human")
  func prose() {
    let text = [
      "/// Whether it is open.",
      "///",
      "/// What follows is no summary.",
      "var isOpen: Bool",
      "// Nobody reads this. No one does.",
      "/// True when it is open.",
      "var isClosed: Bool  // someone",
      "let text = \"somebody\"",
    ].joined(separator: "\n")
    let prose = CommentRules.prose(of: file("Modules/Core/A.swift", text))
    #expect(prose.lines == 6)
    #expect(prose.summaries == 2)
    #expect(prose.findings.map(\.line) == [1, 5, 7])
    #expect(
      prose.findings.map(\.rule) == ["prose-summary", "prose-people", "prose-people"])
  }

  @Test("pages and names of tests speak of processes, too")
  func pages() {
    let page = ["Nobody waits.", "```", "let nobody = 1", "```", "A `nobody` and a client."]
    #expect(
      CommentRules.checkPage("Docs/A.md", page.joined(separator: "\n")).map(\.line) == [1])
    let names = [
      "@Suite(\"Clients of somebody\") struct A {", "  @Test(\"a client waits\") func a() {}",
      "  @Test(", "    \"whoever waits\", arguments: [1])", "  func b() { f(\"nobody\") }", "}",
    ].joined(separator: "\n")
    #expect(CommentRules.checkNames(file("Tests/A.swift", names)).map(\.line) == [1, 4])
    #expect(CommentRules.checkNames(file("Modules/A.swift", names)) == [])
  }
}

func manifest(_ targets: [(String, [String])]) -> Manifest {
  Manifest(
    targets: targets.map { name, dependencies in
      Manifest.Target(
        name: name, path: "Modules/" + name.dropFirst(4), dependencies: dependencies,
        isSystemLibrary: false)
    })
}
