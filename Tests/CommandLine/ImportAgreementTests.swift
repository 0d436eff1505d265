import TernCore
import TernTestKit
import Testing

@testable import tern

/// A tree as text, with its members in any order, dotted ones among them.
private struct RandomTreeText {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func node(depth: Int = 0) -> JSONValue {
    switch random.roll(depth > 4 ? 4 : 9) {
    case 0: return .integer(Int64(random.roll(1_000)) - 500)
    case 1: return .bool(random.roll(2) == 0)
    case 2: return .double(Double(random.roll(1_000)) / 8 + 0.0625)
    case 3: return .string(String(repeating: "ß\u{1F600}\n", count: random.roll(4)))
    case 4: return .array((0..<random.roll(4)).map { _ in node(depth: depth + 1) })
    case 5:
      return object([
        .init(".value", .integer(Int64(random.roll(9)))), .init(".priority", priority),
      ])
    default:
      var members: [JSONValue.Member] = []
      for key in ["a", "b", "10", "9", "é", "e\u{301}", "-", "long name"]
      where random.roll(3) == 0 {
        members.append(.init(key, node(depth: depth + 1)))
      }
      if random.roll(3) == 0 { members.append(.init(".priority", priority)) }
      return object(members)
    }
  }

  private var priority: JSONValue {
    mutating get { random.roll(2) == 0 ? .string("p") : .double(Double(random.roll(9)) + 0.5) }
  }

  private mutating func object(_ members: [JSONValue.Member]) -> JSONValue {
    .object(members.shuffled(using: &random))
  }
}

/// The batches of a text, read in parts of `partBytes`.
private func batches(
  _ text: String, keyField: String? = nil, leaves: Int, partBytes: Int = 64
) throws -> [[TreeMerge.Entry]] {
  var rest = ArraySlice(text.utf8)
  var tokens = JSONTokens {
    let part = Array(rest.prefix(partBytes))
    rest = rest.dropFirst(part.count)
    return part
  }
  var batcher = ImportBatcher(
    keyField: keyField, limits: ImportBatcher.Limits(leaves: leaves, bytes: 1 << 20))
  var batches: [[TreeMerge.Entry]] = []
  while let token = try tokens.next() {
    if let batch = try batcher.take(token) { batches.append(batch) }
  }
  if let batch = batcher.finish() { batches.append(batch) }
  return batches
}

@Suite("import agrees with JSON read at once") struct ImportAgreementTests {
  /// The tree at `place` after the updates that a command makes of batches.
  private func tree(_ batches: [[TreeMerge.Entry]]) throws -> TreeNode {
    var tree = TreeNode.empty
    for batch in batches {
      try Import.check(batch, at: .root)
      if let first = batch.first, first.path.isRoot {
        tree.apply(.set(.root, first.node))
        continue
      }
      for update in try Import.updates(batch) {
        let entries = try update.map {
          TreeMerge.Entry(path: try TreePath(writable: $0.key), node: $0.value)
        }
        tree.apply(.merge(.root, try TreeMerge(entries)))
      }
    }
    return tree
  }

  @Test("in batches of every size the tree is the one of the text", arguments: UInt64(1)...60)
  func agrees(seed: UInt64) throws {
    var source = RandomTreeText(seed: seed)
    for _ in 0..<5 {
      let text = source.node().json
      let expected = try TreeNode(json: text)
      for leaves in [1, 2, 3, 7, 1_000] {
        let parts = try batches(text, leaves: leaves, partBytes: leaves * 3)
        #expect(try tree(parts) == expected, "\(text) by \(leaves)")
      }
    }
  }

  @Test("no batch has more leaves than asked for, whatever the text", arguments: [1, 2, 5, 64])
  func bounded(leaves: Int) throws {
    var source = RandomTreeText(seed: 7)
    for _ in 0..<40 {
      for batch in try batches(source.node().json, leaves: leaves) {
        let count = batch.reduce(0) { $0 + self.leaves(of: $1.node) }
        #expect(count <= leaves + batch.count(where: \.path.namesPriority))
      }
    }
  }

  private func leaves(of node: TreeNode) -> Int {
    guard node.hasChildren else { return node.isEmpty ? 0 : 1 }
    return node.children.reduce(0) { $0 + leaves(of: $1.node) }
  }

