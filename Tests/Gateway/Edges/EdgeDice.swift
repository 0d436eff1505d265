import TernCore
import TernTestKit

/// A write to a tree, legal as far as a client can know.
enum EdgeRequest {
  case set(TreePath, TreeNode)
  case update(TreePath, [(path: TreePath, node: TreeNode)])

  var path: TreePath {
    switch self {
    case .set(let path, _), .update(let path, _): path
    }
  }

  var assignments: [(path: TreePath, node: TreeNode)] {
    switch self {
    case .set(let path, let node): [(path, node)]
    case .update(let path, let entries): entries.map { (path.appending($0.path), $0.node) }
    }
  }
}

/// Draws requests at the edges of all limits from a seed.
struct EdgeDice {
  private var random: SeededGenerator
  private var number = 0

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func roll(_ count: Int) -> Int { random.roll(count) }

  /// - Parameter longest: The most bytes of a string value.
  mutating func request(longest: Int) -> EdgeRequest {
    number += 1
    if roll(4) > 0 { return .set(path(from: "a\(number)"), node(longest: longest)) }
    let base = TreePath([TreeKey(unchecked: "u\(number)")])
    let count = [1, 2, longest < 10_000 ? 4 : 40][roll(3)]
    let entries = (0..<count).map { index in
      (path: path(from: "\(index)", most: roll(2) == 0 ? 700 : 3_000), node: leaf(longest: 400))
    }
    return .update(base, entries)
  }

  /// A path of its own whose segments are short, long, numbers, and as many as may be.
  private mutating func path(
    from first: String, most: Int = TreeLimits.storedPathBytes
  ) -> TreePath {
    var keys = [TreeKey(unchecked: first)]
    var left = most - 16 - roll(3)
    let depth = roll(2) == 0 ? TreeLimits.depth - 1 : 1 + roll(TreeLimits.depth)
    while keys.count < depth - roll(2), left > 4 {
      let text =
        switch roll(4) {
        case 0: "7"
        case 1: "-" + String(repeating: "0", count: min(left, 1 + roll(100))) + "7"
        case 2: String(repeating: "\u{10FFFF}", count: max(1, min(left - 1, 1 + roll(768)) / 4))
        default: String(repeating: "z", count: min(left - 1, roll(2) == 0 ? 768 : 9))
        }
      left -= text.utf8.count + 1
      keys.append(TreeKey(unchecked: text))
    }
    return TreePath(keys)
  }

  private mutating func leaf(longest: Int) -> TreeNode {
    switch roll(5) {
    case 0: TreeNode(.bool(true))
    case 1: TreeNode(.double(1e300))
    case 2: TreeNode(.integer(.min))
    case 3: TreeNode(.string(String(repeating: "\u{1}", count: roll(longest / 6))))
    default: TreeNode(.string(String(repeating: "\u{10FFFF}", count: roll(longest / 4))))
    }
  }

  private mutating func node(longest: Int) -> TreeNode {
    let long = String(repeating: "p", count: roll(longest / 2))
    let text =
      switch roll(5) {
      case 0: #"{".value": 3, ".priority": "\#(long)"}"#
      case 1: #"{"0": 1, "007": "\#(long)", "b": {"c": {".value": 1e-7, ".priority": -1}}}"#
      case 2: "[" + String(repeating: "true,", count: roll(longest / 100)) + "1]"
      default: ""
      }
    return (try? TreeNode(json: Array(text.utf8))) ?? leaf(longest: longest)
  }

  /// A key of its own; ids of zeros take twice their bytes in rows.
  mutating func documentKey() -> DocumentKey {
    number += 1
    var text = "c\(number)/"
    if roll(2) == 0 { text += id(1_400) + "/" + id(DocumentLimits.idBytes) + "/" }
    return DocumentKey(unchecked: text + id(DocumentLimits.idBytes))
  }

  private mutating func id(_ most: Int) -> String {
    let letter = ["\u{0}", "x", "\u{10FFFF}"][roll(3)]
    let bytes = [1, 200, most][roll(3)]
    return String(repeating: letter, count: max(1, bytes / letter.utf8.count))
  }

  mutating func documentFields() -> DocumentFields {
    let zeros = String(repeating: "\u{0}", count: 1_490)
    let text = DocumentValue.string(roll(2) == 0 ? zeros : "short")
    var map = DocumentMap()
    map[roll(2) == 0 ? String(repeating: "n", count: 1_490) : zeros] = text
    map["list"] = .array([text, .bytes([UInt8](repeating: 0, count: roll(3_000))), .null])
    if roll(12) == 0 { map["much"] = .bytes([UInt8](repeating: 7, count: 1_000_000)) }
    return DocumentFields(map)
  }
}
