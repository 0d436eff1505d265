#if TCP
  import NIOCore
  import TernTransport
  import TernTreeWire

  /// One session over long polling.
  ///
  /// ``PollSession`` decides; this class holds the waiting request, the timers and the link to
  /// the server, on its event loop. The table keeps it until the client knows of the end, or is
  /// given up. At most one request waits at a time: a new one releases the one before it.
  final class PollEndpoint {
    static let scriptType = "application/javascript; charset=utf-8"

    /// Segments, waiting messages and scripts.
    private(set) var poll: PollSession
    private let table: PollTable
    private let setting: GatewayContext
    private let loop: any EventLoop
    /// `nil` once the session has ended.
    private var session: GatewaySession?
    /// The name of the session, once the server has told it.
    private(set) var sessionName: String?
    /// The WebSocket that the session may move to, and how far that has come.
    private weak var successor: WebSocketHandler?
    private var move: TransportSwitch?
    /// The request that waits; `nil` while none does, and the client is absent.
    private var held: HeldPoll?
    /// The serial number of the request that is held.
    private var heldSerial: String?
    /// Answers the waiting request at the latest after ``GatewayLimits/pollSeconds``.
    private var timer: Scheduled<Void>?
    /// Ends the session of a client that polls no more.
    private var absence: Scheduled<Void>?
    /// Ends the wait for a client that has to learn that its session is over.
    private var farewell: Scheduled<Void>?
    /// Bytes of messages that are not whole, or came over a WebSocket that has not taken over, as
    /// they are charged to the address.
    private var heldBytes = 0
    /// The address the session was opened from.
    private(set) var address = ""

    init(_ poll: PollSession, in table: PollTable, _ setting: GatewayContext, _ loop: any EventLoop)
    {
      self.poll = poll
      self.table = table
      self.setting = setting
      self.loop = loop
    }

    /// Opens the session; its greeting answers the first request.
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
      // A repeated request must not deliver its messages again, and gets the answer that was lost.
      if let script = try poll.script(alreadySaidTo: serial) {
        return next.answer(script, type: Self.scriptType)
      }
      let messages = try receive(target)
      if serial != nil, serial == heldSerial {
        // The client no longer waits for the first one, and nothing is lost if it does.
        exchange(&held, with: nil)?.answer([], type: Self.scriptType)
      }
      release()
      hold(next)
      heldSerial = serial
      // A request without messages still shows that the client lives.
      take(messages.isEmpty ? [TreeClientMessage.keepAlive.encode()] : messages)
      if poll.hasNews { return release() }
      let endpoint = NIOLoopBound(self, eventLoop: loop)
      timer = loop.scheduleTask(in: .seconds(Int64(setting.options.limits.pollSeconds))) {
        endpoint.value.release()
      }
    }

    /// Takes the segments of a request, which are charged until they are messages.
    ///
    /// - Throws: The error that the session ends with: without what could not be read, it has a
    ///   gap.
    private func receive(_ target: RequestTarget) throws(RESTError) -> [[UInt8]] {
      if poll.isClosed { return [] }
      do throws(RESTError) {
        let messages = try poll.receive(target)
        guard holdMessages() else {
          throw RESTError(503, "Too many messages are being read.")
        }
        return messages
      } catch {
        end(.lost("its client's messages cannot be read"))
        throw error
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

    /// Ends the session of a client that polls no more; over a WebSocket it goes on without polls.
    func giveUp() {
      if move?.isDone != true { end(.lost("its client polls no more")) }
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
      if move?.isDone == true { release() } else { end(.closedByPeer) }
      forget()
    }

    /// The session is over. Its client learns that, and what was said last, by the poll that waits
    /// or by its next one, if that comes in time.
    func end(_ reason: LinkClosure) {
      if poll.isClosed { return }
      let limits = setting.options.limits
      poll.close(keepingBytes: limits.streamBytes)
      release()
      absence?.cancel()
      absence = nil
      holdMessages()
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

    /// Nothing is left to be told over polls.
    func forget() {
      farewell?.cancel()
      farewell = nil
      absence?.cancel()
      absence = nil
      setting.load.release(exchange(&heldBytes, with: 0), for: address)
      table.forget(self)
    }

    /// Performs what the server asks. After the move to a WebSocket, that one performs it.
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
    ///
    /// The absence of the client begins with it. What was answered counts as sent even if the
    /// connection breaks: a repeated request gets it again.
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

    /// Hands messages on that came by polls, through the switch while one is under way.
    private func take(_ messages: [[UInt8]]) {
      for message in messages {
        perform(move?.receiveFromOld(message) ?? [.deliver([message])])
      }
    }

    /// Performs the steps of a move in their order.
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
