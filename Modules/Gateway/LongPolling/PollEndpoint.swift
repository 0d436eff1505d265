#if TCP
  import NIOCore
  import Synchronization
  import TernTransport
  import TernTreeWire

  /// All sessions over long polling of one gateway; on its event loop alone.
  final class PollTable {
    private var endpoints: [String: PollEndpoint] = [:]
    /// By the name of the session that they carry.
    private var sessions: [String: PollEndpoint] = [:]
    /// The sessions without a poll that waits, and those of each address.
    private var absent = AbsenceOrder<String>()
    private var absentByAddress: [String: AbsenceOrder<String>] = [:]
    /// The sessions that are over, whose clients have to learn it.
    private var over = AbsenceOrder<String>()

    /// Answers a request for `/.lp`, at once or when there is something to say.
    func take(
      _ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller, _ setting: GatewayContext,
      _ poll: HeldPoll
    ) throws(RESTError) {
      let isGoodbye = target["disconn"] != nil
      // A page says goodbye by whatever method its browser chooses. Anything else is a question.
      guard request.method == "GET" || isGoodbye else {
        throw .notAllowed("A poll is a GET.", allowing: "GET")
      }
      if target["start"] != nil { return try start(request, target, caller, setting, poll) }
      guard let id = target["id"], let endpoint = endpoints[id],
        target["pw"] == endpoint.poll.password
      else {
        throw RESTError(404, "There is no such session.")
      }
      if target["dframe"] != nil {
        return poll.answer(endpoint.poll.farewellPage, type: "text/html")
      }
      if isGoodbye {
        endpoint.leave()
        return poll.answer([], type: PollEndpoint.scriptType)
      }
      try endpoint.take(target, poll)
    }

    private func start(
      _ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller, _ setting: GatewayContext,
      _ poll: HeldPoll
    ) throws(RESTError) {
      let limits = setting.options.limits
      guard target["v"] == "5" else {
        throw .invalid("Only version 5 of the protocol is spoken here.")
      }
      if endpoints.count >= limits.pollSessions { makeRoom(for: caller.address) }
      guard endpoints.count < limits.pollSessions else {
        throw RESTError(503, "\(limits.pollSessions) sessions poll already.")
      }
      let callback = target["cb"] ?? ""
      guard callback.utf8.count <= 9, callback.utf8.allSatisfy({ (48...57).contains($0) }) else {
        throw .invalid("cb is a number.")
      }
      let session = PollSession(
        id: Self.secret(setting), password: Self.secret(setting), callback: callback,
        limits: limits)
      let opening = TreeOpening(
        namespace: caller.namespace, lastSession: target["ls"], host: request.headers["host"])
      let endpoint = PollEndpoint(session, in: self, setting, poll.loop)
      endpoints[session.id] = endpoint
      endpoint.open(opening, caller, poll)
    }

    /// Gives up a session that is over, or else the one whose client is absent for the longest
    /// time: of the address that wants room, if it has one. So no client pushes others out with
    /// more and more sessions.
    private func makeRoom(for address: String) {
      if let name = over.first(), let endpoint = endpoints[name] { return endpoint.forget() }
      let own = absentByAddress[address]?.first()
      guard let name = own ?? absent.first(), let endpoint = endpoints[name] else { return }
      endpoint.giveUp()
      // One that has moved to a WebSocket stays, and is not asked again.
      noteReturn(of: endpoint)
    }

    /// No poll of the session waits.
    fileprivate func noteAbsence(of endpoint: PollEndpoint) {
      guard endpoints[endpoint.poll.id] != nil else { return }
      absent.add(endpoint.poll.id)
      absentByAddress[endpoint.address, default: AbsenceOrder()].add(endpoint.poll.id)
    }

    /// A poll of the session waits, or none will.
    fileprivate func noteReturn(of endpoint: PollEndpoint) {
      absent.remove(endpoint.poll.id)
      absentByAddress[endpoint.address]?.remove(endpoint.poll.id)
      if absentByAddress[endpoint.address]?.isEmpty == true {
        absentByAddress[endpoint.address] = nil
      }
    }

    /// The session is over, and its client does not know yet.
    fileprivate func noteEnd(of endpoint: PollEndpoint) {
      if endpoints[endpoint.poll.id] != nil { over.add(endpoint.poll.id) }
    }

    /// The endpoint that carries a session.
    func endpoint(of session: String) -> PollEndpoint? { sessions[session] }

    fileprivate func name(_ session: String, _ endpoint: PollEndpoint) {
      sessions[session] = endpoint
    }

    /// The session is over: no WebSocket may take it over.
    fileprivate func unname(_ endpoint: PollEndpoint) {
      if let session = endpoint.sessionName { sessions[session] = nil }
    }

    fileprivate func forget(_ endpoint: PollEndpoint) {
      unname(endpoint)
      noteReturn(of: endpoint)
      over.remove(endpoint.poll.id)
      endpoints[endpoint.poll.id] = nil
    }

    private static func secret(_ setting: GatewayContext) -> String {
      (0..<2).map { _ in String(setting.randomBits(), radix: 36) }.joined()
    }
  }

  /// Makes the table of a gateway when its event loop is first seen.
  final class PollTables: Sendable {
    private let made = Mutex<NIOLoopBound<PollTable>?>(nil)

    func table(on loop: any EventLoop) -> NIOLoopBound<PollTable> {
      made.withLock { made in
        if let made { return made }
        let table = NIOLoopBound(PollTable(), eventLoop: loop)
        made = table
        return table
      }
    }
  }

  /// One session over long polling.
  final class PollEndpoint {
    static let scriptType = "application/javascript; charset=utf-8"

    private(set) var poll: PollSession
    private let table: PollTable
    private let setting: GatewayContext
    private let loop: any EventLoop
    private var session: GatewaySession?
    /// The name of the session, once the server has told it.
    private(set) var sessionName: String?
    /// The WebSocket that the session may move to, and how far that has come.
    private weak var successor: WebSocketHandler?
    private var move: TransportSwitch?
    private var held: HeldPoll?
    /// The serial number of the request that is held.
    private var heldSerial: String?
    private var timer: Scheduled<Void>?
    /// Ends the session of a client that polls no more.
    private var absence: Scheduled<Void>?
    /// Ends the wait for a client that has to learn that its session is over.
    private var farewell: Scheduled<Void>?
    /// Bytes of messages that are not whole, or came over a WebSocket that has not taken over, as
    /// they are charged to the address.
    private var heldBytes = 0
    /// The address the session was opened from.
    fileprivate private(set) var address = ""

    init(_ poll: PollSession, in table: PollTable, _ setting: GatewayContext, _ loop: any EventLoop)
    {
      self.poll = poll
      self.table = table
      self.setting = setting
      self.loop = loop
    }

    func open(_ opening: TreeOpening, _ caller: Caller, _ first: HeldPoll) {
      address = caller.address
      hold(first)
      session = GatewaySession(
        opening, peer: caller.peer, protocolName: "longpolling", on: loop, open: setting.open
      ) {
        [weak self] in self?.carryOut($0)
      }
    }

    /// Takes what a request carries, and holds it until there is something to say.
    ///
    /// Requests may come twice: what is between may send one again whose connection broke.
    func take(_ target: RequestTarget, _ next: HeldPoll) throws(RESTError) {
      let serial = target["ser"]
      if let script = try poll.script(alreadySaidTo: serial) {
        return next.answer(script, type: Self.scriptType)
      }
      let messages = try poll.receive(target)
      guard holdMessages() else {
        end(.lost("too many messages are being read"))
        throw RESTError(503, "Too many messages are being read.")
      }
      if serial != nil, serial == heldSerial {
        // The client no longer waits for the first one, and nothing is lost if it does.
        exchange(&held, with: nil)?.answer([], type: Self.scriptType)
      }
      release()
      hold(next)
      heldSerial = serial
      take(messages.isEmpty ? [TreeClientMessage.keepAlive.encode()] : messages)
      if poll.hasNews { return release() }
      let endpoint = NIOLoopBound(self, eventLoop: loop)
      timer = loop.scheduleTask(in: .seconds(Int64(setting.options.limits.pollSeconds))) {
        endpoint.value.release()
      }
    }

    /// Lets a request wait, for as long as its connection is there.
    private func hold(_ next: HeldPoll) {
      let limits = setting.options.limits
      table.noteReturn(of: self)
      held = next
      expectPoll(within: limits.pollSeconds + limits.pollAbsenceSeconds)
      next.whenGone { [weak self] in
        guard let self, let held, !held.isAlive() else { return }
        self.held = nil
        table.noteAbsence(of: self)
      }
    }

    /// Waits for the next poll, not for long: a client that is gone keeps nothing here.
    private func expectPoll(within seconds: Int) {
      absence?.cancel()
      absence = nil
      if poll.isClosed { return }
      let endpoint = NIOLoopBound(self, eventLoop: loop)
      absence = loop.scheduleTask(in: .seconds(Int64(seconds))) { endpoint.value.giveUp() }
    }

    /// Ends the session of a client that polls no more.
    fileprivate func giveUp() {
      // Over a WebSocket it goes on without polls.
      if move?.isDone == true || poll.isClosed { return }
      end(.lost("its client polls no more"))
      forget()
    }

    /// Charges the messages that cannot be handed to the session yet.
    ///
    /// - Returns: `false` when the address may not hold as many.
    @discardableResult
    private func holdMessages() -> Bool {
      let bytes = poll.heldBytes + (move?.heldBytes ?? 0)
      let limit = setting.options.limits.heldBodyBytes
      if bytes < heldBytes {
        setting.load.release(heldBytes - bytes, for: address)
      } else if bytes > heldBytes, !setting.load.hold(bytes - heldBytes, limit: limit, for: address)
      {
        return false
      }
      heldBytes = bytes
      return true
    }

    /// The client gives this way up: with the session, unless that has moved.
    func leave() {
      if move?.isDone == true { return release() }
      if !poll.isClosed { end(.closedByPeer) }
      forget()
    }

    /// The session is over. Its client learns that, and what was said last, by the poll that waits
    /// or by its next one, if that comes in time.
    func end(_ reason: LinkClosure) {
      if poll.isClosed { return }
      let limits = setting.options.limits
      poll.close(keepingBytes: limits.streamBytes)
      release()
      table.unname(self)
      session?.end(reason)
      session = nil
      successor?.oldWayEnded()
      if poll.hasSaidAll || move?.isDone == true { return forget() }
      table.noteEnd(of: self)
      let endpoint = NIOLoopBound(self, eventLoop: loop)
      farewell = loop.scheduleTask(in: .seconds(Int64(limits.pollFarewellSeconds))) {
        endpoint.value.forget()
      }
    }

    /// Nothing of the session is left to be told.
    func forget() {
      farewell?.cancel()
      farewell = nil
      absence?.cancel()
      absence = nil
      setting.load.release(exchange(&heldBytes, with: 0), for: address)
      table.forget(self)
    }

    private func carryOut(_ order: LinkOrder) {
      if move?.isDone == true { return successor?.carryOut(order) ?? end(.closedByPeer) }
      switch order {
      case .send(let batches, _):
        let frames = batches.flatMap(\.frames)
        noteName(in: frames)
        poll.queue(frames)
        release()
      case .setReading: break
      case .abort:
        poll.dropWaiting()
        end(.closedHere)
      case .close: end(.closedHere)
      }
    }

    /// Answers the request that is held, if its connection is still there.
    private func release() {
      timer?.cancel()
      timer = nil
      guard let poll = exchange(&held, with: nil) else { return }
      table.noteAbsence(of: self)
      expectPoll(within: setting.options.limits.pollAbsenceSeconds)
      guard poll.isAlive() else { return }
      let bytes = self.poll.waitingBytes
      poll.answer(self.poll.script(for: exchange(&heldSerial, with: nil)), type: Self.scriptType)
      session?.link?.didSend(bytes)
      if self.poll.hasSaidAll { forget() }
    }
  }

  // MARK: - Moving to a WebSocket

  extension PollEndpoint {
    /// A WebSocket asks for the session; one at a time may.
    func offer(_ socket: WebSocketHandler, limitBytes: Int) -> Bool {
      guard successor == nil, move?.isDone != true, session != nil else { return false }
      successor = socket
      move = TransportSwitch(limitBytes: limitBytes)
      return true
    }

    /// The WebSocket is gone. Before the move the session stays here; after it there is no other
    /// way.
    func withdraw(_ reason: LinkClosure) {
      successor = nil
      if move?.isDone == true { return end(reason) }
      move = nil
      holdMessages()
    }

    /// Takes what came over the WebSocket.
    func takeFromSocket(_ messages: [[UInt8]]) {
      for message in messages {
        perform(move?.receive(message) ?? [])
        if !holdMessages() {
          return perform([.giveUp("too many messages are being read")])
        }
      }
    }

    private func take(_ messages: [[UInt8]]) {
      for message in messages {
        perform(move?.receiveFromOld(message) ?? [.deliver([message])])
      }
    }

    private func perform(_ steps: [TransportSwitch.Step]) {
      for step in steps {
        switch step {
        case .answer(let message): successor?.say(message)
        case .deliver(let messages): session?.receive(messages)
        case .move:
          holdMessages()
          poll.queue([TransportSwitch.ended])
          release()
        case .giveUp(let reason):
          let socket = successor
          withdraw(.lost(reason))
          socket?.refuse(reason)
        }
      }
    }

    /// Learns the session's name from the server's greeting.
    private func noteName(in frames: [[UInt8]]) {
      guard sessionName == nil else { return }
      for frame in frames {
        guard case .handshake(let handshake) = try? TreeServerMessage.decode(frame) else {
          continue
        }
        sessionName = handshake.session
        table.name(handshake.session, self)
      }
    }

    /// The link whose bytes are on their way.
    var link: GatewayLink? { session?.link }
  }

  /// A request that waits for its answer.
  struct HeldPoll {
    let loop: any EventLoop
    /// Returns true while there is a connection to answer over.
    let isAlive: () -> Bool
    /// Takes what is to be done when the connection ends.
    let whenGone: (@escaping () -> Void) -> Void
    let respond: (HTTPResponse) -> Void

    func answer(_ body: [UInt8], type: String) {
      respond(
        HTTPResponse(
          status: 200, headers: [("Content-Type", type), ("Cache-Control", "no-store")], body: body)
      )
    }
  }
#endif
