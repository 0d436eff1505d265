import TernCore
import TernLedger
import TernPresence
import TernQuery
import TernSecurity
import TernStorage
import TernStorageMemory
import TernTransport
import TernTreeWire
import Testing

@testable import TernServer

/// A machine over a ledger in memory, with time in the test's hand and clients that are slots.
final class MachineBench {
  let store: any OrderedStore
  let ledger: EmbeddedLedger
  private(set) var machine: ServerMachine
  var now: Int64 = 1_000_000
  var uptime: Int64 = 0
  private var lastNumber: UInt64 = 0
  /// Frames received and not looked at yet, by slot.
  private(set) var received: [Int: [TreeServerMessage]] = [:]
  private(set) var closed: [Int: SessionEnd] = [:]
  /// Answers to direct requests, by ticket.
  var answers: [UInt64: DirectAnswer] = [:]
  private(set) var lastCommits: [Commit] = []
  private(set) var lastOutputs: [ServerOutput] = []
  let budget: MemoryBudget
  /// The limit of work in one batch.
  var portion = BatchPortion.unlimited
  /// The inputs that the last batch has left.
  private(set) var deferred: [ServerInput] = []
  /// The reads that go on beside the executor since the last batch.
  private(set) var lastReads: [ReadJob] = []
  /// `true` if the last batch has left work.
  private(set) var isUnfinished = false

  init(
    store: any OrderedStore = MemoryStore(), ledgerOptions: LedgerOptions = LedgerOptions(),
    options: ServerOptions = ServerOptions(),
    authorizer: any Authorizer = AllowAll(),
    authenticator: any Authenticator = NoAuthenticator(), seed: UInt64 = 0,
    places: DatabasePlaces = DatabasePlaces()
  ) throws {
    self.store = store
    ledger = try EmbeddedLedger(store: store, options: ledgerOptions) { 0 }
    let counter = Counter(seed)
    budget = options.limits.budget
    machine = ServerMachine(
      options: options, authorizer: authorizer, authenticator: authenticator,
      budget: budget, randomBits: { counter.next() }, places: places)
    let uptime = uptime
    try ledger.read { snapshot throws(StorageError) in
      try machine.restore(from: snapshot, uptime: uptime)
    }
  }

  /// The disk is full.
  func lackSpace(_ left: DiskSpace) { machine.lackSpace(left) }

  /// Nothing reaches the other end of a link any more.
  func loseLink(_ slot: Int) { machine.loseLink(slot) }

  /// Carries reads out in the present state of the store.
  func perform(_ reads: [ReadJob]) throws {
    try ledger.read { snapshot throws(StorageError) in
      for read in reads { read.run(over: snapshot.reader, at: snapshot.version) }
    }
  }

  /// Decides a batch and makes it durable.
  func run(_ inputs: [ServerInput]) throws {
    let (now, uptime) = (now, uptime)
    let portion = portion
    let plan = try ledger.read { snapshot throws(StorageError) in
      try machine.plan(inputs, in: snapshot, now: now, uptime: uptime, portion: portion)
    }
    deferred = plan.deferred
    isUnfinished = plan.isUnfinished
    lastReads = plan.reads
    let results = try ledger.commit(plan.commits)
    #expect(results == plan.versions.map { .committed($0) })
    lastCommits = plan.commits
    lastOutputs = plan.outputs
    for output in plan.outputs {
      switch output {
      case .send(let slot, let frame): try receive(frame, slot)
      case .broadcast(let slots, let frame): for slot in slots { try receive(frame, slot) }
      case .answer(let ticket, let answer): answers[ticket] = answer
      case .close(let slot, let reason): closed[slot] = reason
      }
    }
  }

  private func receive(_ frame: [UInt8], _ slot: Int) throws {
    received[slot, default: []].append(try TreeServerMessage.decode(frame))
  }

  /// Returns the messages that a client received since the last look.
  func take(_ slot: Int) -> [TreeServerMessage] {
    received.removeValue(forKey: slot) ?? []
  }

