import TernTestKit

@testable import TernCore

/// Characters at the borders of encodings: one to four bytes, both sides of the surrogates,
/// controls and what canonical equivalence would join.
let borderScalars: [Unicode.Scalar] = [
  "\0", "\u{1}", "\t", " ", "\"", "\\", "-", ".", "/", "0", "7", "9", "A", "_", "`", "a", "z",
  "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{301}", "e", "\u{E9}", "\u{D7FF}", "\u{E000}",
  "\u{FFFD}", "\u{FFFF}", "\u{10000}", "\u{1F600}", "\u{10FFFF}",
]

/// A text of characters at the borders of encodings, of up to `most` of them.
func borderText(_ most: Int, using random: inout SeededGenerator) -> String {
  var text = String.UnicodeScalarView()
  for _ in 0..<random.roll(most + 1) {
    text.append(borderScalars[random.roll(borderScalars.count)])
  }
  return String(text)
}

/// The order of two lists, element by element; a prefix comes first.
func order<Element: Comparable>(_ left: [Element], _ right: [Element]) -> Int {
  if left.lexicographicallyPrecedes(right) { return -1 }
  return right.lexicographicallyPrecedes(left) ? 1 : 0
}

/// Keys of trees that are likely to meet: few names, numbers among them.
let meetingKeys = [
  "0", "1", "2", "10", "-1", "00", "a", "b", "a b", "\u{E9}", "e\u{301}", "\u{FFFF}",
]
.map { TreeKey(unchecked: $0) }

/// A scalar that can be stored, of any kind.
func randomScalar(using random: inout SeededGenerator) -> TreeScalar {
  let scalars: [TreeScalar] = [
    true, false, 0, 1, -1, .integer(.max), .integer(.min), .integer(1 << 53 + 1), 0.5, -2.5, 1e300,
    5e-324, "", "a", "\u{E9}", "e\u{301}", "\"\\\n\u{1F600}",
  ]
  return scalars[random.roll(scalars.count)]
}

/// A priority, or mostly none.
func randomPriority(using random: inout SeededGenerator) -> TreeScalar? {
  let priorities: [TreeScalar?] = [nil, nil, nil, 0, 1.5, -7, "", "p"]
  return priorities[random.roll(priorities.count)]
}

/// A node of any shape, at most `depth` levels deep.
func randomTree(depth: Int, using random: inout SeededGenerator) -> TreeNode {
  if depth == 0 || random.roll(3) == 0 {
    return TreeNode(randomScalar(using: &random), priority: randomPriority(using: &random))
  }
  var children = ChildMap()
  for _ in 0..<random.roll(6) {
    let key = meetingKeys[random.roll(meetingKeys.count)]
    children.set(key, randomTree(depth: depth - 1, using: &random))
  }
  return TreeNode(children: children, priority: randomPriority(using: &random))
}

/// A path of meeting keys, of up to `most` segments.
func randomPath(_ most: Int, using random: inout SeededGenerator) -> TreePath {
  TreePath(
    unchecked: (0..<random.roll(most + 1)).map { _ in meetingKeys[random.roll(meetingKeys.count)] })
}
