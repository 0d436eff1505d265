import TernCore
import TernDocumentWire
import TernQuery
import TernTransport
import TernTreeWire
import Testing

@testable import TernServer

/// One write makes no more pushes than memory allows, however many listens there are.
@Suite("Bounds of pushes") struct PushBoundsTests {
  private let options = ServerOptions(limits: ServerLimits(memoryBytes: 64 << 20))

  private func range(from text: String) throws -> TreeQuery {
    try TreeQuery.all.ordered(by: .key).starting(at: .string(text))
  }

  /// A node with one long text.
  private func long(_ bytes: Int) -> TreeNode {
    ["z": TreeNode(.string(String(repeating: "x", count: bytes)))]
  }

  /// The bytes of different frames among the outputs.
  private func bytes(of outputs: [ServerOutput]) -> Int {
    outputs.reduce(0) { sum, output in
      switch output {
      case .send(_, let frame), .broadcast(_, let frame): sum + frame.count
      default: sum
      }
    }
  }

  private func pushes(_ bench: MachineBench, _ slot: Int) -> Int {
    bench.take(slot).count { message in
      if case .put = message { true } else { false }
    }
  }

  @Test("a session with many listens is ended before all of their pushes are made")
  func manyListens() throws {
    let bench = try MachineBench(options: options)
    for slot in 1...4 { try bench.open(slot) }
    for number in 0..<200 {
      try bench.ask(1, bench.listen("w", range(from: "a\(number)"), tag: Int64(number)))
    }
    try bench.ask(2, bench.listen("w", range(from: "b"), tag: 1))
    try bench.ask(3, bench.listen("w"))
    try bench.run([bench.frame(4, bench.put("w", long(2 << 20)))])
    #expect(bytes(of: bench.lastOutputs) < 40 << 20)
    #expect(bench.closed.keys.sorted() == [1])
    guard case .tooSlow(_, let limit)? = bench.closed[1], limit == 16 << 20 else {
      Issue.record("it would be sent more than its address may hold")
      return
    }
    #expect((1..<20).contains(pushes(bench, 1)))
    #expect(pushes(bench, 2) == 1 && pushes(bench, 3) == 1)
    try bench.run([.closed(slot: 1)])
    _ = bench.take(4)
    #expect(try bench.ask(4, bench.put("w", long(10))).map(\.brief) == ["ok"])
    #expect(pushes(bench, 2) == 1 && pushes(bench, 3) == 1)
  }

  @Test("listens at every level below a write are bounded alike")
  func levels() throws {
    let bench = try MachineBench(options: options)
    for slot in 1...2 { try bench.open(slot) }
    var path = TreePath.root
    for level in 0..<28 {
      path = path.appending(TreeKey(unchecked: "l\(level)"))
      try bench.ask(1, bench.listen(path.text))
    }
    var node = TreeNode.empty
    node.setNode(long(2 << 20), at: path)
    try bench.run([bench.frame(2, bench.put("", node))])
    #expect(bytes(of: bench.lastOutputs) < 40 << 20)
    #expect(bench.closed.keys.sorted() == [1])
  }

  @Test("one query under many tags: its data are bounded in all, and equal frames are made once")
  func tags() throws {
    let bench = try MachineBench(options: options)
    let query = try range(from: "a")
    for slot in 1...60 {
      try bench.open(slot)
      try bench.ask(slot, bench.listen("w", query, tag: slot <= 30 ? 7 : Int64(slot)))
    }
    try bench.open(99)
    try bench.run([bench.frame(99, bench.put("w", long(2 << 20)))])
    #expect(bytes(of: bench.lastOutputs) < 40 << 20)
    #expect((1...30).allSatisfy { pushes(bench, $0) == 1 }, "these share one frame")
    let shared = bench.lastOutputs.contains { output in
      if case .broadcast(let slots, _) = output { slots.count == 30 } else { false }
    }
    #expect(shared)
    let told = (31...60).count { pushes(bench, $0) == 1 }
    #expect((10..<20).contains(told) && bench.closed.count == 30 - told)
  }

  @Test("a listen that begins when those of its group have ended is filled anew")
  func windows() throws {
    let bench = try MachineBench(options: options)
    for slot in 1...3 { try bench.open(slot) }
    for number in 0..<40 {
      try bench.ask(1, bench.listen("w", range(from: "a\(number)"), tag: Int64(number)))
    }
    try bench.run([bench.frame(3, bench.put("w", long(2 << 20)))])
    #expect(bench.closed[1] != nil)
    try bench.ask(3, bench.put("w/z", 1), bench.put("w/y", 2))
    let messages = try bench.ask(2, bench.listen("w", range(from: "a39"), tag: 5))
    #expect(messages.map(\.brief) == [#"put w {"y":2,"z":1} #5"#, "ok"])
  }

  @Test("short pushes are not counted, and large ones only when there are many")
  func verdicts() {
    let budget = MemoryBudget(limitBytes: 64 << 20)
    var bounds = PushBounds(budget, options.limits)
    var isNew = true
    for _ in 0..<64 {
      isNew = true
      #expect(bounds.admit(64 << 10, for: 1, isNew: &isNew) == .admitted && !isNew)
    }
    // From here on each link counts: 16 MiB of an address, 32 MiB for all.
    isNew = true
    #expect(bounds.admit(12 << 20, for: 1, isNew: &isNew) == .admitted)
    isNew = true
    #expect(
      bounds.admit(5 << 20, for: 1, isNew: &isNew)
        == .ends(.tooSlow(queuedBytes: 17 << 20, limit: 16 << 20)))
    #expect(bounds.admit(1, for: 1, isNew: &isNew) == .ended && isNew)
    #expect(bounds.admit(12 << 20, for: 2, isNew: &isNew) == .admitted)
    isNew = true
    #expect(
      bounds.admit(1 << 20, for: 2, isNew: &isNew) == .ends(.outOfMemory(queuedBytes: 12 << 20)))
    #expect(bounds.admit(5 << 20, for: 3, isNew: &isNew) == .ends(.outOfMemory(queuedBytes: 0)))
    #expect(bounds.admit(3 << 20, for: 4, isNew: &isNew) == .admitted)
    #expect(bounds.admit(3 << 20, for: 5, isNew: &isNew) == .admitted, "the same frame")
  }
}
