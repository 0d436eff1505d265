import TernCore
import TernDocumentReplica
import TernQuery
import TernSecurity
import TernStorageMemory
import TernSync
import Testing

@testable import TernClient

@Suite("The limit of field paths in queued writes", .timeLimit(.minutes(10)))
struct FieldPathLimitTests {
  /// The kinds of writes that name the path of a nested field.
  enum Kind: CaseIterable {
    case merge, mergedTransform, setTransform, updateTransform, updateValue
  }

  /// Names whose path has so many bytes.
  private static func names(_ count: Int) -> [String] {
    let name = String(repeating: "n", count: 600)
    return [name, name, String(repeating: "m", count: count - 1_202)]
  }

  private static func nested(_ names: [String], _ leaf: DocumentInput) -> DocumentInput {
    names.reversed().reduce(leaf) { .map([DocumentInput.Field($1, $0)]) }
  }

  private func write(_ kind: Kind, _ names: [String], to tern: TernDatabase) async throws {
    let document = tern.documents.document("cities/SF")
    let now = DocumentInput.transform(.serverTimestamp)
    switch kind {
    case .merge: try await document.set(Self.nested(names, 1), merging: true)
    case .mergedTransform: try await document.set(Self.nested(names, now), merging: true)
    case .setTransform: try await document.set(Self.nested(names, now))
    case .updateTransform, .updateValue:
      let path = names.joined(separator: ".")
      let mutation = try DocumentMutation.update(
        DocumentKey("cities/SF"),
        [
          kind == .updateValue
            ? (try DocumentFieldPath(dotted: path), 1)
            : (try DocumentFieldPath([names[0]]), Self.nested(Array(names.dropFirst()), now))
        ])
      _ = try await tern.documents.write([mutation])
    }
  }

  @Test(
    "a path of the most bytes is queued, found again and rejected; one byte more is an error",
    arguments: Kind.allCases)
  func limit(kind: Kind) async throws {
    let home = try await Home(documentAuthorizer: AllowAdministrators())
    let queue = MemoryStore()
    var tern = try home.documentClient(queue: queue)
    await tern.documents.goOffline()
    await #expect(throws: (any Error).self) { try await write(kind, Self.names(1_501), to: tern) }
    #expect(await tern.documents.queueStatus.pending.isEmpty)
    try await write(kind, Self.names(1_500), to: tern)
    await tern.close()

    tern = try home.documentClient(queue: queue)
    try await tern.documents.waitForPendingWrites()
    #expect(await tern.documents.queueStatus.rejected.count == 1)
    await #expect(throws: (any Error).self) { try await write(kind, Self.names(1_501), to: tern) }
    #expect(await tern.documents.queueStatus.pending.isEmpty)
    await tern.close()
    tern = try home.documentClient(queue: queue)
    #expect(await tern.documents.queueStatus.rejected.count == 1)
    await tern.close()
  }

  @Test("the quotes of a name count, and only where a write names the path")
  func quotes() async throws {
    let home = try await Home()
    let queue = MemoryStore()
    var tern = try home.documentClient(queue: queue)
    await tern.documents.goOffline()
    let document = tern.documents.document("cities/SF")
    let name = String(repeating: "\u{e9}", count: 750)
    let error = DocumentsError.invalid(.fieldPathTooLong(byteCount: 1_502, limit: 1_500))
    await #expect(throws: error) { try await document.set(Self.nested([name], 1), merging: true) }
    // A whole document names no path: these are names within their limit.
    try await document.set(Self.nested([name], 1))
    try await document.set(Self.nested([name, name], 1))
    await tern.close()
    tern = try home.documentClient(queue: queue)
    try await tern.documents.waitForPendingWrites()
    #expect(await tern.documents.queueStatus.rejected.isEmpty)
    await tern.close()
  }

  @Test("a batch that cannot be read is set aside and told of; those around it are sent")
  func unreadable() async throws {
    let home = try await Home()
    let queue = MemoryStore()
    let database = try DocumentDatabase(projectID: "demo")
    func batch(_ id: String, _ path: DocumentFieldPath) throws -> QueueChange {
      var data = DocumentMap()
      data[path] = .integer(1)
      let mutation = DocumentMutation(
        try DocumentKey("cities/" + id),
        .patch(DocumentFields(data), mask: DocumentFieldMask([path])))
      let time = DocumentTimestamp(uncheckedMicroseconds: 1)
      let batch = DocumentBatch(id: 1, localWriteTime: time, mutations: [mutation])
      return .append(DocumentBatchRecord.encode(batch, in: database).bytes)
    }
    var (rows, _) = try WriteQueue.open(queue, newClient: 7)
    let short = try DocumentFieldPath(["n"])
    _ = rows.apply([
      try batch("1", short), try batch("2", DocumentFieldPath(unchecked: Self.names(1_501))),
      try batch("3", short),
    ])

    let notices = Notices()
    let tern = try home.documentClient(queue: queue) { $0.report = notices.add }
    let told = notices.all.contains { notice in
      guard case .documentWritesSetAside("", let records) = notice else { return false }
      return records.map(\.id) == [2]
    }
    #expect(told)
    try await tern.documents.waitForPendingWrites()
    let found = try await tern.documents.collection("cities").get(from: .server)
    #expect(found.documents.map(\.id) == ["1", "3"])
    #expect(await tern.documents.queueStatus.rejected.isEmpty)
    try await tern.tree["n"].set(1)
    await tern.close()
    let kept = try TernDatabase.salvage(documentQueue: queue, of: database)
    #expect(kept.isWell && kept.setAside.map(\.id) == [2])
  }
}
