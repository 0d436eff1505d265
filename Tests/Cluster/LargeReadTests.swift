import TernAssembly
import TernCore
import TernQuery
import TernSecurity
import TernServer
import TernServerAssembly
import Testing

@Suite("large data of another shard", .timeLimit(.minutes(2)))
struct LargeReadTests {
  private static let table: ConfigurationValue = ["1": ["games"]]
  private static let path = TreePath(unchecked: [TreeKey(unchecked: "big")])

  private static func request(_ token: String? = "owner") -> DirectRequest {
    DirectRequest(
      namespace: "games", isLocal: true, address: "loopback",
      credential: token.map { Credential(.service, token: $0, isLocal: true) },
      .readOrExport(path))
  }

  /// The wrong node and the right one, with 3 MB.
  private func withShards(_ body: (TernServer, TernServer) async throws -> Void) async throws {
    let place = SharedPlace()
    let first = try await ServerNode(place, "first", follows: true, shards: Self.table)
    let second = try await ServerNode(place, "second", follows: true, shard: 1, shards: Self.table)
    for node in [first, second] { await node.events.wait(for: .leading) }
    let right = second.server.server
    for number in 0..<10 {
      let leaf = Self.path.appending(TreeKey(unchecked: "part\(number)"))
      let text = String(repeating: "\(number)\u{e9}", count: 100_000)
      var write = Self.request()
      write.operation = .write(.set(leaf, TreeNode(.string(text))), expectedHash: nil)
      guard case .written = await right.answer(write) else {
        Issue.record("not written")
        break
      }
    }
    try await body(first.server.server, right)
    await second.stop()
    await first.stop()
  }

  /// Reads to the end; `nil` when the data end before that.
  private func whole(
    _ server: TernServer, _ form: TreeNode.JSONForm, _ request: DirectRequest
  ) async throws -> [UInt8]? {
    let (events, feed) = AsyncStream.makeStream(of: TreeExport.Event.self)
    let export = try #require(
      await server.export(Self.path, form, of: "games", for: request) { feed.yield($0) })
    var bytes: [UInt8] = []
    for await event in events {
      switch event {
      case .piece(let piece):
        bytes += piece
        export.take(piece.count)
      case .end: return bytes
      case .failed, .refused, .withdrawn: return nil
      }
    }
    return nil
  }

  @Test("large data are told to be large, and come whole and in pieces")
  func pieces() async throws {
    try await withShards { wrong, right in
      #expect(await wrong.answer(Self.request()) == .large)
      var read = Self.request()
      read.operation = .read(Self.path, .all)
      guard case .node(let node) = await right.answer(read) else {
        Issue.record("not read")
        return
      }
      for form in [TreeNode.JSONForm.value, .export] {
        let bytes = try await whole(wrong, form, Self.request())
        #expect(bytes == node.jsonBytes(form))
      }
      // As many as the limit says may follow one another.
      for _ in 0..<20 {
        let bytes = try await whole(wrong, .value, Self.request())
        #expect(bytes != nil)
      }
    }
  }

  @Test("the node of the data judges the credential of each reading")
  func denied() async throws {
    try await withShards { wrong, right in
      var rules = Self.request()
      rules.operation = .setRules(Array(#"{"rules": {}}"#.utf8), isTrial: false)
      #expect(await right.answer(rules) == .done)
      for (token, isRead) in [("owner", true), (nil, false), ("forged", false)] {
        let bytes = try await whole(wrong, .value, Self.request(token))
        #expect((bytes != nil) == isRead, "\(token ?? "no token")")
      }
      guard case .refused(.permissionDenied) = await wrong.answer(Self.request(nil)) else {
        Issue.record("read without a right")
        return
      }
    }
  }

  @Test("so many are read at once, and a reader that goes makes room")
  func limit() async throws {
    try await withShards { wrong, _ in
      var exports: [TreeExport] = []
      for _ in 0..<ServerLimits().exports {
        exports.append(
          try #require(
            await wrong.export(Self.path, .value, of: "games", for: Self.request()) { _ in }))
      }
      let more = await wrong.export(Self.path, .value, of: "games", for: Self.request()) { _ in }
      #expect(more == nil)
      for export in exports { export.cancel() }
      // The other node learns of it when the links have ended.
      while try await whole(wrong, .value, Self.request()) == nil {}
    }
  }
}

extension TernServer {
  fileprivate func answer(_ request: DirectRequest) async -> DirectAnswer {
    await withCheckedContinuation { done in ask(request) { done.resume(returning: $0) } }
  }
}
