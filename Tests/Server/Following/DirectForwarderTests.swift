import Synchronization
import TernCore
import TernLedger
import TernSecurity
import TernStorageMemory
import TernSync
import TernTestKit
import TernTransport
import TernTransportLoopback
import Testing

@testable import TernServer

/// Links to nodes by name, as a test connects them.
private final class NamedNodes: LeaderLinks {
  private let nodes: Mutex<[String: LoopbackTransport]>
  /// The clients for which links were opened.
  let clients = Mutex<[String]>([])

  init(_ nodes: [String: LoopbackTransport]) { self.nodes = Mutex(nodes) }

  func connect(
    to address: String, for client: String, _ open: @escaping LinkOpening
  ) async throws(TransportError) -> any Link {
    clients.withLock { $0.append(client) }
    guard let node = nodes.withLock({ $0[address] }) else {
      throw .refused(host: address, port: 1)
    }
    return try await node.connect(open)
  }
}

/// A node that answers each frame with others, and ends the link when there is none.
private final class Answering: LinkHandler {
  private let link: any Link
  private let answer: @Sendable ([UInt8]) -> [[UInt8]]?

  init(_ link: any Link, _ answer: @escaping @Sendable ([UInt8]) -> [[UInt8]]?) {
    self.link = link
    self.answer = answer
  }

  func linkDidReceive(_ frames: [[UInt8]]) {
    for frame in frames {
      guard let answers = answer(frame) else { return link.close() }
      link.send(contentsOf: answers)
      link.flush()
    }
  }

  func linkDidClose(_ reason: LinkClosure) {}
}

extension TernServer {
  /// Does something on the server's executor.
  fileprivate func perform<R: Sendable>(_ body: @Sendable () -> R) -> R { body() }
}

@Suite("Passing requests on to the node that leads", .timeLimit(.minutes(10)))
struct DirectForwarderTests {
  /// A node that leads, one that follows, and time in the test's hand.
  private struct Bench {
    let clock = ManualClock()
    let leading = LoopbackTransport()
    let leader: TernServer
    let follower: TernServer
    let forwarder: DirectForwarder
    let nodes: NamedNodes

    init(
      directRequests: Int = 4_096, frameBytes: Int = FrameLimit.standard.bytes,
      others: [String: LoopbackTransport] = [:]
    ) async throws {
      leader = try await TernServer(
        ledger: EmbeddedLedger(store: MemoryStore()) { 0 }, on: leading, authorizer: AllowAll(),
        authenticator: PassAuthenticator())
      try await leader.listen(on: leading)
      let clock = clock
      follower = try await TernServer(
        ledger: EmbeddedLedger(store: MemoryStore()) { 0 }, on: LoopbackTransport(),
        options: ServerOptions(limits: ServerLimits(directRequests: directRequests)),
        ambient: RuntimeEnvironment(
          millisecondsSinceEpoch: { 0 }, clock: clock, randomBits: { 7 }))
      forwarder = DirectForwarder(for: follower, frameBytes: frameBytes)
      nodes = NamedNodes(others.merging(["leader": leading]) { $1 })
    }

    /// Passes a request on and returns its answer.
    func ask(
      _ operation: DirectRequest.Operation, of node: String = "leader",
      from address: String = "192.0.2.7"
    ) async -> DirectAnswer {
      await withCheckedContinuation { done in
        Task { await begin(operation, node, address) { done.resume(returning: $0) } }
      }
    }

    func begin(
      _ operation: DirectRequest.Operation, _ node: String, _ address: String = "192.0.2.7",
      _ answer: @escaping @Sendable (DirectAnswer) -> Void
    ) async {
      let asked = DirectRequest(
        namespace: "default", isLocal: false, address: address,
        credential: Credential(.service, token: "chief"), operation)
      let (forwarder, nodes) = (forwarder, nodes)
      await follower.perform { forwarder.forward(asked, to: node, over: nodes, answer: answer) }
    }

    func stopForwarding() async {
      let forwarder = forwarder
      await follower.perform { forwarder.stop() }
    }

    func end() async {
      await stopForwarding()
      await follower.stop()
      await leader.stop()
    }

    /// Moves the time on until a task is done.
    func run<R: Sendable>(_ task: Task<R, Never>) async -> R {
      let isDone = Mutex(false)
      let end = Task {
        _ = await task.value
        isDone.withLock { $0 = true }
      }
      while !isDone.withLock({ $0 }) {
        clock.advance(by: .seconds(1))
        await Task.yield()
      }
      await end.value
      return await task.value
    }
  }

