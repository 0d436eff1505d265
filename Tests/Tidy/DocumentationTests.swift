import Testing

@testable import tern_tidy

@Suite("tidy: documentation") struct DocumentationRulesTests {
  private func findings(_ text: String) -> [String] {
    let file = file("Modules/Core/A.swift", text)
    return DocumentationRules([file]).check(file).map(\.message)
  }

  @Test(
    "a public declaration is documented",
    arguments: [
      ("public struct A {}", "public struct A has no ///"),
      ("/// An A.\npublic struct A {\n  public static func b() {}\n}", "public func b has no ///"),
      ("/// An A.\npublic struct A {\n  public init() {}\n}", "public init init has no ///"),
      ("/// An A.\npublic struct A {\n  public var kind: Int\n}", "public var kind has no ///"),
      ("/// An A.\npublic struct A {\n  public func close() {}\n}", "public func close has no ///"),
      ("/// An A.\npublic enum A {\n  case b\n}", "public case b has no ///"),
      ("/// An A.\npublic protocol A {\n  func b()\n}", "public func b has no ///"),
      ("extension A {\n  public var b: Int { 1 }\n}", "public var b has no ///"),
    ])
  func missing(text: String, message: String) {
    // Another type's requirements exempt nothing here.
    let stranger =
      "/// P.\npublic protocol P {\n  /// D.\n  func close()\n  /// K.\n  var kind: Int { get }\n}\n"
    #expect(findings(stranger + text) == [message])
  }

  @Test(
    "documentation may stand above attributes; the inaccessible needs none",
    arguments: [
      "/// An A.\n@frozen\npublic struct A {}",
      "public import TernCore\npackage func c() {}\npublic extension A {}",
      "struct A {\n  public func b() {}\n}",
      "enum A {\n  case b\n}",
      "public func f() {\n  enum Inner { case a }\n}".replacing("public", with: "package"),
    ])
  func present(text: String) {
    #expect(findings(text) == [])
  }

  @Test("a witness inherits the documentation of its requirement")
  func witnesses() {
    let text =
      "/// P.\npublic protocol P {\n  /// D.\n  func d(_ a: Int, of b: Int)\n}\nextension A: P {\n"
    #expect(findings(text + "  public func d(_ x: Int, of y: Int) {}\n}") == [])
    #expect(findings(text + "  public func d(_ x: Int) {}\n}") == ["public func d has no ///"])
    #expect(
      findings("extension A: CustomStringConvertible {\n  public var description: String { a }\n}")
        == [])
    #expect(
      findings("extension A {\n  public var description: String { a }\n}")
        == ["public var description has no ///"])
    let inherited = "protocol Q: Hashable {}\nextension B: Q {\n"
    #expect(findings(inherited + "  public func hash(into hasher: inout Hasher) {}\n}") == [])
  }
}
