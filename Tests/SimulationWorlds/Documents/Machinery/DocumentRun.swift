import TernClient
import TernCore
import TernDocumentReplica
import TernDocumentWire
import TernLedger
import TernQuery
import TernSync
import TernTestKit

/// A device whose program uses documents.
final class SimulatedDocumentClient: SimulatedDevice {
  let index: Int
  var run: DocumentRun?
  /// The version of what the server accepted of this device last, by document.
  var accepted: [DocumentKey: DocumentVersion] = [:]
  /// The possible cache states of the documents that checks have asked about.
  private var possible: [DocumentKey: PossibleDocument] = [:]
  /// `true` once a record of its cache was damaged: from then on it may lose any document.
  private(set) var isDamaged = false

  override var process: (any ClientProcess)? { run }

  init(index: Int, clock: WorldClock, seed: UInt64) {
    self.index = index
    super.init(name: "d\(index)", clock: clock, seed: seed)
  }

  /// Returns the possible cache states of a document.
  func possible(_ key: DocumentKey, _ model: DocumentModel) -> PossibleDocument {
    let found = possible[key] ?? PossibleDocument(key, mayBeLost: isDamaged)
    possible[key] = found
    found.follow(model.history(of: key))
    return found
  }

  /// A record of its cache cannot be read any more.
  func damaged(_ model: DocumentModel) {
    isDamaged = true
    forEachPossible(model) { $0.damaged() }
  }

  /// Tells what happened to all of its cache.
  func forEachPossible(_ model: DocumentModel, _ body: (PossibleDocument) -> Void) {
    for key in possible.keys { body(possible(key, model)) }
  }
}

/// One run of the process of a client of documents.
final class DocumentRun: ClientProcess {
  let client: SimulatedDocumentClient
  let cacheStore: FaultyStore
  var machine: DocumentMachine
  let shelf: WriteQueueRegistry
  var streams: [QueueUser: UInt128] = [:]
  var isDead = false
  var link: SimulatedLink?
  var jobs: [SimulatedJob] = []
  var isWriting = false
  var timers: [DocumentTimer: Int] = [:]
  var lastTimer = 0

  // What the model knows of it.

  /// Counts what may change what is shown, or what may be shown; and that as of the last check.
  var news = 0
  var checkedNews = -1

  /// The device's user, as the machine knows it.
  private(set) var user: QueueUser
  /// The users before this one, whose results views may still show: as in Firebase's clients, only
  /// a lost connection puts what the server has said in doubt.
  private(set) var formerUsers: [QueueUser] = []
  /// The user's unanswered batches, in order; and those of all other users.
  var pending: [PendingBatch] = []
  private var away: [QueueUser: [PendingBatch]] = [:]
  /// The batch that was made or read last.
  var lastBatch: UInt64 = 0
  /// The names of batches in the server's log, once they are durable.
  var names: [UInt64: CommitID] = [:]
  /// The batch that a change of the queue makes durable.
  var tickets: [UInt64: UInt64] = [:]
  /// The batches that are rejected, and whose end was not told yet.
  var takenBack: Set<UInt64> = []
  /// The server's verdicts on numbered batches.
  var outcomes: [CommitID: DocumentWriteOutcome.Verdict] = [:]
  /// The times of the server's snapshots, ascending; the first is that of the cache.
  var told: [DocumentVersion]
  /// The methods of the calls on the link, who was shown with each, and what is numbered in it.
  var methods: [UInt32: DocumentMethod] = [:]
  var shown: [UInt32: QueueUser] = [:]
  var writeStreams: [UInt32: UInt128] = [:]
  /// The targets that this stream has told everything of, and those as of its last snapshot.
  var current: Set<Int32> = []
  var confirmed: Set<Int32> = []
  /// The documents that are looked up by themselves, by their targets.
  var lookups: [Int32: DocumentKey] = [:]

