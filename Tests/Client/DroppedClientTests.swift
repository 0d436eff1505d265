import TernClient
import TernCore
import TernServer
import TernSync
import Testing

/// Clients that are released without being closed.
@Suite("Dropped clients", .timeLimit(.minutes(10)))
struct DroppedClientTests {
  /// A server, and how many of its links have ended.
  private func home() async throws -> (Home, AsyncStream<Void>) {
    let (ended, report) = AsyncStream<Void>.makeStream()
    let home = try await Home { if case .disconnected = $0 { report.yield() } }
    return (home, ended)
  }

  private func written(at home: Home) async throws -> TreeWriteHandle {
    try await home.client().tree["a"].set(1)
  }

  private func batchWritten(at home: Home) async throws -> DocumentWrite {
    try await home.documentClient().documents.document("a/1").set(["n": 1])
  }

  private func values(at home: Home) throws -> ListenSequence<TreeSnapshot, ListenError> {
    try home.client().tree["a"].values()
  }

  @Test("the handle of a write holds the connection until no caller waits, in the tree")
  func tree() async throws {
    let (home, ended) = try await home()
    var handle: TreeWriteHandle? = try await written(at: home)
    try await handle?.acknowledged()
    #expect(await home.server.linkCount == 1)
    handle = nil
    for await _ in ended { break }
    #expect(await home.server.linkCount == 0)
  }

  @Test("the handle of a write holds the connection until no caller waits, in documents")
  func documents() async throws {
    let (home, ended) = try await home()
    var handle: DocumentWrite? = try await batchWritten(at: home)
    try await handle?.acknowledged()
    #expect(await home.server.linkCount == 1)
    handle = nil
    for await _ in ended { break }
    #expect(await home.server.linkCount == 0)
  }

  @Test("so does a listener, which goes on hearing")
  func listener() async throws {
    let (home, ended) = try await home()
    let other = try home.client()
    try await other.tree["a"].set(1).acknowledged()
    var values: ListenSequence<TreeSnapshot, ListenError>.Iterator? = try values(at: home)
      .makeAsyncIterator()
    for number in Int64(1)...3 {
      try await other.tree["a"].set(TreeNode(.integer(number))).acknowledged()
      while try await values?.next()?.node != TreeNode(.integer(number)) {}
    }
    #expect(await home.server.linkCount == 2)
    values = nil
    for await _ in ended { break }
    #expect(await home.server.linkCount == 1)
    await other.close()
  }
}
