import Synchronization
import TernClient
import TernCore
import TernLedger
import TernServer
import TernServerAssembly
import TernSharedLedger
import TernTransport
import TernTransportLoopback
import TernTreeWire
import Testing

@Suite("servers whose node hands over", .timeLimit(.minutes(2)))
struct HandOverTests {
  private static let path = TreePath(unchecked: [TreeKey(unchecked: "a")])

  private let place = SharedPlace()

  /// Nodes that serve, the leader first.
  private func nodes(leaseSeconds: Int64 = 10) async throws -> [ServerNode] {
    var nodes: [ServerNode] = []
    for name in ["first", "second", "third"] {
      let node = try await ServerNode(place, name, follows: true, leaseSeconds: leaseSeconds)
      await node.events.wait(for: nodes.isEmpty ? .leading : .following)
      nodes.append(node)
    }
    return nodes
  }

  private func client(at name: String, _ stream: UInt128?) async throws -> FrameClient {
    let client = try await FrameClient.connect(to: "\(place.address)/\(name)")
    client.send(.open(TreeOpening(stream: stream)))
    let mark =
      stream == nil ? WriteHeader.none : WriteHeader(WriteIdempotencyKey(sequence: 1))
    client.send(.request(1, .put(Self.path, 1, expectedHash: nil, mark)))
    let told = await client.next(2)
    #expect(told == ["handshake", "answer 1"], "a client at \(name) was told \(told)")
    return client
  }

  @Test("clients of Tern's own are told to come back to the same node, others are not")
  func redirects() async throws {
    let nodes = try await nodes()
    var own: [FrameClient] = []
    for (number, name) in ["first", "second", "third"].enumerated() {
      own.append(try await client(at: name, UInt128(number + 1)))
    }
    let other = try await client(at: "first", nil)
    try nodes[0].handOver()
    for (number, client) in own.enumerated() {
      let told = await client.next(2)
      #expect(told == ["redirect", "closed"], "client \(number) was told \(told)")
    }
    #expect(await other.next(2) == ["error", "closed"])
    for node in nodes { await node.stop() }
  }

  @Test("a node that loses the log lets its clients go to another one")
  func lostLog() async throws {
    let nodes = try await nodes(leaseSeconds: 3)
    let client = try await client(at: "first", 1)
    place.cut("first", true)
    #expect(await client.next(2) == ["error", "closed"])
    for node in nodes { await node.stop() }
  }

  @Test("writes go on at every node without an error while the lead goes around")
  func writes() async throws {
    let nodes = try await nodes()
    var clients: [TernDatabase] = []
    for node in nodes { clients.append(try await node.client()) }
    for round in 1...4 {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, client) in clients.enumerated() {
          group.addTask {
            for _ in 0..<20 {
              try await client.tree["counters/\(number)"].increment(by: 1).acknowledged()
            }
          }
        }
        group.addTask { try await Self.leader(of: nodes).handOver() }
        try await group.waitForAll()
      }
      for (number, client) in clients.enumerated() {
        let counted = try await client.tree["counters/\(number)"].get().number
        #expect(counted == Double(round * 20))
      }
    }
    #expect(try nodes.map { try $0.ledger.figures.terms }.reduce(0, +) >= 5)
    for client in clients { await client.close() }
    for node in nodes { await node.stop() }
  }

  /// Returns the node that leads, once one does.
  private static func leader(of nodes: [ServerNode]) async throws -> ServerNode {
    let ledger = try nodes[0].ledger
    while true {
      let standing = ledger.standing
      if let leader = try nodes.first(where: { try $0.ledger.standing.isLeading }) {
        return leader
      }
      _ = await ledger.changeOfLeader(after: standing)
    }
  }

  @Test("a link to the leader that ends before it is greeted costs the client nothing")
  func beginsAgain() async throws {
    let leader = try await ServerNode(place, "first", follows: true)
    await leader.events.wait(for: .leading)
    let links = try await ShortLinks(2)
    let follower = try await ServerNode(place, "second", follows: true, links: links)
    await follower.events.wait(for: .following)
    let client = try await client(at: "second", 1)
    #expect(links.left == 0)
    client.close()
    await follower.stop()
    await leader.stop()
  }
}

/// Links to the leader of which the first end as soon as they are open.
private final class ShortLinks: LeaderLinks {
  private final class Nothing: LinkHandler {
    func linkDidReceive(_ frames: [[UInt8]]) {}
    func linkDidClose(_ reason: LinkClosure) {}
  }

  private let count: Mutex<Int>
  private let closing = LoopbackTransport()

  init(_ count: Int) async throws {
    self.count = Mutex(count)
    _ = try await closing.listen { link in
      link.close()
      return Nothing()
    }
  }

  /// The links that are still to end early.
  var left: Int { count.withLock { $0 } }

  func connect(
    to address: String, for client: String, _ open: @escaping LinkOpening
  ) async throws(TransportError) -> any Link {
    let isShort = count.withLock { count in
      defer { count = max(0, count - 1) }
      return count > 0
    }
    if isShort { return try await closing.connect(open) }
    return try await NodeLoopbacks().connect(to: address, for: client, open)
  }
}