  var listeners: [DocumentListenerID: DocumentMirror] = [:]
  var endedListeners: Set<DocumentListenerID> = []
  var reads: [DocumentListenerID: DocumentRead] = [:]
  var calls: [DocumentCallID: DocumentCallNote] = [:]
  /// The waits for pending writes, each with whose they are and the last batch that it waits for.
  var waits: [DocumentWaitID: (user: QueueUser, last: UInt64)] = [:]
  /// The state before the frames that are being processed.
  var before: (version: DocumentVersion, confirmed: Set<Int32>)?

  var device: SimulatedDevice { client }

  init(
    of client: SimulatedDocumentClient, machine: DocumentMachine, shelf: WriteQueueRegistry,
    cacheStore: FaultyStore
  ) {
    self.client = client
    self.machine = machine
    self.shelf = shelf
    user = client.user
    self.cacheStore = cacheStore
    told = [machine.replica.cache.lastSnapshotVersion]
  }

  func isCurrentLink(_ number: Int) -> Bool { machine.isCurrentLink(number) }

  func connectionEvent(_ event: Connection.Event) { machine.connectionEvent(event) }

  func received(_ frames: [[UInt8]], on link: Int) { machine.received(frames, on: link) }

  func queueAnswered(_ ticket: UInt64, _ result: QueueResult) {
    machine.queueAnswered(ticket, result)
  }

  /// Switches to another user: that user's batches replace the former user's.
  func changeUser(to next: QueueUser) {
    news += 1
    away[user] = pending
    if !formerUsers.contains(user) { formerUsers.append(user) }
    user = next
    pending = away.removeValue(forKey: next) ?? []
    forgetStream()
  }

  /// Takes note of the batches in a queue that was opened.
  func restore(_ batches: [PendingBatch], of owner: QueueUser) {
    if owner == user { pending = batches } else { away[owner] = batches }
  }

  /// A batch has its answer, or could not be queued.
  func take(_ batch: UInt64) -> DocumentBatch? {
    if let index = pending.firstIndex(where: { $0.batch.id == batch }) {
      return pending.remove(at: index).batch
    }
    for user in away.keys {
      if let index = away[user]?.firstIndex(where: { $0.batch.id == batch }) {
        return away[user]?.remove(at: index).batch
      }
    }
    return nil
  }

  /// The batches without an answer that write to a document, oldest first.
  func pending(at key: DocumentKey) -> [PendingBatch] { pending.filter { $0.concerns(key) } }

  /// The time of the last snapshot that counted.
  var version: DocumentVersion { machine.replica.cache.lastSnapshotVersion }

  /// Nothing that an earlier stream said counts on the next one.
  func forgetStream() {
    methods = [:]
    shown = [:]
    writeStreams = [:]
    current = []
    confirmed = []
    lookups = [:]
  }
}

/// A batch that no server has answered.
struct PendingBatch {
  let batch: DocumentBatch

  func concerns(_ key: DocumentKey) -> Bool { batch.mutations.contains { $0.key == key } }
}

/// A batch that the server has accepted, as far as one document is concerned.
struct AcknowledgedBatch {
  let batch: DocumentBatch
  /// The document's version afterwards.
  let version: DocumentVersion
  /// The results of each write's transforms.
  let values: [[DocumentValue]]
}

/// A single read that is not answered yet.
struct DocumentRead {
  let source: DocumentGetSource
  var mirror: DocumentMirror
  /// The expected result, if it is known.
  var expected: [Document]?
}

/// The accumulated events of one listener.
struct DocumentMirror {
  let query: DocumentQuery
  let options: DocumentListenOptions
  let target: Int32?
  var documents: [Document] = []
  var mutated: Set<DocumentKey> = []
  var isFromCache = true
  var hasHeard = false
  /// `true` if an event came since the last check.
  var isNews = false
  /// A time as of which it has heard the truth; never goes back.
  var version = DocumentVersion.none
  /// The index of the newest moment when it began.
  let since: Int
}
