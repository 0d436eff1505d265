import TernCore
import TernQuery
import TernStorage
import TernStorageMemory
import TernTestKit
import TernTreeReplica
import Testing

/// A replica against what it stands for: the query over the server's state with pending writes.
@Suite("A replica against a naive model")
struct ReplicaModelTests {
  @Test("every view equals the query over what it stands for", arguments: UInt64(1)...100)
  func agrees(seed: UInt64) throws {
    var run = try ModelRun(seed: seed)
    for step in 0..<120 {
      try run.step()
      let complaint = run.complaint()
      #expect(complaint == nil, "seed \(seed), step \(step): \(complaint ?? "")")
      if complaint != nil { return }
    }
    try run.settle()
    let complaint = run.complaint(isSettled: true)
    #expect(complaint == nil, "seed \(seed), settled: \(complaint ?? "")")
  }
}

/// One seeded run of a replica with a server model.
private struct ModelRun {
  private struct Listener {
    let id: RegistrationID
    let path: TreePath
    let query: TreeQuery
    var seen: [ChildMap.Element] = []
    var value: TreeNode?
  }

  private var dice: SeededGenerator
  private let store = MemoryStore()
  private var replica: TreeReplica
  private var server = ServerModel()
  private var listeners: [Listener] = []
  private var pending: [(id: WriteID, write: TreeWrite)] = []
  /// Writes the server has not seen.
  private var unsent: [(id: WriteID, write: TreeWrite)] = []
  private var nextWrite = WriteID(0)
  private let limitBytes: Int
  private var isDamaged = false
  private var trouble: String?

  init(seed: UInt64) throws {
    dice = SeededGenerator(seed: seed)
    // Half of the runs have a cache that is nearly always too full.
    limitBytes = seed % 2 == 0 ? 200 : TreeCache.defaultLimitBytes
    let cache = try TreeCache(store: store, prefix: [1], limitBytes: limitBytes)
    replica = TreeReplica(cache: cache)
  }

  mutating func step() throws {
    switch dice.roll(100) {
    case 0: reconnect()
    case 1: try restart()
    case 2: try damage()
    default: try act()
    }
    try replica.commitCache()
  }

  private mutating func act() throws {
    switch dice.roll(12) {
    case 0: try listen()
    case 1: unlisten()
    case 2, 3, 4: try writeLocally()
    case 5: server.write(try dice.someWrite(), id: nil)
    case 6, 7: sendWrite()
    default: readFrame()
    }
  }

  mutating func settle() throws {
    while !unsent.isEmpty { sendWrite() }
    while !server.frames.isEmpty { readFrame() }
  }

  /// Says what is wrong, `nil` when nothing is.
  func complaint(isSettled: Bool = false) -> String? {
    if let trouble { return trouble }
    for listener in listeners {
      if let complaint = complaint(about: listener, isSettled) { return complaint }
    }
    return nil
  }

  private func complaint(about listener: Listener, _ isSettled: Bool) -> String? {
    let seen = TreeNode(children: ChildMap(unsorted: listener.seen))
    guard let state = replica.state(at: listener.path, query: listener.query) else {
      return "\(listener.path) has no view"
    }
    if state.isLive || isSettled, !state.isComplete {
      return "\(listener.path) is not complete"
    }
    let value = state.node
    if state.isComplete, value != listener.value {
      return "\(listener.path) said another value than it has"
    }
    if value.isLeaf != value.isEmpty, !listener.seen.isEmpty {
      return "\(listener.path) has children left"
    }
    if value.hasChildren, seen != value.withoutPriority {
      return "\(listener.path) missed a change"
    }
    guard isSettled || state.isLive else { return nil }
    // What lies outside a window is not known, so a pending write there has no expected result.
    if !listener.query.loadsAllData, !pending.isEmpty { return nil }
    var tree = server.readTree
    for (_, write) in pending { tree.apply(write) }
    let expected = listener.query.window(of: tree.node(at: listener.path))
    if value == expected { return nil }
    return "\(listener.path): \(value.json(.export)), expected \(expected.json(.export))"
  }

  // MARK: Steps

  private mutating func listen() throws {
    let path = dice.somePath(depth: 3)
    let query = try dice.someQuery()
    let (id, outcome) = replica.listen(at: path, query: query, for: .all)
    listeners.append(Listener(id: id, path: path, query: query))
    perform(outcome)
  }

  private mutating func unlisten() {
    guard !listeners.isEmpty else { return }
    let listener = listeners.remove(at: dice.roll(listeners.count))
    perform(replica.unlisten(listener.id))
  }

  private mutating func writeLocally() throws {
    let write = try dice.someWrite()
    let (id, outcome) = replica.plan(write, now: 0)
    unsent.append((id, write))
    pending.append((id, write))
    nextWrite = WriteID(id.number + 1)
    perform(outcome)
  }

