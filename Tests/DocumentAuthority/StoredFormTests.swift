import TernTestKit
import Testing

@testable import TernCore
@testable import TernDocumentAuthority

@Suite("stored forms of documents") struct StoredFormTests {
  // MARK: - Ids and tokens

  @Test("an id of a transaction says its mode, and no other bytes do", arguments: [true, false])
  func transactionIDs(isReadOnly: Bool) {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<50 {
      let id = TransactionID.make(isReadOnly: isReadOnly) { random.next() }
      #expect(TransactionID.isReadOnly(id) == isReadOnly)
      for position in id.indices {
        var other = id
        other[position] ^= UInt8(1 + random.roll(255))
        #expect(TransactionID.isReadOnly(other) == nil, "byte \(position)")
      }
      #expect(TransactionID.isReadOnly(id + [0]) == nil)
      #expect(TransactionID.isReadOnly(Array(id.dropLast())) == nil)
    }
    #expect(TransactionID.isReadOnly([]) == nil)
    #expect(TransactionID.isReadOnly([UInt8](repeating: 0, count: 25)) == nil)
  }

  @Test("a token comes back, and any other length or format is none")
  func tokens() throws {
    var state = DatabaseState()
    for (epoch, last) in [(1, 1), (0, 0), (5, .max), (-1, -5), (.min, .max)] as [(Int64, Int64)] {
      state.epoch = DocumentVersion(microseconds: epoch)
      state.last = DocumentVersion(microseconds: last)
      let token = WatchToken(state)
      let bytes = token.encode()
      #expect(WatchToken(bytes) == token)
      for length in 0..<bytes.count { #expect(WatchToken(Array(bytes.prefix(length))) == nil) }
      #expect(WatchToken(bytes + [0]) == nil)
      #expect(WatchToken([2] + bytes.dropFirst()) == nil)
    }
  }

  @Test("a state comes back, and versions only grow")
  func states() throws {
    var state = DatabaseState()
    state.epoch = DocumentVersion(microseconds: 5)
    state.last = DocumentVersion(microseconds: 9)
    state.nextScope = 77
    let bytes = state.encode()
    #expect(DatabaseState(bytes) == state)
    for length in 0..<bytes.count { #expect(DatabaseState(Array(bytes.prefix(length))) == nil) }
    #expect(DatabaseState(bytes + [0]) == nil)
    state.nextScope = .max
    #expect(DatabaseState(state.encode()) == nil, "no number is left")
    for (now, next) in [(0, 10), (9, 10), (10, 10), (11, 11), (-5, 10)] as [(Int64, Int64)] {
      #expect(state.nextVersion(now: now).microseconds == next)
    }
  }

  @Test("a clock never goes back")
  func clock() {
    var clock = DocumentClock()
    #expect(clock.reading == DocumentClock.first)
    for (version, reading) in [(0, 1), (7, 7), (3, 7), (8, 8)] as [(Int64, Int64)] {
      clock.note(DocumentVersion(microseconds: version))
      #expect(clock.reading.microseconds == reading)
    }
  }

  // MARK: - Documents

  @Test("a document comes back from its row")
  func rows() throws {
    let fields = DocumentFields(["a": 1, "b": ["c": .array([1, "x"])]])
    let document = Document(
      "c/d", .found(fields), version: DocumentVersion(microseconds: .max),
      created: DocumentVersion(microseconds: -7))
    let bytes = StoredDocument.encode(fields, document)
    #expect(StoredDocument.decode(bytes.span, "c/d") == document)
    for length in 0...StoredDocument.headBytes {
      let cut = Array(bytes.prefix(length))
      #expect(StoredDocument.decode(cut.span, "c/d") == nil)
    }
  }

  private func document(
    using random: inout RandomDocuments, like other: Document? = nil
  ) -> Document {
    if random.chance(15) { return Document("c/d", .missing) }
    var fields = random.fields()
    if let old = other?.fields, random.chance(60) {
      var map = old.map
      map[random.pick(["a", "b", "s", "new"])] = random.chance(30) ? nil : random.value()
      fields = DocumentFields(map)
    }
    return Document(
      "c/d", .found(fields), version: DocumentVersion(microseconds: Int64(random.random.roll(100))),
      created: DocumentVersion(microseconds: Int64(random.random.roll(100))))
  }

  @Test(
    "a change back gives the document of before, also from its bytes", arguments: UInt64(1)...60)
  func reverseChanges(seed: UInt64) throws {
    var random = RandomDocuments(seed)
    var before = document(using: &random)
    for _ in 0..<30 {
      let after = document(using: &random, like: before)
      let change = ReverseChange(from: before, to: after)
      let read = try #require(ReverseChange(change.encode()))
      for change in [change, read] {
        let undone = change.undone(after)
        #expect(undone.key == before.key && undone.fields?.bytes == before.fields?.bytes)
        if before.isFound {
          #expect(undone.version == before.version && undone.created == before.created)
        }
      }
      before = after
    }
  }

  @Test("a change of one field of many keeps that field alone")
  func smallChanges() {
    var map = DocumentMap()
    for index in 0..<100 { map["field\(index)"] = .string(String(repeating: "x", count: 50)) }
    let before = Document("c/d", .found(DocumentFields(map)))
    map["field7"] = 1
    map["new"] = 2
    let after = Document("c/d", .found(DocumentFields(map)))
    let change = ReverseChange(from: before, to: after)
    #expect(change.encode().count < 200)
    guard case .fields(let fields) = change.before else {
      Issue.record("\(change.before)")
      return
    }
    #expect(Set(fields.map(\.name)) == ["field7", "new"])
  }

  // MARK: - Entries

  /// The fields of a map and of the maps in it, each with the values that it has or holds.
  private func naive(
    _ map: DocumentMap, below names: [String] = []
  ) -> [(path: DocumentFieldPath, value: DocumentValue, isElement: Bool)] {
    map.entries.flatMap { entry in
      let path = DocumentFieldPath(unchecked: names + [entry.name])
      var found = [(path: path, value: entry.value, isElement: false)]
      if case .array(let elements) = entry.value { found += elements.map { (path, $0, true) } }
      if case .map(let inner) = entry.value { found += naive(inner, below: path.names) }
      return found
    }
  }

  @Test("a document has an entry for each field and each element", arguments: UInt64(1)...40)
  func entries(seed: UInt64) {
    var random = RandomDocuments(seed)
    for _ in 0..<20 {
      let fields = random.fields()
      let found = FieldEntries(fields).entries
      let expected = Set(
        naive(fields.map).map { path, value, isElement in
          FieldEntries.field(path)
            + [isElement ? FieldEntries.Claim.element : FieldEntries.Claim.value]
            + IndexValue(value).bytes
        })
      // A vector is a map in its bytes, and has entries for its parts besides.
      #expect(expected.isSubset(of: Set(found)))
      #expect(Set(found).count == found.count)
      #expect(found.elementsEqual(found.sorted { $0.lexicographicallyPrecedes($1) }))
    }
  }

  @Test("the field of a long path is the same from the planner and from a document")
  func longFields() {
    for length in [1, 60, 166, 167, 168, 169, 170, 505, 506, 507, 508, 509, 510, 511, 1_500] {
      let name = String(repeating: "n", count: length)
      var value = DocumentValue.boolean(true)
      for _ in 0..<3 { value = .map(DocumentMap([(name, value)])) }
      guard case .map(let map) = value else { return }
      let expected = (1...3).map { depth in
        FieldEntries.field(
          DocumentFieldPath(unchecked: Array(repeating: name, count: depth)))
          + [FieldEntries.Claim.value]
      }
      let entries = FieldEntries(DocumentFields(map)).entries
      #expect(entries.count == 3)
      for field in expected { #expect(entries.contains { $0.starts(with: field) }, "\(length)") }
    }
  }

  @Test("entries are counted as far as a limit, equal elements of an array once")
  func countedEntries() {
    let numbers = DocumentFields(["a": .array((0..<5_000).map { .integer($0) })])
    var walk = FieldEntryWalk(countLimit: 100)
    walk.visit(numbers)
    #expect(walk.isExceeded && walk.count == 101)
    walk = FieldEntryWalk(byteLimit: 3_000, bytesPerEntry: 100)
    walk.visit(numbers)
    #expect(walk.isExceeded && (8...20).contains(walk.count))
    walk = FieldEntryWalk(countLimit: 3)
    walk.visit(["a": .array((0..<5_000).map { .boolean($0.isMultiple(of: 2)) })])
    #expect(!walk.isExceeded && walk.count == 3)
    walk = FieldEntryWalk(countLimit: 10)
    walk.visit(DocumentFields(DocumentMap((0..<5_000).map { ("f\($0)", .boolean(true)) })))
    #expect(walk.isExceeded && walk.count == 11 && walk.entries.isEmpty)
  }

  @Test("values in an index sort as values do, as far as they are whole", arguments: UInt64(1)...40)
  func indexOrder(seed: UInt64) {
    var random = RandomDocuments(seed)
    for _ in 0..<100 {
      let (one, other) = (random.value(), random.value())
      let (left, right) = (IndexValue(one), IndexValue(other))
      if left.bytes.lexicographicallyPrecedes(right.bytes) {
        #expect(one.compare(other) <= 0, "\(one) and \(other)")
      }
      if left == right, !left.isCut { #expect(one.compare(other) == 0, "\(one) and \(other)") }
      #expect(left.bytes.count <= IndexValue.limitBytes)
    }
  }

  @Test("a long value is cut at the limit", arguments: [-3, -2, -1, 0, 1, 2, 1_000])
  func cuts(over: Int) {
    let text = String(repeating: "x", count: IndexValue.limitBytes + over)
    let value = IndexValue(.string(text))
    let longer = IndexValue(.string(text + "y"))
    #expect(value.bytes.count <= IndexValue.limitBytes)
    #expect(value.isCut || value.bytes != longer.bytes, "what is whole is one value's alone")
    if over > 0 { #expect(value.isCut && value.bytes == longer.bytes) }
    if over < -2 { #expect(!value.isCut) }
  }
}
