import TernCore
import TernQuery
import TernTestKit
import TernTreeWire
import Testing

@testable import TernServer

/// A client's view of one listen.
private struct View {
  let path: TreePath
  let query: TreeQuery
  let tag: Int64?
  var node = TreeNode.empty

  mutating func apply(_ message: TreeServerMessage) {
    switch message {
    case .put(let push) where push.tag == tag: apply(push.content, at: push.path)
    case .merge(let push) where push.tag == tag:
      for entry in push.content.entries {
        apply(entry.node, at: push.path.appending(entry.path))
      }
    default: break
    }
  }

  private mutating func apply(_ value: TreeNode, at place: TreePath) {
    if let below = place.relative(to: path) {
      node.setNode(value, at: below)
    } else if let above = path.relative(to: place) {
      node = value.node(at: above)
    }
  }
}

/// Draws listens and writes that meet each other often.
private struct Draw {
  var random: SeededGenerator
  static let names = ["0", "1", "2", "a", "b", "c"].map { TreeKey(unchecked: $0) }

  mutating func number(_ range: ClosedRange<Int64>) -> Int64 {
    Int64.random(in: range, using: &random)
  }

  mutating func path(_ depths: ClosedRange<Int64>) -> TreePath {
    TreePath(
      (0..<number(depths)).map { _ in Self.names.randomElement(using: &random) ?? Self.names[0] })
  }

  mutating func scalar() -> TreeScalar {
    number(0...2) == 0 ? .string(["x", "y"][Int(number(0...1))]) : .integer(number(0...5))
  }

  mutating func node(_ depth: Int) -> TreeNode {
    if number(0...6) == 0 { return .empty }
    let priority: TreeScalar? = number(0...3) == 0 ? .integer(number(0...2)) : nil
    if depth == 0 || number(0...1) == 0 { return TreeNode(scalar(), priority: priority) }
    var children = ChildMap()
    for _ in 0...number(0...3) {
      children.set(Self.names.randomElement(using: &random) ?? Self.names[0], node(depth - 1))
    }
    return TreeNode(children: children, priority: priority)
  }

  mutating func query() throws -> TreeQuery {
    let orders: [TreeOrder] = [.key, .value, .priority, .child("a"), .child("b/c")]
    let order = orders.randomElement(using: &random) ?? .key
    var query = try TreeQuery.all.ordered(by: order)
    func bound(_ value: Int64) -> TreeScalar {
      order == .key ? .string("\(value)") : .integer(value)
    }
    let low = number(0...3)
    if number(0...1) == 0 { query = try query.starting(at: bound(low)) }
    if number(0...1) == 0 { query = try query.ending(at: bound(low + number(0...3))) }
    let count = Int(number(1...3))
    switch number(0...2) {
    case 0: query = try query.first(count)
    case 1: query = try query.last(count)
    default: break
    }
    return query
  }

  mutating func write() throws -> TreeWrite {
    switch number(0...9) {
    case 0:
      let node = number(0...2) == 0 ? .empty : TreeNode(.integer(number(0...3)))
      return .set(path(1...3).appending(.priority), node)
    case 1...3:
      let base = path(0...2)
      var entries: [TreeMerge.Entry] = []
      for _ in 0...number(0...3) {
        let path = path(1...2)
        if entries.contains(where: { $0.path.contains(path) || path.contains($0.path) }) {
          continue
        }
        entries.append(.init(path: path, node: node(1)))
      }
      return .merge(base, try TreeMerge(entries))
    default: return .set(path(0...4), node(2))
    }
  }
}

struct FanOutModelTests {
  @Test("what clients hear adds up to what they asked for", arguments: UInt64(1)...30)
  func model(seed: UInt64) throws {
    var draw = Draw(random: SeededGenerator(seed: seed))
    let bench = try MachineBench()
    var views: [Int: [View]] = [:]
    for slot in 1...3 { try bench.open(slot) }
    var model = TreeNode.empty
    for step in 0..<120 {
      if step % 4 == 0 { try listen(&views, &draw, bench, tag: Int64(step + 1)) }
      let write = try draw.write()
      model.apply(write)
      let request: TreeRequest =
        switch write {
        case .set(let path, let node): .put(path, node, expectedHash: nil, .none)
        case .merge(let path, let merge): .merge(path, merge, .none)
        }
      try bench.run([bench.frame(1 + step % 3, request)])
      hear(&views, bench)
      for (slot, heard) in views {
        for view in heard {
          let expected = view.query.window(of: model.node(at: view.path))
          try #require(
            view.node == expected,
            "seed \(seed) step \(step) slot \(slot) /\(view.path) \(view.query.id): \(write)")
        }
      }
    }
  }

  private func hear(_ views: inout [Int: [View]], _ bench: MachineBench) {
    for slot in 1...3 {
      for message in bench.take(slot) {
        for index in (views[slot] ?? []).indices { views[slot]?[index].apply(message) }
      }
    }
  }

  private func listen(
    _ views: inout [Int: [View]], _ draw: inout Draw, _ bench: MachineBench, tag: Int64
  ) throws {
    let query = draw.number(0...2) == 0 ? TreeQuery.all : try draw.query().normalized
    let view = View(path: draw.path(0...3), query: query, tag: query.loadsAllData ? nil : tag)
    let slot = Int(draw.number(1...3))
    if views[slot]?.contains(where: { $0.path == view.path && $0.query == view.query }) == true {
      return
    }
    views[slot, default: []].append(view)
    try bench.run([
      bench.frame(slot, .listen(TreeListen(path: view.path, query: query, tag: view.tag)))
    ])
    hear(&views, bench)
    if (views[slot]?.count ?? 0) > 6, let old = views[slot]?.removeFirst() {
      try bench.run([bench.frame(slot, .unlisten(old.path, old.query, tag: old.tag))])
      hear(&views, bench)
    }
  }
}
