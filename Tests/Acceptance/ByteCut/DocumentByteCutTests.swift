import TernClient
import TernStorageMemory
import TernSync
import Testing

/// One session of every kind of write to documents, cut after every few bytes.
@Suite struct DocumentByteCutTests {
  /// The number of bytes between two cuts.
  private static let stride = 13

  @Test(
    "a connection cut after any byte loses no write to documents and repeats none",
    .timeLimit(.minutes(30)))
  func everyCut() async throws {
    let house = try await House(Setting(storage: "memory", transport: "loopback"))
    let inspector = try open(Cable(try house.clientTransport()))
    var (bytes, cuts) = (0, 0)
    while try await runCut(house, inspector, after: bytes) {
      cuts += 1
      bytes += Self.stride
    }
    #expect(cuts > 100)
    await inspector.terminate()
    try await house.close()
  }

  private func open(_ cable: Cable) throws -> Documents {
    let parts = DocumentParts(
      database: House.documentDatabase, queue: MemoryStore(), cache: MemoryStore())
    return try Documents.open(parts, over: cable, ambient: .hurried)
  }

  /// Plays the session, breaking its connection once after so many bytes.
  ///
  /// - Returns: Whether the session was long enough to be cut there.
  private func runCut(
    _ house: House, _ inspector: Documents, after bytes: Int
  ) async throws -> Bool {
    let cable = Cable(try house.clientTransport())
    cable.cut(afterBytes: bytes)
    let documents = try open(cable)
    let eager = DocumentCutSession.eager(documents)
    try await DocumentCutSession.play(documents, in: "after\(bytes)")
    eager.cancel()
    let wasCut = !cable.awaitsCut
    await documents.terminate()
    let found = try await DocumentCutSession.found(inspector, in: "after\(bytes)")
    #expect(found == DocumentCutSession.expected, "cut after \(bytes) bytes")
    return wasCut
  }
}
