import TernTransport

/// The server's state of one link. Lives and is used on the server's executor only.
final class LinkState {
  let slot: Int
  let link: any Link
  /// The other end's address, without its port.
  let address: String
  /// The protocol of the link, for figures.
  let protocolName: String
  /// The bytes sent so far, and what of them the budget counts, in order.
  var sentBytes = 0
  var unsent: [(end: Int, charge: OutputCharge)] = []
  /// The user that the link's session has proved to be, as of the last frame that arrived.
  var user: String?
  /// The uptime in milliseconds since which the link is not read from because its address or user
  /// holds more than its share, or because memory is short; `nil` when neither is so.
  var slowedSince: Int64?
  /// Bytes of frames that are not decided yet.
  var waitingBytes = 0
  /// The frames that waited in the inbox when they were last counted.
  var waitingFrames = 0
  /// True when the link carries requests without a session.
  var isDirect = false
  /// The requests of such a link that are not answered yet.
  var requests = 0
  /// A large frame that is decoded, and what came behind it.
  var behind: [ServerInput] = []
  /// True while the link is not read from, until they are.
  var isPaused = false
  /// True when the server is about to stop: nothing more is read.
  private var isLeaving = false
  /// True when anything arrived since that was last reported for a link that is held.
  var wasHeard = false
  /// The first output of the batch that is performed, and the output behind that. Mostly there is
  /// one.
  var pendingEffects: OutgoingBatch?
  var owedBehind: [OutgoingBatch] = []
  /// Room for so many parcels is kept from one batch to the next.
  static let owedKept = 64
  /// The memory of a connection with a session that does nothing.
  static let connectionBytes = 8 << 10
  /// The reason the server closed the link.
  var reason: SessionEnd?
  /// The link's number among all of the server; slots are used again.
  fileprivate(set) var number = 0
  /// The uptime in milliseconds at which it was opened, and at which anything last arrived.
  let opened: Int64
  var lastHeard: Int64
  /// The frames that have arrived.
  var frameCount = 0
  /// The arrival times, in microseconds, of frames that are not decided yet.
  var arrivals = ArrivalTimes()

  /// Names the link for operators.
  var id: String { "\(slot)-\(String(number, radix: 16))" }

  init(slot: Int, link: any Link, at uptime: Int64) {
    opened = uptime
    lastHeard = uptime
    address = PeerAddress.address(of: link.peer)
    protocolName = Self.protocolName(of: link)
    self.slot = slot
    self.link = link
  }

  /// The bytes that the link makes the server hold by itself.
  var heldBytes: Int { waitingBytes + Self.connectionBytes + link.queuedBytes }

  /// Notes that frames have arrived, the first of which tell what the link carries.
  ///
  /// - Parameter time: The uptime in microseconds.
  func noteArrival(of frames: [[UInt8]], at time: Int64) {
    wasHeard = true
    lastHeard = time / 1_000
    if frameCount == 0 { isDirect = frames.first.map(DirectFrame.begins) ?? false }
    frameCount += frames.count
  }

  /// Reads nothing from the link until that is taken back.
  func pause() {
    if isPaused { return }
    isPaused = true
    link.setReading(false)
  }

  /// True when the link carries requests without a session, and leaves much unread: those are not
  /// held where they wait to be decided.
  var leavesAnswers: Bool { isDirect && link.queuedBytes > LinkPressure.highBytes }

  /// Reads nothing more from the link: the server is about to stop.
  func leave() {
    isLeaving = true
    pause()
  }

  /// Reads again from the link, if little of what it sent waits, and it has taken most answers to
  /// requests without a session.
  func readAgain(inboxBytes: Int) {
    guard isPaused, !isLeaving, waitingBytes <= inboxBytes / 2,
      waitingFrames <= InboxPressure.frames / 2, !leavesAnswers
    else { return }
    isPaused = false
    link.setReading(true)
  }
}

/// The links of a server, by slot. Lives and is used on the server's executor only.
final class LinkTable {
  /// By slot.
  private var open: [LinkState?] = []
  /// Links that have ended and whose frames wait to be decided, by slot.
  private var leaving: [Int: LinkState] = [:]
  /// The slots of links that leave much unread: what they ask for waits.
  private(set) var held: Set<Int> = []
  /// The number of open links of each protocol.
  private(set) var openByProtocol: [String: Int] = [:]
  private var last = 0

  /// The number of open links.
  var count: Int { open.count { $0 != nil } }

  /// The open links, by slot.
  var all: [LinkState] { open.compactMap { $0 } }

  /// The link in a slot, until it has ended.
  subscript(slot: Int) -> LinkState? { open.indices.contains(slot) ? open[slot] : nil }

  /// The link in a slot, also one whose frames wait behind its end.
  func known(_ slot: Int) -> LinkState? { self[slot] ?? leaving[slot] }

  /// The link with a number, also one whose frames wait behind its end.
  func known(_ slot: Int, number: Int) -> LinkState? {
    if let state = self[slot], state.number == number { return state }
    return leaving[slot].flatMap { $0.number == number ? $0 : nil }
  }

  /// The open link of that ``LinkState/id``.
  func link(named id: String) -> LinkState? {
    guard let slot = Int(id.prefix { $0 != "-" }), let state = self[slot], state.id == id else {
      return nil
    }
    return state
  }

  func add(_ state: LinkState) {
    last += 1
    state.number = last
    while open.count <= state.slot { open.append(nil) }
    open[state.slot] = state
    openByProtocol[state.protocolName, default: 0] += 1
  }

  /// Removes a link that has ended; its frames may still wait.
  func end(_ slot: Int) -> LinkState? {
    guard let state = self[slot] else { return nil }
    open[slot] = nil
    openByProtocol[state.protocolName, default: 1] -= 1
    leaving[slot] = state
    held.remove(slot)
    return state
  }

  /// Forgets a link whose end is decided.
  func forget(_ slot: Int) -> LinkState? { leaving.removeValue(forKey: slot) }

  /// Notes that a link leaves much unread.
  ///
  /// - Returns: `false` when that is known already.
  func hold(_ slot: Int) -> Bool { held.insert(slot).inserted }

  /// Notes that a link has taken most of what it was sent.
  ///
  /// - Returns: `false` when it was not held.
  func release(_ slot: Int) -> Bool { held.remove(slot) != nil }
}
