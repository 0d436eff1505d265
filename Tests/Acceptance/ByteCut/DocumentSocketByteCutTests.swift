#if TCP
  import TernClient
  import TernCore
  import TernStorageMemory
  import TernTransport
  import Testing

  /// One session of every kind of write to documents over real sockets, cut after every few bytes
  /// of either direction.
  @Suite struct DocumentSocketByteCutTests {
    @Test(
      "a socket cut after any byte loses no write to documents and repeats none",
      .timeLimit(.minutes(30)), arguments: CutProxy.Way.allCases)
    func everyCut(way: CutProxy.Way) async throws {
      let table = try await CutTable()
      let inspector = try client(over: table.direct)
      try await table.cutEverywhere(way, every: 7, least: 500) { name in
        let writer = try client(over: table.cut)
        let eager = DocumentCutSession.eager(writer)
        try await DocumentCutSession.play(writer, in: name)
        eager.cancel()
        await writer.terminate()
        let found = try await DocumentCutSession.found(inspector, in: name)
        #expect(found == DocumentCutSession.expected, "\(name)")
      }
      await inspector.terminate()
      try await table.close()
    }

    private func client(over transport: any Transport) throws -> Documents {
      let parts = DocumentParts(
        database: try DocumentDatabase(projectID: "cut"), queue: MemoryStore(),
        cache: MemoryStore())
      return try Documents.open(parts, over: transport, ambient: .hurried)
    }
  }
#endif
