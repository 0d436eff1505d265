import Synchronization
import TernCore
import TernLedger
import TernLinkTesting
import TernQuery
import TernStorageMemory
import TernTransport
import TernTransportLoopback
import TernTreeWire
import Testing

@testable import TernServer

/// A client that speaks the dialect by hand and waits for answers.
final class RawClient: LinkHandler {
  private let messages = ArrivalQueue<TreeServerMessage>()
  private let number = Atomic<UInt64>(0)
  private let link = Mutex<(any Link)?>(nil)

  static func connect(
    _ transport: any Transport, stream: UInt128? = nil
  ) async throws -> RawClient {
    let client = RawClient()
    let link = try await transport.connect { _ in client }
    client.link.withLock { $0 = link }
    client.send(.open(TreeOpening(stream: stream)))
    _ = await client.next()
    return client
  }

  func send(_ message: TreeClientMessage) {
    link.withLock { link in
      link?.send(message.encode())
      link?.flush()
    }
  }

  /// Sends frames as they are, together.
  func sendFrames(_ frames: [[UInt8]]) {
    link.withLock { link in
      for frame in frames { link?.send(frame) }
      link?.flush()
    }
  }

  func request(_ request: TreeRequest) {
    send(.request(number.add(1, ordering: .relaxed).newValue, request))
  }

  func pause() { link.withLock { $0?.setReading(false) } }

  func resume() { link.withLock { $0?.setReading(true) } }

  func close() { link.withLock { $0?.close() } }

  func linkDidReceive(_ frames: [[UInt8]]) {
    messages.add(frames.compactMap { try? TreeServerMessage.decode($0) })
  }

  func linkDidClose(_ reason: LinkClosure) { messages.end() }

  /// The next message, `nil` when the link has ended.
  func next() async -> TreeServerMessage? { await messages.next() }
}

struct LoopbackTests {
  @Test("clients over two transports share one server", .timeLimit(.minutes(10)))
  func twoTransports() async throws {
    let home = LoopbackTransport()
    let other = LoopbackTransport()
    let ledger = try EmbeddedLedger(store: MemoryStore()) { 0 }
    let server = try await TernServer(ledger: ledger, on: home)
    #expect(try await server.listen(on: home) == "loopback")
    try await server.listen(on: other)
    let reader = try await RawClient.connect(home)
    let writer = try await RawClient.connect(other)
    reader.request(.listen(TreeListen(path: "room")))
    #expect(await reader.next()?.brief == "ok")
    for value in Int64(1)...100 {
      writer.request(.put("room/x", TreeNode(.integer(value)), expectedHash: nil, .none))
    }
    for value in 1...100 { #expect(await reader.next()?.brief == "put room/x \(value)") }
    for _ in 1...100 { #expect(await writer.next()?.brief == "ok") }
    writer.request(.onDisconnectSet("room/x", .empty))
    #expect(await writer.next()?.brief == "ok")
    writer.close()
    #expect(await reader.next()?.brief == "put room/x null")
    await server.stop()
    #expect(await reader.next() == nil)
  }

  @Test("a client that sends garbage is let go with a reason", .timeLimit(.minutes(10)))
  func garbage() async throws {
    let transport = LoopbackTransport()
    let events = Mutex<[ServerEvent]>([])
    let server = try await TernServer(
      ledger: EmbeddedLedger(store: MemoryStore()) { 0 }, on: transport
    ) { event in events.withLock { $0.append(event) } }
    try await server.listen(on: transport)
    let good = try await RawClient.connect(transport)
    let bad = try await RawClient.connect(transport)
    bad.send(.request(1, .unknown(action: "zz")))
    #expect(await bad.next()?.brief == "failed")
    try await transport.connect { link in
      link.send(Array("GET / HTTP/1.1".utf8))
      link.flush()
      return bad
    }
    #expect(await bad.next()?.brief == "error")
    good.send(.ping)
    #expect(await good.next()?.brief == "pong")
    await server.stop()
  }
}
