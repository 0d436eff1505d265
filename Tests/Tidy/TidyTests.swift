import Testing

@testable import tern_tidy

func file(_ path: String, _ text: String) -> SourceFile {
  SourceFile(path: path, text: text)
}

@Suite("tidy: code without comments and strings") struct SourceMaskTests {
  @Test(
    "what is not code is blanked, and nothing moves",
    arguments: [
      ("let a = 1 // as! b\nlet c", "let a = 1         \nlet c"),
      ("/* a /* b */ c */ d", "                  d"),
      ("f(\"try! x\", y)", "f(\"      \", y)"),
      ("f(\"a\\\"b\") + c", "f(\"    \") + c"),
      ("f(\"a \\(g(\"z\")) b\") + c", "f(\"             \") + c"),
      ("f(#\"a \\(b) \" c\"#) + d", "f(#\"          \"#) + d"),
      ("\"\"\"\nas!\n\"\"\"\nas!", "\"\"\"\n   \n\"\"\"\nas!"),
    ])
  func blanks(text: String, code: String) {
    var mask = SourceMask(Array(text.utf8))
    let masked = String(decoding: mask.run(), as: UTF8.self)
    #expect(masked == code)
    #expect(masked.utf8.count == text.utf8.count)
  }
}

@Suite("tidy: imports") struct ImportRulesTests {
  private let rules = ImportRules(
    manifest: Manifest(targets: [
      target("TernCore"), target("TernStorage"), target("TernSync", ["TernStorage"]),
      target("TernClient", ["TernCore", "TernSync"]),
    ]))

  private static func target(_ name: String, _ dependencies: [String] = []) -> Manifest.Target {
    Manifest.Target(
      name: name, path: "Modules/" + name.dropFirst(4), dependencies: dependencies,
      isSystemLibrary: false)
  }

  @Test("what is declared may be imported")
  func declared() {
    #expect(
      rules.check(
        file("Modules/Client/A.swift", "public import TernCore\nimport Synchronization")) == [])
  }

  @Test(
    "what is not declared, or forbidden by a layer, may not",
    arguments: [
      ("Modules/Client/A.swift", "import TernStorage"),
      ("Modules/Sync/A.swift", "internal import TernCore"),
      ("Modules/Core/A.swift", "@testable import TernClient"),
      ("Modules/Core/A.swift", "import Foundation"),
      ("Modules/Core/A.swift", "import Glibc"),
      ("Modules/Client/A.swift", "import struct NIOCore.ByteBuffer"),
      ("Modules/Unknown/A.swift", "let a = 1"),
    ])
  func forbidden(path: String, text: String) {
    #expect(rules.check(file(path, text)).count == 1)
  }

  @Test("a manifest that points upwards, or across the columns, is found")
  func manifest() {
    #expect(rules.checkManifest() == [])
    let upward = ImportRules(
      manifest: Manifest(targets: [Self.target("TernSync", ["TernCore"]), Self.target("TernCore")]))
    let messages = upward.checkManifest().map(\.message)
    #expect(messages.contains("TernSync: TernCore is not in a lower layer"))
    #expect(messages.contains { $0.contains("TernSync is floor") })
  }

  @Test("the packaged program and what it reaches import Foundation only without its essentials")
  func foundation() {
    let program = Manifest.Target(
      name: "tern", path: "Apps/tern", dependencies: ["TernClient"], isSystemLibrary: false,
      isProgram: true)
    let other = Manifest.Target(
      name: "tern-bench", path: "Tools/bench", dependencies: ["TernClient"],
      isSystemLibrary: false, isProgram: true)
    let rules = ImportRules(
      manifest: Manifest(targets: [Self.target("TernClient"), program, other]))
    let guarded = """
      #if canImport(FoundationEssentials)
        import FoundationEssentials
      #else
        import Foundation
      #endif
      """
    for path in ["Apps/tern/A.swift", "Modules/Client/A.swift"] {
      #expect(rules.check(file(path, guarded)) == [])
      #expect(rules.check(file(path, "import Foundation")).map(\.line) == [1])
      #expect(rules.check(file(path, guarded + "\nimport Foundation")).map(\.line) == [6])
      let inside = "#if canImport(FoundationEssentials)\n  import Foundation\n#endif"
      #expect(rules.check(file(path, inside)).map(\.line) == [2])
    }
    #expect(rules.check(file("Tools/bench/A.swift", "import Foundation")) == [])
  }
}

@Suite("tidy: lengths") struct LengthRulesTests {
  private func function(lines: Int) -> String {
    "struct S {\n  func long(\n    a: Int\n  ) -> Int {\n"
      + String(repeating: "    work()\n", count: lines - 4) + "  }\n  func short() {}\n}\n"
  }

  @Test("a function of 70 lines passes, one of 71 does not")
  func functions() {
    #expect(LengthRules.check(file("Modules/A.swift", function(lines: 70))) == [])
    let findings = LengthRules.check(file("Modules/A.swift", function(lines: 71)))
    #expect(findings.map(\.line) == [2])
    #expect(findings.first?.message == "long has 71 lines, at most 70")
  }

  @Test("a requirement has no body to measure")
  func requirements() {
    let text =
      "protocol P {\n  func a()\n  init(b: Int)\n}\nstruct T {\n"
      + String(repeating: "  var x = 1\n", count: 90) + "}\n"
    #expect(LengthRules.check(file("Modules/A.swift", text)) == [])
  }

  @Test("a file of 401 lines is too long, and a manifest of 501")
  func files() {
    func rules(_ path: String, lines: Int) -> [String] {
      let text = String(repeating: "let a = 1\n", count: lines)
      return LengthRules.check(file(path, text)).map(\.rule)
    }
    #expect(rules("Tests/A.swift", lines: 400) == [])
    #expect(rules("Tests/A.swift", lines: 401) == ["file-length"])
    #expect(rules("Package.swift", lines: 500) == [])
    #expect(rules("Package.swift", lines: 501) == ["file-length"])
  }

  @Test("the median is the middle length")
  func median() {
    let files = [3, 1, 2].map { file("A", String(repeating: "\n", count: $0)) }
    #expect(LengthRules.median(of: files) == 2)
    #expect(LengthRules.median(of: []) == 0)
  }
}

@Suite("tidy: calls") struct CallRulesTests {
  @Test(
    "banned in modules",
    arguments: [
      "let a = Date()", "let a = UUID()", "try await Task.sleep(for: b)", "let a = try! b()",
      "let a = b as! C", "fatalError(\"no\")", "Int.random(in: 0...9)",
      "let a = 1 // " + "TO" + "DO",
    ])
  func banned(text: String) {
    #expect(CallRules.check(file("Modules/Core/A.swift", text)).count == 1)
  }

  @Test(
    "not banned",
    arguments: [
      "let a = myDate()", "let a = \"as! b\"", "// never as! here", "let a = b as? C",
      "Int.random(in: 0...9, using: &generator)", "let a = TernUUID()",
    ])
  func allowed(text: String) {
    #expect(CallRules.check(file("Modules/Core/A.swift", text)) == [])
  }

  @Test("a test does not sleep")
  func sleeping() {
    #expect(CallRules.check(file("Tests/Core/A.swift", "usleep(10)")).count == 1)
    #expect(CallRules.check(file("Tests/Core/A.swift", "try! a()")) == [])
    #expect(CallRules.check(file("Tests/Core/A.swift", "func sleep(until: Instant)")) == [])
  }
}
