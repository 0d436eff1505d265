import TernLedger
import TernTransport
import TernTreeWire

/// One client's link at a node that follows. Lives and is used on the server's executor only.
///
/// Two queues keep the order of the client's frames: ``early`` holds what goes to the leader,
/// ``held`` what is decided here after the copy or the leader has caught up. ``arrivals`` holds the
/// leader's answers until the copy contains what they tell of.
///
/// States of the link to the leader: none; about to open (`leaderLink` set, `carrier` missing);
/// open; blocked, while the leader has to answer an opening or a credential; ending, while its last
/// answers wait for the copy.
final class ForwardedLink {
  /// The ``LinkState/number`` of the client's link.
  let number: Int
  var routes = LinkRoutes()
  /// The link to the leader that is open or about to be.
  var leaderLink: LeaderLink?
  /// Its end here; `nil` until it is open.
  var carrier: (any Link)?
  /// Frames for the leader that are not sent yet.
  private(set) var early: ArraySlice<[UInt8]> = []
  /// The bytes of those.
  private(set) var earlyBytes = 0
  /// The frames with which the present link to the leader began, while nothing else was sent over
  /// it; `nil` behind that.
  ///
  /// While it is set, the leader has nothing to do for the client yet, so a lost link may be opened
  /// again without loss.
  private var beginning: [[UInt8]]? = []
  /// True once the leader has ended the link as that of a client that it does not take.
  var isRejected = false
  /// The end of the credential that the leader has just told; its arrival is still to be added.
  var credentialEnd: CredentialEnd?
  /// The presence of the client and of the leader.
  var presence = LinkPresence()
  /// True when the link to the leader ends because another node leads, or is about to.
  var isHandedOver = false
  /// The node to which a link was lost last, the reason, and the uptime in milliseconds of that.
  private var lost: (node: String, reason: String, time: Int64)?
  /// The attempts to reach the leader since anything was passed on.
  ///
  /// Determines the pause before the next attempt.
  private var attempts = 0
  /// True while the leader has to answer before it is sent anything more.
  var isBlocked = false
  /// True once the leader was to be told of a client that had a session before.
  var isGreeted = false
  /// True while the end of the link to the leader waits behind what it sent.
  var isEnding = false
  /// Frames of the client that came meanwhile, not routed yet.
  var backlog: [[UInt8]] = []
  /// True while another attempt to reach the leader is about to be made.
  var isSeekPending = false
  /// The number of the pause behind which that is made: earlier ones are over.
  ///
  /// A change of the leader ends a pause early and raises the number, so that the sleeping task
  /// finds itself out of date.
  var sleeper = 0
  /// Bytes of frames for the leader that count as waiting for the client.
  ///
  /// They are part of the client's share of memory, and slow the client down when the leader reads
  /// slowly.
  var unsentBytes = 0
  /// The uptime, in milliseconds, at which the first attempt to be served by the leader was made
  /// that is not over.
  var seeking: Int64?
  /// The frames of the client that wait, in order.
  private(set) var held: [HeldFrame] = []
  /// The arrivals from the leader that wait for the copy, in order.
  var arrivals: [Arrival] = []
  /// The bytes of those that the budget counts for the client, and its address.
  var arrivalBytes = 0
  var address = ""

  /// A frame of the client that is dealt with here, later.
  ///
  /// Both conditions must hold before the frame is decided.
  struct HeldFrame {
    let frame: [UInt8]
    /// The catch-up that has to be over before.
    let catchUp: UInt64
    /// The requests that the leader has to have answered before.
    let sent: UInt64
    /// True for a read that an old copy answers, too, while the log is out of reach.
    let isRead: Bool
  }

  /// Something that came from the leader.
  ///
  /// An arrival that names its version needs no catch-up once the copy has that version.
  struct Arrival {
    /// A frame; `nil` for the end of the link.
    let frame: [UInt8]?
    /// The catch-up that has to be over before, unless the copy has ``version``.
    let catchUp: UInt64
    /// The version of all that it tells of; `nil` when it does not say.
    var version: Version?
    /// The reason of the end; `nil` when the link was lost.
    var credentialEnd: CredentialEnd?
  }

  /// The end of a credential at the leader.
  struct CredentialEnd {
    let status: TreeStatus
    let text: String
  }

  init(number: Int) { self.number = number }

  /// Sets the frames with which a link to the leader begins, in the place of what waits for it.
  ///
  /// Whatever waited for the former link is dropped. Callers have dealt with it: the frames were
  /// taken over, or their client is told.
  func begin(with frames: [[UInt8]]) {
    early = frames[...]
    earlyBytes = frames.reduce(0) { $0 + $1.count }
    (beginning, isRejected) = ([], false)
  }

  /// Notes that a frame was sent to the leader.
  ///
  /// - Parameter isBeginning: True for an opening or a credential.
  private func noteSent(_ frame: [UInt8], isBeginning: Bool) {
    guard isBeginning, let known = beginning else {
      beginning = nil
      return
    }
    // Of credentials the newest counts.
    beginning = Array(known.prefix(1)) + [frame]
  }

  /// Lets another link to the leader begin as the one that has just ended, if that one has given
  /// the leader nothing to do.
  ///
  /// Succeeds only if nothing but openings and credentials was sent, and no answer waits. A request
  /// that was sent is never sent again, because the leader may have carried it out.
  ///
  /// - Returns: False when it may have.
  func beginAgain() -> Bool {
    guard let frames = beginning, !isRejected, arrivals.isEmpty else { return false }
    routes.loseBeginning()
    (isBlocked, isHandedOver) = (false, false)
    presence = LinkPresence(isClientHeard: false)
    begin(with: frames + early)
    return true
  }