  /// A node that does with frames what a test says.
  private func node(
    _ answer: @escaping @Sendable ([UInt8]) -> [[UInt8]]?
  ) async throws -> LoopbackTransport {
    let transport = LoopbackTransport()
    _ = try await transport.listen { Answering($0, answer) }
    return transport
  }

  private func set(_ path: TreePath, _ node: TreeNode) -> DirectRequest.Operation {
    .write(.set(path, node), expectedHash: nil)
  }

  /// The text of a refusal for the time being.
  private func text(_ answer: DirectAnswer) -> String? {
    if case .refused(.unavailable(let text)) = answer { text } else { nil }
  }

  @Test("requests of one client come to the leader one behind the other over one link")
  func oneLink() async throws {
    let bench = try await Bench()
    #expect(await bench.ask(set("a", 1)) == .written(.set("a", 1)))
    guard case .pushed(_, 2) = await bench.ask(.push("list", 2)) else {
      Issue.record("not pushed")
      return
    }
    let stale = DirectRequest.Operation.write(.set("a", 3), expectedHash: "")
    #expect(await bench.ask(stale) == .stale(1))
    #expect(await bench.ask(.revoke([.init("ada", .now)])) == .done)
    let large = TreeWrite.set("big", TreeNode(.string(String(repeating: "x", count: 300_000))))
    #expect(await bench.ask(.write(large, expectedHash: nil)) == .written(large))
    #expect(bench.nodes.clients.withLock { $0 } == ["192.0.2.7:0"])
    #expect(await bench.ask(set("a", 4), from: "2001:db8::1") == .written(.set("a", 4)))
    #expect(await bench.ask(set("a", 5), from: "[2001:db8::1]") == .written(.set("a", 5)))
    #expect(await bench.ask(set("a", 6), from: "loopback") == .written(.set("a", 6)))
    #expect(
      bench.nodes.clients.withLock { $0 }.dropFirst() == ["[2001:db8::1]:0", "remote loopback#0"])
    await bench.end()
    #expect(bench.follower.budget.usedBytes(for: .parsing) == 0)
  }

  @Test("many requests of one client share few links")
  func sharedLinks() async throws {
    let held = Mutex<[(any Link, UInt64)]>([])
    let most = DirectForwarder.mostPerClient * DirectLinks.mostRequests
    let transport = LoopbackTransport()
    _ = try await transport.listen { link in
      Answering(link) { frame in
        held.withLock { $0.append((link, DirectFrame.number(of: frame) ?? 0)) }
        return []
      }
    }
    let bench = try await Bench(others: ["slow": transport])
    let asked = (1...most + 10).map { _ in Task { await bench.ask(set("a", 1), of: "slow") } }
    while held.withLock({ $0.count }) < most { await Task.yield() }
    #expect(bench.nodes.clients.withLock { $0.count } == DirectForwarder.mostPerClient)
    #expect(await bench.forwarder.linkCount == DirectForwarder.mostPerClient)
    // Others are not held up by them.
    #expect(await bench.ask(set("b", 2), from: "192.0.2.8") == .written(.set("b", 2)))
    // Answers come in any order, and make room.
    while await bench.forwarder.figures.waiting > 0 {
      for (link, number) in held.withLock({ exchange(&$0, with: []) }).reversed() {
        link.send((try? DirectFrame(.done, number).encoded()) ?? [])
        link.flush()
      }
      await Task.yield()
    }
    for task in asked { #expect(await task.value == .done) }
    #expect(bench.nodes.clients.withLock { $0.count } == DirectForwarder.mostPerClient + 1)
    await bench.end()
    #expect(bench.follower.budget.usedBytes(for: .parsing) == 0)
  }

  @Test("one address does not take the places of all requests")
  func shares() async throws {
    let silent = try await node { _ in [] }
    let bench = try await Bench(directRequests: 40, others: ["silent": silent])
    let answers = Mutex<[String?]>([])
    for _ in 1...40 {
      await bench.begin(set("a", 1), "silent") { answer in
        answers.withLock { $0.append(text(answer)) }
      }
    }
    #expect(answers.withLock { $0 } == Array(repeating: "30 requests wait already.", count: 10))
    #expect(await bench.ask(set("b", 2), from: "192.0.2.8") == .written(.set("b", 2)))
    await bench.end()
  }

  @Test("requests under way at once have a link each; few links are kept, for some seconds")
  func keptLinks() async throws {
    let bench = try await Bench()
    await withTaskGroup { group in
      for value in Int64(1)...12 {
        group.addTask {
          let node = TreeNode(.integer(value))
          #expect(await bench.ask(set("a", node)) == .written(.set("a", node)))
        }
      }
    }
    let most = DirectForwarder.idlePerClient
    #expect(await bench.forwarder.figures.waiting == 0)
    #expect(await (1...most).contains(bench.forwarder.figures.idle))
    while await bench.leader.linkCount > most { await Task.yield() }
    while await bench.forwarder.figures.idle > 0 {
      bench.clock.advance(by: DirectForwarder.idleTime)
      await Task.yield()
    }
    while await bench.leader.linkCount > 0 { await Task.yield() }
    let before = bench.nodes.clients.withLock { $0.count }
    #expect(await bench.ask(set("a", 0)) == .written(.set("a", 0)))
    #expect(bench.nodes.clients.withLock { $0.count } == before + 1)
    await bench.end()
  }

  @Test("a kept link that the leader ends is not used again")
  func endedLink() async throws {
    let bench = try await Bench()
    #expect(await bench.ask(set("a", 1)) == .written(.set("a", 1)))
    bench.leading.cut()
    while await bench.forwarder.figures.idle > 0 { await Task.yield() }
    #expect(await bench.ask(set("a", 2)) == .written(.set("a", 2)))
    #expect(bench.nodes.clients.withLock { $0.count } == 2)
    await bench.end()
  }

  @Test("a leader that cannot be reached is told from one that does not answer")
  func failures() async throws {
    let closing = try await node { _ in nil }
    let babbling = try await node { _ in [[0x21, 0, 0, 0, 2, 0x7B, 0x7D]] }
    let wrong = try await node { _ in [(try? DirectFrame(.done, 99).encoded()) ?? []] }
    let double = try await node { frame in
      let number = (try? DirectFrame(frame, .request))?.number ?? 0
      let answer = (try? DirectFrame(.done, number).encoded()) ?? []
      return [answer, answer]
    }
    let bench = try await Bench(
      others: ["closing": closing, "babbling": babbling, "wrong": wrong, "double": double])
    let unreached = text(await bench.ask(set("a", 1), of: "nowhere"))
    #expect(unreached?.contains("could not be reached") == true)
    #expect(unreached?.contains("not known") == false)
    for name in ["closing", "babbling", "wrong", "double"] {
      let told = text(await bench.ask(set("a", 1), of: name))
      #expect(told?.contains("It is not known if the request was carried out.") == true, "\(name)")
    }
    #expect(await bench.forwarder.figures.idle == 0, "such links are not kept")
    await bench.end()
  }

  @Test("a request is answered when its time is over, and its link given up")
  func deadline() async throws {
    let frames = Mutex(0)
    let silent = try await node { _ in
      frames.withLock { $0 += 1 }
      return []
    }
    let bench = try await Bench(others: ["silent": silent])
    let asked = Task { await bench.ask(set("a", 1), of: "silent") }
    while frames.withLock({ $0 }) == 0 { await Task.yield() }
    let told = text(await bench.run(asked))
    #expect(told?.contains("did not answer within 30 s. It is not known") == true)
    let figures = await bench.forwarder.figures
    #expect(figures == (0, 0))
    await bench.end()
  }

  @Test("more requests than the limit are rejected at once, and the end answers those that wait")
  func limitAndStop() async throws {
    let frames = Mutex(0)
    let silent = try await node { _ in
      frames.withLock { $0 += 1 }
      return []
    }
    let bench = try await Bench(directRequests: 2, others: ["silent": silent])
    let asked = (1...2).map { _ in Task { await bench.ask(set("a", 1), of: "silent") } }
    while frames.withLock({ $0 }) < 2 { await Task.yield() }
    let third = text(await bench.ask(set("a", 1), of: "silent"))
    #expect(third == "2 requests wait already.")
    await bench.stopForwarding()
    for task in asked {
      let told = text(await task.value)
      #expect(told?.contains("It is not known if the request was carried out.") == true)
    }
    let late = text(await bench.ask(set("a", 1)))
    #expect(late == "The server stops.")
    await bench.end()
    #expect(bench.follower.budget.usedBytes(for: .parsing) == 0)
  }

  @Test("what does not fit a frame, or is no client's, is not passed on")
  func notPassedOn() async throws {
    let bench = try await Bench(frameBytes: 1_000)
    let long = TreeNode(.string(String(repeating: "x", count: 1_000)))
    guard case .refused(.invalid(let told)) = await bench.ask(set("a", long)) else {
      Issue.record("passed on")
      return
    }
    #expect(told.contains("its data is longer than 1000 bytes"))
    #expect(text(await bench.ask(.administer)) != nil)
    #expect(bench.nodes.clients.withLock { $0 }.isEmpty)
    #expect(await bench.ask(set("a", 1)) == .written(.set("a", 1)))
    await bench.end()
  }
}
