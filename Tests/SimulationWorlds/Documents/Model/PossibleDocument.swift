import TernCore
import TernDocumentReplica

/// The possible states of one document in a device's cache, and on its screen.
///
/// The server's writes are known, but not always the device's knowledge of them. The possible
/// states are therefore all the server's states, each changed by the device's writes accepted
/// since. After a crash they are the states on the disk; after eviction the document may be absent.
final class PossibleDocument {
  /// The most newest accepted writes that may still show as they did while pending.
  ///
  /// A view shows an accepted write that way until the server sends it.
  private static let awaited = 8

  private let key: DocumentKey
  /// The number of server states among the states here.
  private var followed = 0
  private var states = States()
  /// The states on the disk, and the server's commits since.
  private var durable = States()
  /// The newest accepted writes, each with the states before it.
  private var answers: [(batch: AcknowledgedBatch, before: [NaiveDocument])] = []
  private var contents = Contents()

  /// `true` if the cache may lose the document at any time.
  private var mayBeLost: Bool

  init(_ key: DocumentKey, mayBeLost: Bool) {
    self.key = key
    self.mayBeLost = mayBeLost
  }

  /// Takes in what the server has committed since the last time.
  ///
  /// - Parameter history: Every state the document ever had on the server, the first one first.
  func follow(_ history: [NaiveDocument]) {
    for base in history[followed...] where add(base) { durable.add(base) }
    followed = history.count
  }

  /// The server has accepted a batch of this device, and the device was told.
  func acknowledged(_ batch: AcknowledgedBatch) {
    answers.append((batch, states.all))
    if answers.count > Self.awaited { answers.removeFirst() }
    var next = States()
    if mayBeLost { next.add(.missing) }
    for state in states.all { next.add(acknowledge(batch, state)) }
    states = next
    contents = Contents()
  }

  /// The cache may have lost it.
  func forgotten() { add(.missing) }

  /// Something in the cache cannot be read any more; which document it takes along shows later.
  func damaged() {
    mayBeLost = true
    add(.missing)
    durable.add(.missing)
  }

  /// Adds a state that the cache may hold because another source loaded it.
  func loaded(_ document: NaiveDocument) { add(document) }

  /// Marks the cached states as stored on the disk.
  func synced() { durable = states }

  /// Resets the cached states to those on the disk.
  func crashed() {
    states = durable
    answers = []
    contents = Contents()
  }

  @discardableResult
  private func add(_ state: NaiveDocument) -> Bool {
    guard states.add(state) else { return false }
    contents.waiting.append((state, answers.endIndex))
    return true
  }

  // MARK: What is shown

  /// Returns `true` if a state that may show with these batches passes a test; `nil` is no
  /// document.
  func canBe(_ pending: [PendingBatch], _ test: (DocumentFields?) -> Bool) -> Bool {
    begin(pending)
    var next = 0
    repeat {
      while next < contents.found.count {
        if test(contents.found[next]) { return true }
        next += 1
      }
    } while workOutOne(pending)
    return false
  }

  /// Returns `true` if a device with these batches pending may show exactly these fields.
  func canBe(_ pending: [PendingBatch], _ fields: DocumentFields?) -> Bool {
    begin(pending)
    while !contents.known.contains(fields) {
      if !workOutOne(pending) { return false }
    }
    return true
  }

  /// Some of the possible cache states, for messages.
  var someStates: [NaiveDocument] { states.all.suffix(3) }

  private func begin(_ pending: [PendingBatch]) {
    let ids = pending.map(\.batch.id)
    if contents.isBegun, contents.pending == ids { return }
    contents = Contents(pending: ids, isBegun: true)
    // The likeliest last: what is newest, and nothing awaited.
    for (index, answer) in answers.enumerated() {
      contents.waiting += answer.before.map { ($0, index) }
    }
    contents.waiting += states.all.map { ($0, answers.endIndex) }
  }

  /// Works out one more of what may be shown; `false` when there is no more.
  private func workOutOne(_ pending: [PendingBatch]) -> Bool {
    guard let (base, first) = contents.waiting.popLast() else { return false }
    var document = base
    for batch in answers[first...].map(\.batch.batch) + pending.map(\.batch) {
      document = NaiveWrite.show(batch, over: document, at: key)
    }
    if contents.known.insert(document.fields).inserted { contents.found.append(document.fields) }
    return true
  }

  private func acknowledge(_ batch: AcknowledgedBatch, _ document: NaiveDocument) -> NaiveDocument {
    guard document.version < batch.version else { return document }
    var document = document
    for (write, values) in zip(batch.batch.mutations, batch.values) where write.key == key {
      if NaiveWrite.refusal(of: write, on: document) != nil {
        // What was changed is not known here.
        document = .missing
        continue
      }
      document =
        NaiveWrite.apply(write, to: document, .acknowledged(batch.version, values)).document
    }
    document.version = batch.version
    return document
  }
}

/// States, each once, in the order they came.
private struct States {
  private(set) var all: [NaiveDocument] = []
  private var known: Set<NaiveDocument> = []

  @discardableResult
  mutating func add(_ state: NaiveDocument) -> Bool {
    guard known.insert(state).inserted else { return false }
    all.append(state)
    return true
  }
}

/// The states that may show with some batches pending, computed on demand.
private struct Contents {
  var pending: [UInt64] = []
  var isBegun = false
  var found: [DocumentFields?] = []
  var known: Set<DocumentFields?> = []
  /// States with the first of the answers after them, not worked out yet.
  var waiting: [(base: NaiveDocument, answer: Int)] = []
}

extension NaiveWrite {
  /// Returns a device's view of one document while a batch is pending.
  static func show(
    _ batch: DocumentBatch, over document: NaiveDocument, at key: DocumentKey
  ) -> NaiveDocument {
    var document = document
    for write in batch.baseMutations + batch.mutations where write.key == key {
      if refusal(of: write, on: document) != nil { continue }
      document = apply(write, to: document, .device(batch.localWriteTime)).document
    }
    return document
  }
}
