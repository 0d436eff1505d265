import TernCore

/// The writes that no server has answered yet, and the documents with these writes applied.
///
/// Lives in memory: the durable queue is elsewhere, and the visible documents are derived from it
/// and from the cached documents. Each user has separate writes; only the current user's show.
/// Source: documents reference, sections 5.3 and 5.4; Docs/Decisions/0010.
///
/// Invariants: ``shown`` has an entry for each document that the current user's batches are about,
/// after `show` was called for it. `steps` is derived from the current user's queue alone; queues
/// of other users are only kept.
struct PendingWrites: Sendable {
  /// The effect of one batch on one document.
  private struct Step: Sendable {
    let batch: UInt64
    let time: DocumentTimestamp
    var mutations: [DocumentMutation]
  }

  /// The effects of all batches on one document, oldest first.
  private struct Steps: Sendable {
    var list: [Step] = []
    /// The number of mutations that may change nothing, depending on the document.
    var conditionalCount = 0
  }

  private var queues: [[UInt8]: [DocumentBatch]] = [:]
  private var steps: [DocumentKey: Steps] = [:]
  /// The current user.
  private(set) var user: String
  /// The documents that the current user's writes are about, as they are shown.
  private(set) var shown: [DocumentKey: Document] = [:]
  /// The number of batches that were applied to a document so far.
  private(set) var replayedCount = 0

  /// Takes over what the queue held at the start. Call ``show(_:over:)`` for each of its keys.
  init(user: String, batches: [DocumentBatch]) {
    self.user = user
    for batch in batches.sorted(by: { $0.id < $1.id }) {
      queues[Array(batch.user.utf8), default: []].append(batch)
    }
    addSteps()
  }

  /// The current user's batches, oldest first.
  var batches: [DocumentBatch] { queues[Array(user.utf8)] ?? [] }

  /// The documents that the current user's writes are about.
  var keys: some Sequence<DocumentKey> { steps.keys }

  /// Returns `true` if a write of the current user is about the document.
  func isChanging(_ key: DocumentKey) -> Bool { steps[key] != nil }

  /// Returns `true` if a write of any user changes the document, so that it must stay cached.
  func holds(_ key: DocumentKey) -> Bool {
    if steps[key] != nil { return true }
    if queues.count == 1, queues[Array(user.utf8)] != nil { return false }
    return queues.contains { entry in
      entry.value.contains { $0.mutations.contains { $0.key == key } }
    }
  }

  /// Makes another user's writes the ones that show.
  ///
  /// - Returns: The documents that show something else now; call ``show(_:over:)`` for each.
  mutating func switchUser(to user: String) -> Set<DocumentKey> {
    var changed = Set(steps.keys)
    self.user = user
    steps = [:]
    shown = [:]
    addSteps()
    changed.formUnion(steps.keys)
    return changed
  }

  /// Adds a batch at the end of its user's queue.
  ///
  /// - Returns: Whether it is the current user's, and so shows.
  mutating func append(_ batch: DocumentBatch) -> Bool {
    let name = Array(batch.user.utf8)
    queues[name, default: []].append(batch)
    guard name == Array(user.utf8) else { return false }
    addSteps(batch)
    return true
  }

  /// Shows the last batch of a document on top of what was shown before it.
  mutating func showLast(_ key: DocumentKey, over before: Document) -> Document {
    let document = replay(steps[key]?.list.suffix(1) ?? [], over: before)
    shown[key] = document
    return document
  }

  /// Replays all writes to a document.
  ///
  /// - Parameter base: What the server has, as far as it is cached.
  mutating func show(_ key: DocumentKey, over base: Document) -> Document {
    guard let steps = steps[key] else {
      shown[key] = nil
      return base
    }
    let document = replay(steps.list[...], over: base)
    shown[key] = document
    return document
  }

  /// Shows a document of which the server has sent a copy, without a replay if its contents are
  /// what they were: mostly they are those of a write that was just accepted.
  ///
  /// - Parameters:
  ///   - old: What the server had when the document was last shown.
  ///   - base: What the server has now.
  mutating func show(_ key: DocumentKey, over base: Document, after old: Document?) -> Document {
    guard let old, old.state == base.state else { return show(key, over: base) }
    return keepShown(key, over: base) ?? show(key, over: base)
  }

