import TernTestKit
import Testing

@testable import TernCore

@Suite("Nodes")
struct TreeNodeTests {
  @Test("the last of equal names counts, also when it is null")
  func equalNames() throws {
    #expect(try TreeNode(json: #"{"a":1,"a":null}"#).isEmpty)
    #expect(try TreeNode(json: #"{"a":null,"a":1}"#) == TreeNode(json: #"{"a":1}"#))
    let text = #"{"b":1,"a":{"x":1},"c":null,"b":null,"b":2,"a":null,"d":3}"#
    #expect(try TreeNode(json: text) == TreeNode(json: #"{"b":2,"d":3}"#))
  }

  @Test("deleting the last child empties the parents and their priorities")
  func pruning() throws {
    var node = try TreeNode(json: #"{"a":{"b":{"c":1},".priority":5}}"#)
    node.setNode(.empty, at: "a/b/c")
    #expect(node.isEmpty)
  }

  @Test("a child below a leaf keeps the leaf's priority; null leaves the leaf alone")
  func belowLeaf() {
    var node = TreeNode(.integer(1), priority: 7)
    node.setNode(.empty, at: "x/y")
    #expect(node.scalar == 1)
    node.setNode(2, at: "x/y")
    #expect(node.priority == 7)
    #expect(node.node(at: "x/y") == 2)
  }

  @Test("priorities are addressed as a child")
  func priority() {
    var node: TreeNode = ["a": 1]
    node.setNode(3, at: TreePath(unchecked: ["a", .priority]))
    #expect(node.node(at: "a") == TreeNode(1, priority: 3))
    #expect(node.node(at: TreePath(unchecked: ["a", .priority])) == 3)
    node.setNode(3, at: TreePath(unchecked: ["missing", .priority]))
    #expect(node.childCount == 1)
    node.setNode(9, at: "a/b")
    #expect(node.child("a").priority == 3)
    node.setNode(.empty, at: TreePath(unchecked: ["a", .priority]))
    #expect(node.child("a").priority == nil)
  }

  @Test("integers and doubles of one value are equal, also above 2^53")
  func numbers() {
    #expect(TreeScalar.integer(1) == .double(1))
    #expect(TreeScalar.integer(9_007_199_254_740_993) != .double(9_007_199_254_740_992))
    #expect(TreeScalar.integer(9_007_199_254_740_993) > .double(9_007_199_254_740_992))
    #expect(TreeScalar.integer(.max) < .double(0x1p63))
    #expect(TreeScalar.integer(.min) == .double(-0x1p63))
    #expect(TreeScalar.double(-2.5) < .integer(-2))
    #expect(TreeScalar.integer(-3) < .double(-2.5))
    #expect(TreeScalar.bool(true) != .integer(1))
    #expect(Set([TreeScalar.integer(4), .double(4), .double(-0.0), .integer(0)]).count == 2)
  }

  @Test("server values resolve against what is there")
  func serverValues() throws {
    let existing = try TreeNode(
      json: #"{"n":3,"d":1.5,"s":"x","big":9223372036854775807,"p":{".value":1,".priority":2}}"#)
    let write = try TreeNode(
      json: #"""
        {"n":{".sv":{"increment":2}},"d":{".sv":{"increment":2}},"s":{".sv":{"increment":4}},
        "big":{".sv":{"increment":1}},"new":{".sv":{"increment":2.5}},"t":{".sv":"timestamp"},
        "p":{".value":1,".priority":{".sv":{"increment":5}}},"k":"v"}
        """#)
    #expect(write.containsServerValues)
    let resolved = write.resolvingServerValues(existing: existing, now: 1_700_000_000_000)
    #expect(!resolved.containsServerValues)
    #expect(
      resolved
        == (try TreeNode(
          json: #"""
            {"n":5,"d":3.5,"s":4,"big":9223372036854775808,"new":2.5,"t":1700000000000,
            "p":{".value":1,".priority":7},"k":"v"}
            """#)))
    if case .integer(5) = resolved.child("n").scalar {} else { Issue.record("not an integer") }
  }

  @Test("an increment beyond the range of numbers keeps the largest, and never deletes")
  func increments() throws {
    let existing = try TreeNode(json: #"{"a":1e308,"b":-1e308,"c":1.7976931348623157e308}"#)
    let write = try TreeNode(
      json: #"""
        {"a":{".sv":{"increment":1e308}},"b":{".sv":{"increment":-1e308}},
        "c":{".sv":{"increment":-1.7976931348623157e308}}}
        """#)
    let largest = Double.greatestFiniteMagnitude
    let resolved = write.resolvingServerValues(existing: existing, now: 0)
    #expect(resolved.child("a").scalar == .double(largest))
    #expect(resolved.child("b").scalar == .double(-largest))
    #expect(resolved.child("c").scalar?.number == 0)
    #expect(try TreeNode(json: resolved.json(.export)) == resolved)
  }

  @Test("writes check the limits")
  func limits() throws {
    let deep = TreePath(unchecked: (0..<32).map { TreeKey(unchecked: "k\($0)") })
    try TreeWrite.set(deep, 1).validate()
    #expect(throws: TreeError.tooDeep(count: 33, limit: 32)) {
      try TreeWrite.set(deep, ["x": 1]).validate()
    }
    #expect(throws: TreeError.notFinite) { try TreeWrite.set("a", .init(.double(.nan))).validate() }
    #expect(throws: TreeError.readOnly(.init(unchecked: [.info, "x"]))) {
      try TreeWrite.set(.init(unchecked: [.info, "x"]), 1).validate()
    }
    #expect(throws: TreeError.invalidPriority) {
      try TreeWrite.set(.init(unchecked: ["a", .priority]), true).validate()
    }
    #expect(throws: TreeError.invalidPriority) {
      try TreeWrite.set("a", TreeNode(1, priority: false)).validate()
    }
  }

  @Test("the paths of an update must not overlap")
  func overlap() throws {
    func entry(_ path: TreePath) -> TreeMerge.Entry { TreeMerge.Entry(path: path, node: 1) }
    #expect(throws: TreeError.overlappingPaths("a", "a/b")) {
      try TreeMerge([entry("a/b"), entry("b"), entry("a")])
    }
    #expect(throws: TreeError.overlappingPaths("a", "a")) {
      try TreeMerge([entry("a"), entry("a")])
    }
    let merge = try TreeMerge([entry("b"), entry("a/c"), entry("a/b")])
    #expect(merge.entries.map(\.path.text) == ["a/b", "a/c", "b"])
    #expect(TreeNode.empty.applying(.merge("r", merge)) == ["r": ["a": ["b": 1, "c": 1], "b": 1]])
  }
}

@Suite("Push ids")
struct PushIDTests {
  @Test(
    "the time in eight characters",
    arguments: [
      (Int64(0), "--------"), (1, "-------0"), (63, "-------z"), (64, "------0-"),
      (1_700_000_000_000, "-NjEtLV-"), (1_760_000_000_123, "-Ob7AB0v"),
      (281_474_976_710_655, "zzzzzzzz"),
    ])
  func time(milliseconds: Int64, text: String) {
    var generator = PushIDGenerator()
    let id = generator.next(milliseconds: milliseconds) { 0 }
    #expect(id.text == text + "------------")
  }

  @Test("names ascend when the clock stands still, steps back or runs out of digits")
  func monotonic() {
    var generator = PushIDGenerator()
    var random = SeededGenerator(seed: 7)
    var last: TreeKey?
    for milliseconds in [Int64(5), 5, 5, 3, 9, 9, 1, 0, 9, 10] {
      let id = generator.next(milliseconds: milliseconds) { random.next() }
      if let last { #expect(last < id) }
      last = id
    }
    var full = PushIDGenerator()
    let top = full.next(milliseconds: 5) { .max }
    let next = full.next(milliseconds: 5) { 0 }
    #expect(top.text == "-------4zzzzzzzzzzzz")
    #expect(next.text == "-------5------------")
  }
}
