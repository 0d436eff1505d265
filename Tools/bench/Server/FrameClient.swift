import TernTransport
import TernTreeWire

/// A client of bare frames over any transport: one request, one answer.
struct FrameClient {
  private let link: any Link
  private var frames: AsyncStream<[UInt8]>.AsyncIterator
  private var number: UInt64 = 0

  /// Connects, and waits for the server's greeting.
  init(_ transport: any Transport) async throws {
    let (stream, inbox) = AsyncStream.makeStream(of: [UInt8].self)
    link = try await transport.connect { _ in FrameInbox(inbox) }
    frames = stream.makeAsyncIterator()
    send(.open(TreeOpening()))
    guard case .handshake = try await receive() else { throw BenchFailure(reason: "no greeting") }
  }

  /// Sends a request and waits for its answer; what is pushed before it is dropped.
  mutating func request(_ request: TreeRequest) async throws -> TreeResponse {
    number += 1
    send(.request(number, request))
    while true {
      guard case .response(let answered, let response) = try await receive(), answered == number
      else { continue }
      guard response.status == .ok else { throw BenchFailure(reason: "\(response.status)") }
      return response
    }
  }

  private func send(_ message: TreeClientMessage) {
    link.send(message.encode())
    link.flush()
  }

  private mutating func receive() async throws -> TreeServerMessage {
    guard let frame = await frames.next(isolation: #isolation) else {
      throw BenchFailure(reason: "the link ended")
    }
    return try TreeServerMessage.decode(frame)
  }
}

private final class FrameInbox: LinkHandler {
  private let inbox: AsyncStream<[UInt8]>.Continuation

  init(_ inbox: AsyncStream<[UInt8]>.Continuation) { self.inbox = inbox }

  func linkDidReceive(_ frames: [[UInt8]]) {
    for frame in frames { inbox.yield(frame) }
  }

  func linkDidClose(_ reason: LinkClosure) { inbox.finish() }
}