  /// Notes that the link to a node was lost.
  func noteLost(_ node: String, _ reason: String, at uptime: Int64) {
    lost = (node, reason, uptime)
  }

  /// The reason for which the latest link was lost; `nil` before that.
  var lossReason: String? { lost?.reason }

  /// Returns the pause before the next attempt to reach the leader: twice the one before, up to
  /// eight times the least one, and another one for each client.
  ///
  /// The part that depends on the link's number spreads the clients of a node, which lose the
  /// leader at the same time.
  func nextPause(atLeast pause: Duration) -> Duration {
    defer { attempts += 1 }
    return pause * (1 << min(attempts, 3)) + .milliseconds(number % 32)
  }

  /// True when the link to a node was lost less than `pause` ago.
  func isResting(from node: String, at uptime: Int64, pause: Duration) -> Bool {
    lost.map { $0.node == node && .milliseconds(uptime - $0.time) < pause } ?? false
  }

  /// Adds a frame for the leader.
  func append(_ frame: [UInt8]) {
    early.append(frame)
    earlyBytes += frame.count
  }

  /// Sends what waits for the leader, up to the next frame that it has to answer first.
  ///
  /// Stops behind a frame that blocks; the answer to it continues.
  func flush() {
    guard let carrier else { return }
    while !isBlocked, let frame = popEarly() {
      carrier.send(frame)
      let blocks = routes.blocks(frame)
      noteSent(frame, isBeginning: blocks)
      if !blocks {
        (seeking, attempts) = (nil, 0)
        continue
      }
      isBlocked = true
      routes.noteSent(frame)
    }
    carrier.flush()
  }

  /// Closes a link to the leader that owes the client nothing.
  ///
  /// An idle client of a node that follows costs the leader nothing.
  func closeIfUnused() {
    guard !isBlocked, early.isEmpty, arrivals.isEmpty, routes.isIdle else { return }
    // The next link knows the client by no credential yet.
    routes.loseBeginning()
    leaderLink = nil
    exchange(&carrier, with: nil)?.close()
  }

  /// Takes the next frame for the leader.
  private func popEarly() -> [UInt8]? {
    guard let frame = early.popFirst() else { return nil }
    earlyBytes -= frame.count
    // A slice keeps what was taken from it.
    if early.isEmpty { early = [] }
    return frame
  }

  /// Closes a link to the leader over which nothing was sent for a while, and that owes nothing:
  /// the places of links to other nodes are for those that need them.
  func closeIfUnused(at uptime: Int64) {
    guard carrier != nil, unsentBytes == 0, uptime - presence.used >= Self.idleTime else { return }
    closeIfUnused()
  }

  /// The time, in milliseconds, for which a link to the leader is kept that owes nothing.
  static let idleTime: Int64 = 10_000

  /// Reads from the leader, or does not for a while.
  func setReading(_ isReading: Bool) {
    presence.isRead = isReading
    carrier?.setReading(isReading)
  }

  /// Counts out what came from the leader.
  func release(from budget: MemoryBudget) {
    budget.release(exchange(&arrivalBytes, with: 0), .output, of: address)
  }

  /// True when neither frames nor arrivals wait.
  var isIdle: Bool { held.isEmpty && arrivals.isEmpty }

  /// Adds frames of the leader.
  ///
  /// Arrivals keep their order: an answer that needs no catch-up waits behind one that does.
  ///
  /// - Parameters:
  ///   - version: The version that the copy has.
  ///   - catchUp: Returns the catch-up that they wait for; called with true when one that is under
  ///     way may bring what they tell of.
  /// - Returns: True when the first of them need not wait for one.
  func add(
    _ frames: [[UInt8]], after version: Version, catchUp: (_ isSpared: Bool) -> UInt64
  ) -> Bool {
    let versions = frames.map(routes.version)
    let isTold = versions.allSatisfy { $0.map { $0 <= version } ?? false }
    let number = isTold ? 0 : catchUp(versions.allSatisfy { $0 != nil })
    arrivals += zip(frames, versions).map { frame, version in
      Arrival(frame: frame, catchUp: number, version: version)
    }
    return number == 0
  }

  /// Returns the number of arrivals that need not wait any longer.
  func readyArrivals(after catchUp: UInt64, _ version: Version) -> Int {
    arrivals.prefix { arrival in
      arrival.catchUp <= catchUp || arrival.version.map { $0 <= version } ?? false
    }.count
  }

  func hold(_ frame: [UInt8], until catchUp: UInt64, isRead: Bool = false) {
    held.append(HeldFrame(frame: frame, catchUp: catchUp, sent: routes.sent, isRead: isRead))
  }

  /// Takes the frames that need not wait any longer.
  ///
  /// - Parameter isUnreached: True while the log is out of reach.
  func takeReady(after catchUp: UInt64, isUnreached: Bool = false) -> [[UInt8]] {
    let count = held.prefix { frame in
      let isCurrent = frame.catchUp <= catchUp || frame.isRead && isUnreached
      return isCurrent && routes.isAnswered(upTo: frame.sent)
    }.count
    defer { held.removeFirst(count) }
    return held.prefix(count).map(\.frame)
  }
}
