import Foundation
import Synchronization
import TernPostgresTesting
import TernTransportTCP
import Testing

@testable import tern

/// A server that answers as soon as it has the head of a request, and reads no more of it.
private final class HastyServer: Sendable {
  private let listener: LocalSocket
  private let count = Mutex(0)
  /// The connections, which stay open until the server stops.
  private let kept = Mutex<[LocalSocket]>([])

  /// - Parameter answer: The answer; `nil` to close the connection without one.
  init(_ answer: String?) throws {
    let listener = try LocalSocket(listening: 8)
    self.listener = listener
    let thread = Thread { [self] in
      while let connection = listener.accept() {
        count.withLock { $0 += 1 }
        var head: [UInt8] = []
        while head.firstRange(of: Array("\r\n\r\n".utf8)) == nil {
          let bytes = connection.read()
          if bytes.isEmpty { break }
          head += bytes
        }
        if let answer { connection.write(Array(answer.utf8)[...]) }
        // The end of its answer; what the client still sends stays unread.
        shutdown(connection.descriptor, Int32(SHUT_WR))
        if answer == nil { connection.cut() }
        kept.withLock { $0.append(connection) }
      }
    }
    thread.start()
  }

  /// The connections so far.
  var connections: Int { count.withLock { $0 } }

  var client: AdminClient {
    AdminClient(
      options: TCPOptions(host: "127.0.0.1", port: Int(listener.port)), token: nil,
      timeout: .seconds(60))
  }

  func stop() {
    listener.cut()
    listener.close()
    for connection in kept.withLock({ $0 }) { connection.close() }
  }
}

@Suite("requests of operators", .timeLimit(.minutes(2))) struct AdminClientTests {
  private func failure(
    _ method: AdminClient.Method, _ body: [UInt8], of server: HastyServer
  ) async -> Failure? {
    do {
      _ = try await server.client.ask(method, "/.admin/x", body: body)
      return nil
    } catch {
      return error as? Failure
    }
  }

  @Test("an answer counts that comes before the request was sent whole")
  func early() async throws {
    let body = #"{"error":"the disk is full"}"#
    let server = try HastyServer(
      "HTTP/1.1 413 Content Too Large\r\nContent-Length: \(body.utf8.count)\r\n"
        + "Connection: close\r\n\r\n\(body)")
    // More than fits into the buffers of the two sockets.
    let refusal = await failure(.put, [UInt8](repeating: 0, count: 64 << 20), of: server)
    #expect(refusal?.message.contains("the disk is full") == true, "\(String(describing: refusal))")
    for _ in 0..<20 {
      let refusal = await failure(.get, [], of: server)
      #expect(
        refusal?.message.contains("the disk is full") == true, "\(String(describing: refusal))")
    }
    server.stop()
  }

  @Test("a request without an answer is not sent again: the server may have done it")
  func unanswered() async throws {
    let server = try HastyServer(nil)
    let failure = await failure(.post, [1, 2, 3], of: server)
    #expect(failure?.message.contains("ended") == true, "\(String(describing: failure))")
    server.stop()
    #expect(server.connections == 1)
  }
}
