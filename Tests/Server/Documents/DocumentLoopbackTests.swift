import Synchronization
import TernCore
import TernDocumentWire
import TernLedger
import TernLinkTesting
import TernQuery
import TernStorageMemory
import TernTransport
import TernTransportLoopback
import TernTreeWire
import Testing

@testable import TernServer

/// A client that speaks about documents by hand and waits for answers.
final class RawDocumentClient: LinkHandler {
  private let frames = ArrivalQueue<DocumentServerFrame>()
  private let link = Mutex<(any Link)?>(nil)

  static func connect(_ transport: any Transport) async throws -> RawDocumentClient {
    let client = RawDocumentClient()
    let link = try await transport.connect { _ in client }
    client.link.withLock { $0 = link }
    return client
  }

  func send(_ frame: DocumentClientFrame) {
    link.withLock { link in
      link?.send(frame.encode())
      link?.flush()
    }
  }

  func call(_ number: UInt32, _ body: DocumentRequest.Body) {
    let request = DocumentRequest(body, in: benchDatabase)
    send(.open(stream: number, DocumentCallOpening(request.method, message: request.encode())))
  }

  func linkDidReceive(_ frames: [[UInt8]]) {
    self.frames.add(frames.compactMap { try? DocumentServerFrame.decode($0) })
  }

  func linkDidClose(_ reason: LinkClosure) { frames.end() }

  /// The next frame, `nil` when the link has ended.
  func next() async -> DocumentServerFrame? { await frames.next() }

  /// The next change that a listen call tells; `nil` when something else comes.
  func change(_ call: UInt32) async throws -> WatchChange? {
    guard case .message(call, let bytes) = await next(),
      case .listen(let change) = try DocumentResponse.decode(
        .listen, bytes, DocumentNames(benchDatabase))
    else { return nil }
    return change
  }
}

struct DocumentLoopbackTests {
  @Test("one server serves both models on one address", .timeLimit(.minutes(10)))
  func bothModels() async throws {
    let transport = LoopbackTransport()
    let ledger = try EmbeddedLedger(store: MemoryStore()) { 0 }
    let server = try await TernServer(ledger: ledger, on: transport)
    try await server.listen(on: transport)
    let tree = try await RawClient.connect(transport)
    let reader = try await RawDocumentClient.connect(transport)
    let writer = try await RawDocumentClient.connect(transport)

    let all = DocumentQuery.collection(try CollectionPath("cities"))
    let target = WatchTarget(id: 2, subject: .query(all.target))
    reader.send(.open(stream: 1, DocumentCallOpening(.listen)))
    let request = DocumentRequest(.listen(.add(target)), in: benchDatabase)
    reader.send(.message(stream: 1, request.encode()))
    for expected in ["add [2]", "current [2]", "snapshot"] {
      #expect(try await reader.change(1)?.brief == expected)
    }
    for number in UInt32(1)...50 {
      let key = DocumentKey(unchecked: "cities/\(number)")
      writer.call(number, .commit([DocumentMutation(key, .set(.empty))], transaction: [], nil))
      tree.request(.put("n", TreeNode(.integer(Int64(number))), expectedHash: nil, .none))
    }
    var told: Set<String> = []
    while told.count < 50 {
      guard let change = try await reader.change(1) else { break }
      if case .changed(let document, _, _) = change { told.insert(document.key.id) }
    }
    #expect(told.count == 50)
    for _ in 1...50 {
      #expect(await tree.next()?.brief == "ok")
      guard case .answer = await writer.next() else {
        Issue.record("every commit is answered")
        return
      }
    }
    await server.stop()
    #expect(await writer.next() == nil)
  }
}
