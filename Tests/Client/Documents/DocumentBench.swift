import TernClient
import TernCore
import TernDocumentReplica
import TernDocumentWire
import TernQuery
import TernStorage
import TernStorageMemory
import TernSync
import Testing

/// A machine with its queue, and a server of few words at the other end of its link.
struct DocumentBench {
  private(set) var machine: DocumentMachine
  private(set) var queue: WriteQueue
  let database: DocumentDatabase
  private let names: DocumentNames

  private(set) var snapshots: [DocumentViewSnapshot] = []
  private(set) var answers: [DocumentGetResult] = []
  private(set) var settled: [String] = []
  /// The waits for pending writes that are over: whether each was cancelled.
  private(set) var waits: [Bool] = []
  private(set) var stored: [UInt64] = []
  private(set) var called: [Result<[DocumentResponse], DocumentStatus>] = []
  private(set) var verdicts: [CredentialVerdict] = []
  /// The server's messages, as a developer reads them.
  private(set) var said: [String] = []
  private(set) var timers: [DocumentTimer: Duration] = [:]
  /// The write requests since the last look.
  private(set) var writes: [DocumentWriteRequest] = []
  private(set) var listens: [DocumentListenRequest] = []
  private(set) var calls: [(call: UInt32, request: DocumentRequest)] = []
  private(set) var listenCall: UInt32?
  private(set) var writeCall: UInt32?
  private var link: Int?
  /// True when links can be established.
  var isReachable = true
  /// The addresses of the server at which nothing listens.
  var deadAddresses: Swift.Set<Int> = []
  /// True when the disk answers.
  var diskAnswers = true
  private var heldChanges: [(QueueChange, UInt64)] = []

  init(store: any OrderedStore = MemoryStore(), addressCount: Int = 1) throws {
    database = try DocumentDatabase(projectID: "p")
    names = DocumentNames(database)
    var ids: UInt64 = 0
    let (queue, rows) = try WriteQueue.open(store, newClient: 7)
    self.queue = queue
    var pending: [DocumentQueuedBatch] = []
    for row in rows {
      guard case .pending(let sequence) = row.state else { continue }
      ids += 1
      let batch = try #require(DocumentBatchRecord.decode(row.payload, id: ids, in: database))
      pending.append(DocumentQueuedBatch(batch: batch, row: row.id, sequence: sequence))
    }
    let cache = try DocumentCache(
      store: MemoryStore(), prefix: [], batches: pending.map(\.batch))
    let ambient = RuntimeEnvironment(
      millisecondsSinceEpoch: { 1_000 }, clock: ContinuousClock(), randomBits: { 1 })
    machine = DocumentMachine(
      replica: DocumentReplica(cache: cache, database: database), database: database,
      stream: queue.client, pending: pending, ambient: ambient, addressCount: addressCount)
    run { $0.start() }
  }

  /// Does something with the machine, and what it then owes.
  mutating func run(_ body: (inout DocumentMachine) -> Void) {
    body(&machine)
    while true {
      let effects = machine.drainEffects()
      if effects.isEmpty { return }
      for effect in effects { perform(effect) }
    }
  }

  private mutating func perform(_ effect: DocumentClientEffect) {
    switch effect {
    case .openLink(let number, let address):
      if isReachable, !deadAddresses.contains(address) {
        link = number
        machine.connectionEvent(.linkOpened(number))
      } else {
        machine.connectionEvent(.linkClosed(number))
      }
    case .closeLink: (link, listenCall, writeCall) = (nil, nil, nil)
    case .send(let frame): take(frame)
    case .startTimer(let timer, let delay): timers[timer] = delay
    case .stopTimer(let timer): timers[timer] = nil
    case .change(let change, let ticket, _):
      heldChanges.append((change, ticket))
      answerDisk()
    case .snapshot(_, let snapshot): snapshots.append(snapshot)
    case .settled(let batch, let status): settled.append("\(batch) \(status?.code as Any?)")
    case .stored(let batch): stored.append(batch)
    case .called(_, let result): called.append(result)
    case .credential(let verdict): verdicts.append(verdict)
    case .serverSays(let text): said.append(text)
    case .findOthers: _ = machine.restore(others: [])
    case .answered(_, let answer): answers.append(answer)
    case .writesSettled(_, let isCancelled): waits.append(isCancelled)
    case .failed, .invalid, .notStored, .inSync, .discarded, .queueChanged,
      .connectionChanged:
      break
    }
  }

