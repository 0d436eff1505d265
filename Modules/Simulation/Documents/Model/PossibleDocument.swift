import TernCore
import TernDocumentEngine

/// What the cache of one device may hold of one document, and what the device may show of it.
///
/// The server's writes are known; what of them a device was told is not always. So this is every
/// state it may be in: any that the server ever had, changed by each write of the device that was
/// accepted since; after a crash as it was on the disk, after a collection maybe none at all.
final class PossibleDocument {
  /// How many of the newest accepted writes may be shown as they were while they were pending.
  ///
  /// A view shows an accepted write so until the server tells of it.
  private static let awaited = 8

  private let key: DocumentKey
  /// How many states of the server are among the states here.
  private var followed = 0
  private var states = States()
  /// What is on the disk, and what the server has committed since it was put there.
  private var durable = States()
  /// The newest accepted writes, each with the states before it.
  private var answers: [(batch: AcknowledgedBatch, before: [NaiveDocument])] = []
  private var contents = Contents()

  /// Whether the cache may lose it at any time.
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

  /// The cache may hold what somebody else handed to it.
  func loaded(_ document: NaiveDocument) { add(document) }

  /// What the cache holds is on the disk now.
  func synced() { durable = states }

  /// The cache holds what is on the disk.
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

  /// Whether what may be shown, with these batches pending, passes a test; `nil` is no document.
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

  /// Whether a device with these batches pending may show just this.
  func canBe(_ pending: [PendingBatch], _ fields: DocumentFields?) -> Bool {
    begin(pending)
    while !contents.known.contains(fields) {
      if !workOutOne(pending) { return false }
    }
    return true
  }

  /// Some of what the cache may hold, for people.
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

/// What may be shown with some batches pending, worked out as far as somebody asked.
private struct Contents {
  var pending: [UInt64] = []
  var isBegun = false
  var found: [DocumentFields?] = []
  var known: Set<DocumentFields?> = []
  /// States with the first of the answers after them, not worked out yet.
  var waiting: [(base: NaiveDocument, answer: Int)] = []
}

extension NaiveWrite {
  /// What a device makes of one document while a batch is pending.
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
