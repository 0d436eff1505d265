import TernTestKit
import Testing

@testable import TernCore

/// Many transforms of the arrays of one write.
@Suite("Array transforms") struct ArrayTransformTests {
  private let key: DocumentKey = "c/d"
  private let version = DocumentVersion(microseconds: 9_000_000)

  private func commit(
    _ fields: DocumentFields, _ transforms: [DocumentFieldTransform]
  ) throws -> (document: Document, results: [DocumentValue]) {
    try DocumentMutation(key, .set(fields), transforms: transforms).commit(
      over: Document(key, .missing), at: version, checksSize: false)
  }

  @Test("the work of many transforms of one array is the sum of elements and operands")
  func work() {
    let count = 100_000
    var draft = ArrayDraft(.array(Array(repeating: true, count: count)))
    for number in 0..<250 as Range<Int64> { draft.unite([.integer(number)]) }
    for number in 0..<250 as Range<Int64> { draft.remove([.integer(number)]) }
    draft.remove([])
    #expect(draft.comparisonCount <= 6 * count)
    #expect(draft.elements == Array(repeating: true, count: count))
    draft.remove([true])
    #expect(draft.elements.isEmpty)
    #expect(draft.comparisonCount <= 6 * count)
  }

  @Test("transforms of two arrays in turn, with others in between, cost no product")
  func turns() throws {
    let array = DocumentValue.array((0..<100_000).map { .integer(Int64($0)) })
    var transforms: [DocumentFieldTransform] = []
    for number in 0..<125 as Range<Int64> {
      transforms.append(DocumentFieldTransform("a", .arrayUnion([.integer(-number)])))
      transforms.append(DocumentFieldTransform("b", .arrayRemove([.integer(number)])))
      transforms.append(DocumentFieldTransform("n", .increment(.integer(1))))
      transforms.append(DocumentFieldTransform("a", .arrayRemove([.integer(-number)])))
    }
    let fields = DocumentFields(DocumentMap([("a", array), ("b", array)]))
    let (document, results) = try commit(fields, transforms)
    guard case .array(let a)? = document.fields?["a"], case .array(let b)? = document.fields?["b"]
    else { return #expect(Bool(false)) }
    #expect(a.count == 99_999 && a.first == 1)
    #expect(b.count == 99_875 && b.first == 125)
    #expect(document.fields?["n"] == 125)
    // An answer holds no array, let alone one for each transform.
    #expect(results.prefix(4) == [.null, .null, 1, .null])
  }

  @Test(
    "transforms in one write do what they do one write after the other",
    arguments: 1...300 as ClosedRange<UInt64>)
  func sequences(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let paths: [DocumentFieldPath] = ["a", "a.b", "a.b.c", "a.d", "b", "b.a"]
    let values: [DocumentValue] = [1, 1.0, 2, "x", .null, .double(.nan), ["m": 1], ["m": 1.0]]
    func few(_ range: ClosedRange<Int>) -> [DocumentValue] {
      (0..<Int.random(in: range, using: &random)).map { _ in
        values[Int.random(in: 0..<values.count, using: &random)]
      }
    }
    let base = DocumentFields(
      DocumentMap([
        ("a", .map(DocumentMap([("b", .array(few(0...4)))]))), ("b", .array(few(0...4))),
      ]))
    let transforms = (0..<Int.random(in: 1...30, using: &random)).map { _ in
      let path = paths[Int.random(in: 0..<paths.count, using: &random)]
      let transform: DocumentTransform =
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2: .arrayUnion(few(0...20))
        case 3...5: .arrayRemove(few(0...3))
        case 6: .increment(.integer(1))
        default: .serverTimestamp
        }
      return DocumentFieldTransform(path, transform)
    }
    let (together, results) = try commit(base, transforms)
    var (single, singleResults) = (try commit(base, []).document, [DocumentValue]())
    for item in transforms {
      let write = DocumentMutation(key, .patch(.empty, mask: .empty), transforms: [item])
      let (next, results) = try write.commit(over: single, at: version, checksSize: false)
      (single, singleResults) = (next, singleResults + results)
    }
    #expect(together.fields == single.fields, "seed \(seed): \(transforms)")
    #expect(results == singleResults, "seed \(seed)")
    // A device that is told the results has the same.
    var cached = Document(key, .missing)
    DocumentMutation(key, .set(base), transforms: transforms).acknowledge(
      over: &cached, version: version, results: results)
    #expect(cached.fields == single.fields, "seed \(seed)")
  }

  @Test("a mask shows what its paths name, however many they are")
  func projections() {
    let paths: [DocumentFieldPath] = [
      "a", "a.b", "a.b.c", "a.d", "b", "b.a", "b.a.a", "m.x", "m.y.z", "n.x", "z",
    ]
    let maps: [DocumentMap] = [
      [:], ["a": 1, "m": 2, "z": 3], ["a": ["b": ["c": 1, "x": 2], "d": 3], "c": 4],
      ["b": ["a": ["a": [:]]], "m": ["x": 1, "y": ["z": 2]], "n": [:]],
      ["a": ["b": [:]], "b": 2, "c": 3, "d": 4, "e": 5, "m": ["y": 1], "n": ["x": ["x": 1]]],
    ]
    for bits in 0..<(1 << paths.count) {
      let mask = DocumentFieldMask(paths.indices.filter { bits >> $0 & 1 == 1 }.map { paths[$0] })
      let map = maps[bits % maps.count]
      var expected = DocumentMap()
      for path in mask.paths { if let value = map[path] { expected[path] = value } }
      #expect(mask.projection(of: map) == expected, "\(mask.paths.map(\.names)) of \(map)")
    }
  }
}
