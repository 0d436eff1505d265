import Foundation
import TernCore
import TernSecurity
import TernTestKit
import Testing

/// Damaged rules files: refused or accepted, never a crash, never without end.
@Suite("Damaged rules files")
struct FuzzTests {
  private static let seeds: [UInt64] =
    ProcessInfo.processInfo.environment["TERN_SEED"].flatMap(UInt64.init).map { [$0] } ?? [11, 12]

  /// Files to damage; together they use the whole language.
  private static let originals = [
    #"""
    // comments
    {"rules": {".read": "auth != null && auth.uid === $x || query.limitToFirst <= 10", /* more */
      "$x": {".write": "!data.exists() ? newData.val() + 1 > -2.5e3 : root.child('a/' + $x).hasChild(\"b\")",
      ".validate": "newData.hasChildren(['a', 'b']) && newData.val().matches(/^[a-z\\d]{2,5}(x|y)*$/i)",
      ".indexOn": ["a", ".value"], "b": {".read": true}}}}
    """#,
    #"{"rules": {".write": "auth['token']['x'].replace('a', 'b').length % 3 * 2 / 1 >= now - 7"}}"#,
  ]

  private static let pieces = [
    "(", ")", "[", "]", "{", "}", "\"", "'", "/", "\\", "&&", "||", "?", ":", "!", "-", "+", "==",
    "<", ".", ",", "$x", "auth", "data", "newData", "null", "1e9", "/*", "*/", "//", "\\u", "\n",
    "matches(/", "{1000}", "*", "é", "\u{1F600}", "hasChildren([", ".child('", "\\ud83d",
  ]

  @Test("random damage is survived", arguments: seeds)
  func damage(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var accepted = 0
    let caller = RulesCaller(auth: ["uid": "a", "token": ["x": "aba"]], now: 5)
    let tree = TreeNodeSnapshot(["a": ["b": "abc"], "b": 2])
    for _ in 0..<6_000 {
      var bytes = Array(Self.originals.randomElement(using: &random)!.utf8)
      for _ in 0..<Int.random(in: 1...2, using: &random) { Self.damage(&bytes, &random) }
      do throws(RulesFileError) {
        let rules = try TreeRules(bytes)
        accepted += 1
        _ = try? rules.explainRead("a/b", by: caller, in: tree)
        _ = try? rules.explainWrite(["a"], by: caller, from: tree, to: tree)
      } catch {
        #expect(!error.problems.isEmpty)
        for problem in error.problems {
          #expect(problem.position.line >= 1 && problem.position.column >= 1)
        }
      }
    }
    print("fuzz, seed \(seed): \(accepted) of 6000 damaged files accepted")
    #expect(accepted > 50)
  }

  private static func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    let place = Int.random(in: 0..<bytes.count, using: &random)
    let end = min(bytes.count, place + Int.random(in: 1...12, using: &random))
    switch Int.random(in: 0..<6, using: &random) {
    case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
    case 1: bytes.removeSubrange(place..<end)
    case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
    case 3: bytes.removeLast(Int.random(in: 0..<bytes.count / 4, using: &random))
    case 4:
      let piece = pieces.randomElement(using: &random)!
      let count = Int.random(in: 0..<40, using: &random) == 0 ? 2_000 : 1
      bytes.insert(contentsOf: String(repeating: piece, count: count).utf8, at: place)
    default: bytes.replaceSubrange(place..<end, with: pieces.randomElement(using: &random)!.utf8)
    }
    if bytes.isEmpty { bytes = [0x7B] }
  }
}
