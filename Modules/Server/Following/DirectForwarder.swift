import Dispatch
import TernSecurity
import TernSync
import TernTransport

/// Passes requests without a session on to the node that leads, over links that each carry one
/// request at a time. Lives on the server's executor.
///
/// Every request is answered once: with what the leader says, or with
/// ``DirectRefusal/unavailable(_:)`` when it cannot be asked or its answer does not come. A request
/// that was sent is never sent again.
///
/// Requests are not multiplexed: one link carries one request at a time. A slow answer therefore
/// delays no other request, and a link whose answer is missing can simply be closed.
///
/// Life of a request: encoded (large ones on a queue beside the executor), sent over a kept or a
/// new link, answered or expired. The client's address is charged with the frame and the answer.
package actor DirectForwarder {
  /// The longest time from a request to its answer.
  static let deadline: Duration = .seconds(30)
  /// The time that a link is kept for further requests of its client.
  static let idleTime: Duration = .seconds(10)
  /// The most links that are kept for one client address.
  ///
  /// Links are kept by client, since the leader counts rates and memory by the address that the
  /// link names.
  static let idlePerClient = 4
  /// The most links that are kept in all.
  static let mostIdle = 256

  /// The node that leads, and the client's name for it.
  private struct Route: Hashable {
    let leader: String
    let client: String
  }

  /// A request that waits for its answer.
  ///
  /// `frame` and `sent` exclude each other: the frame is dropped once it was handed to a link.
  private struct Waiting {
    let route: Route
    let links: any LeaderLinks
    let answer: @Sendable (DirectAnswer) -> Void
    /// The memory of its frame and its answer.
    let charge: MemoryCharge
    let timer: Task<Void, Never>
    /// Opens a link for it.
    var connecting: Task<Void, Never>?
    /// Its frame, until there is a link to send it over.
    var frame: [UInt8]?
    /// The link it was sent over.
    var sent: UInt64?
  }

  /// A link to the node that leads.
  private struct OpenLink {
    let link: any Link
    let route: Route
    /// The request whose answer it waits for.
    var request: UInt64?
    /// Ends it, while it is kept for the next request.
    var timer: Task<Void, Never>?
  }

  /// Something that happened at a link, by the number of the request that it was opened for.
  fileprivate enum Event: Sendable {
    case opened(UInt64, any Link)
    case received(UInt64, [[UInt8]])
    case closed(UInt64)
  }

  private nonisolated let executor: any SerialExecutor
  private let budget: MemoryBudget
  private let clock: any Clock<Duration>
  /// The most requests under way.
  private let limit: Int
  /// The most bytes of a frame.
  private let frameBytes: Int
  /// The queue on which large frames are encoded and decoded.
  private let coder = DispatchQueue(label: "tern.forwarded")
  private nonisolated let events = Mailbox<Event>()
  private var waiting: [UInt64: Waiting] = [:]
  private var links: [UInt64: OpenLink] = [:]
  /// The links that are kept, the latest last.
  private var idle: [Route: [UInt64]] = [:]
  private var idleCount = 0
  private var last: UInt64 = 0
  private var isStopped = false

  /// The server's executor.
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  /// Makes the forwarder of a server.
  ///
  /// - Parameter frameBytes: The most bytes of a frame that the links carry.
  package init(for server: TernServer, frameBytes: Int = FrameLimit.standard.bytes) {
    executor = server.executor
    budget = server.budget
    clock = server.ambient.clock
    limit = server.options.limits.directRequests
    self.frameBytes = frameBytes
  }

  /// Passes a request on. Must be called on the server's executor.
  ///
  /// - Parameters:
  ///   - leader: The address of the node that leads, as `links` takes it.
  ///   - answer: Called once, on the server's executor; before this returns when the request cannot
  ///     be passed on.
  package nonisolated func forward(
    _ request: DirectRequest, to leader: String, over links: any LeaderLinks,
    answer: @escaping @Sendable (DirectAnswer) -> Void
  ) {
    assumeIsolated { $0.begin(request, leader, links, answer) }
  }

  /// Ends all links, and answers what waits. Must be called on the server's executor; calling it
  /// again does nothing.
  package nonisolated func stop() { assumeIsolated { $0.endAll() } }

  /// The number of requests under way, and of links that are kept.
  package var figures: (waiting: Int, idle: Int) { (waiting.count, idleCount) }

  /// Begins to pass a request on.
  ///
  /// The executor only starts the work. Operations with little text are encoded in place; others
  /// may take milliseconds.
  private func begin(
    _ request: DirectRequest, _ leader: String, _ links: any LeaderLinks,
    _ answer: @escaping @Sendable (DirectAnswer) -> Void
  ) {
    if isStopped { return answer(Self.unavailable("The server stops.")) }
    if waiting.count >= limit {
      return answer(Self.unavailable("\(limit) requests wait already."))
    }
    last += 1
    let number = last
    let route = Route(leader: leader, client: Self.peer(of: request))
    waiting[number] = Waiting(
      route: route, links: links, answer: answer,
      charge: MemoryCharge(budget, .parsing, of: request.address),
      timer: timer(Self.deadline) { await $0.expire(number) })
    if request.operation.isShort(limitBytes: LargeFrame.leastBytes) {
      return proceed(number, Self.encode(request, number))
    }
    coder.async {
      let frame = Self.encode(request, number)
      Task { await self.proceed(number, frame) }
    }
  }

  private static func encode(
    _ request: DirectRequest, _ number: UInt64
  ) -> Result<[UInt8], DirectFrameError> {
    Result { () throws(DirectFrameError) in try DirectFrame(request, number).encoded() }
  }

  /// Sends a request over a link that is kept, or opens one.
  ///
  /// - Parameter frame: The encoded request, or the reason why it cannot travel. A frame that is
  ///   too long is the client's fault (`invalid`), an operation that is not carried is not.
  private func proceed(_ number: UInt64, _ frame: Result<[UInt8], DirectFrameError>) {
    guard let request = waiting[number] else { return }
    let bytes: [UInt8]
    do throws(DirectFrameError) {
      bytes = try frame.get()
      if bytes.count > frameBytes { throw .tooLong("data", limitBytes: frameBytes) }
    } catch {
      let isTooLong = error != .notCarried
      return finish(
        number,
        .refused(isTooLong ? .invalid(error.description) : .unavailable(error.description)))
    }
    request.charge.count(bytes.count)
    waiting[number]?.frame = bytes
    if let id = takeIdle(request.route) { return send(number, over: id) }
    let (route, links) = (request.route, request.links)
    waiting[number]?.connecting = Task {
      do throws(TransportError) {
        _ = try await links.connect(to: route.leader, for: route.client) { link in
          self.post(.opened(number, link))
          return DirectLeaderLink(number, self)
        }
      } catch {
        let text = "\(Self.unreached): \(error.textWithoutAddress)."
        self.finish(number, Self.unavailable(text))
      }
    }
  }

  private func send(_ number: UInt64, over id: UInt64) {
    guard let link = links[id]?.link, let frame = waiting[number]?.frame else { return }
    links[id]?.request = number
    waiting[number]?.sent = id
    waiting[number]?.frame = nil
    link.send(frame)
    link.flush()
  }

  private func finish(_ number: UInt64, _ answer: DirectAnswer) {
    guard let request = waiting.removeValue(forKey: number) else { return }
    request.timer.cancel()
    request.connecting?.cancel()
    request.answer(answer)
  }

  /// Answers a request whose time is over, and gives up its link: nothing is to take the late
  /// answer for that of the next request.
  private func expire(_ number: UInt64) {
    guard let request = waiting[number] else { return }
    let seconds = Self.deadline.components.seconds
    guard let id = request.sent else {
      return finish(number, Self.unavailable("\(Self.unreached) within \(seconds) s."))
    }
    endLink(id)
    let text = "The node that leads did not answer within \(seconds) s. \(Self.open)"
    finish(number, Self.unavailable(text))
  }

  private func endAll() {
    if isStopped { return }
    isStopped = true
    for id in links.keys.sorted() { endLink(id) }
    for number in waiting.keys.sorted() {
      let isSent = waiting[number]?.sent != nil
      finish(number, Self.unavailable("The server stops." + (isSent ? " " + Self.open : "")))
    }
  }

  private func timer(
    _ time: Duration, _ body: @escaping @Sendable (DirectForwarder) async -> Void
  ) -> Task<Void, Never> {
    Task { [weak self, clock] in
      do { try await clock.sleep(for: time) } catch { return }
      if let self { await body(self) }
    }
  }
}

