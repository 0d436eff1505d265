import Synchronization
import TernCore
import TernLedger
import TernSecurity
import TernStorage
import TernStorageMemory
import TernTransport
import TernTransportLoopback
import TernTreeWire
import Testing

@testable import TernServer

/// Large frames of sessions: the rules judge a write by its paths before its data are weighed, and
/// data are weighed before they are parsed.
@Suite("Large frames", .timeLimit(.minutes(10))) struct LargeFrameTests {
  private static let rules = #"""
    {"rules": {
      "open": {".read": true, ".write": true},
      "user": {".write": "auth != null"},
      "unset": {".write": "!data.exists()"},
      "made": {".write": "newData.child('on').val() === true"},
      "twice": {"a": {".write": true}}
    }}
    """#
  /// One address may hold 4 MiB.
  private static let limits = ServerLimits(memoryBytes: 16 << 20)

  /// 200,001 numbers: more than 48 MiB as values in memory, 0.4 MB as text.
  private static let heavy = "[" + String(repeating: "1,", count: 200_000) + "1]"
  /// As much text, and little memory.
  private static let light = "\"" + String(repeating: "x", count: 400_000) + "\""

  private func withServer(
    _ body: (TernServer, RawClient, EmbeddedLedger) async throws -> Void
  ) async throws {
    let transport = LoopbackTransport()
    let ledger = try EmbeddedLedger(store: MemoryStore()) { 0 }
    let server = try await TernServer(
      ledger: ledger, on: transport, options: ServerOptions(limits: Self.limits),
      authorizer: RulesAuthorizer(try TreeRules(Self.rules)), authenticator: ChiefAuthenticator())
    try await server.listen(on: transport)
    let client = try await RawClient.connect(transport, stream: 9)
    try await body(server, client, ledger)
    await server.stop()
  }

  private func request(_ number: Int, _ action: String, _ body: String) -> [UInt8] {
    Array(#"{"t":"d","d":{"r":\#(number),"a":"\#(action)","b":{\#(body)}}}"#.utf8)
  }

  private func version(of ledger: EmbeddedLedger) throws -> Version {
    try ledger.read { snapshot throws(StorageError) in snapshot.version }
  }

  /// Returns the next response of a client: status and detail.
  private func answer(_ client: RawClient) async -> (status: TreeStatus, detail: String)? {
    guard case .response(_, let response)? = await client.next() else { return nil }
    return (response.status, String(decoding: response.payload, as: UTF8.self))
  }

  /// Waits until a use of memory holds nothing; the suite's time limit ends the wait.
  ///
  /// An answer leaves before the memory of its request is released: on a loaded machine its client
  /// can be earlier than that.
  private func memoryIsReleased(_ use: MemoryBudget.Use, _ server: TernServer) async {
    while server.budget.usedBytes(for: use) > 0 { await Task.yield() }
  }

  @Test("a write whose data would take more memory than its address may hold is not parsed")
  func weighed() async throws {
    try await withServer { server, client, _ in
      client.send(request(1, "p", #""p":"/open","d":\#(Self.heavy)"#))
      let refused = try #require(await answer(client))
      #expect(refused.status == .failed)
      #expect(refused.detail.contains("more memory to read than the 4194304 bytes"))
      client.send(request(2, "p", #""p":"/open","d":\#(Self.light)"#))
      #expect(await answer(client)?.status == .ok)
      await memoryIsReleased(.parsing, server)
      await memoryIsReleased(.waiting, server)
    }
  }

  @Test(
    "rules that deny by the path alone deny before the data are weighed",
    arguments: [
      ("p", #""p":"/shut","d":"#, ""), ("p", #""d":"#, #","p":"/shut/deep""#),
      ("p", #""p":"/user","d":"#, ""),
      ("p", #""p":"/shut","h":"guess","d":"#, ""), ("o", #""p":"/shut","d":"#, ""),
      ("m", #""p":"/","d":{"open/a":1,"shut":"#, "}"),
      ("om", #""p":"/","d":{"shut/x":"#, #","open/a":1}"#),
    ])
  func denied(action: String, before: String, after: String) async throws {
    try await withServer { server, client, ledger in
      client.send(request(1, action, before + Self.heavy + after))
      #expect(await answer(client)?.status == .permissionDenied)
      await memoryIsReleased(.parsing, server)
      let version = try version(of: ledger)
      #expect(version == 0)
    }
  }

  @Test(
    "rules that look at the data judge them when they are read",
    arguments: [
      ("p", #""p":"/made","d":{"on":true,"x":"#, "}"), ("p", #""p":"/unset","d":"#, ""),
      ("p", #""p":"/open/deep","d":"#, ""),
      ("m", #""p":"/twice","d":{"a":"#, "}"),
    ])
  func allowed(action: String, before: String, after: String) async throws {
    try await withServer { _, client, ledger in
      client.send(request(1, action, before + Self.heavy + after))
      #expect(await answer(client)?.status == .failed, "weighed, and too heavy")
      client.send(request(2, action, before + Self.light + after))
      #expect(await answer(client)?.status == .ok)
      let version = try version(of: ledger)
      #expect(version == 1)
    }
  }

  @Test("a large write is judged behind what its session sent before it")
  func order() async throws {
    try await withServer { _, client, _ in
      let large = request(2, "p", #""p":"/user","d":\#(Self.light)"#)
      client.send(request(1, "gauth", #""cred":"chief""#), large, request(3, "unauth", ""), large)
      var statuses: [TreeStatus?] = []
      for _ in 0..<4 { statuses.append(await answer(client)?.status) }
      #expect(statuses == [.ok, .ok, .ok, .permissionDenied])
    }
  }

  @Test("a numbered write that is sent again gets its first outcome, whatever the rules say now")
  func numbered() async throws {
    try await withServer { server, client, _ in
      let large = request(2, "p", #""p":"/user","d":\#(Self.light),"w":1"#)
      client.send(request(1, "gauth", #""cred":"chief""#), large, request(3, "unauth", ""), large)
      var statuses: [TreeStatus?] = []
      for _ in 0..<4 { statuses.append(await answer(client)?.status) }
      #expect(statuses == [.ok, .ok, .ok, .ok], "its acknowledgement was lost")
    }
  }

  @Test("what cannot be read as far as its paths is answered as before")
  func unreadable() async throws {
    try await withServer { _, client, _ in
      for body in [
        #""p":"/a.b","d":\#(Self.light)"#, #""d":\#(Self.light)"#,
        #""p":"/open","d":{"a.b":\#(Self.light)}"#,
      ] {
        client.send(request(1, "p", body))
        #expect(await answer(client)?.status == .failed)
      }
    }
  }

  @Test("an end behind a large frame that is judged lets all its memory go")
  func ending() async throws {
    try await withServer { server, client, _ in
      client.send(request(1, "p", #""p":"/shut","d":\#(Self.heavy)"#))
      client.close()
      await client.drain()
      while server.slotsInUse > 0 { await Task.yield() }
      for use in MemoryBudget.Use.allCases { await memoryIsReleased(use, server) }
    }
  }
}

extension RawClient {
  /// Sends frames in one burst.
  fileprivate func send(_ frames: [UInt8]...) { sendFrames(frames) }

  /// Receives until the link has ended.
  fileprivate func drain() async { while await next() != nil {} }
}
