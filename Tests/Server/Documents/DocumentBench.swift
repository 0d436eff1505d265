public import TernCore
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernStorageMemory
import TernTransport
import Testing

@testable import TernServer

extension DocumentKey: ExpressibleByStringLiteral {
  /// Makes a key without checking it.
  public init(stringLiteral text: String) { self.init(unchecked: text) }
}

extension DocumentFieldPath: ExpressibleByStringLiteral {
  /// Makes a path without checking it.
  public init(stringLiteral text: String) {
    self.init(unchecked: text.split(separator: ".").map(String.init))
  }
}

let benchDatabase: DocumentDatabase = {
  guard let database = try? DocumentDatabase(projectID: "p") else { fatalError("a fixed name") }
  return database
}()

/// A machine over a ledger in memory, whose clients are slots that speak about documents.
final class DocumentBench {
  enum BenchError: Error { case unexpected([DocumentServerFrame]) }

  /// One frame of the server, read as far as its call says how.
  enum Heard: Equatable {
    case response(UInt32, DocumentResponse)
    case end(UInt32, DocumentStatus?)
    case pong
  }

  let store: any OrderedStore
  let ledger: EmbeddedLedger
  private(set) var machine: ServerMachine
  var now: Int64 = 1_000_000
  var uptime: Int64 = 0
  /// The databases of links that are not about the usual one.
  var databases: [Int: DocumentDatabase] = [:]
  private var methods: [Int: [UInt32: DocumentMethod]] = [:]
  private var isDeaf = false
  private var heard: [Int: [Heard]] = [:]
  private(set) var closed: [Int: SessionEnd] = [:]
  private(set) var lastCommits: [Commit] = []
  private(set) var lastOutputs: [ServerOutput] = []
  private(set) var lastDeferred: [ServerInput] = []
  /// The reads that go on beside the executor, and the links that others of them serve.
  private(set) var lastReads: [ReadJob] = []
  private(set) var lastShared: [ServerInput] = []
  private(set) var lastCosts: [InputCost] = []
  /// The bounds of one batch.
  var portion = BatchPortion.unlimited
  let budget: MemoryBudget

  init(
    store: any OrderedStore = MemoryStore(), authorizer: any DocumentAuthorizer = AllowAll(),
    options: ServerOptions = ServerOptions(),
    authenticator: any Authenticator = NoAuthenticator(), seed: UInt64 = 0,
    ledgerOptions: LedgerOptions = LedgerOptions(), places: DatabasePlaces = DatabasePlaces()
  ) throws {
    self.store = store
    ledger = try EmbeddedLedger(store: store, options: ledgerOptions) { 0 }
    let counter = Counter(seed)
    budget = options.limits.budget
    machine = ServerMachine(
      options: options, authorizer: AllowAll(), documentAuthorizer: authorizer,
      authenticator: authenticator, budget: budget, randomBits: { counter.next() },
      places: places)
    let uptime = uptime
    try ledger.read { snapshot throws(StorageError) in
      try machine.restore(from: snapshot, uptime: uptime)
    }
  }

  /// The disk is full.
  func lackSpace(_ left: DiskSpace) { machine.lackSpace(left) }

  /// Decides a batch and makes it durable.
  func run(_ inputs: [ServerInput]) throws {
    let (now, uptime, portion) = (now, uptime, portion)
    let plan = try ledger.read { snapshot throws(StorageError) in
      try machine.plan(inputs, in: snapshot, now: now, uptime: uptime, portion: portion)
    }
    let results = try ledger.commit(plan.commits)
    #expect(results == plan.versions.map { .committed($0) })
    lastCommits = plan.commits
    lastOutputs = plan.outputs
    lastDeferred = plan.deferred
    lastReads = plan.reads
    lastShared = plan.shared.map { .read(slot: $0.slot, $0.job) }
    lastCosts = plan.costs
    for output in plan.outputs {
      switch output {
      case .send(let slot, let frame): try receive(frame, slot)
      case .broadcast(let slots, let frame): for slot in slots { try receive(frame, slot) }
      case .answer: break
      case .close(let slot, let reason): closed[slot] = reason
      }
    }
  }

  /// Carries reads out in the present state of the store.
  func perform(_ reads: [ReadJob]) throws {
    try ledger.read { snapshot throws(StorageError) in
      for read in reads { read.run(over: snapshot.reader, at: snapshot.version) }
    }
  }

  /// Decides a batch without reading the answers.
  func runUnread(_ inputs: [ServerInput]) throws {
    isDeaf = true
    defer { isDeaf = false }
    try run(inputs)
  }

  private func receive(_ frame: [UInt8], _ slot: Int) throws {
    if isDeaf { return }
    let item: Heard
    switch try DocumentServerFrame.decode(frame) {
    case .message(let call, let message):
      item = .response(call, try read(message, slot, call))
    case .answer(let call, let message):
      item = .response(call, try read(message, slot, call))
      heard[slot, default: []].append(item)
      return heard[slot, default: []].append(.end(call, nil))
    case .end(let call, let status): item = .end(call, status)
    case .pong: item = .pong
    }
    heard[slot, default: []].append(item)
  }

  private func read(_ bytes: [UInt8], _ slot: Int, _ call: UInt32) throws -> DocumentResponse {
    let method = try #require(methods[slot]?[call])
    return try DocumentResponse.decode(
      method, bytes, DocumentNames(databases[slot] ?? benchDatabase))
  }

  /// Returns the messages to a client since the last look.
  func take(_ slot: Int) -> [Heard] { heard.removeValue(forKey: slot) ?? [] }

