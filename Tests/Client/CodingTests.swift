import TernCore
import Testing

@testable import TernClient

@Suite("Coding")
struct CodingTests {
  private struct Post: Codable, Equatable {
    enum Kind: String, Codable { case note, link }
    var title: String
    var stars: Int
    var score: Double?
    var isOpen: Bool
    var tags: [String]
    var authors: [String: Int]
    var kind: Kind
  }

  private let post = Post(
    title: "Hi", stars: 3, score: nil, isOpen: true, tags: ["a", "b"], authors: ["ann": 1],
    kind: .link)

  @Test("a structure becomes children and comes back")
  func roundTrip() throws {
    let node = try TreeEncoder().encode(post)
    #expect(
      node == [
        "title": "Hi", "stars": 3, "isOpen": true, "tags": ["0": "a", "1": "b"],
        "authors": ["ann": 1], "kind": "link",
      ])
    #expect(try TreeDecoder().decode(Post.self, from: node) == post)
  }

  @Test("lists keep their gaps, and scalars stand alone")
  func lists() throws {
    #expect(try TreeEncoder().encode([1, nil, 3]) == ["0": 1, "2": 3])
    #expect(try TreeDecoder().decode([Int?].self, from: ["0": 1, "2": 3]) == [1, nil, 3])
    #expect(try TreeEncoder().encode("x") == "x")
    #expect(try TreeDecoder().decode(Int.self, from: 7) == 7)
    #expect(try TreeDecoder().decode(Int64.self, from: TreeNode(.integer(.max))) == .max)
  }

  @Test("a shape that does not fit is an error that names the place")
  func mismatches() {
    #expect(throws: TreeCodingError.self) { try TreeDecoder().decode(Int.self, from: "x") }
    #expect(throws: TreeCodingError.self) { try TreeDecoder().decode(Bool.self, from: 1) }
    #expect(throws: TreeCodingError.self) { try TreeDecoder().decode(Int8.self, from: 300) }
    #expect(throws: TreeCodingError.self) { try TreeDecoder().decode(Post.self, from: ["a": 1]) }
    #expect(throws: TreeCodingError.encoding("0: a number must be finite")) {
      try TreeEncoder().encode([Double.nan])
    }
    #expect(throws: TreeCodingError.decoding("authors.ann: expected a number, found \"x\"")) {
      try TreeDecoder().decode([String: [String: Double]].self, from: ["authors": ["ann": "x"]])
    }
    #expect(throws: TreeCodingError.invalid(.invalidKey("a/b"))) {
      try TreeEncoder().encode(["a/b": 1])
    }
  }
  private struct Entry: Codable, Equatable {
    @NodeKey var id: String?
    var text: String
  }

  @Test("a value knows the key of its node, at any depth, and never writes it")
  func keys() throws {
    let node: TreeNode = ["text": "Hi"]
    let entry = try TreeDecoder().decode(Entry.self, from: node, key: TreeKey("a1"))
    #expect(entry == Entry(id: "a1", text: "Hi"))
    #expect(try TreeEncoder().encode(entry) == node)
    #expect(try TreeDecoder().decode(Entry.self, from: node).id == nil)
    let all = try TreeDecoder().decode(
      [String: [Entry?]].self, from: ["b": ["0": node, "2": node]], key: TreeKey("root"))
    #expect(all["b"]?.map { $0?.id } == ["0", nil, "2"])
    let optional = try TreeDecoder().decode(Entry?.self, from: node, key: TreeKey("a2"))
    #expect(optional?.id == "a2")
  }

  @Test("a child in the place of a key, and the decoder of another model, are errors")
  func misplacedKeys() {
    #expect(
      throws: TreeCodingError.decoding("id: the node has a child where the type has its NodeKey")
    ) {
      try TreeDecoder().decode(Entry.self, from: ["id": "x", "text": "Hi"])
    }
    #expect(throws: DocumentCodingError.self) {
      try DocumentDecoder().decode(Entry.self, from: ["text": "Hi"] as DocumentMap)
    }
  }
}
