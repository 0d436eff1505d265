import TernCore
import TernQuery
import TernTestKit
import Testing

@testable import TernDocumentReplica

@Suite("records of a documents' cache") struct CacheRecordTests {
  private func version(using random: inout SeededGenerator) -> DocumentVersion {
    DocumentVersion(
      microseconds: [0, 1, -1, 1_790_000_000_000_000, Int64(random.roll(1_000))][random.roll(5)])
  }

  private func row(using random: inout SeededGenerator) -> DocumentRow {
    var row = DocumentRow.placeholder(sequence: random.next() >> UInt64(random.roll(64)))
    row.state = [.found, .missing, .unknown, .placeholder][random.roll(4)]
    row.isCommitted = random.roll(2) == 0
    row.references = [0, 1, 127, 128, Int(Int32.max)][random.roll(5)]
    row.version = version(using: &random)
    row.created = version(using: &random)
    row.readTime = version(using: &random)
    return row
  }

  @Test("a document comes back from its row", arguments: UInt64(1)...60)
  func rows(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let row = row(using: &random)
    let fields = DocumentFields(["a": .integer(Int64(bitPattern: random.next())), "é": "x"])
    let value = row.value(fields: fields.bytes.span)
    guard let found = DocumentRow(value.span) else {
      Issue.record("seed \(seed): the row is not read")
      return
    }
    #expect(found.state == row.state && found.isCommitted == row.isCommitted)
    #expect(found.references == row.references && found.sequence == row.sequence)
    #expect(found.version == row.version && found.created == row.created)
    #expect(found.readTime == row.readTime)
    let document = found.document("c/d", value.span)
    #expect(document.fields == (row.state == .found ? fields : nil))
    #expect(document.version == row.version && document.created == row.created)
    // A document without its fields is none, and neither is one that is cut in its head.
    for length in 0...found.fieldsOffset where length < value.count || row.state == .found {
      let cut = Array(value.prefix(length))
      #expect(DocumentRow(cut.span) == nil, "\(length) bytes")
    }
    if row.state != .found { #expect(DocumentRow((value + [0]).span) == nil) }
  }

  @Test("what a server says becomes the row, and a document of it is the same again")
  func taken() {
    let fields = DocumentFields(["a": 1])
    for state in [Document.State.found(fields), .missing, .unknown, .invalid] {
      for writes in [Document.LocalWrites.none, .committed] {
        let document = Document(
          "c/d", state, version: DocumentVersion(microseconds: 7),
          created: DocumentVersion(microseconds: 5), localWrites: writes)
        var row = DocumentRow.placeholder(sequence: 3)
        row.take(document, readTime: DocumentVersion(microseconds: 9))
        let value = row.value(fields: fields.bytes.span)
        guard let found = DocumentRow(value.span) else {
          Issue.record("\(document) is not read")
          continue
        }
        #expect(found.document("c/d", value.span) == document)
        #expect(found.readTime.microseconds == 9 && found.sequence == 3 && found.references == 0)
      }
    }
  }

  @Test("heads that none can have are none")
  func impossible() {
    for bytes in [
      [], [8, 0, 0, 0, 0, 0], [0xFF], [1], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0],
      [1, 0x80, 0x80, 0x80, 0x80, 0x08, 0, 0, 0, 0],
      [1] + [UInt8](repeating: 0xFF, count: 12),
    ] as [[UInt8]] {
      #expect(DocumentRow(bytes.span) == nil, "\(bytes)")
    }
  }

  @Test("numbers come back from groups of seven bits, the signed ones with their sign")
  func numbers() {
    for shift in 0..<64 {
      for offset in [-1, 0, 1] as [Int64] {
        let number = UInt64(bitPattern: (Int64(1) << Int64(shift)) &+ offset)
        var bytes: [UInt8] = []
        bytes.append(varint: number)
        #expect(bytes.count <= 10)
        bytes.append(signed: Int64(bitPattern: number))
        bytes.append(signed: -1)
        var reader = RowReader(bytes.span)
        #expect(reader.varint() == number)
        #expect(reader.signed() == Int64(bitPattern: number))
        #expect(reader.signed() == -1)
        #expect(reader.byte() == nil && reader.varint() == nil && reader.signed() == nil)
      }
    }
  }

