import Synchronization
import TernCore
import TernLedger
import TernPresence
import TernQuery
import TernSecurity
import TernStorageMemory
import TernSync
import TernTestKit
import TernTransport
import TernTransportLoopback
import TernTreeWire
import Testing

@testable import TernServer

extension TernServer {
  /// The frames that were sent so far.
  fileprivate var sentFrames: Int { metrics.framesOut }

  /// True when a link is not read from.
  fileprivate var isPaused: Bool { links.all.contains { $0.isPaused } }
}

@Suite("Links of requests without a session", .timeLimit(.minutes(10))) struct DirectLinkTests {
  private static let rules = #"""
    {"rules": {
      "open": {".read": true, ".write": true}, "user": {".write": "auth != null"},
      "made": {".write": "newData.child('on').val() === true"}
    }}
    """#

  /// A server and one such link to it.
  private struct Bench {
    let transport: LoopbackTransport
    let server: TernServer
    let client: DirectClient
    /// The reasons for which links have ended.
    let ends: Ends
  }

  private final class Ends: Sendable {
    let reasons = Mutex<[SessionEnd]>([])
  }

  private func withServer(
    limits: ServerLimits = ServerLimits(memoryBytes: 16 << 20),
    authorizer: (any Authorizer)? = nil, ambient: RuntimeEnvironment = .system,
    _ body: (Bench) async throws -> Void
  ) async throws {
    let transport = LoopbackTransport()
    let ends = Ends()
    let rules = RulesAuthorizer(try TreeRules(Self.rules))
    let server = try await TernServer(
      ledger: EmbeddedLedger(store: MemoryStore()) { 0 }, on: transport,
      options: ServerOptions(limits: limits), authorizer: authorizer ?? rules,
      authenticator: PassAuthenticator(), ambient: ambient
    ) { event in
      if case .disconnected(_, let reason) = event { ends.reasons.withLock { $0.append(reason) } }
    }
    try await server.listen(on: transport)
    let client = try await DirectClient.connect(transport)
    try await body(
      Bench(transport: transport, server: server, client: client, ends: ends))
    await server.stop()
  }

  private func write(_ path: TreePath, _ node: TreeNode) -> DirectRequest.Operation {
    .write(.set(path, node), expectedHash: nil)
  }

  private func read(_ path: TreePath, _ server: TernServer) async throws -> DirectAnswer {
    let request = try DirectClient.request(.read(path, .all), as: "chief")
    return await withCheckedContinuation { done in
      Task { await server.ask(request) { done.resume(returning: $0) } }
    }
  }

  /// Waits until requests hold no memory; the suite's time limit ends the wait.
  private func memoryIsReleased(_ server: TernServer) async {
    for use in [MemoryBudget.Use.waiting, .parsing] {
      while server.budget.usedBytes(for: use) > 0 { await Task.yield() }
    }
  }

  @Test("writes and pushes are decided like those over REST, and answered over the link")
  func writes() async throws {
    try await withServer { bench in
      let client = bench.client
      let first = TreeWrite.set("open/a", ["n": 1])
      #expect(try await client.ask(.write(first, expectedHash: "")) == .written(first))
      let stale = DirectRequest.Operation.write(.set("open/a", 2), expectedHash: "")
      #expect(try await client.ask(stale) == .stale(["n": 1]))
      let added = TreeNode(.serverValue(.increment(.integer(4))))
      #expect(
        try await client.ask(write("open/a/n", added)) == .written(.set("open/a/n", 5)))
      guard case .pushed(let name, 7)? = try await client.ask(.push("open/list", 7)) else {
        Issue.record("not pushed")
        return
      }
      let path = TreePath("open/list").appending(name)
      #expect(try await read(path, bench.server) == .node(7))
      #expect(try await client.ask(write("shut", 1))?.isForbidden == true)
      #expect(try await client.ask(write("user", 1))?.isForbidden == true)
      #expect(try await client.ask(write("user", 1), as: "ada") == .written(.set("user", 1)))
      guard case .refused(.invalid)? = try await client.ask(write(".info/x", 1), as: "chief") else {
        Issue.record("written below .info")
        return
      }
      await memoryIsReleased(bench.server)
    }
  }

  /// Frames of so many requests, numbered from 1 on.
  private func requests(
    _ count: Int, _ node: (Int) -> TreeNode
  ) throws -> [[UInt8]] {
    try (1...count).map { number in
      let request = try DirectClient.request(write("open/a", node(number)))
      return try DirectFrame(request, UInt64(number)).encoded()
    }
  }

  /// Returns the numbers of the next answers that say that something was written.
  private func written(_ count: Int, _ client: DirectClient) async throws -> Set<UInt64> {
    var numbers: Set<UInt64> = []
    for _ in 1...count {
      let bytes = try #require(await client.next())
      let frame = try DirectFrame(bytes, .answer)
      if case .written = try frame.answer() { numbers.insert(frame.number) }
    }
    return numbers
  }

  @Test("requests that are sent together are all answered, by their numbers")
  func together() async throws {
    try await withServer { bench in
      let large = TreeNode(.string(String(repeating: "x", count: 200_000)))
      let most = DirectLinks.mostRequests
      bench.client.send(contentsOf: try requests(most) { $0 % 8 == 0 ? large : 1 })
      #expect(try await written(most, bench.client) == Set((1...most).map(UInt64.init)))
      await memoryIsReleased(bench.server)
      // None of them is answered before the last one arrives.
      bench.client.send(contentsOf: try requests(most + 1) { _ in 1 })
      #expect(await bench.client.next() == nil)
      #expect(
        bench.ends.reasons.withLock { $0 } == [.outOfTurn("a request behind \(most) others")])
      await memoryIsReleased(bench.server)
    }
  }

  @Test("a link that leaves its answers unread is not read from")
  func unread() async throws {
    try await withServer(limits: ServerLimits()) { bench in
      let large = TreeNode(.string(String(repeating: "x", count: 300_000)))
      bench.client.setReading(false)
      bench.client.send(contentsOf: try requests(10) { _ in large })
      while await bench.server.sentFrames < 10 { await Task.yield() }
      #expect(await bench.server.isPaused, "3 MB of answers are not taken")
      let last = try DirectClient.request(write("open/a", 1))
      bench.client.send(try DirectFrame(last, 11).encoded())
      bench.client.setReading(true)
      #expect(try await written(11, bench.client) == Set((1...11).map(UInt64.init)))
      await memoryIsReleased(bench.server)
    }
  }

  @Test("a link whose reader is slow to take large data is not taken for a silent one")
  func slow() async throws {
    let clock = ManualClock()
    let ambient = RuntimeEnvironment(
      millisecondsSinceEpoch: { 0 }, clock: clock,
      randomBits: RuntimeEnvironment.system.randomBits)
    try await withServer(limits: ServerLimits(), ambient: ambient) { bench in
      let (client, server) = (bench.client, bench.server)
      let part = TreeNode(.string(String(repeating: "x", count: 300_000)))
      for number in 0..<10 {
        let path = TreePath(unchecked: [
          TreeKey(unchecked: "open"), TreeKey(unchecked: "\(number)"),
        ])
        #expect(try await client.ask(write(path, part)) == .written(.set(path, part)))
      }
      client.setReading(false)
      let request = try DirectClient.request(.review("open"))
      client.send(try DirectFrame(request, 100, in: .value).encoded())
      while await server.exports.all.first?.untakenBytes ?? 0 < TreeExport.aheadBytes {
        await Task.yield()
      }
      clock.advance(by: ServerOptions().presence.silence + .seconds(1))
      await server.tick()
      #expect(try await self.read("none", server) == .node(.empty))
      #expect(bench.ends.reasons.withLock { $0 } == [])
      client.setReading(true)
      var bytes = 0
      while let frame = await client.next(),
        case .bytes(let more) = try DirectFrame(frame, .answer).piece()
      { bytes += more.count }
      #expect(bytes > 3_000_000)
    }
  }

  @Test("a credential that was revoked over a link counts no longer")
  func revocation() async throws {
    try await withServer { bench in
      let client = bench.client
      #expect(try await client.ask(write("user", 1), as: "ada") == .written(.set("user", 1)))
      #expect(try await client.ask(.revoke([.init("ada", .now)]), as: "bob")?.isForbidden == true)
      #expect(try await client.ask(.revoke([.init("ada", .now)]), as: "chief") == .done)
      for token in ["ada", "none"] {
        guard case .refused(.unauthenticated)? = try await client.ask(write("user", 2), as: token)
        else {
          Issue.record("\(token) is believed")
          return
        }
      }
      #expect(try await client.ask(.revoke([.init("ada", .never)]), as: "chief") == .done)
      #expect(try await client.ask(write("user", 3), as: "ada") == .written(.set("user", 3)))
    }
  }

  @Test("administrators set rules and settings and remove a database; others do not")
  func administration() async throws {
    try await withServer { bench in
      let client = bench.client
      let rules = Array(#"{"rules": {"new": {".write": true}}}"#.utf8)
      #expect(try await client.ask(.setRules(rules, isTrial: false))?.isForbidden == true)
      #expect(try await client.ask(.setRules(rules, isTrial: true), as: "chief") == .done)
      #expect(try await client.ask(write("new", 1))?.isForbidden == true)
      #expect(try await client.ask(.setRules(rules, isTrial: false), as: "chief") == .done)
      #expect(try await client.ask(write("new", 1)) == .written(.set("new", 1)))
      let broken = try await client.ask(.setRules([1], isTrial: false), as: "chief")
      guard case .refused(.invalid)? = broken else {
        Issue.record("no rules are in force")
        return
      }
      let small = JSONValue.string("small")
      #expect(
        try await client.ask(.set(.defaultWriteSizeLimit, small), as: "chief") == .setting(small))
      #expect(try await client.ask(.removeDatabase, as: "ada")?.isForbidden == true)
      #expect(try await client.ask(.removeDatabase, as: "chief") == .done)
      #expect(try await read("new", bench.server) == .node(.empty))
    }
  }

  @Test("a request that was not made on its node's machine is not local")
  func locality() async throws {
    try await withServer(authorizer: AllowLocal()) { bench async throws in
      #expect(try await bench.client.ask(write("a", 1)) == .written(.set("a", 1)))
      #expect(try await bench.client.ask(write("a", 2), isLocal: false)?.isForbidden == true)
    }
  }

  @Test("rates and the number of requests that wait are those of all requests without a session")
  func limits() async throws {
    let rates = RateLimits(requestsPerAddress: 1, burstSeconds: 1)
    let clock = ManualClock()
    let still = RuntimeEnvironment(millisecondsSinceEpoch: { 0 }, clock: clock, randomBits: { 7 })
    try await withServer(limits: ServerLimits(rates: rates), ambient: still) { bench in
      #expect(try await bench.client.ask(write("open", 1)) == .written(.set("open", 1)))
      guard case .refused(.tooMany(let excess))? = try await bench.client.ask(write("open", 2))
      else {
        Issue.record("as often as it likes")
        return
      }
      #expect(excess.isOfAddress && excess.perSecond == 1)
    }
    try await withServer(limits: ServerLimits(directRequests: 0)) { bench in
      guard case .refused(.unavailable)? = try await bench.client.ask(write("open", 1)) else {
        Issue.record("as many as it likes")
        return
      }
      await memoryIsReleased(bench.server)
    }
  }

  @Test("what is no request ends the link, with a reason")
  func malformed() async throws {
    let good = try DirectFrame(try DirectClient.request(write("open", 1)), 1).encoded()
    let long = [0x20, 0, 0, 0, 2] + Array("{}".utf8) + [UInt8](repeating: 0, count: 100_000)
    for bad in [[0x20], [0x20, 0, 0, 0, 2, 0x7B, 0x7D], Array("0".utf8), [], long] {
      try await withServer { bench in
        bench.client.send(good)
        #expect(await bench.client.next() != nil)
        // What follows is not decided; a large frame is read aside, and overtaken.
        bench.client.send(contentsOf: bad == long ? [bad] : [bad, good])
        #expect(await bench.client.next() == nil)
        guard case .malformedFrame(let reason)? = bench.ends.reasons.withLock({ $0.first }) else {
          Issue.record("another reason: \(bench.ends.reasons.withLock { $0 })")
          return
        }
        #expect(!reason.isEmpty)
        await memoryIsReleased(bench.server)
      }
    }
  }

  @Test("the first frame decides what a link carries")
  func dialects() async throws {
    try await withServer { bench in
      let session = try await RawClient.connect(bench.transport)
      let request = try DirectFrame(try DirectClient.request(write("open", 1)), 1).encoded()
      session.sendFrames([request])
      guard case .error? = await session.next() else {
        Issue.record("a session carries requests without one")
        return
      }
      #expect(await session.next() == nil)
      #expect(try await read("open", bench.server) == .node(.empty))
    }
  }

  @Test("a large write is judged by its paths, then weighed, then parsed")
  func large() async throws {
    // More than 48 MiB as values in memory, where one address may hold 4 MiB; and 0.4 MB as text.
    let heavy = try TreeNode(json: "[" + String(repeating: "1,", count: 200_000) + "1]")
    let light = TreeNode(.string(String(repeating: "x", count: 400_000)))
    try await withServer { bench in
      let client = bench.client
      let denied: [DirectRequest.Operation] = [
        write("shut", heavy), write("user/a", heavy), .push("shut", heavy),
        .write(.merge(.root, try TreeMerge([.init(path: "shut", node: heavy)])), expectedHash: nil),
      ]
      for operation in denied { #expect(try await client.ask(operation)?.isForbidden == true) }
      for path: TreePath in ["open", "made"] {
        guard case .refused(.invalid(let text))? = try await client.ask(write(path, heavy)) else {
          Issue.record("parsed at \(path)")
          return
        }
        #expect(text.contains("more memory to read than the 4194304 bytes"))
      }
      let written = TreeWrite.set("open", light)
      #expect(try await client.ask(.write(written, expectedHash: nil)) == .written(written))
      let unknown = try await client.ask(write("open", heavy), as: "none")
      guard case .refused(.unauthenticated)? = unknown else {
        Issue.record("parsed for a client that is not known")
        return
      }
      let made: TreeNode = ["on": true, "x": light]
      #expect(try await client.ask(write("made", made)) == .written(.set("made", made)))
      await memoryIsReleased(bench.server)
    }
  }

  @Test("a link that ends before its answer leaves nothing behind")
  func lostLink() async throws {
    try await withServer { bench in
      let light = TreeNode(.string(String(repeating: "x", count: 400_000)))
      for node in [light, 1] {
        let client = try await DirectClient.connect(bench.transport)
        let request = try DirectClient.request(.push("open", node))
        client.send(try DirectFrame(request, 1).encoded())
        client.close()
      }
      // Sent before the end, so it is decided, like what a session sends.
      while true {
        guard case .node(let list) = try await read("open", bench.server) else { return }
        if list.children.count == 2 { break }
      }
      await memoryIsReleased(bench.server)
      #expect(try await bench.client.ask(write("open", 1)) == .written(.set("open", 1)))
    }
  }

  @Test("a link that asks is not taken for a silent one")
  func silence() async throws {
    let clock = ManualClock()
    let ambient = RuntimeEnvironment(
      millisecondsSinceEpoch: { 0 }, clock: clock, randomBits: { 7 })
    try await withServer(ambient: ambient) { bench in
      let session = try await RawClient.connect(bench.transport)
      #expect(try await bench.client.ask(write("open", 1)) == .written(.set("open", 1)))
      clock.advance(by: .seconds(40))
      #expect(try await bench.client.ask(write("open", 2)) == .written(.set("open", 2)))
      // Until the tick that finds the silent session.
      let waiting = Task { await session.next() }
      clock.advance(by: .seconds(25))
      let isOver = Mutex(false)
      let end = Task {
        _ = await waiting.value
        isOver.withLock { $0 = true }
      }
      while !isOver.withLock({ $0 }) {
        clock.advance(by: .milliseconds(1))
        await Task.yield()
      }
      await end.value
      #expect(try await bench.client.ask(write("open", 3)) == .written(.set("open", 3)))
    }
  }

  @Test("a server that stops ends the links")
  func stop() async throws {
    try await withServer { bench async throws in
      #expect(try await bench.client.ask(write("open", 1)) == .written(.set("open", 1)))
      await bench.server.stop()
      #expect(await bench.client.next() == nil)
    }
  }
}
