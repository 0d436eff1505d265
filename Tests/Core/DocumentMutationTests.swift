import TernTestKit
import Testing

@testable import TernCore

@Suite("Document writes")
struct DocumentMutationTests {
  private let key: DocumentKey = "cities/SF"
  private let now = DocumentTimestamp(uncheckedMicroseconds: 1_234_567)
  private let version = DocumentVersion(microseconds: 9_999_999)

  private func found(_ fields: DocumentFields, at version: Int64 = 5) -> Document {
    Document(key, .found(fields), version: DocumentVersion(microseconds: version))
  }

  private func local(_ mutation: DocumentMutation, _ document: Document) -> Document {
    DocumentMutation.replay([(mutation, now)], over: document).document
  }

  @Test("merge names leaves, an empty map being one; update takes paths")
  func masks() throws {
    let merge = try DocumentMutation.merge(
      key,
      with: [
        .init("a", ["b": 1, "c": [:]]), .init("x.y", .delete),
        .init("t", .transform(.serverTimestamp)),
      ])
    guard case .patch(let fields, let mask) = merge.change else { return #expect(Bool(false)) }
    let dotted = DocumentFieldPath(unchecked: ["x.y"])
    #expect(mask == DocumentFieldMask(["a.b", "a.c", dotted]))
    #expect(fields == ["a": ["b": 1, "c": [:]]])
    #expect(merge.transforms.map(\.path) == ["t"])
    let update = try DocumentMutation.update(key, [("a.b", 1), ("c", .delete)])
    #expect(update.precondition == .exists(true))
    #expect(local(update, found(["a": 3, "c": 1])).fields == ["a": ["b": 1]])
    #expect(local(update, Document(key, .missing)).fields == nil)
  }

  @Test("listed fields must occur in the data, and only they are written")
  func mergeFields() throws {
    let data: [DocumentInput.Field] = [.init("a", ["b": 1, "c": 2]), .init("d", 3)]
    let merge = try DocumentMutation.merge(key, with: data, only: ["a"])
    #expect(
      local(merge, found(["a": ["z": 9], "d": 0])).fields == ["a": ["b": 1, "c": 2], "d": 0])
    #expect(throws: DocumentError.missingMergeField("q")) {
      try DocumentMutation.merge(key, with: data, only: ["q"])
    }
  }

  @Test("illegal data is refused by the rule it breaks")
  func illegal() throws {
    func set(_ input: DocumentInput) throws {
      _ = try DocumentMutation.set(key, to: [.init("a", input)])
    }
    #expect(throws: DocumentError.nestedArray("a")) { try set([[1]]) }
    #expect(throws: DocumentError.nestedArray("a")) { try set(.value([[1]])) }
    #expect(throws: DocumentError.misplacedDelete("a")) { try set(.delete) }
    #expect(throws: DocumentError.misplacedTransform("a")) {
      try set([.transform(.serverTimestamp)])
    }
    #expect(throws: DocumentError.emptyFieldName) { try set(["": 1]) }
    #expect(throws: DocumentError.reservedFieldName("__x__")) { try set(["__x__": 1]) }
    #expect(throws: DocumentError.fieldNameTooLong(byteCount: 1_501, limit: 1_500)) {
      try set(.map([.init(String(repeating: "f", count: 1_501), 1)]))
    }
    let long = DocumentValue.bytes([UInt8](repeating: 0, count: 1_048_488))
    #expect(throws: DocumentError.valueTooLong("a", byteCount: 1_048_488, limit: 1_048_487)) {
      try set(.value(long))
    }
    let half = DocumentValue.bytes([UInt8](repeating: 0, count: 600_000))
    #expect(
      throws: DocumentError.documentTooLarge(
        byteCount: 1_200_000 + 26 + 32 + 2 + 4, limit: 1_048_576)
    ) {
      try set(.value(["b": half, "c": half]))
    }
    #expect(throws: DocumentError.overlappingFields("a", "a.b")) {
      try DocumentMutation.update(key, [("a.b", 1), ("c", 1), ("a", 1)])
    }
    #expect(throws: DocumentError.misplacedDelete("a.b")) {
      try DocumentMutation.update(key, [("a", ["b": .delete])])
    }
    let other = DocumentName("a/b", in: try DocumentDatabase(projectID: "other"))
    #expect(throws: DocumentError.foreignReference("a", other)) {
      try DocumentMutation.set(key, to: [.init("a", .value(.reference(other)))])
        .check(in: DocumentDatabase(projectID: "p"))
    }
  }

  @Test("a write from elsewhere is held to the same rules")
  func foreignWrites() throws {
    let database = try DocumentDatabase(projectID: "p")
    let broken: [(DocumentError, DocumentMutation)] = [
      (.nestedArray("a"), DocumentMutation(key, .set(["a": [[1]]]))),
      (.reservedFieldName("__x__"), DocumentMutation(key, .patch([:], mask: .init(["__x__"])))),
      (
        .nestedArray("a"),
        DocumentMutation(key, .set([:]), transforms: [.init("a", .arrayUnion([[1]]))])
      ),
      (
        .tooManyTransforms(count: 501, limit: 500),
        DocumentMutation(
          key, .set([:]),
          transforms: Array(repeating: .init("a", .increment(.integer(1))), count: 501))
      ),
    ]
    for (error, mutation) in broken {
      #expect(throws: error) { try mutation.check(in: database) }
    }
    try DocumentMutation.delete(key).check(in: database)
  }

  @Test("what is written most has a short form, and reads back in one")
  func shortForms() throws {
    let (n, text) = (7, "x")
    let fields: [DocumentInput.Field] = [
      .init("i", .integer(n)), .init("s", .string(text)), .init("b", .boolean(true)),
      .init("d", .double(0.5)), .init("z", .null), .init("y", .bytes([1])),
      .init("t", .timestamp(now)), .init("v", .vector([1])), .init("up", .increment(2)),
      .init("half", .increment(0.5)), .init("l", .arrayUnion([1, "a"])),
      .init("r", .arrayRemove([1])), .init("at", .serverTimestamp),
    ]
    let map = try #require(local(.set(key, to: fields), Document(key, .missing)).fields?.map)
    #expect(map["i"]?.integer == 7 && map["i"]?.double == 7 && map["i"]?.string == nil)
    #expect(map["s"]?.string == "x" && map["b"]?.boolean == true && map["z"] == .null)
    #expect(map["d"]?.double == 0.5 && map["d"]?.integer == nil)
    #expect(map["y"]?.bytes == [1] && map["t"]?.timestamp == now)
    #expect(map["up"]?.integer == 2 && map["half"]?.double == 0.5)
    #expect(map["l"]?.array == [1, "a"] && map["r"]?.array == [])
    #expect(map.displayed(.estimate)["at"]?.timestamp == now)
    #expect(DocumentValue.map(map).map == map && map["s"]?.map == nil && map["s"]?.reference == nil)
  }

  @Test("twenty levels are allowed, twenty-one are not")
  func depth() throws {
    func nested(_ levels: Int) -> DocumentValue {
      (0..<levels).reduce(DocumentValue.integer(1)) { inner, _ in .map(["m": inner]) }
    }
    _ = try DocumentMutation.set(key, to: [.init("a", .value(nested(20)))])
    #expect(throws: DocumentError.self) {
      try DocumentMutation.set(key, to: [.init("a", .value(nested(21)))])
    }
    let deep = try DocumentFieldPath(Array(repeating: "m", count: 21))
    _ = try DocumentMutation.update(key, [(deep, 1)])
    #expect(throws: DocumentError.tooDeep(deep.appending("m"), limit: 20)) {
      try DocumentMutation.update(key, [(deep.appending("m"), 1)])
    }
  }

  @Test("transforms of numbers saturate, keep the winner's kind, and spread NaN")
  func numbers() {
    func apply(_ transform: DocumentTransform, _ base: DocumentValue?) -> DocumentValue {
      transform.applied(to: base, replacing: base, at: .commit(version))
    }
    #expect(apply(.increment(.integer(2)), 3) == 5)
    #expect(apply(.increment(.integer(2)), "x") == 2)
    #expect(apply(.increment(.double(2)), nil) == 2.0)
    #expect(apply(.increment(.integer(1)), .integer(.max)) == .integer(.max))
    #expect(apply(.increment(.integer(-1)), .integer(.min)) == .integer(.min))
    #expect(apply(.increment(.double(0.5)), 1) == 1.5)
    #expect(apply(.maximum(.double(-0.0)), 0.0) == 0.0)
    #expect(apply(.maximum(.double(1)), 1) == 1)
    #expect(apply(.maximum(.double(2)), 1) == 2.0)
    #expect(apply(.minimum(.integer(.min)), -0x1p63) == -0x1p63)
    #expect(apply(.minimum(.integer(1)), .double(.nan)) == .double(.nan))
    #expect(apply(.arrayUnion([1.0, 2, 2]), [1, "a"]) == [1, "a", 2])
    #expect(apply(.arrayRemove([1.0]), [1, 2, 1]) == [2])
    #expect(apply(.arrayRemove([1]), "no array") == [])
    #expect(
      apply(.serverTimestamp, 1) == .timestamp(.init(uncheckedMicroseconds: 9_999_000)))
  }

  @Test("a commit reports its results, keeps the version of what stays the same, and refuses")
  func commit() throws {
    let set = try DocumentMutation.set(
      key, to: [.init("n", 1), .init("t", .transform(.increment(.integer(4))))])
    let before = found(["n": 1, "t": 4])
    let same = try set.commit(over: before, at: version)
    #expect(same.document == before)
    #expect(same.results == [4])
    let made = try set.commit(over: Document(key, .missing), at: version)
    #expect(made.document.created == version)
    #expect(throws: DocumentConflict.alreadyExists(key)) {
      try set.requiring(.exists(false)).commit(over: before, at: version)
    }
    #expect(throws: DocumentConflict.changed(key)) {
      try DocumentMutation.verify(key, is: version).commit(over: before, at: version)
    }
    #expect(throws: DocumentConflict.notFound(key)) {
      try DocumentMutation.update(key, [("a", 1)]).commit(over: .invalid(key), at: version)
    }
  }

  @Test("an acknowledged patch of an unknown document leaves it unknown at that version")
  func acknowledge() throws {
    let update = try DocumentMutation.update(key, [("a", 1), ("t", .transform(.serverTimestamp))])
    var document = Document.invalid(key)
    update.acknowledge(over: &document, version: version)
    #expect(document.state == .unknown)
    var cached = found(["b": 2])
    update.acknowledge(over: &cached, version: version, results: ["from server"])
    #expect(cached.fields == ["a": 1, "b": 2, "t": "from server"])
    #expect(cached.localWrites == .committed)
    update.acknowledge(over: &cached, version: DocumentVersion(microseconds: 6))
    #expect(cached.version == version)
  }

  @Test("a local set shows a pending timestamp over the old value, and counts from its own data")
  func localSet() throws {
    let set = try DocumentMutation.set(
      key,
      to: [
        .init("at", .transform(.serverTimestamp)), .init("n", .transform(.increment(.integer(1)))),
      ])
    let shown = local(set, found(["at": 7, "n": 41]))
    #expect(shown.fields?.map.displayed(.previous) == ["at": 7, "n": 1])
    #expect(shown.version == DocumentVersion(microseconds: 5))
    #expect(local(.delete(key), shown).state == .missing)
  }

  @Test("an increment's base is laid down again before it is replayed")
  func baseMutation() throws {
    let update = try DocumentMutation.update(key, [("n", .transform(.increment(.integer(1))))])
    let base = try #require(update.baseMutation(for: found(["n": 1])))
    let echoed = found(["n": 2], at: 6)
    let shown = DocumentMutation.replay([(base, now), (update, now)], over: echoed).document
    #expect(shown.fields == ["n": 2])
  }

  private func applied(
    _ transform: DocumentTransform, to base: [DocumentValue]
  ) -> [DocumentValue] {
    let result = transform.applied(to: .array(base), replacing: nil, at: .commit(version))
    guard case .array(let elements) = result else { return [] }
    return elements
  }

  /// Values that are not equivalent to those of the tests, to pass the count of a scan.
  private let others: [DocumentValue] = (100..<200).map { DocumentValue.integer(Int64($0)) }

  @Test("many and few operands of array transforms have one equivalence")
  func arrayEquivalence() {
    let base: [DocumentValue] = [
      .integer(1), .double(-0.0), .double(.nan), .integer(1 << 53 + 1), .string("e\u{301}"),
      .map(["a": .integer(2)]),
    ]
    let equivalent: [DocumentValue] = [
      .double(1), .integer(0), .double(0), .double(-.nan), .integer(1 << 53 + 1),
      .string("e\u{301}"), .map(["a": .double(2)]),
    ]
    let different: [DocumentValue] = [
      .double(0x1p53), .string("\u{E9}"), .map(["a": .integer(3)]), .null,
    ]
    let twice = different + different
    for more in [[], others] {
      #expect(applied(.arrayUnion(equivalent + more), to: base) == base + more)
      #expect(applied(.arrayUnion(twice + more), to: base) == base + different + more)
      #expect(applied(.arrayRemove(equivalent + more), to: base) == [])
      #expect(applied(.arrayRemove(different + more), to: base) == base)
    }
    // Repetitions that are stored stay, and the first of equivalent operands is added.
    let ones: [DocumentValue] = [.integer(1), .integer(1)]
    #expect(applied(.arrayUnion(others), to: ones) == ones + others)
    let first: [DocumentValue] = [.double(1)]
    #expect(applied(.arrayUnion(first + ones + others), to: []) == first + others)
  }

  @Test("array transforms of any number of operands take linear time")
  func largeArrays() {
    let values = (0..<200_000).map { DocumentValue.integer(Int64($0)) }
    let united = applied(.arrayUnion(values), to: [.double(7)])
    #expect(united.count == values.count)
    #expect(united.first == .double(7))
    #expect(applied(.arrayRemove(values), to: united).isEmpty)
  }

  @Test("a mask replaces fields as the subscript does, one path after the other")
  func masksAsSubscripts() {
    let paths: [DocumentFieldPath] = [
      "a", "a.b", "a.b.c", "a.d", "b", "b.a", "b.a.a", "m.x", "m.y.z", "n.x", "z",
    ]
    let maps: [DocumentMap] = [
      [:], ["a": 1, "m": 2, "z": 3], ["a": ["b": ["c": 1, "x": 2], "d": 3], "c": 4],
      ["b": ["a": ["a": [:]]], "m": ["x": 1, "y": ["z": 2]], "n": [:]], ["a": ["b": 5], "q": 6],
      ["m": ["y": 1], "n": ["x": ["x": 1]], "z": [:]],
    ]
    for bits in 0..<(1 << paths.count) {
      let mask = DocumentFieldMask(paths.indices.filter { bits >> $0 & 1 == 1 }.map { paths[$0] })
      let (base, source) = (maps[bits % maps.count], maps[bits / 7 % maps.count])
      var merged = base
      mask.apply(source, to: &merged)
      var expected = base
      for path in mask.paths { expected[path] = source[path] }
      #expect(merged == expected, "\(mask.paths.map(\.names)) of \(source) in \(base)")
    }
  }

  @Test("masks and maps of any size take linear time")
  func largeMasks() {
    let names = (1_000_000..<1_100_000).map { String($0) }
    let fields = DocumentMap(names.reversed().map { ($0, DocumentValue.null) })
    #expect(fields.entries.map(\.name) == names)
    let mask = DocumentFieldMask(names.map { DocumentFieldPath(unchecked: ["a", "b", $0]) })
    let source: DocumentMap = ["a": ["b": .map(fields)]]
    var map: DocumentMap = ["a": ["c": 1]]
    mask.apply(source, to: &map)
    let merged: DocumentMap = ["a": ["b": .map(fields), "c": 1]]
    #expect(map == merged)
    #expect(mask.projection(of: map) == source)
    mask.apply([:], to: &map)
    let emptied: DocumentMap = ["a": ["b": [:], "c": 1]]
    #expect(map == emptied)
    var nested = DocumentMap()
    for path in mask.paths { nested[path] = .null }
    #expect(nested == source)
  }

  @Test("of fields with one name the last one stays, in any order")
  func repeatedNames() {
    let fields: [(String, DocumentValue)] = [
      ("b", 1), ("a", 2), ("b", 3), ("a", 4), ("c", 5), ("c", 6),
    ]
    let map = DocumentMap(fields)
    let expected: DocumentMap = ["a": 4, "b": 3, "c": 6]
    #expect(map == expected)
    #expect(map.entries.map(\.name) == ["a", "b", "c"])
  }

  @Test("an overlay shows what replaying shows", arguments: 1...200 as ClosedRange<UInt64>)
  func overlays(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let bases = [
      found(["a": ["b": 1, "c": 2], "n": 1]), found([:]), Document(key, .missing), .invalid(key),
    ]
    let base = try #require(bases.randomElement(using: &random))
    let writes = try (0..<Int.random(in: 1...5, using: &random)).map { _ in
      (mutation: try randomWrite(using: &random), time: now)
    }
    let (shown, overlay) = DocumentMutation.replay(writes, over: base)
    var again = base
    var touched = DocumentMutation.Touched.fields(.empty)
    overlay?.applyLocally(to: &again, touched: &touched, at: now)
    #expect(again.state == shown.state, "seed \(seed): \(writes)")
    #expect((overlay == nil) == (shown.localWrites == .none), "seed \(seed)")
  }

  private func randomWrite(
    using random: inout SeededGenerator
  ) throws -> DocumentMutation {
    let paths: [DocumentFieldPath] = ["a", "a.b", "a.c", "a.b.d", "n", "z.y.x"]
    let inputs: [DocumentInput] = [
      1, "s", .delete, ["b": 5], [:], .transform(.increment(.integer(2))),
      .transform(.serverTimestamp), .transform(.arrayUnion([1])),
    ]
    let path = try #require(paths.randomElement(using: &random))
    let input = try #require(inputs.randomElement(using: &random))
    switch Int.random(in: 0..<5, using: &random) {
    case 0: return .delete(key)
    case 1: return try .set(key, to: [.init("n", 3), .init("a", ["c": 4])])
    case 2 where input != .delete: return try .merge(key, with: [.init(path.names[0], input)])
    case 3 where input != .delete: return try .merge(key, with: [.init("a", ["b": input])])
    default: return try .update(key, [(path, input)])
    }
  }
}