// MARK: - Links

extension DirectForwarder {
  /// Takes an event of a link from whatever executor it lives on; they stay in order.
  fileprivate nonisolated func post(_ event: Event) {
    if events.add(event) { Task { await self.takeEvents() } }
  }

  private func takeEvents() {
    for event in events.takeAll() {
      switch event {
      case .opened(let id, let link): begin(id, link)
      case .received(let id, let frames): receive(frames, over: id)
      case .closed(let id):
        guard let link = forget(id), let number = link.request else { continue }
        finish(number, Self.unavailable("\(Self.lost) \(Self.open)"))
      }
    }
  }

  private func begin(_ id: UInt64, _ link: any Link) {
    guard let request = waiting[id], request.sent == nil else { return link.close() }
    links[id] = OpenLink(link: link, route: request.route, request: id)
    send(id, over: id)
  }

  /// Handles what a link has received.
  ///
  /// A link carries exactly one answer at a time. Anything else breaks the protocol and ends the
  /// link.
  private func receive(_ frames: [[UInt8]], over id: UInt64) {
    guard let link = links[id] else { return }
    guard let number = link.request, let request = waiting[number], frames.count == 1 else {
      endLink(id)
      if let number = link.request { finish(number, Self.unclear) }
      return
    }
    // What follows is no answer to this request any more, and the end of the link is not its end.
    links[id]?.request = nil
    let frame = frames[0]
    request.charge.count(frame.count)
    if frame.count <= LargeFrame.leastBytes {
      return end(number, Self.decode(frame, number), over: id)
    }
    coder.async {
      let answer = Self.decode(frame, number)
      Task { await self.end(number, answer, over: id) }
    }
  }