  @Test(
    "a value and children in one object are a mistake, wherever a batch ends",
    arguments: [
      #"{"a": {".value": 1, "b": 2}}"#, #"{"a": {"b": 2, ".value": 1}}"#,
      #"{"a": {"b": {"c": 2}, ".value": 1}}"#, #"{"a": {".value": 1, "b": {"c": 2}}}"#,
      #"{"a": {".priority": 1, ".value": 1, "b": [2]}}"#,
    ])
  func leafWithChildren(text: String) {
    #expect(throws: TreeError.invalidLeaf) { try TreeNode(json: text) }
    for leaves in [1, 2, 100] {
      #expect(throws: ImportError.rule(.invalidLeaf, path: "a")) {
        try batches(text, leaves: leaves)
      }
    }
  }

  @Test(
    "a member without the field that names it is told by its place in the array",
    arguments: [
      (#"{"r": [{"n": 1}]}"#, 0), (#"{"r": [{"k": "a"}, {"k": "b"}, {"n": 1}]}"#, 2),
      (#"{"r": [{"k": "a", "x": {}}, {"k": true}]}"#, 1), (#"{"r": [{"k": "a"}, 5, {}]}"#, 2),
      (#"{"r": [{"k": 1.5}]}"#, 0), (#"{"r": [{"k": null}]}"#, 0),
    ])
  func places(text: String, index: Int) {
    for leaves in [1, 2, 100] {
      #expect(throws: ImportError.missingField("k", path: "r/#\(index)"), "by \(leaves)") {
        try batches(text, keyField: "k", leaves: leaves)
      }
    }
  }

  @Test("values among named members have the number of their place")
  func mixed() throws {
    for leaves in [1, 3, 100] {
      let parts = try batches(#"[{"k": "x"}, 7, null, 8]"#, keyField: "k", leaves: leaves)
      #expect(try tree(parts) == TreeNode(json: #"{"x": {"k": "x"}, "1": 7, "3": 8}"#))
    }
  }

  @Test("keys that are alike in another form of Unicode are two keys")
  func forms() throws {
    let text = "{\"é\": 1, \"e\u{301}\": 2}"
    let parts = try batches(text, leaves: 100)
    #expect(parts.count == 1)
    #expect(try Import.updates(parts[0]).map(\.count) == [1, 1])
    let twice = #expect(throws: Failure.self) { try Import.updates(parts[0] + parts[0]) }
    #expect(twice?.message.contains("comes twice in the file") == true)
  }

  @Test(
    "a batch counts from the place that it goes to",
    arguments: [(0, 32, true), (0, 33, false), (3, 29, true), (3, 30, false), (32, 1, false)])
  func depth(place: Int, levels: Int, isFine: Bool) throws {
    let path = TreePath((0..<place).map { _ in TreeKey(unchecked: "p") })
    // Arrays are levels, too.
    for (open, close) in [(#"{"a":"#, "}"), ("[", "]")] {
      let text =
        String(repeating: open, count: levels) + "1" + String(repeating: close, count: levels)
      let failure: Failure?
      do {
        for batch in try batches(text, leaves: 100) { try Import.check(batch, at: path) }
        failure = nil
      } catch {
        failure = Failure(about: error)
      }
      #expect((failure == nil) == isFine, "\(text)")
      if let failure { #expect(failure.code == .usage) }
    }
  }

  @Test("the way to a value has a limit, counted from the root", arguments: [-1, 0, 1])
  func bytes(over: Int) throws {
    let name = String(repeating: "n", count: 300)
    let place = TreePath([TreeKey(unchecked: name)])
    let rest = TreeLimits.pathBytes - place.byteCount - (place.byteCount)
    let last = String(repeating: "x", count: rest - 1 + over)
    let parts = try batches(#"{"\#(name)": {"\#(last)": 1}}"#, leaves: 100)
    let failure: Failure?
    do throws(Failure) {
      for batch in parts { try Import.check(batch, at: place) }
      failure = nil
    } catch {
      failure = error
    }
    #expect((failure != nil) == (over > 0))
  }

  @Test("texts that become keys stay apart, and are keys", arguments: UInt64(1)...20)
  func escapes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let alphabet = Array(".#$/[]%25E\u{0}\u{7F}aé")
    var keys: [String: String] = [:]
    for _ in 0..<200 {
      let text = String(
        (0..<(1 + random.roll(5))).map { _ in alphabet[random.roll(alphabet.count)] })
      let key = escapedKey(text)
      #expect(try TreeKey(key).text == key)
      #expect(keys.updateValue(text, forKey: key) ?? text == text, "\(key)")
    }
  }
}
