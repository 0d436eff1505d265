import NIOCore
import NIOHTTP1
import NIOPosix
import TernCore
import TernTransport
import TernTransportTCP

/// Asks the endpoints of a server that are for operators, over HTTP/1.1: one request a connection.
struct AdminClient: Sendable {
  /// The addresses, of which the first one that can be reached is asked, and the rest.
  private(set) var options: TCPOptions
  /// The token of an administrator.
  let token: String?
  /// The longest time without a byte of the answer.
  var timeout: Duration
  /// True if the server is on this machine: one for development takes its owner there.
  var isLocal = false

  /// The token that is shown.
  private var shownToken: String? { token ?? (isLocal ? "owner" : nil) }

  /// The most bytes of an answer that is taken as a whole.
  private static let answerBytes = 64 << 20

  /// The address, for messages.
  var address: String { "\(options.host):\(options.port)" }

  /// The methods of requests.
  enum Method: String {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
  }

  /// An answer of the server.
  struct Answer: Sendable {
    let status: Int
    let body: [UInt8]

    /// The reason of a refusal, as the body tells it.
    var reason: String {
      let value = try? JSONValue(parsing: body)
      if let text = value?["error"]?.text { return text }
      let text = String(decoding: body.prefix(500), as: UTF8.self)
      return text.isEmpty ? "status \(status)" : text
    }
  }

  /// Asks for something, and takes the answer as a whole.
  ///
  /// - Throws: ``Failure`` for statuses that are no success.
  func ask(_ method: Method, _ path: String, body: [UInt8] = []) async throws -> Answer {
    var bytes: [UInt8] = []
    let status = try await stream(method, path, body: body) { piece in
      guard bytes.count + piece.readableBytes <= Self.answerBytes else {
        throw Failure(.failed, "\(address) answers with more than \(Self.answerBytes) bytes")
      }
      bytes.append(contentsOf: piece.readableBytesView)
    }
    return Answer(status: status, body: bytes)
  }

  /// Asks for something, and lends the answer piece by piece, no faster than it is taken.
  ///
  /// - Returns: The status, once the answer is whole.
  /// - Throws: ``Failure``, also for statuses that are no success.
  @discardableResult
  func stream(
    _ method: Method, _ path: String, body: [UInt8] = [],
    _ take: (ByteBuffer) async throws -> Void
  ) async throws -> Int {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let channel: NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>
    do throws(TransportError) {
      channel = try await ByteConnection.open(options, on: loop) { [timeout] channel in
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHTTPClientHandlers()
        let seconds = timeout.components.seconds
        try pipeline.addHandler(IdleStateHandler(readTimeout: .seconds(seconds)))
        try pipeline.addHandler(SilenceHandler())
        return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
      }
    } catch {
      guard let next = alternative else { throw AssemblyFailure.unreachable(address, error) }
      return try await next.stream(method, path, body: body, take)
    }
    do {
      return try await channel.executeThenClose { inbound, outbound in
        let failure = try await send(method, path, body, to: outbound)
        return try await receive(from: inbound, after: failure, take)
      }
    } catch let failure as Failure {
      throw failure
    } catch let error as CancellationError {
      throw error
    } catch {
      throw Failure(.unreachable, "\(address) ended the connection: \(error)")
    }
  }

  /// The same client without its first address; `nil` when it has no other.
  private var alternative: AdminClient? {
    guard !options.alternatives.isEmpty else { return nil }
    var next = self
    next.options.addresses.removeFirst()
    return next
  }

  /// Sends the request in one piece: a server that has the head of one without a body has all of
  /// it, and may have answered and closed the connection before more of it could be written.
  ///
  /// - Returns: The failure to write, behind which the answer may be there all the same: a server
  ///   may refuse a request before it has read it. `nil` for none.
  private func send(
    _ method: Method, _ path: String, _ body: [UInt8],
    to outbound: NIOAsyncChannelOutboundWriter<HTTPClientRequestPart>
  ) async throws(CancellationError) -> (any Error)? {
    var headers = HTTPHeaders([
      ("Host", address), ("Connection", "close"), ("User-Agent", "tern"),
      ("Content-Length", "\(body.count)"),
    ])
    if let shownToken { headers.add(name: "Authorization", value: "Bearer \(shownToken)") }
    let head = HTTPRequestHead(
      version: .http1_1, method: HTTPMethod(rawValue: method.rawValue), uri: path, headers: headers)
    var parts: [HTTPClientRequestPart] = [.head(head)]
    if !body.isEmpty { parts.append(.body(.byteBuffer(ByteBuffer(bytes: body)))) }
    parts.append(.end(nil))
    do { try await outbound.write(contentsOf: parts) } catch let error as CancellationError {
      throw error
    } catch {
      return error
    }
    return nil
  }

  /// Receives the answer.
  ///
  /// - Parameter failure: The failure to send the request, thrown when no answer came.
  private func receive(
    from inbound: NIOAsyncChannelInboundStream<HTTPClientResponsePart>, after failure: (any Error)?,
    _ take: (ByteBuffer) async throws -> Void
  ) async throws -> Int {
    var status = 0
    var refusal: [UInt8] = []
    for try await part in inbound {
      switch part {
      case .head(let head): status = Int(head.status.code)
      case .body(let bytes) where (200..<300).contains(status): try await take(bytes)
      case .body(let bytes): refusal += bytes.readableBytesView.prefix(4_096)
      case .end:
        guard (200..<300).contains(status) else {
          throw self.failure(Answer(status: status, body: refusal))
        }
        return status
      }
    }
    if status == 0, let failure { throw failure }
    throw Failure(.failed, "\(address) ended its answer before it was whole")
  }

  private func failure(_ answer: Answer) -> Failure {
    switch answer.status {
    case 401, 403:
      let advice =
        token == nil ? "; give --token FILE with the token of an administrator" : ""
      return Failure(.refused, "\(address) refused it: \(answer.reason)\(advice)")
    case 404: return Failure(.notFound, "\(address): \(answer.reason)")
    case 400, 405, 409, 413: return Failure(.usage, "\(address): \(answer.reason)")
    default: return Failure(.failed, "\(address): \(answer.reason)")
    }
  }
}

/// The failure to connect, in the words of the other commands.
private enum AssemblyFailure {
  static func unreachable(_ address: String, _ error: TransportError) -> Failure {
    if case .invalidOption = error { return Failure(.usage, "\(error)") }
    return Failure(.unreachable, "cannot reach \(address): \(error)")
  }
}

/// Ends a connection on which nothing has come for too long.
private final class SilenceHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias InboundOut = HTTPClientResponsePart

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if let idle = event as? IdleStateHandler.IdleStateEvent, idle == .read {
      context.fireErrorCaught(
        Failure(.unreachable, "the server did not answer in time"))
      context.close(promise: nil)
      return
    }
    context.fireUserInboundEventTriggered(event)
  }
}
