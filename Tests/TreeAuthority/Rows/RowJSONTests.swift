import TernCore
import TernLedger
import TernStorage
import TernStorageMemory
import Testing

@testable import TernTreeRows

@Suite("JSON from rows") struct RowJSONTests {
  private let rows = TreeRows(prefix: [0x20])

  /// The pieces of what is at a path after a node was stored there.
  private func pieces(
    of node: TreeNode, at path: TreePath, _ form: TreeNode.JSONForm, pieceBytes: Int = 64
  ) throws -> [[UInt8]] {
    let store = MemoryStore()
    try store.write { transaction throws(StorageError) in
      try transaction.apply([
        .put(key: [0x1F], value: [1]), .put(key: [0x21], value: [1]),
      ])
      try transaction.apply(try rows.overwrite(path, with: node, in: transaction))
    }
    var pieces: [[UInt8]] = []
    try store.read { snapshot throws(StorageError) in
      try rows.writeJSON(of: path, form, pieceBytes: pieceBytes, in: snapshot) { piece in
        pieces.append(piece)
        return true
      }
    }
    return pieces
  }

  @Test("says what the node itself would, in both forms", arguments: UInt64(1)...40)
  func model(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    for _ in 0..<50 {
      let path = random.path(maxDepth: 2)
      let node = random.node(maxDepth: 4)
      for form in [TreeNode.JSONForm.value, .export] {
        let text = try pieces(of: node, at: path, form).reduce([], +)
        #expect(text == node.jsonBytes(form), "\(node.json(.export))")
      }
    }
  }

  @Test(
    "children that look like a list are one, and others are none",
    arguments: [
      #"{"0":1,"1":2}"#, #"{"1":1,"2":2}"#, #"{"2":1}"#, #"{"1":1}"#, #"{"0":1,"01":2}"#,
      #"{"0":1,"3":2}"#, #"{"0":1,"4":2}"#, #"{"-1":1,"0":2}"#, #"{"0":1,"a":2}"#,
      #"{"0":{"0":1,"x":2},"1":{"0":[true,false]}}"#, #"{"00":1}"#, #"{"0":{"5":1}}"#,
    ])
  func lists(json: String) throws {
    let node = try TreeNode(json: json)
    let text = try pieces(of: node, at: "a", .value).reduce([], +)
    #expect(String(decoding: text, as: UTF8.self) == node.json(.value))
  }

  @Test("a list of large elements is one, and its pieces are short")
  func largeLists() throws {
    var list = TreeNode.empty
    for index in 0..<200 {
      var element = TreeNode.empty
      for name in 0..<100 {
        element.setChild(
          TreeKey(unchecked: "name\(name)"), TreeNode(.string("value \(index * name)")))
      }
      list.setChild(TreeKey(unchecked: "\(index)"), element)
    }
    let pieces = try pieces(of: list, at: "list", .value, pieceBytes: 4_096)
    #expect(pieces.reduce([], +) == list.jsonBytes(.value))
    #expect(pieces.allSatisfy { $0.count < 8_192 })
    #expect(pieces.count > 50)
  }

  @Test("ends when its taker has enough")
  func ends() throws {
    let store = MemoryStore()
    let node = try TreeNode(json: #"{"a":"\#(String(repeating: "x", count: 100))","b":1}"#)
    try store.write { transaction throws(StorageError) in
      try transaction.apply(try rows.overwrite("p", with: node, in: transaction))
    }
    var taken = 0
    try store.read { snapshot throws(StorageError) in
      try rows.writeJSON(of: "p", .value, pieceBytes: 10, in: snapshot) { _ in
        taken += 1
        return false
      }
    }
    #expect(taken == 1)
  }

  @Test("a node is built as far as its bytes may go")
  func limits() throws {
    let store = MemoryStore()
    let node = try TreeNode(json: #"{"a":"xxxx","b":"yyyy"}"#)
    try store.write { transaction throws(StorageError) in
      try transaction.apply(try rows.overwrite("p", with: node, in: transaction))
    }
    // A row is its key below the node, and its value with a tag: 2 + 5 bytes each.
    for (limit, expected) in [(14, node), (13, nil), (0, nil)] as [(Int, TreeNode?)] {
      let found = try store.read { snapshot throws(StorageError) in
        try rows.node(at: "p", limitBytes: limit, in: snapshot)
      }
      #expect(found == expected)
    }
  }
}