  /// Keeps what is shown over another version of the same contents.
  ///
  /// - Returns: `nil` when a replay could show something else.
  private mutating func keepShown(_ key: DocumentKey, over base: Document) -> Document? {
    guard let steps = steps[key], steps.conditionalCount == 0, base.isFound,
      var document = shown[key], document.localWrites == .pending
    else { return nil }
    document.version = base.version
    document.created = base.created
    shown[key] = document
    return document
  }

  /// Shows a document whose oldest batch was accepted, without a replay if that is safe.
  ///
  /// What the server made of the batch is often what was shown; then later writes show the same
  /// as before. Without this, ten thousand writes to one document would be replayed ten thousand
  /// times while they are answered.
  ///
  /// - Parameters:
  ///   - batch: The batch, which is no longer in the queue.
  ///   - old: What the server had before it.
  ///   - base: What the server has now.
  mutating func show(
    _ key: DocumentKey, after batch: DocumentBatch, over old: Document, now base: Document
  ) -> Document {
    guard let rest = steps[key], let first = rest.list.first, first.batch > batch.id,
      rest.conditionalCount == 0
    else { return show(key, over: base) }
    let mutations = (batch.baseMutations + batch.mutations).filter { $0.key == key }
    let step = Step(batch: batch.id, time: batch.localWriteTime, mutations: mutations)
    guard replay([step], over: old).state == base.state else { return show(key, over: base) }
    return keepShown(key, over: base) ?? show(key, over: base)
  }

  /// Takes a batch out of its queue. Call ``show(_:over:)`` for each of its keys.
  mutating func remove(_ id: UInt64) -> DocumentBatch? {
    var found: (name: [UInt8], index: Int)?
    for (name, batches) in queues {
      if let index = batches.firstIndex(where: { $0.id == id }) { found = (name, index) }
    }
    guard let (name, index) = found, let batch = queues[name]?.remove(at: index) else {
      return nil
    }
    if queues[name]?.isEmpty == true { queues[name] = nil }
    if name == Array(user.utf8) { removeSteps(of: batch) }
    return batch
  }

  // MARK: Steps

  private mutating func replay(_ steps: ArraySlice<Step>, over document: Document) -> Document {
    replayedCount += steps.count
    // What was touched only matters to who stores overlays.
    var touched = DocumentMutation.Touched.everything
    var replay = DocumentReplay(over: document)
    for step in steps {
      for mutation in step.mutations { replay.apply(mutation, touched: &touched, at: step.time) }
    }
    return replay.finished()
  }

  private mutating func addSteps() {
    for batch in batches { addSteps(batch) }
  }

  private mutating func addSteps(_ batch: DocumentBatch) {
    for mutation in batch.baseMutations + batch.mutations {
      var steps = steps.removeValue(forKey: mutation.key) ?? Steps()
      if steps.list.last?.batch == batch.id {
        steps.list[steps.list.count - 1].mutations.append(mutation)
      } else {
        steps.list.append(
          Step(batch: batch.id, time: batch.localWriteTime, mutations: [mutation]))
      }
      if !mutation.alwaysApplies { steps.conditionalCount += 1 }
      self.steps[mutation.key] = steps
    }
  }

  private mutating func removeSteps(of batch: DocumentBatch) {
    for key in batch.keys {
      guard var steps = steps.removeValue(forKey: key) else { continue }
      if let index = steps.list.firstIndex(where: { $0.batch == batch.id }) {
        let step = steps.list.remove(at: index)
        steps.conditionalCount -= step.mutations.count { !$0.alwaysApplies }
      }
      if !steps.list.isEmpty { self.steps[key] = steps }
    }
  }
}

extension DocumentMutation {
  /// `true` if the write changes every existing document, independent of its version.
  fileprivate var alwaysApplies: Bool {
    switch (change, precondition) {
    case (.set, .none), (.set, .exists(true)), (.patch, .none), (.patch, .exists(true)): true
    case (.set, _), (.patch, _), (.delete, _), (.verify, _): false
    }
  }
}
