import Dispatch
import TernSecurity
import TernSync
import TernTransport

/// Passes requests without a session on to the node that leads, over few links for each client.
/// Lives on the server's executor.
///
/// Every request is answered once: with what the leader says, or with
/// ``DirectRefusal/unavailable(_:)`` when it cannot be asked or its answer does not come. A request
/// that was sent is never sent again.
///
/// Life of a request: encoded (large ones on a queue beside the executor), sent over a kept or a
/// new link, answered or expired. The client's address is charged with the frame and the answer.
package actor DirectForwarder {
  /// The longest time from a request to its answer.
  static let deadline: Duration = .seconds(30)
  /// The time that a link is kept for further requests of its client.
  static let idleTime: Duration = .seconds(10)
  /// The most links that are kept for one client address.
  static let idlePerClient = 4
  /// The most links that are kept in all.
  static let mostIdle = 256
  /// The most links of one client. Only with all of them in use does one carry several requests,
  /// up to ``DirectLinks/mostRequests``; further requests wait.
  static let mostPerClient = 8

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
    /// The client's address, that it counts for.
    let address: String
    /// Its frame, until there is a link to send it over.
    var frame: [UInt8]?
    /// The link it was sent over.
    var sent: UInt64?
  }

  /// A link to the node that leads.
  private struct OpenLink {
    let link: any Link
    let route: Route
    /// The requests whose answers it waits for.
    var requests: Set<UInt64> = []
    /// Ends it, while it is kept for the next request.
    var timer: Task<Void, Never>?
  }

  /// The links of one client, and its requests that wait for one.
  private struct Lines {
    var open: [UInt64] = []
    var connecting = 0
    var queue: [UInt64] = []

    var isEmpty: Bool { open.isEmpty && connecting == 0 && queue.isEmpty }
  }

  /// Something that happened at a link, by the number of the request that it was opened for.
  enum Event: Sendable {
    case opened(UInt64, any Link)
    case notOpened(UInt64, TransportError)
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
  /// The requests under way by the address of the client.
  private var shares = ConnectionShares()
  private var links: [UInt64: OpenLink] = [:]
  /// The links that are being opened.
  private var opening: [UInt64: Route] = [:]
  private var lines: [Route: Lines] = [:]
  /// The number of links that are kept without a request.
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

  /// The number of links that are open or being opened.
  package var linkCount: Int { links.count + opening.count }

  private func begin(
    _ request: DirectRequest, _ leader: String, _ links: any LeaderLinks,
    _ answer: @escaping @Sendable (DirectAnswer) -> Void
  ) {
    if isStopped { return answer(Self.unavailable("The server stops.")) }
    guard shares.enter(request.address, limit: limit) else {
      return answer(Self.unavailable("\(shares.count) requests wait already."))
    }
    last += 1
    let number = last
    let route = Route(leader: leader, client: Self.peer(of: request))
    waiting[number] = Waiting(
      route: route, links: links, answer: answer,
      charge: MemoryCharge(budget, .parsing, of: request.address),
      timer: timer(Self.deadline) { await $0.expire(number) }, address: request.address)
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
    lines[request.route, default: Lines()].queue.append(number)
    sendQueued(on: request.route)
  }

  private func send(_ number: UInt64, over id: UInt64) {
    guard let link = links[id]?.link, let frame = waiting[number]?.frame else { return }
    leaveIdle(id)
    links[id]?.requests.insert(number)
    waiting[number]?.sent = id
    waiting[number]?.frame = nil
    link.send(frame)
    link.flush()
  }

  private func finish(_ number: UInt64, _ answer: DirectAnswer) {
    guard let request = waiting.removeValue(forKey: number) else { return }
    request.timer.cancel()
    shares.leave(request.address)
    if request.sent == nil { lines[request.route]?.queue.removeAll { $0 == number } }
    request.answer(answer)
  }

  /// Answers a request whose time is over, and gives up its link with the other requests on it: a
  /// late answer would be one to no request.
  private func expire(_ number: UInt64) {
    guard let request = waiting[number] else { return }
    let seconds = Self.deadline.components.seconds
    guard let id = request.sent else {
      return finish(number, Self.unavailable("\(Self.unreached) within \(seconds) s."))
    }
    let text = "The node that leads did not answer within \(seconds) s. \(Self.open)"
    finish(number, Self.unavailable(text))
    endLink(id, Self.unavailable("\(Self.lost) \(Self.open)"))
  }

  private func endAll() {
    if isStopped { return }
    isStopped = true
    for id in links.keys.sorted() { forget(id)?.link.close() }
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
  nonisolated func post(_ event: Event) {
    if events.add(event) { Task { await self.takeEvents() } }
  }

  private func takeEvents() {
    for event in events.takeAll() {
      switch event {
      case .opened(let id, let link): begin(id, link)
      case .notOpened(let id, let error):
        guard let route = endOpening(id) else { continue }
        // It may be on its way over another link.
        if waiting[id]?.frame != nil {
          finish(id, Self.unavailable("\(Self.unreached): \(error.textWithoutAddress)."))
        }
        sendQueued(on: route)
      case .received(let id, let frames): receive(frames, over: id)
      case .closed(let id): endLink(id, Self.unavailable("\(Self.lost) \(Self.open)"))
      }
    }
  }

  /// Sends requests of a client that wait, and opens links for those that no link can take.
  private func sendQueued(on route: Route) {
    while let number = lines[route]?.queue.first, let id = freeLink(of: route) {
      lines[route]?.queue.removeFirst()
      send(number, over: id)
    }
    guard let known = lines[route], !isStopped else { return }
    let most = min(known.queue.count, Self.mostPerClient - known.open.count)
    for number in known.queue.prefix(max(0, most)) where opening[number] == nil {
      guard let connecting = lines[route]?.connecting, connecting < most else { break }
      connect(for: number, route)
    }
    if lines[route]?.isEmpty == true { lines[route] = nil }
  }

  private func connect(for number: UInt64, _ route: Route) {
    guard let links = waiting[number]?.links else { return }
    opening[number] = route
    lines[route]?.connecting += 1
    Task {
      do throws(TransportError) {
        _ = try await links.connect(to: route.leader, for: route.client) { link in
          self.post(.opened(number, link))
          return DirectLeaderLink(number, self)
        }
      } catch {
        self.post(.notOpened(number, error))
      }
    }
  }

  private func endOpening(_ id: UInt64) -> Route? {
    guard let route = opening.removeValue(forKey: id) else { return nil }
    lines[route]?.connecting -= 1
    return route
  }

  /// Returns the link over which a client's next request is sent: one that carries none, or with
  /// all of its links in use the one that carries fewest.
  private func freeLink(of route: Route) -> UInt64? {
    guard let known = lines[route] else { return nil }
    let loads = known.open.map { (id: $0, count: links[$0]?.requests.count ?? .max) }
    guard let least = loads.reversed().min(by: { $0.count < $1.count }) else { return nil }
    let mayShare = known.open.count >= Self.mostPerClient
    return least.count < (mayShare ? DirectLinks.mostRequests : 1) ? least.id : nil
  }

  private func begin(_ id: UInt64, _ link: any Link) {
    guard let route = endOpening(id), !isStopped else { return link.close() }
    links[id] = OpenLink(link: link, route: route)
    lines[route, default: Lines()].open.append(id)
    sendQueued(on: route)
    keepIfUnused(id)
  }

  /// Handles what a link has received.
  ///
  /// Anything but answers to its own requests breaks the protocol, and ends the link.
  private func receive(_ frames: [[UInt8]], over id: UInt64) {
    guard let link = links[id] else { return }
    let numbers = Set(frames.compactMap { DirectFrame.number(of: $0) })
    guard numbers.count == frames.count, numbers.isSubset(of: link.requests) else {
      return endLink(id, Self.unclear)
    }
    for frame in frames {
      guard let number = DirectFrame.number(of: frame) else { continue }
      // What follows is no answer to this request any more, and the end of the link is not its end.
      links[id]?.requests.remove(number)
      waiting[number]?.charge.count(frame.count)
      if frame.count <= LargeFrame.leastBytes {
        end(number, Self.decode(frame), over: id)
        continue
      }
      coder.async {
        let answer = Self.decode(frame)
        Task { await self.end(number, answer, over: id) }
      }
    }
    sendQueued(on: link.route)
    keepIfUnused(id)
  }

  private static func decode(_ frame: [UInt8]) -> DirectAnswer? {
    try? (try? DirectFrame(frame, .answer))?.answer()
  }

  /// Answers a request.
  private func end(_ number: UInt64, _ answer: DirectAnswer?, over id: UInt64) {
    finish(number, answer ?? Self.unclear)
    if answer == nil { endLink(id, Self.unclear) }
  }

  /// Keeps a link without a request for the next one.
  private func keepIfUnused(_ id: UInt64) {
    guard let link = links[id], link.requests.isEmpty, link.timer == nil else { return }
    let kept = (lines[link.route]?.open ?? []).filter { links[$0]?.timer != nil }.count
    guard !isStopped, kept < Self.idlePerClient, idleCount < Self.mostIdle else {
      forget(id)?.link.close()
      return
    }
    idleCount += 1
    links[id]?.timer = timer(Self.idleTime) { await $0.endIdle(id) }
  }

  /// Ends a link that was not used for its time. A link that is in use has no timer.
  private func endIdle(_ id: UInt64) {
    if links[id]?.timer != nil { forget(id)?.link.close() }
  }

  /// Ends a link and answers the requests that were sent over it; those that wait get another one.
  private func endLink(_ id: UInt64, _ answer: DirectAnswer) {
    guard let link = forget(id) else { return }
    link.link.close()
    for number in link.requests.sorted() { finish(number, answer) }
    sendQueued(on: link.route)
  }

  private func forget(_ id: UInt64) -> OpenLink? {
    leaveIdle(id)
    guard let link = links.removeValue(forKey: id) else { return nil }
    lines[link.route]?.open.removeAll { $0 == id }
    if lines[link.route]?.isEmpty == true { lines[link.route] = nil }
    return link
  }

  private func leaveIdle(_ id: UInt64) {
    guard let timer = links[id]?.timer else { return }
    timer.cancel()
    links[id]?.timer = nil
    idleCount -= 1
  }
}
