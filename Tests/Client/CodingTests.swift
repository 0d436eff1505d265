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
}
