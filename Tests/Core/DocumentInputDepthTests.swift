import Testing

@testable import TernCore

@Suite("Depth of document inputs")
struct DocumentInputDepthTests {
  private let key: DocumentKey = "cities/SF"

  /// Nests maps and arrays around an input, one in the other.
  private func nested(_ levels: Int, around innermost: DocumentInput) -> DocumentInput {
    (0..<levels).reduce(innermost) { inner, level in
      level.isMultiple(of: 2) ? .map([.init("m", inner)]) : .array([inner])
    }
  }

  @Test("a nesting that is too deep ends the reading before its innermost part")
  func stopsEarly() {
    let deep = nested(61, around: .delete)
    let isTooDeep = { (error: any Error) in
      if case DocumentError.tooDeep(_, limit: DocumentLimits.depth) = error { true } else { false }
    }
    #expect {
      try DocumentMutation.set(key, to: [.init("a", .array([deep]))])
    } throws: {
      isTooDeep($0)
    }
    #expect {
      try DocumentMutation.merge(key, with: [.init("a", deep)])
    } throws: {
      isTooDeep($0)
    }
    #expect {
      try DocumentMutation.update(key, [("a.b", deep)])
    } throws: {
      isTooDeep($0)
    }
  }

  @Test("the deepest nesting that is allowed is read, one level more is not")
  func limit() throws {
    let deepest = nested(DocumentLimits.depth, around: 1)
    _ = try DocumentMutation.set(key, to: [.init("a", deepest)])
    _ = try DocumentMutation.update(key, [("a", deepest)])
    #expect(throws: DocumentError.self) {
      try DocumentMutation.set(key, to: [.init("a", nested(DocumentLimits.depth + 1, around: 1))])
    }
    #expect(throws: DocumentError.self) { try DocumentMutation.update(key, [("a.b", deepest)]) }
  }
}
