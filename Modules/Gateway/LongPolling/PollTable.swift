#if TCP
  import NIOCore
  import Synchronization
  import TernTransport
  import TernTransportTCP
  import TernTreeWire

  /// All sessions over long polling of one gateway; on its event loop alone.
  final class PollTable {
    /// By the id that the client shows. Sessions that are over stay until their clients know.
    private var endpoints: [String: PollEndpoint] = [:]
    /// By the name of the session that they carry.
    private var sessions: [String: PollEndpoint] = [:]
    /// The places of the sessions, by address.
    private var shares = ConnectionShares()
    /// The sessions without a poll that waits, and those of each account.
    private var absent = AbsenceOrder<String>()
    private var absentByAccount: [String: AbsenceOrder<String>] = [:]
    /// The sessions that are over, whose clients have to learn it.
    private var over = AbsenceOrder<String>()

    /// Answers a request for `/.lp`, at once or when there is something to say.
    ///
    /// - Throws: 404 for an unknown id or a wrong password, which are not told apart; 405 for a
    ///   poll that is no `GET`; the errors of a new session and of malformed messages.
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

    /// Opens a session. Its greeting answers the request.
    ///
    /// - Throws: 400 for another version or a callback that is no number, 503 for too many
    ///   sessions, of all addresses or of this one.
    private func start(
      _ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller, _ setting: GatewayContext,
      _ poll: HeldPoll
    ) throws(RESTError) {
      let limits = setting.options.limits
      guard target["v"] == "5" else {
        throw .invalid("Only version 5 of the protocol is spoken here.")
      }
      let callback = target["cb"] ?? ""
      // The callback becomes part of a script, so nothing but digits may be in it.
      guard callback.utf8.count <= 9, callback.utf8.allSatisfy({ (48...57).contains($0) }) else {
        throw .invalid("cb is a number.")
      }
      let session = PollSession(
        id: Self.secret(setting), password: Self.secret(setting), callback: callback,
        limits: limits)
      let opening = TreeOpening(
        namespace: caller.namespace, lastSession: target["ls"], host: request.headers["host"])
      guard enter(caller.address, setting) else {
        throw RESTError(503, "Too many sessions poll already, of all addresses or of this one.")
      }
      let endpoint = PollEndpoint(session, in: self, setting, poll.loop)
      endpoints[session.id] = endpoint
      endpoint.open(opening, caller, poll)
    }

    /// Counts a session in, if need be in the place of another one.
    private func enter(_ address: String, _ setting: GatewayContext) -> Bool {
      let limit = setting.options.limits.pollSessions
      let isProxy = setting.proxies.contains(address)
      if shares.enter(address, limit: limit, isProxy: isProxy) { return true }
      let mayTakeOthers = isProxy || shares.isWithinShare(address, limit: limit)
      // In the place of another session the share is no question any more.
      return makeRoom(for: address, mayTakeOthers: mayTakeOthers)
        && shares.enter(address, limit: limit, isProxy: true)
    }

    /// Gives up a session that is over, or else the one whose client is absent for the longest
    /// time: of the address that wants room, if it has one. So no client pushes others out with
    /// more and more sessions.
    ///
    /// - Parameter mayTakeOthers: False for an address that has its share, whose own session has
    ///   to make room.
    /// - Returns: False when there is none.
    private func makeRoom(for address: String, mayTakeOthers: Bool) -> Bool {
      let own = absentByAccount[MemoryBudget.account(of: address)]?.first()
      let name = mayTakeOthers ? over.first() ?? own ?? absent.first() : own
      guard let name, let endpoint = endpoints[name] else { return false }
      endpoint.giveUp()
      return true
    }

    /// No poll of the session waits.
    func noteAbsence(of endpoint: PollEndpoint) {
      guard endpoints[endpoint.poll.id] != nil else { return }
      absent.add(endpoint.poll.id)
      let account = MemoryBudget.account(of: endpoint.address)
      absentByAccount[account, default: AbsenceOrder()].add(endpoint.poll.id)
    }

    /// A poll of the session waits, or none will.
    func noteReturn(of endpoint: PollEndpoint) {
      absent.remove(endpoint.poll.id)
      let account = MemoryBudget.account(of: endpoint.address)
      absentByAccount[account]?.remove(endpoint.poll.id)
      if absentByAccount[account]?.isEmpty == true { absentByAccount[account] = nil }
    }

    /// The session is over, and its client does not know yet.
    func noteEnd(of endpoint: PollEndpoint) {
      if endpoints[endpoint.poll.id] != nil { over.add(endpoint.poll.id) }
    }

    /// The endpoint that carries a session.
    func endpoint(of session: String) -> PollEndpoint? { sessions[session] }

    /// Names a session by which a WebSocket may ask to take it over.
    func name(_ session: String, _ endpoint: PollEndpoint) {
      sessions[session] = endpoint
    }

    /// The session is over: no WebSocket may take it over.
    func unname(_ endpoint: PollEndpoint) {
      if let session = endpoint.sessionName { sessions[session] = nil }
    }

    /// Removes a session for good.
    func forget(_ endpoint: PollEndpoint) {
      unname(endpoint)
      noteReturn(of: endpoint)
      over.remove(endpoint.poll.id)
      if endpoints.removeValue(forKey: endpoint.poll.id) != nil { shares.leave(endpoint.address) }
    }

    /// Returns 128 random bits in base 36.
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
#endif
