#if TCP
  import NIOCore
  import TernCore
  import TernDocumentWire
  import TernTransport

  /// One session over WebChannel: a call of the documents' dialect on a link of its own, the
  /// responses that carry its messages, and its timers.
  final class WebChannelEndpoint: DocumentCallReceiver {
    let id: String
    let method: DocumentMethod
    let owner: WebChannelOwner
    /// The address that the session is charged to.
    let address: String
    /// The account of the address, whose sessions are counted together.
    let account: String
    private var session: WebChannelSession
    private weak var table: WebChannelTable?
    private let context: GatewayContext
    private let loop: any EventLoop
    private let peer: String
    private var server: DocumentGatewaySession?
    /// `nil` before ``open(_:_:)`` and after the end of the call.
    private var call: DocumentGatewayCall?
    /// `nil` while the client has no back channel.
    private var back: WebChannelResponse?
    /// Due while a back channel waits, or while none does.
    private var timer: Scheduled<Void>?
    /// The time since which there is no back channel; `nil` while there is one.
    private(set) var absentSince: NIODeadline?
    private var isPumpScheduled = false
    /// Messages that wait until the server reads again.
    private var delayed: [(contents: [WebChannelSession.Content], exchange: WebChannelExchange)] =
      []
    /// True while the server wants no messages.
    private var isDelayed = false
    // Memory.
    private var charge: MemoryCharge?
    private var delayedBytes = 0
    private var chargedInput = 0
    /// The bytes charged for arrays that are kept. What was given to a connection is charged until
    /// that has sent it, whatever becomes of the session.
    private var chargedOutput = 0

    private var limits: WebChannelLimits { context.options.limits.webChannel }

    /// Charges a new session; `nil` when there is no memory for it.
    static func charge(_ context: GatewayContext, _ address: String) -> MemoryCharge? {
      let charge = MemoryCharge(context.load.budget, .connections, of: address)
      return charge.add(WebChannelLimits.sessionBytes) ? charge : nil
    }

    init(
      _ id: String, _ arrival: WebChannelArrival, _ owner: WebChannelOwner, firstMap: Int,
      _ charge: MemoryCharge, in table: WebChannelTable, on loop: any EventLoop,
      _ context: GatewayContext
    ) {
      self.id = id
      self.owner = owner
      self.charge = charge
      self.table = table
      self.context = context
      self.loop = loop
      method = arrival.channel.method
      address = arrival.caller.address
      account = MemoryBudget.account(of: address)
      peer = arrival.caller.peer
      session = WebChannelSession(limits: context.options.limits.webChannel, firstMap: firstMap)
    }

    /// Begins the call with the messages of the handshake.
    func open(
      _ metadata: [(name: String, value: String)], _ messages: [WebChannelSession.Incoming]
    ) throws(WebChannelError) {
      let server = DocumentGatewaySession(
        peer: peer, address: address, protocolName: "webchannel", context, on: loop)
      server.onReading = { [weak self] in self?.setReading($0) }
      self.server = server
      beginAbsence()
      call = server.begin(
        method.rawValue, metadata: metadata.map { DocumentCallOpening.Entry($0.name, $0.value) },
        to: self)
      deliver(try receive(messages))
    }

    // MARK: The end

    /// The client ends the session.
    func terminate() {
      call?.halfClose()
      close(.closedByPeer)
    }

    /// Ends the session of a client that is gone.
    func giveUp() { close(.lost("its client is gone")) }

    private func close(_ reason: LinkClosure) {
      detach()
      timer?.cancel()
      timer = nil
      endCall(reason)
      for waiting in exchange(&delayed, with: []) {
        waiting.exchange.answer(WebChannelError.unknownSession.response)
      }
      context.load.release(exchange(&chargedInput, with: 0), for: address)
      context.load.releaseAnswer(exchange(&chargedOutput, with: 0), for: address)
      charge = nil
      table?.forget(self)
    }

    private func endCall(_ reason: LinkClosure) {
      call?.cancel()
      call = nil
      // What waits for the server to read is answered otherwise.
      server?.onReading = { _ in }
      exchange(&server, with: nil)?.end(reason)
    }

    /// True once nothing of the session is left.
    private var isClosed: Bool { charge == nil }
  }

  // MARK: - From the client

  extension WebChannelEndpoint {
    /// Takes an acknowledgement.
    func acknowledge(_ id: Int?) throws(WebChannelError) {
      guard let id else { return }
      try session.acknowledge(id)
      settle()
    }

    /// Takes messages; their sender gets its answer when the server has room for more.
    func receive(
      _ messages: [WebChannelSession.Incoming], _ exchange: WebChannelExchange
    ) throws(WebChannelError) {
      let contents = try receive(messages)
      guard isDelayed else {
        deliver(contents)
        return exchange.answer(session.forwardAnswer())
      }
      delayed.append((contents, exchange))
      delayedBytes += contents.reduce(0) { $0 + $1.bytes }
      try chargeInput()
    }

    private func receive(
      _ messages: [WebChannelSession.Incoming]
    ) throws(WebChannelError) -> [WebChannelSession.Content] {
      let contents = try session.receive(messages)
      try chargeInput()
      return contents
    }

    private func deliver(_ contents: [WebChannelSession.Content]) {
      for content in contents {
        switch content {
        case .message(let message): call?.send(message)
        case .missing: break
        case .invalid(let status):
          if call != nil { callDidEnd(status) }
        }
      }
    }

    /// Stops and resumes what the server is sent.
    private func setReading(_ isOn: Bool) {
      isDelayed = !isOn
      guard isOn else { return }
      delayedBytes = 0
      for waiting in exchange(&delayed, with: []) {
        deliver(waiting.contents)
        waiting.exchange.answer(session.forwardAnswer())
      }
      // No more than before is held, so this cannot fail.
      try? chargeInput()
      settle()
    }

    private func chargeInput() throws(WebChannelError) {
      let bytes = session.earlyBytes + delayedBytes
      let limit = context.options.limits.heldBodyBytes
      if bytes < chargedInput {
        context.load.release(chargedInput - bytes, for: address)
      } else if bytes > chargedInput,
        !context.load.hold(bytes - chargedInput, limit: limit, for: address)
      {
        giveUp()
        throw WebChannelError(503, "Too many messages are being read.")
      }
      chargedInput = bytes
    }
  }

  // MARK: - From the server

  extension WebChannelEndpoint {
    func callDidReceive(_ message: [UInt8]) {
      guard let data = WebChannelData(message, of: method) else {
        return callDidEnd(DocumentStatus(.internalError, "A message has no JSON form."))
      }
      append([data])
    }

    func takes(together messages: SharedFrames) -> Bool {
      method == .listen && session.hasSpace(for: messages.frames.count)
        && messages.form(WebChannelMessages.init).data != nil
    }

    func callDidReceive(together messages: SharedFrames) {
      append(messages.form(WebChannelMessages.init).data ?? [])
    }

    private func append(_ data: [WebChannelData]) {
      session.append(data)
      schedulePump()
      if session.isFull { call?.setReading(false) }
    }

    func callDidEnd(_ status: DocumentStatus?) {
      session.end(status)
      endCall(.closedHere)
      schedulePump()
    }

    /// Sends, when the loop is free, what has come together by then.
    private func schedulePump() {
      if isPumpScheduled { return }
      isPumpScheduled = true
      let endpoint = NIOLoopBound(self, eventLoop: loop)
      loop.execute {
        endpoint.value.isPumpScheduled = false
        endpoint.value.pump()
      }
    }

    private func pump() {
      if isClosed { return }
      if let back {
        // The answer to a long poll is charged with the request.
        let bytes = back.mode.isLongPoll ? 0 : session.nextChunkBytes
        guard holdOutput(bytes) else { return abort() }
        if let chunk = session.nextChunk() {
          back.lastSent = loop.now
          if !back.mode.isLongPoll { send(chunk, charged: bytes, over: back) }
          if session.isBackDone { detach(sending: chunk) }
        }
      }
      settle()
    }

    private func holdOutput(_ bytes: Int) -> Bool {
      let limit = context.options.limits.heldAnswerBytes
      return bytes == 0 || context.load.holdAnswer(bytes, limit: limit, for: address)
    }

    private func send(_ chunk: [UInt8], charged bytes: Int, over back: WebChannelResponse) {
      let sent = loop.makePromise(of: Void.self)
      let sending = NIOLoopBound(back, eventLoop: loop)
      let (load, address) = (context.load, address)
      back.unsentBytes += bytes
      sent.futureResult.whenComplete { _ in
        sending.value.unsentBytes -= bytes
        load.releaseAnswer(bytes, for: address)
      }
      back.exchange.send(chunk, sent)
    }

    /// Charges what is kept, and lets the server's messages come or wait.
    private func settle() {
      if isClosed { return }
      let bytes = session.keptBytes
      if bytes < chargedOutput {
        context.load.releaseAnswer(chargedOutput - bytes, for: address)
        chargedOutput = bytes
      } else if bytes > chargedOutput {
        guard holdOutput(bytes - chargedOutput) else { return abort() }
        chargedOutput = bytes
      }
      call?.setReading(!session.isFull)
    }

    /// Ends a session that there is no memory for; its client begins again. One that has ended,
    /// whose last arrays would tell the client why, is given up.
    private func abort() {
      if session.isEnded { return giveUp() }
      endCall(.lost("what is sent is read too slowly"))
      session.abort()
      schedulePump()
    }
  }

  // MARK: - Back channel

  extension WebChannelEndpoint {
    /// Sends the server's messages in a response, which takes the place of the one before.
    func attach(
      _ mode: WebChannelBack, _ exchange: WebChannelExchange
    ) throws(WebChannelError) {
      if session.isAcknowledged {
        giveUp()
        throw .unknownSession
      }
      // What a replaced response has not sent is sent again in the new one: it need not stay.
      if let back, back.unsentBytes > 0 {
        forgetBack()
        back.exchange.cut()
      }
      detach()
      let response = WebChannelResponse(exchange, mode, at: loop.now)
      back = response
      absentSince = nil
      session.attach(mode)
      exchange.whenGone { [weak self, weak response] in
        // The end of an old one is not that of the newest.
        if let self, let response, back === response { forgetBack() }
      }
      if !mode.isLongPoll {
        exchange.begin(HTTPResponse(status: 200, headers: WebChannelChunk.headers))
        // The client takes a connection without bytes for one that holds them back.
        session.keepAlive()
      }
      pump()
      if back === response { startTimer() }
    }

    /// Ends the response.
    ///
    /// - Parameter chunk: The body of a long poll.
    private func detach(sending chunk: [UInt8] = []) {
      guard let back else { return }
      forgetBack()
      if back.mode.isLongPoll { back.exchange.answer(chunk) } else { back.exchange.finish() }
    }

    private func forgetBack() {
      back = nil
      session.detach()
      beginAbsence()
    }

    private func beginAbsence() {
      absentSince = loop.now
      setTimer(loop.now + .seconds(Int64(limits.absenceSeconds))) { $0.giveUp() }
    }

    private func startTimer() {
      guard let back else { return }
      let keepAlive = back.lastSent + .seconds(Int64(limits.keepAliveSeconds))
      var due = min(keepAlive, back.begun + .seconds(Int64(limits.responseSeconds)))
      if back.mode.isLongPoll {
        let least = WebChannelLimits.leastHoldMilliseconds
        let hold = max(least, back.mode.holdMilliseconds ?? .max)
        due = min(keepAlive, back.begun + .milliseconds(Int64(min(hold, 1_000_000))))
      }
      setTimer(due) { $0.timeIsUp() }
    }

    private func timeIsUp() {
      guard let back else { return }
      let age = loop.now - back.begun
      if !back.mode.isLongPoll, age >= .seconds(Int64(limits.responseSeconds)) { return detach() }
      let silence = loop.now - back.lastSent
      if back.mode.isLongPoll || silence >= .seconds(Int64(limits.keepAliveSeconds)) {
        session.keepAlive()
        pump()
      }
      startTimer()
    }

    private func setTimer(
      _ deadline: NIODeadline, _ action: @escaping @Sendable (WebChannelEndpoint) -> Void
    ) {
      timer?.cancel()
      let endpoint = NIOLoopBound(self, eventLoop: loop)
      timer = loop.scheduleTask(deadline: deadline) { action(endpoint.value) }
    }
  }

  extension WebChannelSession.Content {
    /// The bytes charged for it.
    fileprivate var bytes: Int {
      guard case .message(let message) = self else { return 0 }
      return message.count
    }
  }
#endif
