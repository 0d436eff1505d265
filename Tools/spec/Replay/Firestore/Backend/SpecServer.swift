import Synchronization
import TernCore
import TernDocumentJSON
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernServer
import TernStorage
import TernStorageMemory

/// A server in memory that takes calls about documents, without a link between.
final class SpecServer {
  /// The answers of a call, and how it ended.
  struct Outcome {
    var responses: [DocumentResponse] = []
    /// `nil` when it ended well, or has not ended.
    var failure: DocumentStatus?
    var hasEnded = false
  }

  let database: DocumentDatabase
  private let ledger: EmbeddedLedger
  private var machine: ServerMachine
  /// Milliseconds since 1970.
  var now: Int64 = 1_700_000_000_000
  private var lastCall: UInt32 = 0
  private var methods: [UInt32: DocumentMethod] = [:]
  private var outcomes: [UInt32: Outcome] = [:]

  private static let slot = 0

  init(_ database: DocumentDatabase) throws {
    self.database = database
    ledger = try EmbeddedLedger(store: MemoryStore()) { 0 }
    let bits = SpecBits()
    machine = ServerMachine(
      options: ServerOptions(), authorizer: AllowAll(), documentAuthorizer: AllowAll(),
      authenticator: NoAuthenticator(), randomBits: { bits.next() })
    try ledger.read { snapshot throws(StorageError) in
      try machine.restore(from: snapshot, uptime: 0)
    }
    try run([.opened(slot: Self.slot, isLocal: true)])
  }

  /// Makes a call of one message in JSON.
  func call(_ method: DocumentMethod, _ json: JSONValue) throws -> Outcome {
    try call(method, DocumentJSON.binary(.request(method), json: Array(json.json.utf8)))
  }

  /// Makes a call of one message.
  func call(_ method: DocumentMethod, _ message: [UInt8]) throws -> Outcome {
    let number = try open(method, message)
    let outcome = outcomes.removeValue(forKey: number) ?? Outcome()
    if !outcome.hasEnded { throw SpecError("\(method.rawValue) does not end") }
    return outcome
  }

  /// Calls a method that may be unknown with an empty message, and returns how that ends.
  func status(ofMethod name: String) throws -> DocumentStatus? {
    lastCall += 1
    let opening = DocumentCallOpening(method: name, metadata: [], message: [])
    try send(.open(stream: lastCall, opening))
    return take(lastCall).failure
  }

  /// Opens a call.
  func open(_ method: DocumentMethod, _ message: [UInt8]? = nil) throws -> UInt32 {
    lastCall += 1
    methods[lastCall] = method
    let opening = DocumentCallOpening(method, metadata: [], message: message)
    try send(.open(stream: lastCall, opening))
    return lastCall
  }

  /// Sends a message of a call, and returns what is answered.
  func say(_ number: UInt32, _ body: DocumentRequest.Body) throws -> Outcome {
    let request = DocumentRequest(body, in: database)
    try send(.message(stream: number, request.encode()))
    return outcomes.removeValue(forKey: number) ?? Outcome()
  }

  /// Returns what a call has answered since the last look.
  func take(_ number: UInt32) -> Outcome { outcomes.removeValue(forKey: number) ?? Outcome() }

  /// Ends a call.
  func cancel(_ number: UInt32) throws { try send(.cancel(stream: number)) }

  private func send(_ frame: DocumentClientFrame) throws {
    try run([.frame(slot: Self.slot, frame.encode())])
  }

  private func run(_ inputs: [ServerInput]) throws {
    now += 1
    var inputs = inputs
    repeat {
      let time = now
      let plan = try ledger.read { snapshot throws(StorageError) in
        try machine.plan(inputs, in: snapshot, now: time, uptime: time)
      }
      _ = try ledger.commit(plan.commits)
      for output in plan.outputs {
        switch output {
        case .send(_, let frame), .broadcast(_, let frame): try receive(frame)
        case .answer: break
        case .close(_, let reason): throw SpecError("the server closes the link: \(reason)")
        }
      }
      inputs = plan.deferred + (plan.isUnfinished ? [.goOn] : [])
    } while !inputs.isEmpty
  }

  private func receive(_ frame: [UInt8]) throws {
    switch try DocumentServerFrame.decode(frame) {
    case .message(let call, let message): try note(message, call)
    case .answer(let call, let message):
      try note(message, call)
      outcomes[call, default: Outcome()].hasEnded = true
    case .end(let call, let status):
      outcomes[call, default: Outcome()].hasEnded = true
      outcomes[call, default: Outcome()].failure = status
    case .pong: break
    }
  }

  private func note(_ message: [UInt8], _ call: UInt32) throws {
    guard let method = methods[call] else { throw SpecError("an answer to no call") }
    let response = try DocumentResponse.decode(method, message, DocumentNames(database))
    outcomes[call, default: Outcome()].responses.append(response)
  }
}

/// Numbers one behind the other: what they are makes no difference here.
private final class SpecBits: Sendable {
  private let last = Atomic<UInt64>(0)

  func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}

extension JSONValue {
  /// An object of these members.
  static func record(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
    .object(members.map { Member($0.key, $0.value) })
  }
}
