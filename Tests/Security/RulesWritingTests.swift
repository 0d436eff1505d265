import TernCore
import TernSecurity
import Testing

/// Writes. Source: realtime reference, section 12.3.
@Suite("Rules of writing")
struct RulesWritingTests {
  @Test("an ancestor's grant holds below, whatever is said there")
  func cascade() throws {
    let world = try RulesWorld(
      #"{".write": true, "inner": {".write": false, "x": {".write": "!data.exists()"}}}"#,
      tree: ["inner": ["x": 1]])
    #expect(try world.writes("inner/x", 2))
    #expect(try world.writes("inner", .empty))
  }

  @Test("rules below the written node never grant")
  func below() throws {
    let world = try RulesWorld(#"{"a": {"b": {".write": true}}}"#)
    #expect(try world.writes("a/b", 1))
    #expect(try world.writes("a/b/c", 1))
    #expect(try !world.writes("a", ["b": 1]))
  }

  @Test("a rule above sees the whole merged node")
  func merged() throws {
    let rules = #"{".write": "newData.hasChildren(['owner'])"}"#
    #expect(try !RulesWorld(rules).writes("item", 1))
    #expect(try RulesWorld(rules, tree: ["owner": "b"]).writes("item", 1))
  }

  @Test("validation includes the way down, for deep writes too")
  func ancestors() throws {
    let rules = #"{".write": true, "a": {".validate": "newData.hasChildren(['x', 'y'])"}}"#
    #expect(try !RulesWorld(rules).writes("a/x", 1))
    #expect(try RulesWorld(rules, tree: ["a": ["y": 1]]).writes("a/x", 1))
    #expect(try !RulesWorld(rules, tree: ["a": ["y": 1, "x": 1]]).writes("a/x", .empty))
    #expect(try RulesWorld(rules, tree: ["a": ["y": 1]]).writes("a/y", .empty))
  }

  @Test("validation covers what is proposed below and nothing beside")
  func descendants() throws {
    let rules = """
      {".write": true, "a": {
        "n": {".validate": "newData.isNumber()"},
        "list": {"$i": {"t": {".validate": "newData.isString() && $i != 'no'"}}},
        "$other": {".validate": false}}}
      """
    let world = try RulesWorld(rules, tree: ["a": ["n": "bad already"]])
    #expect(try !world.writes("a", ["n": "x"]))
    #expect(try world.writes("a", ["n": 1]))
    #expect(try !world.writes("a", ["n": 1, "extra": 1]))
    #expect(try world.writes("a", ["list": ["1": ["t": "x"], "2": ["u": 1]]]))
    #expect(try !world.writes("a", ["list": ["1": ["t": "x"], "2": ["t": 1]]]))
    #expect(try !world.writes("a", ["list": ["no": ["t": "x"]]]))
    #expect(try world.writes("a/list/1/t", "x"), "the sibling's old sin is not its concern")
    #expect(try world.writes("b", 1))
  }

  @Test("a capture with more children than one page is checked to the end")
  func manyChildren() throws {
    let world = try RulesWorld(
      #"{".write": true, "l": {"$i": {".validate": "newData.isNumber()"}}}"#)
    var children = ChildMap()
    for index in 0..<700 { children.set(TreeKey(stringLiteral: "k\(index)"), 1) }
    #expect(try world.writes("l", TreeNode(children: children)))
    for bad in ["k0", "k255", "k699", "zzz"] {
      var broken = children
      broken.set(TreeKey(stringLiteral: bad), "x")
      #expect(try !world.writes("l", TreeNode(children: broken)), "\(bad)")
    }
  }

  @Test("each child below a capture is validated under its own key")
  func captureKeys() throws {
    let world = try RulesWorld(
      """
      {".write": true, "$l": {"$i": {".validate": "$l + $i == newData.val() || newData.hasChildren()",
        "$k": {".validate": "newData.val() == $l + $i + $k"}}}}
      """)
    #expect(try world.writes("l", ["a": "la", "b": "lb", "c": ["x": "lcx", "y": "lcy"]]))
    #expect(try !world.writes("l", ["a": "la", "b": "la"]))
    #expect(try !world.writes("l", ["a": "la", "c": ["x": "lcx", "y": "lcx"]]))
    #expect(try !world.writes("l", ["a": ["x": "lax"], "b": ["x": "lax"]]))
    #expect(try world.writes([("l/a", "la"), ("m/b", ["x": "mbx"]), ("m/c", "mc")]))
  }

  @Test("deleting skips the validation of what is gone, not of what stays")
  func deletion() throws {
    let world = try RulesWorld(
      #"{".write": true, "a": {".validate": "newData.child('k').exists()", "b": {".validate": false}}}"#,
      tree: ["a": ["k": 1, "b": ["c": 1]]])
    #expect(try world.writes("a/b", .empty))
    #expect(try world.writes("a", .empty))
    #expect(try !world.writes("a/k", .empty))
    #expect(try !world.writes("a/b/c", 2))
    let keep = try RulesWorld(
      #"{"a": {".write": "newData.exists()"}}"#, tree: ["a": ["x": 1]])
    #expect(try !keep.writes("a", .empty))
    #expect(try !keep.writes("a/x", .empty), "the last child takes its parent along")
    #expect(try keep.writes("a/y", 1))
  }

  @Test("several paths need their grants each and are valid together")
  func severalPaths() throws {
    let rules = """
      {"a": {".write": true, ".validate": "newData.val() == newData.parent().child('b').val()"},
       "b": {".write": "newData.val() != 3"}, "c": {".read": true}}
      """
    let world = try RulesWorld(rules, tree: ["a": 1, "b": 1])
    #expect(try !world.writes("a", 2))
    #expect(try world.writes([("a", 2), ("b", 2)]))
    #expect(try !world.writes([("a", 3), ("b", 3)]))
    #expect(try !world.writes([("a", 2), ("b", 2), ("c", 2)]))
    guard case .denied(let denial) = try world.verdict([("a", 2), ("b", 2), ("c", 2)]) else {
      return #expect(Bool(false))
    }
    #expect(denial.path == "c" && denial.reason == .notGranted && denial.kind == .write)
  }

  @Test("a grant above several paths is asked for once and counts for all")
  func sharedGrant() throws {
    let world = try RulesWorld(
      #"{".write": "auth.uid == 'b'", "x": {".validate": "newData.child('n').val() == 2"}}"#)
    #expect(try world.writes([("x/n", 2), ("x/m", 1), ("y", 1)], as: ["uid": "b"]))
    #expect(try !world.writes([("x/n", 3), ("x/m", 1), ("y", 1)], as: ["uid": "b"]))
    #expect(try !world.writes([("x/n", 2), ("y", 1)], as: ["uid": "c"]))
    let explanation = try world.explain([("x/n", 2), ("x/m", 1), ("y", 1)], as: ["uid": "b"])
    #expect(explanation.findings.map(\.location) == ["/", "/x"])
  }

  @Test("a priority is written to its node")
  func priorities() throws {
    let world = try RulesWorld(
      #"{"a": {".write": true, ".validate": "newData.getPriority() == null || newData.getPriority() < 5"}}"#,
      tree: ["a": 1])
    let path = TreePath(TreePath("a").keys + [TreeKey.priority])
    #expect(try world.writes(path, 3))
    #expect(try !world.writes(path, 7))
    #expect(try world.writes("a", TreeNode(2, priority: 1)))
    #expect(try !world.writes("a", TreeNode(2, priority: 9)))
    #expect(try world.writes("a", 2))
  }

  @Test("'now' is the time of the write")
  func now() throws {
    var world = try RulesWorld(
      #"{"t": {".write": "newData.val() <= now && newData.val() == now"}}"#)
    #expect(try world.writes("t", 1_000))
    world.now = 2_000
    #expect(try !world.writes("t", 1_000))
  }

  @Test("created, updated and deleted are distinguished")
  func changes() throws {
    let rules = """
      {"c": {".write": "data.val() == null && newData.val() != null"},
       "u": {".write": "data.val() != null && newData.val() != null"},
       "d": {".write": "data.val() != null && newData.val() == null"}}
      """
    let empty = try RulesWorld(rules)
    let full = try RulesWorld(rules, tree: ["c": 1, "u": ["x": 1], "d": 1])
    #expect(try empty.writes("c", 1) && !full.writes("c", 1))
    #expect(try !empty.writes("u", 1) && full.writes("u", ["y": 1]))
    #expect(try !empty.writes("d", .empty) && full.writes("d", .empty))
  }

  @Test("writing what is there already is judged all the same")
  func noChange() throws {
    #expect(try !RulesWorld("{}", tree: ["a": 1]).writes("a", 1))
  }

  @Test("the old tree stays visible to rules of the new one")
  func history() throws {
    let world = try RulesWorld(
      #"{"n": {".write": "newData.val() == data.val() + 1 && root.child('n').val() == data.val()"}}"#,
      tree: ["n": 4])
    #expect(try world.writes("n", 5))
    #expect(try !world.writes("n", 6))
  }
}
