#if TCP
  import Dispatch
  import NIOCore
  import Synchronization
  import TernDocumentWire
  import TernTransport

  /// All sessions over WebChannel of one gateway; on its event loop alone.
  final class WebChannelTable {
    private var sessions: [String: WebChannelEndpoint] = [:]
    /// The number of sessions by account.
    private var counts: [String: Int] = [:]

    /// The number of sessions.
    var count: Int { sessions.count }

    /// Responds to a request, at once or later.
    func receive(
      _ arrival: WebChannelArrival, _ context: GatewayContext, _ exchange: WebChannelExchange
    ) throws(WebChannelError) {
      switch arrival.channel.kind {
      case .handshake:
        read(arrival, context, exchange) { [self] upload throws(WebChannelError) in
          try open(arrival, upload, context, exchange)
        }
      case .forward:
        _ = try session(of: arrival)
        read(arrival, context, exchange) { [self] upload throws(WebChannelError) in
          // The session may have ended while a large body was read.
          let session = try session(of: arrival)
          try session.acknowledge(arrival.channel.acknowledged)
          try session.receive(upload.messages, exchange)
        }
      case .back(let mode):
        let session = try session(of: arrival)
        try session.acknowledge(arrival.channel.acknowledged)
        try session.attach(mode, exchange)
      case .terminate:
        // A page that is left may say so twice, and reads no answer.
        (try? session(of: arrival))?.terminate()
        exchange.answer([])
      }
    }

    /// Returns the session of a later request.
    ///
    /// - Throws: ``WebChannelError/unknownSession`` for an unknown id, another method, or
    ///   another client: the three are not told apart.
    private func session(of arrival: WebChannelArrival) throws(WebChannelError)
      -> WebChannelEndpoint
    {
      guard let session = sessions[arrival.channel.session],
        session.method == arrival.channel.method, session.owner.sent(arrival)
      else { throw .unknownSession }
      return session
    }

    /// Forgets a session that is over.
    func forget(_ session: WebChannelEndpoint) {
      guard sessions.removeValue(forKey: session.id) != nil else { return }
      let left = counts[session.account, default: 1] - 1
      counts[session.account] = left > 0 ? left : nil
    }
  }

  // MARK: - Handshake

  extension WebChannelTable {
    /// Opens a session and answers with its greeting.
    ///
    /// - Throws: 503 for too many sessions or too little memory, 400 and 431 for header fields
    ///   or messages; no session is left then.
    private func open(
      _ arrival: WebChannelArrival, _ upload: WebChannelUpload, _ context: GatewayContext,
      _ exchange: WebChannelExchange
    ) throws(WebChannelError) {
      let limits = context.options.limits
      var headers = upload.headers
      if let text = arrival.target["$httpHeaders"], headers.all.isEmpty {
        headers = try WebChannelForm.headers(text, limits)
      }
      let metadata = WebChannelMetadata.pairs(headers, arrival.fields)
      let address = arrival.caller.address
      try makeSpace(for: MemoryBudget.account(of: address), limits.webChannel)
      guard let charge = WebChannelEndpoint.charge(context, address) else {
        throw WebChannelError(503, "Too much memory is in use. Try again.")
      }
      let id = Self.secret(context)
      guard sessions[id] == nil else { throw WebChannelError(503, "Try again.") }
      let authorization = metadata.first { $0.name == WebChannelMetadata.authorization }?.value
      let owner = WebChannelOwner(
        arrival, secret: Self.secret(context), authorization: authorization)
      let session = WebChannelEndpoint(
        id, arrival, owner, firstMap: upload.messages.first?.id ?? 0, charge, in: self,
        on: exchange.loop, context)
      sessions[id] = session
      counts[session.account, default: 0] += 1
      do throws(WebChannelError) { try session.open(metadata, upload.messages) } catch {
        session.giveUp()
        throw error
      }
      exchange.answer(
        WebChannelChunk.framed(Self.greeting(id, arrival.target, limits.webChannel)),
        owner.secretName == nil ? [] : [(WebChannelOwner.secretNameParameter, owner.secret)])
    }

    /// The first array: the session's id, the host to use instead, the version of the protocol,
    /// that of the server, and for clients that know it the interval of keep-alive arrays.
    private static func greeting(
      _ id: String, _ target: RequestTarget, _ limits: WebChannelLimits
    ) -> [UInt8] {
      let knowsInterval = target["CVER"].flatMap { Int($0) }.map { $0 >= 22 } ?? false
      let interval = knowsInterval ? ",\(limits.keepAliveSeconds * 1_000)" : ""
      return Array(#"[[0,["c","\#(id)","",8,14\#(interval)]]]"#.utf8)
    }

    /// Ends the session without a back channel for the longest time, when there are too many.
    private func makeSpace(
      for account: String, _ limits: WebChannelLimits
    ) throws(WebChannelError) {
      if counts[account, default: 0] >= limits.sessionsPerAddress {
        endAbsent { $0.account == account }
      }
      if sessions.count >= limits.sessions { endAbsent { _ in true } }
      guard counts[account, default: 0] < limits.sessionsPerAddress,
        sessions.count < limits.sessions
      else { throw WebChannelError(503, "There are too many sessions.") }
    }

    /// Ends the candidate that has had no back channel for the longest time. O(*n*) in the
    /// sessions.
    private func endAbsent(_ isCandidate: (WebChannelEndpoint) -> Bool) {
      let absent = sessions.values.filter { $0.absentSince != nil && isCandidate($0) }
      absent.min { ($0.absentSince ?? .distantFuture) < ($1.absentSince ?? .distantFuture) }?
        .giveUp()
    }

    /// 128 random bits in the alphabet of addresses.
    private static func secret(_ context: GatewayContext) -> String {
      let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
      var text: [UInt8] = []
      for _ in 0..<2 {
        var bits = context.randomBits()
        for _ in 0..<11 {
          text.append(alphabet[Int(bits & 63)])
          bits >>= 6
        }
      }
      return String(decoding: text, as: UTF8.self)
    }
  }

  // MARK: - Large bodies

  extension WebChannelTable {
    /// The memory that reading a large body takes, in its bytes.
    private static let readingFactor = 8

    /// Reads the body, a large one away from the event loop, and goes on with it.
    ///
    /// - Parameter goOn: Called on the event loop; its error is the answer.
    private func read(
      _ arrival: WebChannelArrival, _ context: GatewayContext, _ exchange: WebChannelExchange,
      _ goOn: @escaping (WebChannelUpload) throws(WebChannelError) -> Void
    ) {
      let (body, method) = (arrival.body, arrival.channel.method)
      let limits = context.options.limits
      let finish = { (upload: Result<WebChannelUpload, WebChannelError>) in
        do throws(WebChannelError) { try goOn(try upload.get()) } catch {
          exchange.answer(error.response)
        }
      }
      let upload = { @Sendable in
        Result { () throws(WebChannelError) in try WebChannelUpload(body, of: method, limits) }
      }
      let isLarge = body.count > HTTPHandler.largeBodyBytes
      // A body beyond the limit is rejected at once, by the form's own check.
      guard isLarge, body.count <= limits.webChannel.formBytes else { return finish(upload()) }
      let charge = MemoryCharge(context.load.budget, .parsing, of: arrival.caller.address)
      guard charge.add(body.count * Self.readingFactor) else {
        return finish(.failure(WebChannelError(503, "Too many requests are being read.")))
      }
      let rest = NIOLoopBound(finish, eventLoop: exchange.loop)
      let loop = exchange.loop
      context.load.parser.async {
        let read = upload()
        loop.execute {
          rest.value(read)
          withExtendedLifetime(charge) {}
        }
      }
    }
  }

  /// Makes the table of a gateway when its event loop is first seen.
  final class WebChannelTables: Sendable {
    private let made = Mutex<NIOLoopBound<WebChannelTable>?>(nil)

    func table(on loop: any EventLoop) -> NIOLoopBound<WebChannelTable> {
      made.withLock { made in
        if let made { return made }
        let table = NIOLoopBound(WebChannelTable(), eventLoop: loop)
        made = table
        return table
      }
    }
  }
#endif