  /// Opens a session, once more when asked to, and returns the greeting.
  @discardableResult
  func open(
    _ slot: Int, namespace: String = "default", stream: UInt128? = nil,
    origin: UInt128? = nil, last: String? = nil, name: String? = nil, isLocal: Bool = true
  ) throws -> TreeHandshake {
    var opening = TreeOpening(
      namespace: namespace, stream: stream, origin: origin, lastSession: last)
    opening.session = name
    let frame = ServerInput.frame(slot: slot, TreeClientMessage.open(opening).encode())
    try run([.opened(slot: slot, isLocal: isLocal), frame])
    if received[slot]?.last == .inquiry { try run([frame]) }
    guard case .handshake(let handshake) = take(slot).last else {
      throw BenchError.noGreeting
    }
    return handshake
  }

  enum BenchError: Error { case noGreeting }

  func frame(_ slot: Int, _ request: TreeRequest) -> ServerInput {
    lastNumber += 1
    return .frame(slot: slot, TreeClientMessage.request(lastNumber, request).encode())
  }

  /// Sends requests in one batch and returns what the client received.
  @discardableResult
  func ask(_ slot: Int, _ requests: TreeRequest...) throws -> [TreeServerMessage] {
    try run(requests.map { frame(slot, $0) })
    return take(slot)
  }

  /// Runs batches until nothing is left, and returns how many there were.
  func finish() throws -> Int {
    var count = 0
    while !deferred.isEmpty || isUnfinished {
      count += 1
      try run(isUnfinished ? deferred + [.goOn] : deferred)
    }
    return count
  }

  /// Sends a request and returns its response.
  func response(_ slot: Int, _ request: TreeRequest) throws -> TreeResponse? {
    try ask(slot, request).lazy.compactMap(\.response).last
  }

  func put(_ path: String, _ node: TreeNode, _ mark: WriteHeader = .none) throws -> TreeRequest {
    .put(try TreePath(writable: path), node, expectedHash: nil, mark)
  }

  func merge(_ path: String, _ entries: [(String, TreeNode)]) throws -> TreeRequest {
    .merge(
      try TreePath(path),
      try TreeMerge(
        entries.map { TreeMerge.Entry(path: try TreePath(writable: $0.0), node: $0.1) }), .none)
  }

  func listen(
    _ path: String, _ query: TreeQuery = .all, tag: Int64? = nil, hash: String = ""
  ) throws -> TreeRequest {
    .listen(TreeListen(path: try TreePath(path), query: query, tag: tag, hash: hash))
  }

  func get(_ slot: Int, _ path: String, _ query: TreeQuery = .all) throws -> TreeNode? {
    try response(slot, .get(try TreePath(path), query))?.node()
  }
}

/// Draws numbers that are all different.
final class Counter: @unchecked Sendable {
  // Used by one machine on one thread.
  private var value: UInt64

  init(_ seed: UInt64) { value = seed &* 1_000_003 }

  func next() -> UInt64 {
    value += 1
    return value
  }
}

extension TreeServerMessage {
  var response: TreeResponse? {
    if case .response(_, let response) = self { return response }
    return nil
  }

  /// A push in few words: `put a/b 1`, `merge a {"x":1}`, with `#tag` behind.
  var brief: String {
    switch self {
    case .put(let push):
      "put \(push.path) \(push.content.json(.export))" + Self.tag(push.tag)
    case .merge(let push):
      "merge \(push.path) "
        + push.content.entries.map { "\($0.path)=\($0.node.json(.export))" }
        .joined(separator: " ") + Self.tag(push.tag)
    case .response(_, let response): response.status.rawValue
    case .pong: "pong"
    case .listenRevoked(let path, _, _, _): "revoked \(path)"
    case .rangeMerge(let push): "ranges \(push.path) \(push.content.count)" + Self.tag(push.tag)
    case .error: "error"
    default: "other"
    }
  }

  private static func tag(_ tag: Int64?) -> String { tag.map { " #\($0)" } ?? "" }
}

/// A node from JSON text.
func json(_ text: String) -> TreeNode {
  do { return try TreeNode(json: text) } catch { return TreeNode(.string("bad JSON: \(error)")) }
}

/// A node with so many children, `k0` and on, each a number.
func manyChildren(_ count: Int64) -> TreeNode {
  var node = TreeNode.empty
  for number in 0..<count {
    node.setNode(TreeNode(.integer(number)), at: TreePath([TreeKey(unchecked: "k\(number)")]))
  }
  return node
}