  private mutating func answerDisk() {
    guard diskAnswers else { return }
    let held = heldChanges
    heldChanges = []
    let results = queue.apply(held.map(\.0))
    for (index, result) in results.enumerated() {
      machine.queueAnswered(held[index].1, result)
    }
  }

  /// The disk answers again.
  mutating func releaseDisk() {
    diskAnswers = true
    answerDisk()
    run { _ in }
  }

  private mutating func take(_ frame: [UInt8]) {
    guard let frame = try? DocumentClientFrame.decode(frame), let link else { return }
    switch frame {
    case .ping: machine.received([DocumentServerFrame.pong.encode()], on: link)
    case .open(let call, let opening):
      switch opening.method {
      case "Listen": listenCall = call
      case "Write": writeCall = call
      default:
        if let method = DocumentMethod(rawValue: opening.method), let message = opening.message,
          let request = try? DocumentRequest.decode(method, message)
        {
          calls.append((call, request))
        }
      }
    case .message(let call, let message):
      let method: DocumentMethod = call == listenCall ? .listen : .write
      guard let request = try? DocumentRequest.decode(method, message) else { return }
      switch request.body {
      case .write(let write): writes.append(write)
      case .listen(let listen): listens.append(listen)
      default: break
      }
    case .cancel(let call):
      if call == listenCall { listenCall = nil }
      if call == writeCall { writeCall = nil }
    case .halfClose: break
    }
  }

  /// The server says something in the write stream.
  mutating func answer(_ content: DocumentWriteResponse.Content) {
    guard let writeCall else { return }
    say(writeCall, .write(DocumentWriteResponse(content, token: [9])))
  }

  /// The server says something in the listen stream.
  mutating func tell(_ changes: WatchChange...) {
    for change in changes { if let listenCall { say(listenCall, .listen(change)) } }
  }

  mutating func say(_ call: UInt32, _ response: DocumentResponse) {
    receive(.message(stream: call, response.encode(names)))
  }

  mutating func end(
    _ call: UInt32?, _ code: DocumentStatus.Code?, _ words: String = ""
  ) {
    if call == listenCall { listenCall = nil }
    if call == writeCall { writeCall = nil }
    if let call { receive(.end(stream: call, code.map { DocumentStatus($0, words) })) }
  }

  private mutating func receive(_ frame: DocumentServerFrame) {
    guard let link else { return }
    run { $0.received([frame.encode()], on: link) }
  }

  mutating func breakLink() {
    guard let number = link else { return }
    (link, listenCall, writeCall) = (nil, nil, nil)
    (writes, listens) = ([], [])
    run { $0.connectionEvent(.linkClosed(number)) }
  }

  mutating func fire(_ timer: DocumentTimer) {
    guard timers.removeValue(forKey: timer) != nil else { return }
    run { $0.timerFired(timer) }
  }

  mutating func clear() { (writes, listens, calls, settled, snapshots) = ([], [], [], [], []) }

  @discardableResult
  mutating func set(_ id: String, _ x: Int64) -> UInt64 {
    var batch: UInt64 = 0
    run { machine in
      batch = machine.write([
        DocumentMutation(DocumentKey(unchecked: "a/" + id), .set(["x": .integer(x)]))
      ])
    }
    return batch
  }
}

extension Result {
  /// The error of a failure.
  var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
