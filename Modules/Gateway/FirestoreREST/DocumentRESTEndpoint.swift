#if TCP
  import Dispatch
  import NIOCore
  import TernCore
  import TernDocumentWire
  import TernServer
  import TernTransport

  /// The documents' REST service for one connection; on its event loop alone.
  final class DocumentRESTEndpoint {
    unowned let handler: HTTPHandler
    let context: ChannelHandlerContext
    /// The calls of the connection, as long as its requests come from one place.
    private var session: DocumentGatewaySession?

    private typealias Message = Result<[UInt8], DocumentRESTError>

    /// The service of a connection, made when it is asked for.
    static func of(_ handler: HTTPHandler, _ context: ChannelHandlerContext) -> DocumentRESTEndpoint
    {
      let endpoint = handler.documents ?? DocumentRESTEndpoint(handler, context)
      handler.documents = endpoint
      return endpoint
    }

    private init(_ handler: HTTPHandler, _ context: ChannelHandlerContext) {
      self.handler = handler
      self.context = context
    }

    /// The connection has ended.
    func end() { exchange(&session, with: nil)?.end(.closedByPeer) }

    /// Serves a request.
    func serve(_ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller) {
      switch DocumentRESTRequest.read(request, target) {
      case .answer(let response): handler.answer(response, context)
      case .call(let call):
        let charge = MemoryCharge(handler.setting.load.budget, .parsing, of: handler.address)
        charge.count(call.body.count)
        handler.releaseBody()
        if call.body.count > HTTPHandler.largeBodyBytes || call.coding != nil {
          return parse(call, charge, caller)
        }
        begin(call, Self.message(of: call, charge), caller)
      }
    }

    /// A request that finds no memory left for its body.
    fileprivate static let tooMany = DocumentRESTError(
      .unavailable, "Too many requests are being read. Try again.")

    /// Reads the body of a request into protobuf. On any thread.
    ///
    /// A compressed body is charged with the limit before it is decompressed, because its size
    /// is not known.
    private static func message(of call: DocumentRESTRequest, _ charge: MemoryCharge) -> Message {
      Result { () throws(DocumentRESTError) in
        var call = call
        if call.coding != nil {
          guard charge.add(DocumentRESTError.bodyBytes) else { throw Self.tooMany }
          try call.decompress()
        }
        try call.hold(charge)
        return try call.message()
      }
    }

    /// Reads a large body away from the event loop.
    private func parse(_ call: DocumentRESTRequest, _ charge: MemoryCharge, _ caller: Caller) {
      let endpoint = NIOLoopBound(self, eventLoop: context.eventLoop)
      let handler = NIOLoopBound(handler, eventLoop: context.eventLoop)
      let loop = context.eventLoop
      let number = self.handler.requestNumber
      self.handler.setting.load.parser.async {
        let message = Self.message(of: call, charge)
        loop.execute {
          guard handler.value.isAnswering, handler.value.requestNumber == number else { return }
          endpoint.value.begin(call, message, caller)
        }
      }
    }

    /// Begins the call of a request whose body was read, or answers with its error.
    private func begin(_ call: DocumentRESTRequest, _ message: Message, _ caller: Caller) {
      do throws(DocumentRESTError) {
        let message = try message.get()
        DocumentRESTCall(call, of: handler, context).start(message, in: session(of: caller))
      } catch {
        let isStream = call.method.streamsResponses
        let isPretty = call.parameters.isPretty
        handler.answer(error.response(isStream: isStream, isPretty: isPretty), context)
      }
    }

    /// The session of the connection; another one when its requests come from elsewhere.
    ///
    /// The peer carries the caller's origin and locality, so requests with other rights never
    /// share calls.
    func session(of caller: Caller) -> DocumentGatewaySession {
      if let session, session.peer == caller.peer { return session }
      end()
      let session = DocumentGatewaySession(
        peer: caller.peer, address: caller.address, handler.setting, on: context.eventLoop)
      self.session = session
      return session
    }
  }

  extension DocumentRESTRequest {
    /// Charges the memory that reading the body takes.
    fileprivate func hold(_ charge: MemoryCharge) throws(DocumentRESTError) {
      let weight = JSONWeight.bytes(body)
      let most = charge.budget.addressBytes
      guard weight <= most else {
        throw DocumentRESTError(
          .resourceExhausted, "The body takes \(weight) bytes of memory to read, more than \(most)."
        )
      }
      guard charge.add(weight) else { throw DocumentRESTEndpoint.tooMany }
    }
  }
#endif