  private func target(using random: inout SeededGenerator) -> StoredTarget {
    let query = DocumentQuery.collection(CollectionPath(unchecked: "c"))
    var record = DocumentTargetRecord(
      id: Int32(2 * random.roll(100)), subject: .query(query.target))
    record.resumeToken = (0..<random.roll(5)).map { UInt8($0) }
    record.snapshotVersion = DocumentVersion(microseconds: Int64(random.roll(1_000)))
    record.limboFreeVersion = DocumentVersion(microseconds: Int64(random.roll(1_000)))
    record.sequence = random.next()
    record.keyCount = random.roll(1 << 30)
    return StoredTarget(record)
  }

  @Test("a target comes back from its record, and none that is cut before its subject does")
  func targets() throws {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<50 {
      let target = target(using: &random)
      let found = try #require(StoredTarget(id: target.id, record: target.record))
      #expect(found == target && found.collection?.text == "c")
      let headBytes = target.record.count - target.subject.count
      for length in 0..<headBytes {
        #expect(StoredTarget(id: 2, record: Array(target.record.prefix(length))) == nil)
      }
    }
  }

  @Test("a target that begins anew keeps its name and its use")
  func progress() {
    var record = DocumentTargetRecord(id: 2, subject: .documents(["c/d"]))
    record.resumeToken = [1]
    record.snapshotVersion = DocumentVersion(microseconds: 5)
    record.limboFreeVersion = DocumentVersion(microseconds: 4)
    (record.sequence, record.keyCount) = (7, 3)
    record.forgetProgress()
    #expect(record.resumeToken.isEmpty && record.snapshotVersion == .none)
    #expect(record.limboFreeVersion == .none && record.sequence == 7 && record.keyCount == 3)
  }
}

@Suite("changes of a view") struct ViewChangesTests {
  private func document(_ id: Int, _ rank: Int) -> Document {
    Document(
      DocumentKey(unchecked: "c/\(id)"), .found(["rank": .integer(Int64(rank))]),
      version: DocumentVersion(microseconds: 1))
  }

  @Test(
    "applied one after the other they make the new list of the old one", arguments: UInt64(1)...60)
  func law(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let query = try DocumentQuery.collection(CollectionPath(unchecked: "c"))
      .ordered(by: DocumentFieldPath(dotted: "rank"))
    let ordering = DocumentOrdering(query.normalizedOrders)
    var current: [DocumentKey: Document] = [:]
    for id in 0..<random.roll(20) { current["c/\(id)".key] = document(id, random.roll(10)) }
    let before = SortedDocuments(ordering, sorting: current.values)
    var changes = ViewChanges(before: before)
    var isPending: Set<DocumentKey> = []
    for _ in 0..<random.roll(40) {
      let id = random.roll(25)
      let key = "c/\(id)".key
      changes.note(key, current[key], isMutated: isPending.contains(key))
      switch random.roll(4) {
      case 0:
        current[key] = nil
        isPending.remove(key)
      case 1: if current[key] != nil { isPending.insert(key) }
      default: current[key] = document(id, random.roll(10))
      }
    }
    let after = SortedDocuments(ordering, sorting: current.values)
    let found = changes.changes(
      to: after, current: { current[$0] }, isMutated: { isPending.contains($0) })
    guard !before.isEmpty else {
      #expect(after.isEmpty ? found?.isEmpty == true : found == nil)
      return
    }
    var list = Array(before)
    var kinds: [DocumentViewChange.Kind] = []
    for change in try #require(found) {
      kinds.append(change.kind)
      if let index = change.oldIndex { #expect(list.remove(at: index).key == change.document.key) }
      if let index = change.newIndex { list.insert(change.document, at: index) }
      #expect((change.oldIndex == nil) == (change.kind == .added))
      #expect((change.newIndex == nil) == (change.kind == .removed))
    }
    #expect(list == Array(after), "seed \(seed)")
    let ranks = kinds.map { $0 == .removed ? 0 : $0 == .added ? 1 : 2 }
    #expect(ranks == ranks.sorted(), "removals, additions, then the rest")
    let touched = Set((found ?? []).map(\.document.key))
    #expect(touched.count == found?.count, "each document once")
  }
}

extension String {
  fileprivate var key: DocumentKey { DocumentKey(unchecked: self) }
}