  /// The messages of a call that a client heard since it last looked; others are forgotten.
  func responses(_ slot: Int, _ call: UInt32) -> [DocumentResponse] {
    take(slot).compactMap { if case .response(call, let response) = $0 { response } else { nil } }
  }

  /// The end of a call, if a client heard of it since it last looked.
  func end(_ slot: Int, _ call: UInt32) -> DocumentStatus?? {
    take(slot).reduce(DocumentStatus??.none) { end, item in
      if case .end(call, let status) = item { .some(status) } else { end }
    }
  }

  func link(_ slot: Int, isLocal: Bool = true) throws {
    try run([.opened(slot: slot, isLocal: isLocal)])
  }

  func frame(_ slot: Int, _ frame: DocumentClientFrame) -> ServerInput {
    if case .open(let call, let opening) = frame {
      methods[slot, default: [:]][call] = DocumentMethod(rawValue: opening.method)
    }
    return .frame(slot: slot, frame.encode())
  }

  func send(_ slot: Int, _ frames: DocumentClientFrame...) throws {
    try run(frames.map { frame(slot, $0) })
  }

  /// Makes a call of one message and returns its answers, or why there are none.
  func ask(
    _ slot: Int, _ call: UInt32, _ body: DocumentRequest.Body, token: String? = nil
  ) throws -> Result<[DocumentResponse], DocumentStatus> {
    let request = DocumentRequest(body, in: databases[slot] ?? benchDatabase)
    let metadata = token.map { [DocumentCallOpening.Entry("authorization", "Bearer " + $0)] }
    let opening = DocumentCallOpening(
      request.method, metadata: metadata ?? [], message: request.encode())
    try send(slot, .open(stream: call, opening))
    var responses: [DocumentResponse] = []
    for item in take(slot) {
      switch item {
      case .response(call, let response): responses.append(response)
      case .end(call, nil): return .success(responses)
      case .end(call, let status?): return .failure(status)
      case .response, .end, .pong: break
      }
    }
    Issue.record("the call has no end")
    return .success(responses)
  }

  /// Opens a write stream and returns the last sequence the server has.
  @discardableResult
  func openWrites(_ slot: Int, _ call: UInt32, stream: UInt128? = nil) throws -> UInt64? {
    try send(slot, .open(stream: call, DocumentCallOpening(.write)))
    try say(slot, call, .write(DocumentWriteRequest(.handshake(stream: stream))))
    guard case .write(let response)? = responses(slot, call).last,
      case .handshake(_, let last) = response.content
    else {
      Issue.record("no handshake")
      return nil
    }
    return last
  }

  /// Sends one message of a call.
  func say(_ slot: Int, _ call: UInt32, _ body: DocumentRequest.Body) throws {
    let request = DocumentRequest(body, in: databases[slot] ?? benchDatabase)
    try send(slot, .message(stream: call, request.encode()))
  }

  /// Writes a batch and returns what the stream says to it.
  func write(
    _ slot: Int, _ call: UInt32, _ writes: [DocumentMutation], _ mark: DocumentWriteHeader? = nil
  ) throws -> DocumentWriteResponse.Content? {
    try say(slot, call, .write(DocumentWriteRequest(.writes(writes, mark), token: [1])))
    guard case .write(let response)? = responses(slot, call).last else { return nil }
    return response.content
  }

  /// Opens a listen stream with targets and returns what is told.
  func listen(
    _ slot: Int, _ call: UInt32, _ targets: WatchTarget...
  ) throws -> [WatchChange] {
    let adds = targets.map { target in
      let request = DocumentRequest(
        .listen(.add(target)), in: databases[slot] ?? benchDatabase)
      return frame(slot, .message(stream: call, request.encode()))
    }
    try run([frame(slot, .open(stream: call, DocumentCallOpening(.listen)))] + adds)
    return changes(slot, call)
  }

  /// Returns the changes on a listen stream since the last look.
  func changes(_ slot: Int, _ call: UInt32) -> [WatchChange] {
    responses(slot, call).compactMap { if case .listen(let change) = $0 { change } else { nil } }
  }

  func set(_ key: DocumentKey, _ fields: DocumentFields) -> DocumentMutation {
    DocumentMutation(key, .set(fields))
  }
}

extension WatchChange {
  /// The change in a word, for tests that compare sequences.
  var brief: String {
    switch self {
    case .target(let change):
      switch change.kind {
      case .none: change.targets.isEmpty && change.readTime != nil ? "snapshot" : "none"
      case .added: "add \(change.targets)"
      case .removed(nil): "remove \(change.targets)"
      case .removed(let status?): "refuse \(change.targets) \(status.code)"
      case .current: "current \(change.targets)"
      case .reset: "reset \(change.targets)"
      }
    case .changed(let document, let targets, let removed):
      "\(document.key) \(targets)" + (removed.isEmpty ? "" : " not \(removed)")
    case .deleted(let key, _, let removed): "deleted \(key) \(removed)"
    case .removed(let key, _, let removed): "left \(key) \(removed)"
    case .filter(let target, let count, _): "filter \(target) \(count)"
    }
  }
}

/// Takes a token for the name of a user; `chief` is an administrator.
struct NameAuthenticator: Authenticator {
  func authenticate(
    _ credential: Credential, now: Int64
  ) throws(AuthenticationError) -> Authentication {
    credential.token == "chief"
      ? Authentication(.administrator)
      : Authentication(.user(id: credential.token, claims: .object([])))
  }
}
