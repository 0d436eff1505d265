import TernTestKit
import Testing

@testable import TernCore

@Suite("Limits of the tree, at their borders")
struct TreeLimitTests {
  private func path(_ count: Int) -> TreePath {
    TreePath(unchecked: (0..<count).map { TreeKey(unchecked: "k\($0)") })
  }

  private func nested(_ levels: Int) -> TreeNode {
    var node: TreeNode = 1
    for _ in 0..<levels { node = ["k": node] }
    return node
  }

  @Test("a value lies 32 levels deep at most, however the levels are split", arguments: 0...32)
  func depth(levels: Int) throws {
    for (above, isAllowed) in [(31, true), (32, true), (33, false)] where above >= levels {
      let write = TreeWrite.set(path(above - levels), nested(levels))
      let error = isAllowed ? nil : TreeError.tooDeep(count: above, limit: 32)
      #expect(failure { try write.validate() } == error, "\(levels) of \(above)")
    }
  }

  @Test("a deletion below every value is allowed, as is the priority of the deepest")
  func deepest() throws {
    try TreeWrite.set(path(40), .empty).validate()
    try TreeWrite.set(path(32).appending(.priority), 1).validate()
    #expect(throws: TreeError.tooDeep(count: 33, limit: 32)) {
      try TreeWrite.set(path(33).appending(.priority), 1).validate()
    }
  }

  @Test("a path has 256 segments at most", arguments: [(255, true), (256, true), (257, false)])
  func segments(count: Int, isAllowed: Bool) {
    let text = repeatElement("s", count: count).joined(separator: "/")
    let error = isAllowed ? nil : TreeError.tooDeep(count: count, limit: 256)
    #expect(failure { _ = try TreePath(text) } == error)
    #expect(failure { _ = try TreePath(writable: text + "/.priority") } == error)
  }

  @Test("the bytes of a path count to the value, slashes included", arguments: [767, 768, 769])
  func pathBytes(count: Int) throws {
    let error = count > 768 ? 768 : nil
    let key = TreeKey(unchecked: String(repeating: "x", count: count - 1))
    #expect(TreePath([key]).byteCount == count)
    #expect(tooLong { try TreePath([key]).validateLength() } == error)
    #expect(tooLong { try TreeWrite.set(TreePath([key]), 1).validateForStoring() } == error)
    // The same bytes, half of them in the value; a letter of two bytes counts as two.
    let half = TreeKey(unchecked: String(repeating: "\u{E9}", count: 100))
    let rest = TreeKey(unchecked: String(repeating: "y", count: count - 202))
    let inner = TreeNode(children: ChildMap(unsorted: [(key: rest, node: TreeNode(1))]))
    #expect(tooLong { try TreeWrite.set(TreePath([half]), inner).validateForStoring() } == error)
    let merge = try TreeMerge([.init(path: TreePath([rest]), node: 1)])
    #expect(tooLong { try TreeWrite.merge(TreePath([half]), merge).validateForStoring() } == error)
    // A priority is named by no bytes.
    let priority = TreePath([key]).appending(.priority)
    #expect(tooLong { try TreeWrite.set(priority, 1).validateForStoring() } == error)
  }

  @Test("strings have 10 MiB at most, as values and as priorities", arguments: [-1, 0, 1])
  func strings(excess: Int) {
    let count = TreeLimits.stringBytes + excess
    let text = TreeScalar.string(String(repeating: "x", count: count))
    let error =
      excess > 0 ? TreeError.stringTooLong(byteCount: count, limit: TreeLimits.stringBytes) : nil
    #expect(failure { try TreeWrite.set("a", TreeNode(text)).validate() } == error)
    #expect(failure { try TreeWrite.set("a", TreeNode(1, priority: text)).validate() } == error)
  }

  static let broken: [(String, TreeWrite, TreeError)] = [
    ("read only", .set(.init(unchecked: [.info]), 1), .readOnly(.init(unchecked: [.info]))),
    ("info inside", .set(.init(unchecked: ["a", .info]), 1), .invalidKey(".info")),
    ("priority inside", .set(.init(unchecked: [.priority, "a"]), 1), .invalidKey(".priority")),
    ("children as priority", .set(.init(unchecked: [.priority]), ["a": 1]), .invalidPriority),
    (
      "priority of a priority", .set(.init(unchecked: ["a", .priority]), TreeNode(1, priority: 2)),
      .invalidPriority
    ),
    ("boolean as priority", .set("a", ["b": TreeNode("x", priority: true)]), .invalidPriority),
    ("infinite priority", .set("a", TreeNode(1, priority: .double(.infinity))), .invalidPriority),
    ("infinity", .set("a", ["b": ["c": TreeNode(.double(-.infinity))]]), .notFinite),
    (
      "increment of text", .set("a", TreeNode(.serverValue(.increment("x")))), .invalidServerValue
    ),
    (
      "increment by infinity", .set("a", TreeNode(.serverValue(.increment(.double(.infinity))))),
      .notFinite
    ),
    (
      "increment as a priority", .set("a", TreeNode(1, priority: .serverValue(.increment(true)))),
      .invalidServerValue
    ),
  ]

  @Test("each rule of a write has its error", arguments: Self.broken)
  func rules(name: String, write: TreeWrite, error: TreeError) throws {
    #expect(failure { try write.validate() } == error)
    // As a part of an update the rule is the same.
    guard case .set(let path, let node) = write, !path.isInfo else { return }
    let merge = try TreeMerge([.init(path: path, node: node), .init(path: "z", node: 1)])
    #expect(failure { try TreeWrite.merge(.root, merge).validate() } == error)
  }

  @Test("valid writes that look like broken ones")
  func allowed() throws {
    try TreeWrite.set(.init(unchecked: ["a", .priority]), .empty).validate()
    try TreeWrite.set("a", TreeNode(1, priority: .serverValue(.timestamp))).validate()
    try TreeWrite.set("a", TreeNode(1, priority: .serverValue(.increment(0.5)))).validate()
    try TreeWrite.merge("a", TreeMerge([])).validate()
  }

  private func failure(_ body: () throws -> Void) -> TreeError? {
    do { try body() } catch { return error as? TreeError }
    return nil
  }

  private func tooLong(_ body: () throws -> Void) -> Int? {
    guard case .pathTooLong(_, let limit) = failure(body) else { return nil }
    return limit
  }
}
