import TernCore
import TernSecurity
import Testing

/// A write laid over a tree answers as the tree with the write applied.
@Suite("Proposed trees")
struct ProposedSnapshotTests {
  @Test("agrees with the written tree on every node", arguments: [UInt64(1), 2])
  func agreement(seed: UInt64) throws {
    var generator = NaiveGenerator(seed: seed)
    for step in 0..<1_500 {
      let before = generator.node(depth: 3)
      var writes: [TreeMerge.Entry] = []
      for _ in 0..<Int.random(in: 1...4, using: &generator.random) {
        let isPriority = generator.chance(20)
        let node = generator.path(4)
        let path = isPriority ? node.appending(TreeKey.priority) : node
        let overlaps = writes.contains { $0.path.contains(node) || node.contains($0.path) }
        if overlaps { continue }
        if isPriority {
          let value = generator.pick([TreeNode(3), TreeNode("p"), .empty])
          writes.append(.init(path: path, node: value))
        } else {
          let value = generator.chance(40) ? .empty : generator.node(depth: 2)
          writes.append(.init(path: path, node: value))
        }
      }
      let merge = TreeWrite.merge(.root, try TreeMerge(writes))
      let after = TreeNodeSnapshot(before.applying(merge))
      let proposed = ProposedSnapshot(writes, over: TreeNodeSnapshot(before))
      for path in everyPath(3) {
        let place = "seed \(seed), step \(step), /\(path.text)"
        try #require(try proposed.shape(at: path) == after.shape(at: path), "\(place)")
        try #require(try proposed.priority(at: path) == after.priority(at: path), "\(place)")
        let limit = Int.random(in: 1...3, using: &generator.random)
        var last: TreeKey?
        while true {
          let found = try proposed.children(at: path, after: last, limit: limit)
          try #require(found == after.children(at: path, after: last, limit: limit), "\(place)")
          guard let next = found.last?.key else { break }
          last = next
        }
      }
    }
  }

  /// Counts the answers about single nodes and the children that were listed.
  private final class Recorder: RulesSnapshot {
    private let tree: TreeNodeSnapshot
    private(set) var answers = 0
    private(set) var rows = 0
    private(set) var pages = 0

    init(_ tree: TreeNode) { self.tree = TreeNodeSnapshot(tree) }

    func shape(at path: TreePath) -> RulesShape {
      answers += 1
      return tree.shape(at: path)
    }

    func priority(at path: TreePath) -> TreeScalar? {
      answers += 1
      return tree.priority(at: path)
    }

    func children(at path: TreePath, after key: TreeKey?, limit: Int) -> [RulesChild] {
      let children = tree.children(at: path, after: key, limit: limit)
      rows += children.count
      pages += 1
      return children
    }
  }

  /// The paths of many items, and a tree that has one item more.
  private func items(_ count: Int) -> (paths: [TreePath], tree: TreeNode) {
    var children = ChildMap()
    let keys = (0..<count).map { TreeKey(unchecked: "k\(100_000 + $0)") }
    for key in keys { children.set(key, 1) }
    children.set(TreeKey(unchecked: "last"), 1)
    return (
      keys.map { ("items" as TreePath).appending($0) }, ["items": TreeNode(children: children)]
    )
  }

  @Test(
    "many deletions list the children of their parent once, whatever rules ask",
    arguments: [
      "newData.parent().exists() || true", "newData.parent().getPriority() == null",
      "newData.parent().parent().child('items').hasChildren() && newData.parent().exists()",
    ])
  func manyDeletions(rule: String) throws {
    let count = 1_000
    let (paths, tree) = items(count)
    let rules = try TreeRules(#"{"rules": {"items": {"$id": {".write": "\#(rule)"}}}}"#)
    let before = Recorder(tree)
    let entries = paths.map { TreeMerge.Entry(path: $0, node: .empty) }
    let verdict = try rules.write(
      paths, by: RulesCaller(auth: nil, now: 0), from: before,
      to: ProposedSnapshot(entries, over: before))
    #expect(verdict.isAllowed)
    // Once for the shape of the node, once for its priority.
    #expect(before.rows <= 2 * (count + 1), "\(before.rows) rows")
    #expect(before.pages <= 10, "\(before.pages) pages")
    #expect(before.answers <= 10, "\(before.answers) answers")
  }

  @Test("a page behind many written keys lists no child twice")
  func pages() throws {
    let (paths, tree) = items(1_000)
    let before = Recorder(tree)
    let entries = paths.map { TreeMerge.Entry(path: $0, node: 2) }
    let after = ProposedSnapshot(entries, over: before)
    var (last, found) = (TreeKey?.none, 0)
    while true {
      let page = try after.children(at: "items", after: last, limit: 100)
      found += page.count
      guard let next = page.last?.key else { break }
      last = next
    }
    #expect(found == 1_001)
    #expect(before.rows <= 1_001 + 100, "\(before.rows) rows")
  }

  @Test("children that are listed for an answer cost steps")
  func stepsOfRows() throws {
    var limits = RulesLimits.standard
    limits.stepsPerRule = 1_000
    let rules = try TreeRules(
      #"{"rules": {"items": {"$id": {".write": "newData.parent().exists()"}}}}"#, limits: limits)
    for (count, isAllowed) in [(100, true), (1_000, false)] {
      let (paths, tree) = items(count)
      let before = TreeNodeSnapshot(tree)
      let entries = paths.map { TreeMerge.Entry(path: $0, node: .empty) }
      let explanation = try rules.explainWrite(
        paths, by: RulesCaller(auth: nil, now: 0), from: before,
        to: ProposedSnapshot(entries, over: before))
      #expect(explanation.verdict.isAllowed == isAllowed)
      if !isAllowed { #expect(explanation.decisive.last?.outcome == .exhausted(.rule)) }
    }
  }

  @Test("rows that were listed for one judgement cost the next one nothing")
  func rowsOfFormerJudgement() throws {
    var limits = RulesLimits.standard
    limits.stepsPerRule = 1_000
    let rule = #"{"$id": {".write": "newData.parent().exists()"}}"#
    let rules = try TreeRules(#"{"rules": {"a": \#(rule), "b": \#(rule)}}"#, limits: limits)
    // For each of both places less than a rule may cost, and for both together more.
    let keys = (0..<200).map { TreeKey(unchecked: "k\($0)") }
    var children = ChildMap()
    for key in keys + ["left"] { children.set(key, 1) }
    let node = TreeNode(children: children)
    let before = TreeNodeSnapshot(["a": node, "b": node])
    let paths = (["a", "b"] as [TreePath]).flatMap { place in
      keys.map { place.appending($0) }
    }
    let after = ProposedSnapshot(paths.map { .init(path: $0, node: .empty) }, over: before)
    for _ in 0..<2 {
      let explanation = try rules.explainWrite(
        paths, by: RulesCaller(auth: nil, now: 0), from: before, to: after)
      #expect(explanation.verdict.isAllowed)
    }
  }

  private func everyPath(_ depth: Int) -> [TreePath] {
    guard depth > 0 else { return [.root] }
    return everyPath(depth - 1).flatMap { path in
      [path]
        + (path.count == depth - 1
          ? ["1", "a", "b", "c"].map { (key: TreeKey) in path.appending(key) } : [])
    }
  }
}