  private static func decode(_ frame: [UInt8], _ number: UInt64) -> DirectAnswer? {
    guard let read = try? DirectFrame(frame, .answer), read.number == number else { return nil }
    return try? read.answer()
  }

  /// Answers a request, and keeps its link for the next one.
  private func end(_ number: UInt64, _ answer: DirectAnswer?, over id: UInt64) {
    if answer == nil { endLink(id) } else { keep(id) }
    finish(number, answer ?? Self.unclear)
  }

  /// Keeps a link for the next request of its client.
  ///
  /// The link that was used last is used next, so that superfluous ones become idle and end.
  private func keep(_ id: UInt64) {
    guard let link = links[id] else { return }
    let count = idle[link.route]?.count ?? 0
    guard !isStopped, count < Self.idlePerClient, idleCount < Self.mostIdle else {
      return endLink(id)
    }
    idle[link.route, default: []].append(id)
    idleCount += 1
    links[id]?.timer = timer(Self.idleTime) { await $0.endIdle(id) }
  }

  private func takeIdle(_ route: Route) -> UInt64? {
    guard let id = idle[route]?.last else { return nil }
    leaveIdle(id)
    return id
  }

  /// Ends a link that was not used for its time. A link that is in use has another timer, or none.
  private func endIdle(_ id: UInt64) {
    guard let link = links[id], idle[link.route]?.contains(id) == true else { return }
    endLink(id)
  }

  private func endLink(_ id: UInt64) { forget(id)?.link.close() }

  /// Removes a link from all tables; the caller closes it and answers its request.
  @discardableResult
  private func forget(_ id: UInt64) -> OpenLink? {
    leaveIdle(id)
    return links.removeValue(forKey: id)
  }

  private func leaveIdle(_ id: UInt64) {
    guard let link = links[id], let index = idle[link.route]?.firstIndex(of: id) else { return }
    link.timer?.cancel()
    links[id]?.timer = nil
    idle[link.route]?.remove(at: index)
    if idle[link.route]?.isEmpty == true { idle[link.route] = nil }
    idleCount -= 1
  }
}

// MARK: - Words

extension DirectForwarder {
  private static let unreached = "The node that leads could not be reached"
  private static let lost = "The connection to the node that leads ended before its answer."
  private static let open = "It is not known if the request was carried out."
  private static let unclear = unavailable("The node that leads sent no answer. \(open)")

  private static func unavailable(_ text: String) -> DirectAnswer { .refused(.unavailable(text)) }

  /// The name by which the leader knows a client. One whose page is from elsewhere must not count
  /// there as one on the leader's machine.
  static func peer(of request: DirectRequest) -> String {
    let name = peer(of: request.address)
    return request.isLocal || !PeerAddress.isLocal(name) ? name : "remote \(name)"
  }

  /// The peer's name of a client at an address: requests do not tell the port.
  static func peer(of address: String) -> String {
    if address.hasPrefix("[") { return address + ":0" }
    if address.utf8.contains(UInt8(ascii: ":")) { return "[\(address)]:0" }
    return address.utf8.contains(UInt8(ascii: ".")) ? address + ":0" : address + "#0"
  }
}

/// This node's end of a link to the node that leads.
private final class DirectLeaderLink: LinkHandler {
  private let id: UInt64
  private let forwarder: DirectForwarder

  init(_ id: UInt64, _ forwarder: DirectForwarder) {
    self.id = id
    self.forwarder = forwarder
  }

  func linkDidReceive(_ frames: [[UInt8]]) { forwarder.post(.received(id, frames)) }

  func linkDidClose(_ reason: LinkClosure) { forwarder.post(.closed(id)) }
}
