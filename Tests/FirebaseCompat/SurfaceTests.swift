import Foundation
import Testing

@Suite struct SurfaceTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

  /// Firebase's declarations, with how many have the name.
  private static func declared() throws -> [String: Int] {
    let text = try String(
      contentsOf: folder.appendingPathComponent("Firebase.txt"), encoding: .utf8)
    var names: [String: Int] = [:]
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: " ")
      let count = parts.last.flatMap { $0.hasPrefix("x") ? Int($0.dropFirst()) : nil }
      names[(count == nil ? parts : parts.dropLast()).joined(separator: " ")] = count ?? 1
    }
    return names
  }

  /// The declarations that the documentation lists as missing, with their reasons.
  private static func documented() throws -> [String: String] {
    let page = folder.deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent(
        "Modules/FirebaseCompat/Documentation.docc/TernFirebaseCompat.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    var reasons: [String: String] = [:]
    guard let section = text.components(separatedBy: "### Missing declarations").dropFirst().first
    else { return reasons }
    for line in section.components(separatedBy: "\n##")[0].split(separator: "\n") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 2, cells[0].hasPrefix("`") else { continue }
      for name in cells[0].components(separatedBy: ", ") {
        reasons[name.trimmingCharacters(in: CharacterSet(charactersIn: "`"))] = cells[1]
      }
    }
    return reasons
  }

  @Test("every declaration of Firebase's is there, or listed as missing with its reason")
  func compare() throws {
    let declared = try Self.declared()
    #expect(declared.values.reduce(0, +) > 600)
    let present = try SymbolGraph.extract(["TernFirebaseCompat", "FirebaseDatabase"]).names
    let missing = Set(declared.filter { present[$0.key, default: 0] < $0.value }.keys)
    let reasons = try Self.documented()
    #expect(missing.subtracting(reasons.keys).sorted() == [], "missing without a reason")
    #expect(Set(reasons.keys).subtracting(missing).sorted() == [], "listed, but not missing")
    #expect(reasons.values.allSatisfy { $0.count > 10 })
  }

  @Test("a declaration has a name for each parameter that may be left out")
  func callableNames() {
    #expect(
      SymbolGraph.callable(
        "a(_:b:c:)", "func a<T: B<C, D>>(_ x: [T: (A, B) -> C], b: Int = f(1, 2), c: T? = nil) -> Y"
      )
        == ["a(_:b:c:)", "a(_:b:)", "a(_:c:)", "a(_:)"])
    #expect(SymbolGraph.callable("a()", "func a() -> (B, C)") == ["a()"])
    #expect(SymbolGraph.callable("a", "var a: Int { get }") == ["a"])
  }
}
