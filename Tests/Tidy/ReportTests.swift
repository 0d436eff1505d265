import Testing

@testable import tern_tidy

@Suite("tidy: known findings") struct RatchetTests {
  private func finding(
    _ rule: String, _ file: String = "A", subject: String = "", amount: Int = 1
  ) -> Finding {
    Finding(file: file, line: 1, rule: rule, message: "m", subject: subject, amount: amount)
  }

  private let text = "# heading\ntype-length S 700\nprose 2\n"

  @Test("figures at or below the known ones pass, others fail with their findings")
  func apply() throws {
    let ratchet = try Ratchet(text)
    let size = finding("type-length", subject: "S", amount: 700)
    let passing = ratchet.apply(to: [size, finding("prose"), finding("prose")], changed: [])
    #expect(passing.failing == [])
    #expect(passing.known == 3)
    let larger = finding("type-length", subject: "S", amount: 701)
    #expect(
      ratchet.apply(to: [larger], changed: []).failing.map(\.message)
        == ["m", "701 instead of at most 700 S"])
    let other = finding("type-length", subject: "T", amount: 601)
    #expect(ratchet.apply(to: [other], changed: []).failing == [other])
  }

  @Test("too many findings of a rule are listed where the branch changed files")
  func changed() throws {
    let all = [finding("prose", "A"), finding("prose", "B"), finding("prose", "C")]
    let failing = try Ratchet(text).apply(to: all, changed: ["B"]).failing
    #expect(failing.map(\.file) == ["B", Ratchet.path])
  }

  @Test("figures fall with the findings and never rise")
  func lower() throws {
    let size = finding("type-length", subject: "S", amount: 650)
    let more = [finding("prose"), finding("prose"), finding("prose"), finding("new")]
    let lowered = try Ratchet(text).lowered(to: [size] + more)
    #expect(lowered == (try Ratchet("type-length S 650\nprose 2\n")))
    #expect(try Ratchet(lowered.text) == lowered)
    #expect(try Ratchet(text).lowered(to: []) == Ratchet(""))
  }

  @Test(
    "a line that cannot be read is an error", arguments: ["prose", "prose x", "a b c 1", "a 0"])
  func unreadable(line: String) {
    #expect(throws: Command.Failure.self) { try Ratchet(line) }
  }
}

@Suite("tidy: pages") struct PageTests {
  private let three = manifest([
    ("TernCore", []), ("TernQuery", ["TernCore"]), ("TernClient", ["TernCore", "TernQuery"]),
  ])

  private func page(_ picture: String) -> String {
    "# Title\n```\n\(picture)\n```\n| module | job |\n| `Core` | a |\n| `Query`, `Client` | b |\n"
  }

  private func messages(_ text: String) -> [String] {
    PictureRules(manifest: three).check(text).map(\.message)
  }

  @Test(
    "a picture with all arrows, or those from which the others follow",
    arguments: [
      " ends   Client -> Query (and more -> less)   Query -> Core", "Client -> Query -> Core",
      "Client -> Query, Core\nQuery -> Core",
    ])
  func complete(picture: String) {
    #expect(messages(page(picture)) == [])
  }

  @Test("arrows and modules that only one of both has")
  func differences() {
    #expect(
      messages(page("Client -> Core   Query -> Core"))
        == ["Package.swift has Client -> Query, the picture has not"])
    #expect(
      messages(page("Client -> Query   Query -> Core   Core -> Query"))
        == ["the picture has Core -> Query, Package.swift has not"])
    #expect(
      messages(page("Client -> Query   Query -> Core, Wires"))
        == ["the picture names Wires, which is no module"])
    #expect(
      messages(page("Client -> Query   Query -> Core").replacing("`Query`, ", with: ""))
        == ["the table of modules does not have `Query`"])
  }

  @Test("a relative link leads to a file")
  func links() {
    let text = """
      [a](../A.swift) [b](Guides/B.md#part) [c](https://example.com/c) [d](#part)
      ```
      [e](e)
      ```
      [f](F.md)
      """
    let there: Set = ["A.swift", "Docs/Guides/B.md"]
    let findings = LinkRules.check("Docs/Page.md", text) { there.contains($0) }
    #expect(findings.map(\.line) == [5])
  }
}

@Suite("tidy: figures") struct FiguresTests {
  @Test("shares and sizes of a small code base")
  func rows() async {
    let files = [
      file("Modules/Core/A.swift", "/// Whether.\nstruct A {\n  func f() {\n    g()\n  }\n}\n"),
      file("Tests/Core/A.swift", "// somebody\nlet a = 1\nlet b = 2\n"),
    ]
    let findings = files.flatMap { CommentRules.prose(of: $0).findings }
    let figures = Figures(
      files: files, manifest: Manifest(targets: []), findings: findings)
    let rows = Dictionary(uniqueKeysWithValues: figures.rows.map { ($0.name, $0.value) })
    #expect(rows["files and lines in Modules"] == "1 / 6")
    #expect(rows["function: median / p90 / longest"] == "3 / 3 / 3")
    #expect(rows["largest types"] == "Modules/Core.A 5")
    #expect(rows["summaries that begin with a question word"] == "100.0 %")
    #expect(rows["comment lines that speak of people"] == "50.0 %")
    #expect(rows["lines of tests to lines of source"] == "0.5")
  }
}