  private mutating func sendWrite() {
    guard !unsent.isEmpty else { return }
    let (id, write) = unsent.removeFirst()
    server.write(write, id: id, isAccepted: dice.roll(4) != 0)
  }

  private mutating func readFrame() {
    for frame in server.readStep() { read(frame) }
  }

  private mutating func read(_ frame: ServerModel.Frame) {
    switch frame {
    case .push(let change, let tag): perform(replica.applyServer(change, tag: tag))
    case .listenDone(let request, let start):
      if server.starts[request] == start { perform(replica.completeListen(request)) }
    case .stopDone(let request): replica.stopAnswered(request)
    case .ack(let id, let isAccepted):
      pending.removeAll { $0.id == id }
      perform(replica.acknowledge(id, isAccepted ? .accepted : .rejected))
    }
  }

  /// Loses the connection and comes back; what was not answered is sent again.
  private mutating func reconnect() {
    server.disconnect()
    replica.disconnect()
    let asksFirst = dice.roll(2) == 0
    unsent = pending
    while asksFirst, dice.roll(3) != 0, !unsent.isEmpty { sendWrite() }
    for request in replica.activeListens {
      let hash = replica.hash(for: request).whole
      server.start(request, hash: hash)
    }
  }

  /// Spoils one record of the cache: what it held may be lost, but never wrong.
  private mutating func damage() throws {
    let roll = dice.roll(1_000_000)
    try store.write { transaction throws(StorageError) in
      let rows = try transaction.scan(KeyRange(prefix: [1, 2]))
      guard !rows.isEmpty else { return }
      try transaction.put([0xFF], for: rows[roll % rows.count].key)
    }
    isDamaged = true
  }

  /// Ends the process and starts it again; the queue has kept what was not answered.
  private mutating func restart() throws {
    server.disconnect()
    try replica.commitCache()
    let before = listeners.filter {
      replica.state(at: $0.path, query: $0.query)?.isLive == true
    }
    let cache = try TreeCache(store: store, prefix: [1], limitBytes: limitBytes)
    replica = TreeReplica(cache: cache, firstWrite: nextWrite)
    for listener in before {
      let expected = listener.query.window(of: server.readTree.node(at: listener.path))
      let cached = replica.cachedValue(at: listener.path, query: listener.query)
      if cached != expected, cached != nil || !isDamaged {
        trouble =
          "\(listener.path) kept \(cached?.json(.export) ?? "nothing"), "
          + "expected \(expected.json(.export))"
      }
    }
    listeners = []
    unsent = pending
    for (id, write) in pending { perform(replica.plan(write, id: id, now: 0).outcome) }
  }

  private mutating func perform(_ outcome: ReplicaOutcome) {
    for request in outcome.starts {
      let hash = replica.hash(for: request).whole
      server.start(request, hash: hash)
    }
    for request in outcome.stops {
      replica.stopSent(request)
      server.stop(request)
    }
    for event in outcome.events { hear(event) }
    for event in outcome.events { check(event) }
  }

  /// Previous keys are those of the state after the whole step.
  private mutating func check(_ event: TreeEvent) {
    let change = event.change
    guard change.kind != .value, change.kind != .removed, let key = change.key,
      let listener = listeners.first(where: { $0.id == event.registration }),
      let state = replica.state(at: listener.path, query: listener.query)
    else { return }
    let ordered = listener.query.ordered(state.node)
    let place = ordered.firstIndex { $0.key == key } ?? 0
    if change.previousKey != (place == 0 ? nil : ordered[place - 1].key) {
      trouble = "\(change.kind) \(key) after \(change.previousKey?.text ?? "nothing")"
    }
  }

  // MARK: Listening

  private mutating func hear(_ event: TreeEvent) {
    guard let index = listeners.firstIndex(where: { $0.id == event.registration }) else {
      trouble = "an event for a listener that has gone"
      return
    }
    let change = event.change
    switch change.kind {
    case .value:
      listeners[index].value = change.node
    case .removed:
      guard let place = listeners[index].seen.firstIndex(where: { $0.key == change.key }) else {
        trouble = "removed what was not there"
        return
      }
      listeners[index].seen.remove(at: place)
    case .added, .moved, .changed:
      guard let key = change.key else { return }
      let place = listeners[index].seen.firstIndex { $0.key == key }
      if (place == nil) != (change.kind == .added) { trouble = "\(change.kind) of \(key)" }
      if let place { listeners[index].seen.remove(at: place) }
      let previous = listeners[index].seen.firstIndex { $0.key == change.previousKey }
      if change.previousKey != nil, previous == nil { trouble = "\(key) follows nothing" }
      listeners[index].seen.insert((key, change.node), at: previous.map { $0 + 1 } ?? 0)
    }
  }
}
