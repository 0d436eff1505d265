#if TCP
  import NIOCore
  import Synchronization
  import TernTransport
  import TernTreeWire

  /// All sessions over long polling of one gateway; on its event loop alone.
  final class PollTable {
    private var doors: [String: PollDoor] = [:]

    /// Answers a request for `/.lp`, at once or when there is something to say.
    func take(
      _ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller, _ setting: DoorSetting,
      _ poll: HeldPoll
    ) throws(RESTError) {
      if target["start"] != nil { return try start(request, target, caller, setting, poll) }
      guard let id = target["id"], let door = doors[id], target["pw"] == door.poll.password else {
        throw RESTError(404, "There is no such session.")
      }
      if target["dframe"] != nil { return poll.answer(door.poll.farewellPage, type: "text/html") }
      if target["disconn"] != nil {
        door.end(.closedByPeer)
        return poll.answer([], type: PollDoor.scriptType)
      }
      try door.take(target, poll)
    }

    private func start(
      _ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller, _ setting: DoorSetting,
      _ poll: HeldPoll
    ) throws(RESTError) {
      let limits = setting.options.limits
      guard target["v"] == "5" else {
        throw .invalid("Only version 5 of the protocol is spoken here.")
      }
      guard doors.count < limits.pollSessions else {
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
      let door = PollDoor(session, in: self, setting, poll.loop)
      doors[session.id] = door
      door.open(opening, caller, poll)
    }

    func forget(_ id: String) { doors[id] = nil }

    private static func secret(_ setting: DoorSetting) -> String {
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
  final class PollDoor {
    static let scriptType = "application/javascript; charset=utf-8"

    private(set) var poll: PollSession
    private let table: PollTable
    private let setting: DoorSetting
    private let loop: any EventLoop
    private var session: DoorSession?
    private var held: HeldPoll?
    private var timer: Scheduled<Void>?

    init(_ poll: PollSession, in table: PollTable, _ setting: DoorSetting, _ loop: any EventLoop) {
      self.poll = poll
      self.table = table
      self.setting = setting
      self.loop = loop
    }

    func open(_ opening: TreeOpening, _ caller: Caller, _ first: HeldPoll) {
      held = first
      session = DoorSession(opening, peer: caller.peer, on: loop, open: setting.open) {
        [weak self] in self?.carryOut($0)
      }
    }

    /// Takes what a request carries, and holds it until there is something to say.
    func take(_ target: RequestTarget, _ next: HeldPoll) throws(RESTError) {
      let messages = try poll.receive(target)
      release()
      held = next
      session?.receive(messages.isEmpty ? [TreeClientMessage.keepAlive.encode()] : messages)
      if poll.hasNews { return release() }
      let door = NIOLoopBound(self, eventLoop: loop)
      timer = loop.scheduleTask(in: .seconds(Int64(setting.options.limits.pollSeconds))) {
        door.value.release()
      }
    }

    /// The session is over.
    func end(_ reason: LinkClosure) {
      poll.close()
      release()
      session?.end(reason)
      session = nil
      table.forget(poll.id)
    }

    private func carryOut(_ order: LinkOrder) {
      switch order {
      case .send(let frames, _):
        poll.queue(frames)
        release()
      case .setReading: break
      case .close: end(.closedHere)
      }
    }

    /// Answers the request that is held, if its connection is still there.
    private func release() {
      timer?.cancel()
      timer = nil
      guard let poll = exchange(&held, with: nil), poll.isAlive() else { return }
      let bytes = self.poll.waitingBytes
      poll.answer(self.poll.script(), type: Self.scriptType)
      session?.link?.didSend(bytes)
    }
  }

  /// A request that waits for its answer.
  struct HeldPoll {
    let loop: any EventLoop
    /// Whether there is a connection to answer over.
    let isAlive: () -> Bool
    let respond: (HTTPResponse) -> Void

    func answer(_ body: [UInt8], type: String) {
      respond(
        HTTPResponse(
          status: 200, headers: [("Content-Type", type), ("Cache-Control", "no-store")], body: body)
      )
    }
  }
#endif
