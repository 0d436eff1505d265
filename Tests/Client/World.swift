import TernCore
import TernQuery
import TernStorage
import TernStorageMemory
import TernTransactions
import TernTreeReplica
import TernTreeWire

@testable import TernClient
@testable import TernSync

/// One client machine, its queue, and a fake server, moved by hand in one thread.
final class World {
  let peer: FakePeer
  let store: any OrderedStore
  private(set) var machine: TreeMachine
  private var queue: WriteQueue
  private(set) var lost: [LostTransaction] = []

  private var link: Int?
  private(set) var timers: [TreeTimer: Duration] = [:]
  private var toPeer: [[UInt8]] = []
  private var toClient: [[UInt8]] = []
  private var changes: [(UInt64, QueueChange)] = []

  /// The links that the machine has opened so far.
  private(set) var openedLinks = 0
  /// The links that the machine has closed so far.
  private(set) var closedLinks = 0

  /// Events as `value path json`, `added path/key`, and ends, in order.
  var heard: [String] = []
  /// The server's verdicts on credentials.
  private(set) var verdicts: [CredentialVerdict] = []
  var isReachable = true
  /// Frames from the server are lost while set.
  var losesAnswers = false
  /// Answers wait while set.
  var holdsAnswers = false
  /// Queue changes wait while set.
  var holdsDisk = false
  /// The link is cut when the server has received this many more frames; `nil` for never.
  var framesUntilCut: Int?

  init(
    store: any OrderedStore = MemoryStore(), peer: FakePeer = FakePeer(),
    queue queueLimits: QueueLimits = QueueLimits(),
    limits: TreeMachine.Limits = TreeMachine.Limits()
  ) throws {
    self.store = store
    self.peer = peer
    peer.disconnected()
    let seed = Seed()
    let ambient = RuntimeEnvironment(
      millisecondsSinceEpoch: { 1_000_000 }, clock: ContinuousClock(),
      randomBits: { seed.next() })
    let (queue, rows) = try WriteQueue.open(store, limits: queueLimits, newClient: 0xC0FFEE)
    self.queue = queue
    machine = TreeMachine(
      replica: TreeReplica(), client: queue.client, origin: queue.origin,
      nextSequence: queue.nextSequence, ambient: ambient, limits: limits)
    lost = try machine.restore(rows)
  }

  /// Lets the machine decide, then everything move until nothing does.
  @discardableResult
  func act<R>(_ body: (inout TreeMachine) -> R) throws -> R {
    let result = body(&machine)
    try settle()
    return result
  }

  func settle() throws {
    while true {
      let effects = machine.drainEffects()
      for effect in effects { carryOut(effect) }
      if link == nil { toClient = [] }
      if try !step(), effects.isEmpty { return }
    }
  }

  /// Drops the link with everything on it.
  func drop() throws {
    guard let number = link else { return }
    link = nil
    toPeer = []
    toClient = []
    peer.disconnected()
    machine.connectionEvent(.linkClosed(number))
    try settle()
  }

  func fire(_ timer: TreeTimer) throws {
    guard timers.removeValue(forKey: timer) != nil else { return }
    machine.timerFired(timer)
    try settle()
  }

  /// Delivers the frames that the peer kept back.
  func release() throws {
    peer.holdsOutcomes = false
    peer.holdsCredentials = false
    toClient += peer.releaseHeld()
    try settle()
  }

  /// Delivers the first frames that wait.
  func releaseAnswers(_ count: Int) throws {
    guard let link else { return }
    let frames = Array(toClient.prefix(count))
    toClient.removeFirst(frames.count)
    machine.received(frames, on: link)
    try settle()
  }

  /// Another client writes.
  func remote(_ write: TreeWrite) throws {
    let pushes = peer.write(write)
    if link != nil { toClient += pushes }
    try settle()
  }

  /// The server says something of its own accord.
  func say(_ message: TreeServerMessage) throws {
    if link != nil { toClient.append(message.encode()) }
    try settle()
  }

  private func step() throws -> Bool {
    if !holdsDisk, !changes.isEmpty {
      let batch = changes
      changes = []
      let results = queue.apply(batch.map(\.1))
      for (change, result) in zip(batch, results) { machine.queueAnswered(change.0, result) }
      return true
    }
    if !toPeer.isEmpty {
      if framesUntilCut == 0 {
        framesUntilCut = nil
        isReachable = false
        try drop()
        return true
      }
      framesUntilCut = framesUntilCut.map { $0 - 1 }
      let frame = toPeer.removeFirst()
      let answers = try peer.receive(frame)
      if !losesAnswers { toClient += answers }
      return true
    }
    if !toClient.isEmpty, !holdsAnswers, let link {
      let frames = toClient
      toClient = []
      machine.received(frames, on: link)
      return true
    }
    return false
  }

  private func carryOut(_ effect: TreeClientEffect) {
    switch effect {
    case .openLink(let number, _):
      openedLinks += 1
      if isReachable {
        link = number
        machine.connectionEvent(.linkOpened(number))
      } else {
        machine.connectionEvent(.linkClosed(number))
      }
    case .closeLink:
      closedLinks += 1
      link = nil
      toPeer = []
      toClient = []
      peer.disconnected()
    case .send(let frame): toPeer.append(frame)
    case .startTimer(let timer, let delay): timers[timer] = delay
    case .stopTimer(let timer): timers[timer] = nil
    case .change(let change, let ticket, _): changes.append((ticket, change))
    case .deliver(let events, _): for event in events { hear(event) }
    case .cancelled(let ids, let error): heard.append("cancelled \(ids.count) \(error)")
    case .stored: heard.append("stored")
    case .notStored(_, let error): heard.append("not stored \(error)")
    case .settled(_, .accepted): heard.append("accepted")
    case .settled(_, .rejected(let reason)): heard.append("rejected \(reason.status)")
    case .settled(_, let end): heard.append("\(end)")
    case .read(_, .success(let answer)):
      heard.append("read \(answer.node.json(.value))\(answer.isFromCache ? " cached" : "")")
    case .read(_, .failure(let error)): heard.append("read \(error)")
    case .transactionEnded(_, .committed(let node)):
      heard.append("committed \(node.json(.value))")
    case .transactionEnded(_, .abandoned(let node)):
      heard.append("abandoned \(node.json(.value))")
    case .transactionEnded(_, .failed(let error)): heard.append("failed \(error)")
    case .disconnectAnswered(_, let error):
      heard.append(error.map { "not registered \($0)" } ?? "registered")
    case .presenceEnded(_, let error): heard.append("presence ended: \(error)")
    case .noticed(let notice): heard.append("\(notice)")
    case .credential(let verdict): verdicts.append(verdict)
    case .queueAnswered, .queueChanged, .pendingChanged, .connectionChanged: break
    }
  }

  private func hear(_ event: TreeEvent) {
    let change = event.change
    let path = change.key.map { event.path.appending($0) } ?? event.path
    heard.append("\(change.kind) \(path) \(change.node.json(.value))")
  }

  func takeHeard() -> [String] {
    defer { heard = [] }
    return heard
  }
}

/// Numbers that are the same in every run.
private final class Seed: @unchecked Sendable {
  // Used by one test on one thread.
  private var state: UInt64 = 42

  func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state
  }
}
