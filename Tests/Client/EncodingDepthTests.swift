import TernCore
import Testing

@testable import TernClient

@Suite("Depth and size of encoded values")
struct EncodingDepthTests {
  private struct Bottom: Error {}

  /// A list of lists, whose innermost element cannot be encoded.
  private struct Nested: Encodable {
    let levels: Int

    func encode(to encoder: any Encoder) throws {
      if levels == 0 { throw Bottom() }
      var container = encoder.container(keyedBy: NestedKey.self)
      try container.encode(Nested(levels: levels - 1), forKey: .inner)
    }
  }

  private enum NestedKey: String, CodingKey { case inner }

  /// Encodes names, some of them twice.
  private struct Named: Encodable {
    let members: [(name: String, value: Int?)]

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: TextKey.self)
      for member in members {
        try container.encode(member.value, forKey: TextKey(stringValue: member.name))
      }
    }
  }

  private struct TextKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  @Test("a nesting that neither model holds ends the encoding before its innermost part")
  func depth() {
    #expect(throws: TreeCodingError.self) { try TreeEncoder().encode(Nested(levels: 5)) }
    #expect(
      throws: TreeCodingError.invalid(.tooDeep(count: 257, limit: TreeLimits.pathSegments))
    ) {
      try TreeEncoder().encode(Nested(levels: 300))
    }
    let error = #expect(throws: DocumentCodingError.self) {
      try DocumentEncoder().encode(Nested(levels: 300))
    }
    guard case .invalid(.tooDeep) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test("of members with one name the last counts; names are told apart by their bytes")
  func names() throws {
    let node = try TreeEncoder().encode(
      Named(members: [("a", 1), ("b", 2), ("a", 3), ("b", nil)]))
    #expect(node == ["a": 3])
    let composed = try TreeEncoder().encode(Named(members: [("\u{E9}", 1), ("e\u{301}", 2)]))
    #expect(composed.childCount == 2)
  }

  @Test("the time to encode grows with the number of members", .timeLimit(.minutes(1)))
  func many() throws {
    let count = 120_000
    #expect(try TreeEncoder().encode(Array(0..<count)).childCount == count)
    let members = Dictionary(uniqueKeysWithValues: (0..<count).map { ("k\($0)", $0) })
    #expect(try TreeEncoder().encode(members).childCount == count)
  }
}
